// `npm run bench -- hook`: one decision of a client's hook from start to exit, beside a Node hook that says yes and beside
// /bin/true, alternating in one run; and the same with sixteen clients at once.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hookCommand } from "../src/clients/connect/hook-command.ts";
import { nativeProgram } from "../src/platform/native-program.ts";
import { type Machine, machine } from "./machine.ts";
import { rootFolder } from "./place.ts";

const roundsCount = 200;
const clientsCount = 16;
const callsOfClient = 25;

interface HookRow {
  readonly subject: string;
  readonly clients: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

interface HookResult {
  readonly bench: "hook";
  readonly machine: Machine;
  readonly rows: readonly HookRow[];
  readonly goals: readonly { readonly name: string; readonly holds: boolean }[];
}

const YES = `process.stdin.resume().on("end", () => console.log("{}"))`;

export async function hookBench(json: boolean): Promise<void> {
  const before = machine();
  const fixture = makeFixture();
  try {
    const subjects: readonly (readonly [string, readonly string[]])[] = [
      ["ambit", ["/bin/sh", "-c", fixture.command]],
      ["a Node hook that says yes", [process.execPath, "-e", YES]],
      ["/bin/true", ["/bin/true"]],
    ];
    const times = new Map<string, number[]>(subjects.map(([name]) => [name, []]));
    for (let round = 0; round < roundsCount; round++)
      for (const [name, argv] of subjects) times.get(name)?.push(await timed(argv, fixture.question));
    const rows = subjects.map(([name]) => rowOf(name, 1, times.get(name) ?? []));
    const together: HookRow[] = [];
    // The start of processes alone first: what no hook can be faster than here.
    for (const [name, argv] of subjects.toReversed()) {
      const own: number[] = [];
      const client = async (): Promise<void> => {
        for (let call = 0; call < callsOfClient; call++) own.push(await timed(argv, fixture.question));
      };
      await Promise.all(Array.from({ length: clientsCount }, client));
      together.push(rowOf(name, clientsCount, own));
    }
    const all = [...rows, ...together];
    const goals = [
      { name: "one decision: at most 10 ms at the median", holds: (all[0]?.p50Milliseconds ?? Infinity) <= 10 },
      { name: "16 clients: at most 50 ms at p99", holds: (all.at(-1)?.p99Milliseconds ?? Infinity) <= 50 },
    ];
    const result: HookResult = { bench: "hook", machine: before, rows: all, goals };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result));
  } finally {
    fixture.remove();
  }
}

function rowOf(subject: string, clients: number, times: readonly number[]): HookRow {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number): number => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 100) / 100;
  return { subject, clients, p50Milliseconds: at(0.5), p99Milliseconds: at(0.99) };
}

async function timed([program = "", ...words]: readonly string[], input: string): Promise<number> {
  const from = performance.now();
  const child: ChildProcess = spawn(program, words, { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  const status = await new Promise<number | null>((end) => child.on("exit", end));
  if (status !== 0) throw new Error(`${program} exited with ${status}`);
  return performance.now() - from;
}

interface HookFixture {
  readonly command: string;
  readonly question: string;
  remove(): void;
}

function makeFixture(): HookFixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-hook-")));
  const project = join(base, "project");
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  writeFileSync(join(project, ".ambit", "agents", "coder.md"), "---\nsandbox: .\ncapabilities: [fs.read]\n---\n");
  const env = {
    PATH: process.env["PATH"],
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const program = join(rootFolder, "bin", "ambit");
  const run = (...words: readonly string[]): void => {
    const ran = spawnSync(process.execPath, [program, ...words], { cwd: project, env, encoding: "utf8" });
    if (ran.status !== 0) throw new Error(`ambit ${words.join(" ")}: ${ran.stderr}${ran.stdout}`);
  };
  run("trust", "--yes");
  run("daemon", "start");
  const command = hookCommand({
    ...{ client: "claude", agent: "coder", user: null, folder: project, isConfined: true, hasServer: false },
    native: nativeProgram(rootFolder),
    daemon: join(base, "state", "ambit", "daemon"),
    ambit: [process.execPath, program],
  });
  const question = JSON.stringify({
    ...{ session_id: "bench", cwd: project, hook_event_name: "PreToolUse", tool_name: "Read" },
    tool_input: { file_path: join(project, "a.ts") },
  });
  return {
    command,
    question,
    remove: () => {
      spawnSync(process.execPath, [program, "daemon", "stop"], { cwd: project, env });
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function text({ rows, goals }: HookResult): string {
  const lines = rows.map(
    ({ subject, clients, p50Milliseconds, p99Milliseconds }) =>
      `${subject}, ${clients} at once: p50 ${p50Milliseconds} ms, p99 ${p99Milliseconds} ms`,
  );
  return `${[...lines, ...goals.map(({ name, holds }) => `${holds ? "holds" : "does not hold"}: ${name}`)].join("\n")}\n`;
}
