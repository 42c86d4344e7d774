// Picks a grant with a person, step by step: the verb, from low risk to high, then what it is limited to.
import { byRisk, CATALOG, type ScopeKey, type VerbEntry, verbEntry } from "../../core/authority/catalog.ts";
import { compactList, compactWord } from "../../core/notation/compact/compact-word.ts";
import type { AgentsPorts } from "./ports.ts";
import { riskText } from "./risk.ts";

export interface PickOptions {
  /** The folder of a grant for which none is named; null: the agent's own root. */
  readonly folder: string | null;
  /** Whether the person may choose none. */
  readonly isOptional: boolean;
}

/** Null when the person went away, empty when they are done. */
export async function pickGrant(
  { terminal, paint }: Pick<AgentsPorts, "terminal" | "paint">,
  { folder, isOptional }: PickOptions = { folder: null, isOptional: false },
): Promise<string | null> {
  const width = Math.max(...CATALOG.map(({ verb }) => verb.length)) + 2;
  const byName = CATALOG.toSorted(byRisk);
  const verbs = (["low", "medium", "high"] as const).flatMap((risk) => byName.filter((one) => one.risk === risk));
  const choices = verbs.map(({ verb, risk, effect }) => ({
    value: verb,
    label: `${verb.padEnd(width)}${riskText(paint, risk, risk)}`,
    hint: effect,
  }));
  const done = { value: "", label: "done", hint: "no more grants" };
  const picked = await terminal.choose("Which verb?", isOptional ? [done, ...choices] : choices);
  if (picked === "") return picked;
  const verb = picked === null ? null : verbEntry(picked);
  if (verb === null) return null;
  const pairs: string[] = [];
  for (const [key, words] of questions(verb)) {
    const isNeeded = needs(verb, key);
    const usual = key === "in" ? `empty: ${folder === null ? "the agent's own root" : "this project"}` : "empty: any";
    const answer = await terminal.enter(`${words}${isNeeded ? "" : `  (${usual})`}`, (text) =>
      isNeeded && text.trim() === "" ? "required: without it the grant covers nothing" : null,
    );
    if (answer === null) return null;
    const entries = answer.split(",").flatMap((entry) => (entry.trim() === "" ? [] : [entry.trim()]));
    const first = entries[0] ?? (key === "in" ? folder : null);
    if (first === null) continue;
    if (key === "ports") pairs.push(`ports=[${entries.join(",")}]`);
    else pairs.push(`${key}=${key === "in" ? compactWord(first) : compactList(entries)}`);
  }
  return pairs.length === 0 ? verb.verb : `${verb.verb}{${pairs.join(",")}}`;
}

/** Keys that have a plain answer; the others are for those who write the spec themselves. */
const WORDS: Readonly<Partial<Record<ScopeKey, string>>> = {
  in: "In which folder?",
  paths: "Which paths in it, such as src/**",
  hosts: "Which hosts, such as api.example.com, *.example.com",
  ports: "Which ports, such as 443",
  cmds: "Which programs, such as git, rg",
  patterns: "Which command lines, such as git log **",
  classes: "Which classes of records",
  ids: "Which agents",
  keys: "Which keys",
  agents: "Which agents",
  tools: "Which tools",
  names: "Which secrets",
};

function questions(verb: VerbEntry): readonly (readonly [ScopeKey, string])[] {
  return verb.axes.flatMap((axis) =>
    axis.keys.flatMap((key): readonly (readonly [ScopeKey, string])[] => {
      // A pattern over the same ids adds nothing most people want.
      const words = axis.kind === "name" && key === "paths" ? undefined : WORDS[key];
      return words === undefined ? [] : [[key, words]];
    }),
  );
}

function needs(verb: VerbEntry, key: ScopeKey): boolean {
  const isFirst = verb.family === "external" && verb.axes[0]?.keys[0] === key && key !== "in";
  return isFirst || (verb.verb === "net.connect" && key === "ports");
}
