// The comparison as a table: first the counts, then every attempt that succeeds somewhere.
import type { Attempt } from "../../test/attack/attempt.ts";
import type { CageResult } from "./bench.ts";

export function attackTable(rows: readonly Attempt[], results: readonly CageResult[]): string {
  const verdict = ({ outcomes }: CageResult, { word }: Attempt): string => outcomes.get(word)?.outcome ?? "untried";
  const count = (result: CageResult, what: string): number =>
    rows.filter((row) => verdict(result, row) === what).length;
  const names = results.map(({ name }) => name);
  const tried = results.filter(({ complaint }) => complaint === null);
  const differing = rows.filter((row) => tried.some((result) => verdict(result, row) !== "blocked"));
  return [
    ...results.map(
      ({ name, note, complaint }) => `${name}: ${note}${complaint === null ? "" : ` (not tried: ${complaint})`}`,
    ),
    "",
    line(["", ...names]),
    line(["---", ...names.map(() => "--:")]),
    ...["blocked", "open", "untried"].map((what) => line([what, ...results.map((one) => String(count(one, what)))])),
    "",
    `Of ${rows.length} attempts, those that get through somewhere, and what answered:`,
    "",
    line(["attempt", ...names]),
    line(["---", ...names.map(() => "---")]),
    ...differing.map((row) => line([`${row.tries} (\`${row.word}\`)`, ...results.map((result) => cell(result, row))])),
  ].join("\n");
}

function cell({ outcomes }: CageResult, { word }: Attempt): string {
  const one = outcomes.get(word);
  if (one === undefined || one.outcome === "untried") return "–";
  return one.outcome === "open" ? `**open** ${one.how}` : one.how;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
