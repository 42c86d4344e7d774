// `npm run bench -- run`: a whole client inside `ambit run`, beside the same without it.
import { type Machine, machine } from "../machine.ts";
import { makeFixture, type RunFixture } from "./fixture.ts";
import {
  COMMANDS,
  FIRST,
  KEY,
  LARGE_START,
  measureCommands,
  measureKeys,
  measureModel,
  measureStarts,
  type RunRow,
  START,
  STREAM,
} from "./measure.ts";

interface Goal {
  readonly name: string;
  readonly reached: string;
  readonly holds: boolean | null;
}

interface RunResult {
  readonly bench: "run";
  readonly machine: Machine;
  readonly client: string;
  readonly rows: readonly RunRow[];
  readonly goals: readonly Goal[];
  readonly notes: readonly string[];
}

export async function runBench(json: boolean): Promise<void> {
  const before = machine();
  const fixture = await makeFixture();
  try {
    const result = await measureAll(fixture, before);
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result));
  } finally {
    fixture.remove();
  }
}

async function measureAll(fixture: RunFixture, before: Machine): Promise<RunResult> {
  const rows: RunRow[] = [];
  for (const [name, part] of [
    ["starts", measureStarts],
    ["commands", measureCommands],
    ["keys", measureKeys],
    ["the model", measureModel],
  ] as const) {
    process.stderr.write(`bench: ${name}\n`);
    rows.push(...(await part(fixture)));
  }
  const missing = Object.keys(COMMANDS).filter((name) => rows.every((row) => row.name !== name));
  const notes = [
    ...(fixture.client === null
      ? ["no client is installed here (npm run test:clients installs some): the start is that of `true`"]
      : []),
    ...missing.map((name) => `${name} is not on the PATH, and not measured`),
  ];
  const client = fixture.client === null ? "true" : "claude --version";
  return { bench: "run", machine: before, client, rows, goals: goalsOf(rows), notes };
}

function goalsOf(rows: readonly RunRow[]): readonly Goal[] {
  const median = (name: string, where: RunRow["where"]): number =>
    rows.find((row) => row.name === name && row.where === where)?.median ?? Number.NaN;
  const goal = (name: string, value: number, unit: string, most: number): Goal => ({
    name,
    reached: Number.isNaN(value) ? "not measured" : `${value.toFixed(2)} ${unit}`,
    holds: Number.isNaN(value) ? null : value <= most,
  });
  const more = (name: string): number => median(name, "inside") - median(name, "bare");
  return [
    goal("start: at most 150 ms more", more(START), "ms", 150),
    ...Object.keys(COMMANDS).map((name) =>
      goal(`${name}: at most 1.1 x`, median(name, "inside") / median(name, "bare"), "x", 1.1),
    ),
    goal("echo of a key: under 5 ms at the median", median(KEY, "inside"), "ms", 5),
    goal("first byte of a streamed answer: at most 3 ms more", more(FIRST), "ms", 3),
    {
      name: "throughput of a streamed answer beside direct",
      reached: `${(median(STREAM, "inside") / median(STREAM, "bare")).toFixed(2)} x`,
      holds: null,
    },
    {
      name: "what more files cost a start",
      reached: `${(median(LARGE_START, "inside") - median(START, "inside")).toFixed(0)} ms`,
      holds: null,
    },
  ];
}

function text({ machine: on, client, rows, goals, notes }: RunResult): string {
  const lines = [
    `Node ${on.node}, ${on.processor}, ${on.cores} cores, load ${on.load}`,
    "",
    `${"".padEnd(28)}${"bare".padStart(22)}${"inside".padStart(22)}   median (least)`,
    ...[...new Set(rows.map(({ name }) => name))].map((name) => {
      const cell = (where: RunRow["where"]): string => {
        const row = rows.find((one) => one.name === name && one.where === where);
        return row === undefined ? "" : `${row.median} (${row.least}) ${row.unit}`;
      };
      const shown = name === START ? client : name;
      return `${shown.padEnd(28)}${cell("bare").padStart(22)}${cell("inside").padStart(22)}`;
    }),
    "",
    ...goals.map(({ name, reached, holds }) => {
      const word = holds === null ? "" : holds ? "holds" : "MISSED";
      return `${word.padEnd(8)}${name}: ${reached}`;
    }),
    ...(notes.length === 0 ? [] : ["", ...notes]),
  ];
  return `${lines.join("\n")}\n`;
}
