// The figures as tables for people.
import { figure, goalsTable, ratio, table } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import type { StateResult } from "./bench.ts";
import { CPU, callCase, clientCounts, OURS, P50, P99, PLAIN, STORE } from "./calls.ts";
import { goals } from "./goals.ts";

export function report({ machine, rows }: StateResult): string {
  const { processor, cores, memory, node, platform, load } = machine;
  const others = rows.filter((row) => !row.case.startsWith("call, "));
  return [
    `${processor}, ${cores} cores, ${memory}, ${platform}, Node ${node}, load ${load}`,
    "",
    "durable calls: each decided, charged and on disk before it is answered",
    table(
      ["clients", "subject", "calls/s", "of plain", "p50", "of plain", "p99", "CPU a call"],
      clientCounts.flatMap((clients) => [PLAIN, OURS, STORE].map((subject) => callLine(rows, subject, clients))),
      2,
    ),
    "",
    table(
      ["case", "measured"],
      others.map(({ case: name, value, unit }) => [name, figure(value, unit)]),
    ),
    "",
    "figures to reach",
    goalsTable(goals(rows)),
    "",
  ].join("\n");
}

function callLine(rows: readonly Row[], subject: string, clients: number): readonly string[] {
  const name = callCase(clients);
  const of = (who: string, what: string): number => measuredValue(rows, who, name + what) ?? Number.NaN;
  const shown = (what: string): string => {
    const value = of(subject, what);
    return Number.isNaN(value) ? "-" : figure(value, "ns");
  };
  return [
    String(clients),
    subject,
    Math.round(1e9 / of(subject, "")).toLocaleString("en"),
    ratio(of(PLAIN, "") / of(subject, "")),
    shown(P50),
    ratio(of(subject, P50) / of(PLAIN, P50)),
    shown(P99),
    shown(CPU),
  ];
}
