// The figures as tables for people, and their targets.
import { engines, OURS, peers } from "../engines/all.ts";
import { measuredValue, type Row } from "../row.ts";
import { sizes } from "../workload.ts";
import type { DecideResult } from "./bench.ts";
import { goals } from "./goals.ts";
import { figure, goalsTable, ratio, table } from "./table.ts";

const main = /^decide N=/;

export function report({ machine, rows, notes }: DecideResult): string {
  const { processor, cores, memory, node, platform, load } = machine;
  const others = rows.filter((row) => !main.test(row.case));
  return [
    `${processor}, ${cores} cores, ${memory}, ${platform}, Node ${node}, load ${load}`,
    "",
    "CPU time of a decision, by the number of grants; half the requests are denied",
    table(["engine", ...sizes.map(String)], [...Object.keys(engines).map((name) => [name, ...costs(rows, name)])]),
    "",
    "how many times the cost of ambit",
    table(
      ["engine", ...sizes.map(String)],
      peers.map((name) => [name, ...ratios(rows, name)]),
    ),
    "",
    "ambit's own growth: its cost over its cost at 100 grants",
    table(["", ...sizes.map(String)], [[OURS, ...growth(rows)]]),
    "",
    "other figures of ambit",
    table(
      ["case", "figure"],
      others.map((row) => [row.case, figure(row.value, row.unit)]),
    ),
    "",
    "figures to reach",
    goalsTable(goals(rows)),
    ...(notes.length === 0 ? [] : ["", "without a figure", ...notes.map((note) => `  ${note}`)]),
    "",
  ].join("\n");
}

function costs(rows: readonly Row[], subject: string): readonly string[] {
  return sizes.map((size) => {
    const value = measuredValue(rows, subject, `decide N=${size}`);
    return value === null ? "-" : figure(value, "ns");
  });
}

function ratios(rows: readonly Row[], subject: string): readonly string[] {
  return sizes.map((size) => quotient(rows, [subject, size], [OURS, size]));
}

function growth(rows: readonly Row[]): readonly string[] {
  return sizes.map((size) => quotient(rows, [OURS, size], [OURS, 100]));
}

type Cell = readonly [subject: string, size: number];

function quotient(rows: readonly Row[], upper: Cell, lower: Cell): string {
  const [above, below] = [upper, lower].map(([subject, size]) => measuredValue(rows, subject, `decide N=${size}`));
  return above == null || below == null ? "-" : ratio(above / below);
}
