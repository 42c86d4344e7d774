// paths.json: what leaves a root by its text alone. Links, races and layouts need a disk and a kernel: confinement.
import { cases, type Data, flag, grouped, list, nameOf, text } from "./data.ts";
import { type Case, compared, type Group, type Outcome } from "./tally.ts";
import { reached, root } from "./world.ts";

const charactersMax = 4096;

export function runPaths(file: Data): readonly Group[] {
  const kinds = grouped(cases(file), (each) => text(each, "kind") ?? "unknown");
  const groups = [...kinds].map(([kind, rows]) => group(kind, rows, (row) => outcome(kind, row)));
  const races = list(file, "races");
  return [...groups, group("races", races, () => skipped("room confinement"))];
}

function group(name: string, rows: readonly Data[], run: (row: Data) => Outcome): Group {
  const found = rows.map(
    (row, at): Case => ({ name: nameOf(row, at), shown: JSON.stringify(row["input"] ?? null), outcome: run(row) }),
  );
  return { corpus: "paths", group: name, cases: found };
}

function outcome(kind: string, row: Data): Outcome {
  const input = text(row, "input");
  const expect = text(row, "expect") ?? "";
  if (text(row, "platform") === "windows") return skipped("Windows");
  if (kind === "report" || input === null) return skipped("a report, nothing to run");
  if (kind === "fs_layout") {
    // Such a join cuts off what leaves the root; we refuse it, before any disk is looked at.
    const clamps = flag(row, "securejoin") === true && expect === "inside" && !reached(input);
    return clamps ? { kind: "decided", reason: "clamped there, refused here" } : skipped("room confinement");
  }
  if (kind !== "lexical" && kind !== "payload") return skipped(`kind ${kind}`);
  const must = expected(expect);
  if (must === null) return skipped(`expectation ${JSON.stringify(expect)}`);
  const ours = reached(located(input));
  if (must && !ours) {
    const reason = strictness.find(([, holds]) => holds(input))?.[0];
    if (reason !== undefined) return { kind: "decided", reason };
  }
  return compared(must, ours, must ? `${expect}, not reached` : `${expect}, reached`);
}

/** Must it be reachable? Text that would only leave the root after a decoding nobody does is an ordinary name. */
function expected(expect: string): boolean | null {
  if (expect === "inside" || /literal|if_decoded/.test(expect)) return true;
  return /outside|error/.test(expect) ? false : null;
}

/** `ALLOWED` at the start of a case is the granted folder itself. */
function located(input: string): string {
  return input.replace(/^ALLOWED(?=\/|$)/, `/${root.join("/")}`);
}

const strictness: readonly (readonly [string, (input: string) => boolean])[] = [
  ["a character no path has", (input) => /[\0\ue000\ue001]/.test(input) || /\p{Surrogate}/u.test(input)],
  ["longer than a path may be", (input) => input.length > charactersMax],
  ["~ is the home folder", (input) => /^~(\/|$)/.test(input)],
];

function skipped(reason: string): Outcome {
  return { kind: "skipped", reason };
}
