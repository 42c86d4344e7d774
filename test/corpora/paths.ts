// paths.json: what leaves a root by its text alone, by links on a real disk, and while names are being moved.
import { nativeMissing } from "../files/native.ts";
import { cases, type Data, groupBy, list, nameOf, text } from "./data.ts";
import { isReachable, root } from "./fixture.ts";
import { runLayout } from "./paths-layout.ts";
import { runRace } from "./paths-races.ts";
import { type Case, compareAnswers, type Group, type Outcome } from "./tally.ts";

const charactersMax = 4096;

export async function runPaths(file: Data): Promise<readonly Group[]> {
  const kinds = groupBy(cases(file), (each) => text(each, "kind") ?? "unknown");
  const groups: Group[] = [];
  for (const [kind, rows] of kinds) groups.push(await group(kind, rows, (row) => outcome(kind, row)));
  const race = async (row: Data): Promise<Outcome> => withoutWorker() ?? (await runRace(row));
  return [...groups, await group("races", list(file, "races"), race)];
}

/** One after the other: each has the disk and the processor to itself. */
async function group(
  name: string,
  rows: readonly Data[],
  run: (row: Data) => Outcome | Promise<Outcome>,
): Promise<Group> {
  const found: Case[] = [];
  for (const [at, row] of rows.entries())
    found.push({ name: nameOf(row, at), shown: JSON.stringify(row["input"] ?? null), outcome: await run(row) });
  return { corpus: "paths", group: name, cases: found };
}

function withoutWorker(): Outcome | null {
  const why = nativeMissing();
  return why === null ? null : skipped(`room confinement: ${why}`);
}

function outcome(kind: string, row: Data): Outcome | Promise<Outcome> {
  const input = text(row, "input");
  const expect = text(row, "expect") ?? "";
  if (text(row, "platform") === "windows") return skipped("Windows");
  if (kind === "report" || input === null) return skipped("a report, nothing to run");
  if (kind !== "lexical" && kind !== "payload" && kind !== "fs_layout") return skipped(`kind ${kind}`);
  const must = expected(expect);
  if (must === null) return skipped(`expectation ${JSON.stringify(expect)}`);
  if (kind === "fs_layout") return withoutWorker() ?? runLayout(row, must);
  const ours = isReachable(located(input));
  if (must && !ours) {
    const reason = strictness.find(([, holds]) => holds(input))?.[0];
    if (reason !== undefined) return { kind: "decided", reason };
  }
  return compareAnswers(must, ours, must ? `${expect}, not reached` : `${expect}, reached`);
}

/** Whether it must be reachable. Text that would only leave the root after some decoding is an ordinary name. */
function expected(expect: string): boolean | null {
  if (expect === "inside" || /literal|if_decoded/.test(expect)) return true;
  return /outside|error/.test(expect) ? false : null;
}

/** `ALLOWED` at the start of a case is the granted folder itself. */
function located(input: string): string {
  return input.replace(/^ALLOWED(?=\/|$)/, `/${root.join("/")}`);
}

const strictness: readonly (readonly [string, (input: string) => boolean])[] = [
  ["a character that is not allowed", (input) => /[\0\ue000\ue001]/.test(input) || /\p{Surrogate}/u.test(input)],
  ["longer than a path may be", (input) => input.length > charactersMax],
  ["~ is the home folder", (input) => /^~(\/|$)/.test(input)],
];

function skipped(reason: string): Outcome {
  return { kind: "skipped", reason };
}
