// Corpora that other test runners run, or that are for reading only: counted, so that silence is not mistaken for a pass.
import { type Data, list, nameOf, text } from "./data.ts";
import type { Case, Group } from "./tally.ts";

export function skipAgentdojo(file: Data): readonly Group[] {
  return list(file, "suites").map((suite, at) => {
    const tasks = [...list(suite, "user_tasks"), ...list(suite, "injection_tasks")];
    return skipped("agentdojo", text(suite, "suite") ?? `#${at}`, tasks, "room learn");
  });
}

export function skipInjecagent(file: Data): readonly Group[] {
  return [skipped("injecagent_dh", "attacker_cases_dh", list(file, "attacker_cases_dh"), "reading")];
}

/** Published results of others: each entry is one. */
export function skipAnchors(file: Data): readonly Group[] {
  const entries = Object.keys(file).map((id): Data => ({ id }));
  return [skipped("anchors", "results", entries, "reading")];
}

function skipped(corpus: string, group: string, rows: readonly Data[], reason: string): Group {
  const cases = rows.map(
    (row, at): Case => ({ name: nameOf(row, at), shown: "", outcome: { kind: "skipped", reason } }),
  );
  return { corpus, group, cases };
}
