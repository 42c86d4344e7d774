// The figures as tables for people: a case, all its subjects, and the ratio to ours.
import { figure, goalsTable, ratio, table } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import { OURS } from "./ambit.ts";
import type { SandboxResult } from "./bench.ts";
import { goals } from "./goals.ts";
import { CURL_DOWNLOAD, DOWNLOAD } from "./network-cases.ts";
import { downloadBytes } from "./network-programs.ts";
import { LEAST, P95 } from "./turns.ts";

export function report({ machine, rows, notes }: SandboxResult): string {
  const { processor, cores, memory, node, platform, load } = machine;
  return [
    `${processor}, ${cores} cores, ${memory}, ${platform}, Node ${node}, load ${load}`,
    "",
    "median, least, what 95 of 100 stay below, and how many times our median (below 1x, the other is faster)",
    table(
      ["case", "subject", "median", "least", "p95", "of ours"],
      rows.filter((row) => !row.case.endsWith(P95) && !row.case.endsWith(LEAST)).map((row) => lineOf(row, rows)),
      2,
    ),
    "",
    "figures to reach",
    goalsTable(goals(rows)),
    ...(notes.length === 0 ? [] : ["", ...notes.map((note) => `  ${note}`)]),
    "",
  ].join("\n");
}

function lineOf({ subject, case: name, value, unit }: Row, rows: readonly Row[]): readonly string[] {
  const shown = (what: string): string => {
    const found = measuredValue(rows, subject, `${name}${what}`);
    return found === null ? "-" : figure(found, unit);
  };
  const ours = measuredValue(rows, OURS, name);
  const isDownload = name === DOWNLOAD || name === CURL_DOWNLOAD;
  return [
    name,
    isDownload ? `${subject} (${(downloadBytes / 2 ** 30 / (value / 1e9)).toFixed(2)} GiB/s)` : subject,
    figure(value, unit),
    shown(LEAST),
    shown(P95),
    ours === null ? "-" : ratio(value / ours),
  ];
}
