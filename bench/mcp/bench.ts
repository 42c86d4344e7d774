// `npm run bench -- mcp`: our server over stdio beside the reference servers, the same calls by the same client.
import type { Goal } from "../decide/goals.ts";
import { figure, goalsTable, ratio, table } from "../decide/table.ts";
import { type Machine, machine } from "../machine.ts";
import { installPeers } from "../peers.ts";
import { measuredValue, type Row } from "../row.ts";
import { LEAST, P95 } from "../sandbox/turns.ts";
import { COMMIT, measureMcp, READ, READ_32, READY, WRITE, WRITE_32 } from "./cases.ts";
import { FILESYSTEM, makeMcpFixture, OURS } from "./fixture.ts";

interface McpResult {
  readonly bench: "mcp";
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

export async function mcpBench(json: boolean): Promise<void> {
  installPeers();
  const before = machine();
  const fixture = makeMcpFixture();
  try {
    const rows = await measureMcp(fixture, (what) => process.stderr.write(`bench: ${what}\n`));
    const result: McpResult = { bench: "mcp", machine: before, rows };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : report(result));
  } finally {
    fixture.remove();
  }
}

function report({ machine: at, rows }: McpResult): string {
  const { processor, cores, memory, node, platform, load } = at;
  const shown = rows.filter((row) => !row.case.endsWith(P95) && !row.case.endsWith(LEAST));
  return [
    `${processor}, ${cores} cores, ${memory}, ${platform}, Node ${node}, load ${load}`,
    "",
    table(
      ["case", "subject", "median", "least", "of ours"],
      shown.map(({ subject, case: name, value, unit }) => [
        name,
        subject,
        figure(value, unit),
        figure(measuredValue(rows, subject, `${name}${LEAST}`) ?? Number.NaN, unit),
        ratio(value / (measuredValue(rows, OURS, name) ?? Number.NaN)),
      ]),
      2,
    ),
    "",
    "figures to reach",
    goalsTable(goals(rows)),
    "",
  ].join("\n");
}

function goals(rows: readonly Row[]): readonly Goal[] {
  const of = (subject: string, name: string): number => measuredValue(rows, subject, name) ?? Number.NaN;
  const together = [READ_32, WRITE_32].map((name) => of(FILESYSTEM, name) / of(OURS, name));
  const behind = [READ, WRITE].map((name) => Math.max(0, of(OURS, name) - of(FILESYSTEM, name)));
  const commits = [READ, WRITE].map((name) => of(COMMIT, name));
  const ready = of(OURS, READY) / of(FILESYSTEM, READY);
  return [
    {
      goal: "32 in flight: file calls at least as fast as server-filesystem",
      measured: together.map(ratio).join(" reading, ").concat(" writing"),
      ok: together.every((one) => one >= 1),
    },
    {
      goal: "one in flight: at most one plain durable commit behind it",
      measured: ["reading", "writing"]
        .map(
          (what, at) =>
            `${what} ${figure(behind[at] ?? 0, "ns")} behind, a commit is ${figure(commits[at] ?? 0, "ns")}`,
        )
        .join("; "),
      ok: behind.every((one, at) => one <= (commits[at] ?? 0)),
    },
    { goal: "ready to answer tools/list no later than it", measured: ratio(ready), ok: ready <= 1 },
  ];
}
