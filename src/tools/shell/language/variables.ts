// Variables of a script: the few whose value in a sandbox is known, replaced by quoted text before the decision.
import type { Part, Redirection, Script, Word } from "./script.ts";

/** The folder, which is the same inside and outside of a sandbox. */
const EVERYWHERE: ReadonlySet<string> = new Set(["PWD"]);
/** Set inside a sandbox. Their paths exist only there, and redirections are opened outside. */
const INSIDE: ReadonlySet<string> = new Set(["HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "LANG", "TERM"]);

export type VariableUse = "argument" | "target";

/** By name; names that a script cannot use are ignored. */
export type Values = ReadonlyMap<string, string>;

export function isKnownIn(name: string, use: VariableUse): boolean {
  return EVERYWHERE.has(name) || (use === "argument" && INSIDE.has(name));
}

/** INVARIANT: a value is literal text: never split, never a pattern, never the name of a program. */
export function withValues(script: Script, values: Values): Script {
  return script.map(({ after, stages }) => ({
    after,
    stages: stages.map(({ words, redirections, range }) => ({
      words: words.map((word, at) => (at === 0 ? word : valued(word, "argument", values))),
      redirections: redirections.map(
        (one): Redirection => (one.kind === "join" ? one : { ...one, target: valued(one.target, "target", values) }),
      ),
      range,
    })),
  }));
}

function valued({ parts, range }: Word, use: VariableUse, values: Values): Word {
  const out: Part[] = [];
  for (const part of parts) {
    const value = part.kind === "variable" && isKnownIn(part.name, use) ? values.get(part.name) : undefined;
    const next: Part = value === undefined ? part : { kind: "quoted", text: value };
    const last = out[out.length - 1];
    if (next.kind === "quoted" && last?.kind === "quoted")
      out[out.length - 1] = { kind: "quoted", text: last.text + next.text };
    else out.push(next);
  }
  return { parts: out, range };
}
