// `npm run bench -- cli`: the cost of starting, beside a Node that does nothing, alternating in one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { type Machine, machine } from "./machine.ts";
import { programOf, type Spent, spend, startCost } from "./process-cost.ts";
import { bestRows, measuredValue, type Row } from "./row.ts";
import { writeWorkspace } from "./workspace.ts";

const roundsCount = 25;

interface Subject {
  readonly name: string;
  readonly argv: readonly string[];
  readonly cwd: string;
}

interface Ratio {
  readonly name: string;
  readonly of: string;
  readonly to: string;
  readonly cpu: number;
  readonly wall: number;
  /** The limit of the CPU ratio; null if there is none. */
  readonly limit: number | null;
  readonly holds: boolean;
}

interface CliResult {
  readonly bench: "cli";
  readonly machine: Machine;
  readonly rows: readonly Row[];
  readonly ratios: readonly Ratio[];
  readonly notes: readonly string[];
}

export async function cliBench(json: boolean): Promise<void> {
  const before = machine();
  const folder = mkdtempSync(join(tmpdir(), "ambit-bench-"));
  try {
    const rows = bestRows(measureAll(subjectsIn(folder), folder));
    const ratios = PROMISES.map(({ name, of, to, limit }) => ratioOf(rows, name, of, to, limit));
    const notes = [`best of ${roundsCount}; CPU is user and system time of the whole process`];
    const result: CliResult = { bench: "cli", machine: before, rows, ratios, notes };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const NOTHING = "node -e 0";
const VERSION = "ambit --version";
const CAN = "ambit can";
const CAN_DENIED = "ambit can, denied";
const CAN_MANY = "ambit can, 10,000 records and 1,000 agents";

const PROMISES: readonly {
  readonly name: string;
  readonly of: string;
  readonly to: string;
  readonly limit: number | null;
}[] = [
  { name: "start", of: VERSION, to: NOTHING, limit: null },
  // 60 ms where bare Node takes 21.
  { name: "can", of: CAN, to: NOTHING, limit: 2.86 },
  { name: "can, denied", of: CAN_DENIED, to: NOTHING, limit: 2.86 },
  { name: "can among many", of: CAN_MANY, to: CAN, limit: 1.5 },
];

const ALLOWED = ["can", "scout", "net.get", "https://api.github.com/repos"];
const DENIED = ["can", "scout", "net.get", "https://example.com/"];

function subjectsIn(folder: string): readonly Subject[] {
  const few = join(folder, "few");
  const many = join(folder, "many");
  writeWorkspace(few, { agents: 1, records: 0 });
  writeWorkspace(many, { agents: 1000, records: 10_000 });
  const ambit = (words: readonly string[]): readonly string[] => [execPath, programOf("ambit"), ...words];
  for (const cwd of [few, many]) {
    // Nothing of a project counts before it is trusted.
    startCost(ambit(["trust", "--yes"]), cwd, folder);
    for (const [words, wanted] of [
      [ALLOWED, 0],
      [DENIED, 10],
    ] as const) {
      const { status, error } = startCost(ambit(words), cwd, folder);
      if (status !== wanted) throw new Error(`ambit ${words.join(" ")} ended with ${status}, not ${wanted}: ${error}`);
    }
  }
  return [
    { name: NOTHING, argv: [execPath, "-e", "0"], cwd: few },
    { name: VERSION, argv: ambit(["--version"]), cwd: few },
    { name: CAN, argv: ambit(ALLOWED), cwd: few },
    { name: CAN_DENIED, argv: ambit(DENIED), cwd: few },
    { name: CAN_MANY, argv: ambit(ALLOWED), cwd: many },
  ];
}

function measureAll(subjects: readonly Subject[], folder: string): readonly Row[] {
  const rows: Row[] = [];
  for (let round = 1; round <= roundsCount; round++) {
    for (const { name, argv, cwd } of subjects) rows.push(...rowsOf(name, spend(argv, cwd, folder)));
  }
  return rows;
}

function rowsOf(subject: string, { cpu, wall }: Spent): readonly Row[] {
  return [
    { subject, case: "cpu", value: cpu, unit: "ns" },
    { subject, case: "wall", value: wall, unit: "ns" },
  ];
}

function ratioOf(rows: readonly Row[], name: string, of: string, to: string, limit: number | null): Ratio {
  const over = (which: string): number => {
    const [one, other] = [measuredValue(rows, of, which), measuredValue(rows, to, which)];
    return one === null || other === null || other === 0 ? Number.NaN : Math.round((one / other) * 100) / 100;
  };
  const cpu = over("cpu");
  return { name, of, to, cpu, wall: over("wall"), limit, holds: limit === null || cpu <= limit };
}

function text({ machine: on, rows, ratios, notes }: CliResult): string {
  const milliseconds = (subject: string, which: string): string =>
    `${((measuredValue(rows, subject, which) ?? Number.NaN) / 1e6).toFixed(0)} ms`.padStart(8);
  const subjects = [...new Set(rows.map(({ subject }) => subject))];
  const lines = [
    `Node ${on.node}, ${on.processor}, ${on.cores} cores, load ${on.load}`,
    "",
    `${"".padEnd(46)}     CPU    wall`,
    ...subjects.map((one) => `${one.padEnd(46)}${milliseconds(one, "cpu")}${milliseconds(one, "wall")}`),
    "",
    ...ratios.map(({ name, to, cpu, wall, limit, holds }) => {
      const promised = limit === null ? "" : `  ${holds ? "holds" : "MISSED"}: at most ${limit}x of the CPU`;
      return `${`${name}, against ${to}`.padEnd(46)}${`${cpu}x`.padStart(8)}${`${wall}x`.padStart(8)}${promised}`;
    }),
    "",
    ...notes,
  ];
  return `${lines.join("\n")}\n`;
}
