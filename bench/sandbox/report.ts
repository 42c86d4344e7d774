// The figures as tables a person can read: a case, everybody in it, and how many times ours.
import { figure, ratio, table } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import { OURS } from "./ambit.ts";
import type { SandboxResult } from "./bench.ts";
import { goals } from "./goals.ts";
import { CURL_DOWNLOAD, DOWNLOAD } from "./network-cases.ts";
import { downloadBytes } from "./network-programs.ts";

const P95 = ", p95";

export function report({ machine, rows, notes }: SandboxResult): string {
  const { processor, cores, memory, node, platform, load } = machine;
  return [
    `${processor}, ${cores} cores, ${memory}, ${platform}, Node ${node}, load ${load}`,
    "",
    "median, what 95 of 100 stay below, and how many times ours (below 1x, the other is faster)",
    table(
      ["case", "subject", "median", "p95", "of ours"],
      rows.filter((row) => !row.case.endsWith(P95)).map((row) => lineOf(row, rows)),
      2,
    ),
    "",
    "figures to reach",
    table(
      ["", "goal", "measured"],
      goals(rows).map(({ ok, goal, measured }) => [ok ? "ok" : "short", goal, measured]),
      3,
    ),
    ...(notes.length === 0 ? [] : ["", ...notes.map((note) => `  ${note}`)]),
    "",
  ].join("\n");
}

function lineOf({ subject, case: name, value, unit }: Row, rows: readonly Row[]): readonly string[] {
  const high = measuredValue(rows, subject, `${name}${P95}`);
  const ours = measuredValue(rows, OURS, name);
  const isDownload = name === DOWNLOAD || name === CURL_DOWNLOAD;
  return [
    name,
    isDownload ? `${subject} (${(downloadBytes / 2 ** 30 / (value / 1e9)).toFixed(2)} GiB/s)` : subject,
    figure(value, unit),
    high === null ? "-" : figure(high, unit),
    ours === null ? "-" : ratio(value / ours),
  ];
}
