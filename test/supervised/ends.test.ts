// Whatever happens to the processes that hold a sandbox without namespaces, its programs end: the supervisor or the guard killed
// or stopped, both of them, or the owner.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import { until } from "../house/until.ts";
import { nativeProgram, ownFolder, ranOf, removeFolder, shell } from "../sandbox/fixture.ts";
import { directPlan, supervisedIn } from "./fixture.ts";

let folder: string;
let sandboxes: LinuxSandboxes;

beforeEach(() => {
  folder = ownFolder();
  sandboxes = supervisedIn(folder);
});

afterEach(async () => {
  await sandboxes.end(null);
  removeFolder(folder);
});

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly words: string;
}

/** Processes whose command line has this text, by their pids. */
function processesWith(text: string): readonly Seen[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        const [state = "", parent = "0"] = readFileSync(`/proc/${name}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        return words.includes(text) && state !== "Z" ? [{ pid: Number(name), parent: Number(parent), words }] : [];
      } catch {
        return [];
      }
    });
}

/** The first number names this test among concurrent ones: the programs sleep that long. */
let marks = 0;
const mark = (): string => `${100_000 + process.pid}.${++marks}`;

/** A daemon and a child, neither of which would end by itself; `started` is there once both run. */
const script = (seconds: string): string =>
  `(setsid sh -c 'sleep ${seconds} & sleep ${seconds}' &); : > started; sleep ${seconds}`;

/** The supervisor and the guard of the sandbox in which this program runs. */
function holders(seconds: string): { readonly supervisor: number; readonly guard: number } {
  const command = processesWith(`: > started; sleep ${seconds}`).find(({ words }) =>
    words.startsWith("/bin/sh -c (setsid"),
  );
  if (command === undefined) throw new Error("the program does not run");
  const stat = readFileSync(`/proc/${command.parent}/stat`, "utf8").replace(/^.*\) /s, "");
  return { supervisor: command.parent, guard: Number(stat.split(" ")[1]) };
}

test.each([
  ["the supervisor is killed", ["supervisor SIGKILL"]],
  ["the supervisor is stopped", ["supervisor SIGSTOP"]],
  ["the guard is killed", ["guard SIGKILL"]],
  ["the guard is stopped and the supervisor killed", ["guard SIGSTOP", "supervisor SIGKILL", "guard SIGCONT"]],
] as const)("everything ends when %s", async (_, acts) => {
  const seconds = mark();
  const running = shell(sandboxes, directPlan(folder), script(seconds));
  await until(
    () => existsSync(join(folder, "started")) && processesWith(`sleep ${seconds}`).length >= 4,
    "the programs run",
  );
  const pids = holders(seconds);
  for (const act of acts) {
    const [who, signal] = act.split(" ") as ["supervisor" | "guard", NodeJS.Signals];
    process.kill(pids[who], signal);
  }
  const told = await running;
  expect(ranOf(told).ending).toEqual({ kind: "signalled", signal: 9 });
  await until(() => processesWith(`sleep ${seconds}`).length === 0, "the programs end");
  expect(sandboxes.count).toBe(0);
});

test("where both are killed at once, the command itself ends, and a sealed draft is not claimed", async () => {
  const seconds = mark();
  const running = shell(sandboxes, directPlan(folder), script(seconds));
  await until(
    () => existsSync(join(folder, "started")) && processesWith(`sleep ${seconds}`).length >= 4,
    "the programs run",
  );
  const { supervisor, guard } = holders(seconds);
  const left = processesWith(`sleep ${seconds}`).map(({ pid }) => pid);
  process.kill(guard, "SIGSTOP");
  process.kill(supervisor, "SIGSTOP");
  process.kill(guard, "SIGKILL");
  process.kill(supervisor, "SIGKILL");
  await running;
  await until(() => processesWith(`: > started; sleep ${seconds}`).length === 0, "the command ends");
  // What such a kill leaves is still in its domain and behind its filter, and is ended by hand.
  for (const { pid } of processesWith(`sleep ${seconds}`)) {
    expect(left).toContain(pid);
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Seccomp:\s+2$/m);
    process.kill(pid, "SIGKILL");
  }
});

test("everything ends with its owner", async () => {
  const bundle = join(folder, "owner.cjs");
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("./owner.ts", import.meta.url))],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "error",
  });
  const seconds = mark();
  const owner = spawn(process.execPath, [bundle, folder, nativeProgram(), script(seconds)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: owner.stdout });
  await once(lines, "line");
  await until(
    () => existsSync(join(folder, "started")) && processesWith(`sleep ${seconds}`).length >= 4,
    "the programs run",
  );
  owner.kill("SIGKILL");
  await once(owner, "exit");
  await until(() => processesWith(`sleep ${seconds}`).length === 0, "the programs end");
});

/** Eight processes with four threads each that do nothing but calls which the supervisor executes, until they are ended. */
const FLOOD = `python3 - <<'END'
import os, threading
open("file", "w").close()
def flood():
    while True:
        try: os.chmod("file", 0o600); os.utime("file"); os.chown("missing", 0, 0)
        except OSError: pass
for _ in range(8):
    if os.fork() == 0:
        for _ in range(3): threading.Thread(target=flood).start()
        flood()
print("floods", flush=True)
flood()
END`;

test("a supervisor that is flooded with calls still ends its program, by time and when it is told to", async () => {
  const limits = { ...directPlan(folder).limits, wallMilliseconds: 1_500 };
  const late = await shell(sandboxes, directPlan(folder, { limits }), FLOOD);
  expect([late.output, ranOf(late).ending]).toEqual(["floods\n", { kind: "ended", because: "time" }]);
  const stop = new AbortController();
  const sinks = { output: () => stop.abort(), errors: () => {} };
  const stopped = await shell(sandboxes, directPlan(folder), FLOOD, { signal: stop.signal, sinks });
  expect(ranOf(stopped).ending).toEqual({ kind: "ended", because: "stopped" });
  expect((await shell(sandboxes, directPlan(folder), "echo again")).output).toBe("again\n");
});

test.each(["SIGKILL", "SIGSTOP"] as const)("a flooded supervisor that gets %s ends everything", async (signal) => {
  const running = shell(sandboxes, directPlan(folder), `: ${mark()}; ${FLOOD}`);
  await until(() => existsSync(join(folder, "file")), "the program floods");
  const shells = processesWith(`: ${100_000 + process.pid}.${marks};`);
  const supervisor = shells.find(({ words }) => words.startsWith("/bin/sh -c"))?.parent ?? 0;
  expect(supervisor).toBeGreaterThan(1);
  process.kill(supervisor, signal);
  expect(ranOf(await running).ending).toEqual({ kind: "signalled", signal: 9 });
  await until(() => processesIn(folder).length === 0, "the programs end");
});

/** Processes that work in this folder. */
function processesIn(path: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readlinkSync(`/proc/${name}/cwd`) === path;
      } catch {
        return false;
      }
    });
}
