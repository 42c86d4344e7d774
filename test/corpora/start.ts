// `npm run corpora -- <folder> [--json] [--verbose]`: a table or JSON, and an exit status that says whether anything was missed.
import { type Run, runCorpora } from "./runner.ts";
import { type Example, examplesOf, passCount, type Row, rowOf } from "./tally.ts";

const examplesMax = 20;
const whyCharactersMax = 100;

export interface Printed {
  readonly out: (line: string) => void;
  readonly fault: (line: string) => void;
}

/** 0: nothing missed. 1: something was. 2: the folder could not be run as a whole. */
export async function start(given: readonly string[], print: Printed): Promise<number> {
  const folders = given.filter((each) => !each.startsWith("--"));
  const unknown = given.filter((each) => each.startsWith("--") && each !== "--json" && each !== "--verbose");
  const [folder] = folders;
  if (folder === undefined || folders.length > 1 || unknown.length > 0) {
    print.fault("usage: npm run corpora -- <folder> [--json] [--verbose]");
    return 2;
  }
  const run = await runCorpora(folder);
  const rows = run.groups.filter(({ cases }) => cases.length > 0).map(rowOf);
  if (given.includes("--json")) print.out(JSON.stringify({ corpora: rows }, null, 2));
  else for (const line of lines(run, rows, given.includes("--verbose"))) print.out(line);
  for (const fault of run.faults) print.fault(fault);
  return rows.some(({ missed }) => missed > 0) ? 1 : run.faults.length > 0 ? 2 : 0;
}

const columns = [
  "corpus",
  "group",
  "total",
  "missed",
  "refused",
  "inexpressible",
  "decided",
  "skipped",
  "why",
] as const;

function lines({ groups }: Run, rows: readonly Row[], verbose: boolean): readonly string[] {
  const cells = rows.map((row) =>
    columns.map((column) => (column === "why" ? cut(row.why, verbose) : String(row[column]))),
  );
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...cells.map((each) => (each[at] as string).length)),
  );
  const table = [columns, ...cells].map((each) =>
    each
      .map((cell, at) =>
        at < 2 || at === columns.length - 1 ? cell.padEnd(widths[at] as number) : cell.padStart(widths[at] as number),
      )
      .join("  ")
      .trimEnd(),
  );
  const examples = verbose ? groups.flatMap(examplesOf) : [];
  const sum = (count: (row: Row) => number): number => rows.reduce((total, row) => total + count(row), 0);
  return [
    ...table,
    "",
    ...shown(examples, "missed"),
    ...shown(examples, "refused"),
    `${sum(passCount)} passed, ${sum(({ missed }) => missed)} failed`,
  ];
}

function shown(examples: readonly Example[], kind: Example["kind"]): readonly string[] {
  const found = examples.filter((each) => each.kind === kind);
  const lines = found
    .slice(0, examplesMax)
    .map(({ corpus, group, name, shown: input, note }) => `${kind}: ${corpus} ${group} ${name} ${input} (${note})`);
  if (found.length > examplesMax) lines.push(`${kind}: ${found.length - examplesMax} more`);
  return lines.length === 0 ? [] : [...lines, ""];
}

function cut(why: string, verbose: boolean): string {
  return verbose || why.length <= whyCharactersMax ? why : `${why.slice(0, whyCharactersMax)}...`;
}
