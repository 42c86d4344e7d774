// Variables of a script: the few whose value a sandbox has, put in as quoted text before anything is decided.
import type { Part, Redirection, Script, Word } from "./script.ts";

/** The folder, which is the same inside and outside of a sandbox. */
const EVERYWHERE: ReadonlySet<string> = new Set(["PWD"]);
/** What a sandbox is told. Their places exist in it alone, and redirections are opened outside of it. */
const INSIDE: ReadonlySet<string> = new Set(["HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "LANG", "TERM"]);

export type VariableUse = "argument" | "target";

/** By name; what a script can never name is passed over. */
export type Values = ReadonlyMap<string, string>;

export function isKnownIn(name: string, use: VariableUse): boolean {
  return EVERYWHERE.has(name) || (use === "argument" && INSIDE.has(name));
}

/** INVARIANT: a value is text and nothing else: never split, never a pattern, never the name of a program. */
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
