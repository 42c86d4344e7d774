// `npm run bench -- tools`: what the gate, a context, a host, the broker and the file worker add to a tool's own work.
import { figure, goalsTable, ratio, table } from "../decide/table.ts";
import { type Machine, machine } from "../machine.ts";
import { measuredValue, type Row } from "../row.ts";
import { LEAST, P95 } from "../sandbox/turns.ts";
import { measureFileTools } from "./files.ts";
import { makeToolsFixture, OURS, type ToolsFixture } from "./fixture.ts";
import { goals } from "./goals.ts";
import { measureInProcess } from "./in-process.ts";
import { measureIsolated } from "./isolated.ts";
import { measureWeb } from "./web.ts";

interface ToolsResult {
  readonly bench: "tools";
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

export async function toolsBench(json: boolean): Promise<void> {
  const before = machine();
  const fixture = makeToolsFixture();
  try {
    const result: ToolsResult = { bench: "tools", machine: before, rows: await measureTools(fixture) };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : report(result));
  } finally {
    fixture.remove();
  }
}

async function measureTools(fixture: ToolsFixture): Promise<readonly Row[]> {
  const say = (what: string): void => void process.stderr.write(`bench: ${what}\n`);
  say("in process");
  const rows: Row[] = [...(await measureInProcess())];
  say("isolated");
  rows.push(...(await measureIsolated(fixture)));
  say("files");
  rows.push(...(await measureFileTools(fixture)));
  say("web");
  rows.push(...(await measureWeb(fixture)));
  return rows;
}

function report({ machine: at, rows }: ToolsResult): string {
  const { processor, cores, memory, node, platform, load } = at;
  const shown = rows.filter((row) => !row.case.endsWith(P95) && !row.case.endsWith(LEAST));
  const of = (subject: string, name: string): number => measuredValue(rows, subject, name) ?? Number.NaN;
  return [
    `${processor}, ${cores} cores, ${memory}, ${platform}, Node ${node}, load ${load}`,
    "",
    "median, least, what 95 of 100 stay below, and how many times our median (below 1x, the other is faster)",
    table(
      ["case", "subject", "median", "least", "p95", "of ours"],
      shown.map(({ subject, case: name, value, unit }) => [
        name,
        subject,
        figure(value, unit),
        figure(of(subject, name + LEAST), unit),
        figure(of(subject, name + P95), unit),
        ratio(value / of(OURS, name)),
      ]),
      2,
    ),
    "",
    "figures to reach",
    goalsTable(goals(rows)),
    "",
  ].join("\n");
}
