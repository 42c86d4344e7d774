// `npm run bench -- tasks`: tasks that end at once, through the runner with four jobs, beside the same program under
// `xargs -P4`.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Machine, machine } from "./machine.ts";
import { rootFolder } from "./place.ts";

const jobs = 4;
const millisecondsWanted = 80;

interface TasksResult {
  readonly bench: "tasks";
  readonly machine: Machine;
  readonly tasks: number;
  readonly rows: readonly {
    readonly subject: string;
    readonly tasksPerSecond: number;
    /** Of wall time, with four jobs at once. */
    readonly millisecondsPerTask: number;
  }[];
  readonly goals: readonly { readonly name: string; readonly holds: boolean }[];
}

export async function tasksBench(json: boolean, isLong: boolean): Promise<void> {
  const count = isLong ? 1000 : 100;
  const before = machine();
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-tasks-")));
  const project = join(base, "project");
  const env = { PATH: process.env["PATH"], XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
  const run = (...words: readonly string[]): void => {
    const argv = [join(rootFolder, "bin", "ambit"), ...words];
    const ran = spawnSync(process.execPath, argv, { cwd: project, env, encoding: "utf8" });
    if (ran.status !== 0) throw new Error(`ambit ${words.join(" ")}: ${ran.stderr}${ran.stdout}`);
  };
  try {
    mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
    writeFileSync(
      join(project, ".ambit", "agents", "maker.md"),
      '---\nsandbox: .\ncapabilities: ["proc.exec{in=.,cmds=[true]}"]\n---\n',
    );
    run("trust", "--yes");
    run("daemon", "start");
    for (let at = 0; at < count; at++) run("tasks", "add", "maker", "--", "true");
    const ambit = timed(() => run("tasks", "work", "--once", "--jobs", String(jobs)));
    const input = Array.from({ length: count }, (_, at) => at).join("\n");
    const xargs = timed(() => {
      const ran = spawnSync("xargs", ["-P", String(jobs), "-n", "1", "true"], { cwd: project, input });
      if (ran.status !== 0) throw new Error("xargs failed");
    });
    const row = (subject: string, milliseconds: number): TasksResult["rows"][number] => ({
      subject,
      tasksPerSecond: Math.round((count * 10_000) / milliseconds) / 10,
      millisecondsPerTask: Math.round((milliseconds * 10) / count) / 10,
    });
    const rows = [row("ambit tasks work --jobs 4", ambit), row("xargs -P4", xargs)];
    const own = (ambit - xargs) / count;
    const goals = [{ name: `at most ${millisecondsWanted} ms of our own a task`, holds: own <= millisecondsWanted }];
    const result: TasksResult = { bench: "tasks", machine: before, tasks: count, rows, goals };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result));
  } finally {
    spawnSync(process.execPath, [join(rootFolder, "bin", "ambit"), "daemon", "stop"], { cwd: project, env });
    rmSync(base, { recursive: true, force: true });
  }
}

function timed(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

function text({ tasks, rows, goals }: TasksResult): string {
  const lines = rows.map(
    ({ subject, tasksPerSecond, millisecondsPerTask }) =>
      `${subject}: ${tasks} tasks, ${tasksPerSecond} a second, ${millisecondsPerTask} ms each`,
  );
  return `${[...lines, ...goals.map(({ name, holds }) => `${holds ? "holds" : "does not hold"}: ${name}`)].join("\n")}\n`;
}
