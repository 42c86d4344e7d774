// shell.json: command lines and argument vectors from other projects' tests and reports, by the kind of their policy.

import { dialectOf } from "../../src/clients/hooks/dialects.ts";
import type { ShellRefusal } from "../../src/tools/shell/language/refusal.ts";
import type { CommandNeeds } from "../../src/tools/shell/needs.ts";
import { cases, type Data, data, groupBy, nameOf, text, texts } from "./data.ts";
import { commandsOf } from "./shell-fixture.ts";
import { asLiteral, destructive, plainWords, prefixes, programs, readOnly } from "./shell-policies.ts";
import type { Case, Group, Outcome } from "./tally.ts";

/** One case: the commands that a line or a vector needs, or why there are none, and what the policy says. */
export interface ShellCase {
  readonly expect: string;
  readonly policy: Data;
  readonly line: string | null;
  readonly argv: readonly string[] | null;
  readonly commands: readonly CommandNeeds[] | ShellRefusal;
}

const policies: ReadonlyMap<string, (given: ShellCase) => Outcome> = new Map([
  ["read_only_auto_approve", readOnly],
  ["plain_words_only", plainWords],
  ["prefix_rules", prefixes],
  ["allow_bin", programs],
  ["destructive_needs_user_intent", destructive],
  ["argv_literal", asLiteral],
]);

export function runShell(file: Data): readonly Group[] {
  const kinds = groupBy(cases(file), (each) => text(policyOf(each), "kind") ?? "unknown");
  return [...kinds].map(([kind, rows]) => ({
    corpus: "shell",
    group: kind,
    cases: rows.map((row, at): Case => {
      const shown = JSON.stringify(row["cmd"] ?? row["argv"] ?? null);
      return { name: nameOf(row, at), shown, outcome: outcome(kind, row) };
    }),
  }));
}

const HOOKED = ["claude", "codex"];

/** The script that a client's hook reads from a call of its shell tool. */
function hookedScript(client: string, line: string): string | null {
  const about = { session_id: "s", cwd: "/work/project", hook_event_name: "PreToolUse" };
  const read = dialectOf(client)?.read({ ...about, tool_name: "Bash", tool_input: { command: line } });
  return read?.ok === true && read.value.kind === "call" && read.value.meaning.kind === "shell"
    ? read.value.meaning.script
    : null;
}

function policyOf(row: Data): Data {
  return data(row["policy"], '"policy"');
}

function outcome(kind: string, row: Data): Outcome {
  const run = policies.get(kind);
  if (run === undefined) return { kind: "skipped", reason: "we have lists of what is allowed only" };
  const [line, argv] = [text(row, "cmd"), texts(row["argv"])];
  const [program, ...rest] = argv ?? [];
  const expect = text(row, "expect");
  if (expect === null || (line === null && program === undefined)) return { kind: "skipped", reason: "nothing to run" };
  // The hooks of clients hand a line to the same parser, as it is.
  if (line !== null && HOOKED.some((client) => hookedScript(client, line) !== line))
    return { kind: "missed", note: "a client's hook reads another script" };
  const commands: ShellCase["commands"] =
    line !== null ? commandsOf(line) : [{ argv: [program as string, ...rest], reads: [], writes: [] }];
  return run({ expect, policy: policyOf(row), line, argv, commands });
}
