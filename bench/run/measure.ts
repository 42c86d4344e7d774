// What is measured inside `ambit run` beside the same outside, alternating: starts, commands, keys, the model.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { AMBIT, filesOfLarge, type RunFixture, ran } from "./fixture.ts";

/** Milliseconds, or megabytes a second, each with the spread of its runs. */
export interface RunRow {
  readonly name: string;
  readonly where: "bare" | "inside";
  readonly median: number;
  readonly least: number;
  readonly unit: "ms" | "MB/s";
}

const startsCount = 12;
const roundsCount = 3;
const commandsCount = 10;
const keysCount = 300;
const requestsCount = 60;
const largeCount = 5;

function rowOf(name: string, where: RunRow["where"], values: readonly number[], unit: RunRow["unit"] = "ms"): RunRow {
  const sorted = values.toSorted((left, right) => left - right);
  const round = (value: number): number => Math.round(value * 100) / 100;
  return {
    ...{ name, where, unit },
    median: round(sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN),
    least: round(sorted[0] ?? Number.NaN),
  };
}

function inside(words: readonly string[]): readonly string[] {
  return [...AMBIT, "run", "coder", "--", ...words];
}

export const START = "start";
export const LARGE_START: string = `start, ${filesOfLarge} files more`;

/** From the start of the command to its end. */
export async function measureStarts({ project, large, environment, client }: RunFixture): Promise<readonly RunRow[]> {
  const words = client === null ? ["true"] : [client.path, "--version"];
  const timed = async (argv: readonly string[], cwd: string): Promise<number> => {
    const began = performance.now();
    await ran(argv, { cwd, env: environment });
    return performance.now() - began;
  };
  const times: [bare: number[], small: number[], large: number[]] = [[], [], []];
  for (let round = -1; round < startsCount; round++) {
    const found = [
      await timed(words, project),
      await timed(inside(words), project),
      await timed(inside(words), large),
    ] as const;
    // The first fills caches.
    if (round >= 0) for (const [at, value] of found.entries()) times[at]?.push(value);
  }
  return [rowOf(START, "bare", times[0]), rowOf(START, "inside", times[1]), rowOf(LARGE_START, "inside", times[2])];
}

export const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "git status": ["git", "status", "--porcelain"],
  rg: ["rg", "-c", "needle", "."],
  "npm test": ["npm", "test", "--silent"],
};

/** Runs each command several times where it is started, and prints milliseconds by name. */
const TIMER = `
const { spawnSync } = require("node:child_process");
const times = {};
for (const [name, [program, ...words]] of Object.entries(JSON.parse(process.argv[1]))) {
  times[name] = [];
  for (let at = -1; at < ${commandsCount}; at++) {
    const began = performance.now();
    const { status, error, stderr } = spawnSync(program, words, { encoding: "utf8", maxBuffer: 1e8 });
    if (status !== 0) throw new Error(name + ": " + (error ?? stderr));
    if (at >= 0) times[name].push(performance.now() - began);
  }
}
console.log(JSON.stringify(times));
`;

/** As a client runs them: in the sandbox that is there already. */
export async function measureCommands({ project, environment }: RunFixture): Promise<readonly RunRow[]> {
  const hasSearch = await ran(["rg", "--version"], { env: environment }).then(
    () => true,
    () => false,
  );
  const commands = Object.fromEntries(Object.entries(COMMANDS).filter(([name]) => hasSearch || name !== "rg"));
  const words = ["node", "-e", TIMER, JSON.stringify(commands)];
  const times = { bare: new Map<string, number[]>(), inside: new Map<string, number[]>() };
  for (let round = 0; round < roundsCount; round++)
    for (const [where, argv] of [["bare", words] as const, ["inside", inside(words)] as const]) {
      const found = JSON.parse(await ran(argv, { cwd: project, env: environment })) as Record<string, number[]>;
      for (const [name, values] of Object.entries(found))
        times[where].set(name, [...(times[where].get(name) ?? []), ...values]);
    }
  return Object.keys(commands).flatMap((name) => [
    rowOf(name, "bare", times.bare.get(name) ?? []),
    rowOf(name, "inside", times.inside.get(name) ?? []),
  ]);
}

export const KEY = "echo of a key";
const RAW = ["sh", "-c", 'stty raw -echo; printf "READY> "; exec cat'];

/** From writing a byte into the terminal until it comes back from a program in raw mode. */
export async function measureKeys({ project, environment }: RunFixture): Promise<readonly RunRow[]> {
  const times = { bare: [] as number[], inside: [] as number[] };
  for (let round = 0; round < roundsCount; round++) {
    times.bare.push(...(await echoes(RAW, project, environment)));
    times.inside.push(...(await echoes(inside(RAW), project, environment)));
  }
  return [rowOf(KEY, "bare", times.bare), rowOf(KEY, "inside", times.inside)];
}

async function echoes(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly number[]> {
  const line = words.map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qefc", line, "/dev/null"], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let seen = "";
  let tell: () => void = () => undefined;
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    seen += text;
    tell();
  });
  const until = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      void ended.then(() => reject(new Error(`${line} ended: ${seen}`)));
      tell = () => (seen.includes(text) ? resolve() : undefined);
      tell();
    });
  await until("READY");
  const times: number[] = [];
  for (let at = 0; at < keysCount; at++) {
    seen = "";
    // As keys come: not while the last one is still on its way.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const began = performance.now();
    child.stdin.write("k");
    await until("k");
    times.push(performance.now() - began);
  }
  tell = () => undefined;
  child.kill();
  await ended;
  return times;
}

export const FIRST = "model, first byte";
export const STREAM = "model, a streamed answer";

interface Sent {
  readonly first: number;
  readonly whole: number;
  readonly bytes: number;
}

export async function measureModel({ project, environment, provider }: RunFixture): Promise<readonly RunRow[]> {
  const direct = { ...environment, ANTHROPIC_BASE_URL: provider, ANTHROPIC_API_KEY: "bench" };
  const found: { [where in RunRow["where"]]: { first: number[]; stream: number[] } } = {
    bare: { first: [], stream: [] },
    inside: { first: [], stream: [] },
  };
  for (let round = 0; round < roundsCount; round++)
    for (const where of ["bare", "inside"] as const) {
      const send = async (count: number, tokens: number): Promise<readonly Sent[]> => {
        const words = ["./claude", String(count), String(tokens)];
        const argv = where === "bare" ? words : inside(words);
        return JSON.parse(await ran(argv, { cwd: project, env: where === "bare" ? direct : environment })) as Sent[];
      };
      // The first request opens a connection.
      found[where].first.push(...(await send(requestsCount + 1, 9)).slice(1).map(({ first }) => first));
      found[where].stream.push(...(await send(largeCount, 2_000)).map(({ bytes, whole }) => bytes / 1_000 / whole));
    }
  return (["bare", "inside"] as const).flatMap((where) => [
    rowOf(FIRST, where, found[where].first),
    rowOf(STREAM, where, found[where].stream, "MB/s"),
  ]);
}
