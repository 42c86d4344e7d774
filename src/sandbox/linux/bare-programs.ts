// Runs programs without a sandbox, on machines that have none, and only where the user's own configuration allows it.
// Nothing confines them: every axis of the result says so. The environment still starts empty, and time and output are
// limited.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { onAbort } from "../../core/base/abort.ts";
import type { Ending, RunRefusal, RunResult, Sinks, Usage } from "../../core/ports/process.ts";
import { enforcementOf } from "../plan/enforcement.ts";
import type { Plan } from "../plan/plan.ts";
import type { Command, Sandboxes } from "../plan/sandboxes.ts";

/** INVARIANT: the caller has read `bare: true` in the user's configuration and found no sandbox. */
export function barePrograms(): Sandboxes {
  const ends = new Set<(because: "stopped") => void>();
  return {
    run: async (_owner, plan, command, sinks, _judge, signal) => {
      if (plan.root === null) return { ok: false, refused: THROWAWAY };
      if (command.terminal != null) return { ok: false, refused: TERMINAL };
      const home = mkdtempSync(join(tmpdir(), "ambit-bare-"));
      try {
        return await runBare(plan, command, sinks, signal, home, ends);
      } finally {
        rmSync(home, { recursive: true, force: true });
      }
    },
    end: async () => {
      for (const end of ends) end("stopped");
    },
  };
}

/** A request for an isolated sandbox is refused: nothing can be isolated here. */
const THROWAWAY: RunRefusal = {
  code: "sandbox_unavailable",
  message: "no sandbox is available here, and `sandbox.exec` needs one",
  fix: "ambit doctor",
};

const TERMINAL: RunRefusal = {
  code: "sandbox_unavailable",
  message: "no sandbox is available here, and a program with its own terminal needs one",
  fix: "ambit doctor",
};

async function runBare(
  plan: Plan,
  { argv, input }: Command,
  sinks: Sinks,
  signal: AbortSignal | null,
  home: string,
  ends: Set<(because: "stopped") => void>,
): Promise<RunResult> {
  const [program, ...words] = argv;
  const started = performance.now();
  const own = [["HOME", home] as const, ["TMPDIR", home] as const];
  const child = spawn(program, words, {
    cwd: `/${plan.directory.join("/")}`,
    env: Object.fromEntries([...plan.environment, ...own]),
    stdio: ["pipe", "pipe", "pipe"],
    // A process group of its own, so that its children end with it.
    detached: true,
  });
  let tellEnding: () => void = () => undefined;
  const ending = new Promise<void>((resolve) => {
    tellEnding = resolve;
  });
  let ended: Extract<Ending, { kind: "ended" }>["because"] | null = null;
  const end = (because: "time" | "output" | "stopped"): void => {
    ended ??= because;
    tellEnding();
    killGroup(child.pid);
  };
  const wall = plan.limits.wallMilliseconds;
  const timer = wall === 0 ? undefined : setTimeout(() => end("time"), wall);
  if (signal !== null) onAbort(signal, () => end("stopped"));
  const stopped = (because: "stopped"): void => end(because);
  ends.add(stopped);
  let left = plan.limits.outputBytes;
  let dropped = 0;
  const pass = (stream: Readable, sink: Sinks["output"]): void => {
    stream.on("data", (bytes: Buffer) => {
      const taken = bytes.subarray(0, left);
      left -= taken.length;
      dropped += bytes.length - taken.length;
      // Output during termination is discarded: the end must not wait for a slow consumer.
      const ready = taken.length > 0 && ended === null ? sink(taken) : undefined;
      if (ready instanceof Promise) {
        stream.pause();
        void Promise.race([ready, ending]).then(() => stream.resume());
      }
      if (dropped > 0) end("output");
    });
  };
  pass(child.stdout, (bytes) => sinks.output(bytes));
  pass(child.stderr, (bytes) => sinks.errors(bytes));
  child.stdin.on("error", () => undefined);
  void feed(input, child.stdin);
  try {
    const [status, signal] = (await Promise.race([once(child, "close"), failure(child)])) as [
      number | null,
      string | null,
    ];
    const how: Ending =
      ended !== null
        ? { kind: "ended", because: ended }
        : status === null
          ? { kind: "signalled", signal: constants.signals[signal as NodeJS.Signals] ?? 0 }
          : { kind: "exited", status };
    const wallMicroseconds = Math.round((performance.now() - started) * 1000);
    const usage: Usage = { wallMicroseconds, userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };
    return {
      ok: true,
      ran: {
        ...{ ending: how, usage, denials: [], outputDropped: dropped, draft: null },
        enforcement: enforcementOf(plan, { kind: "bare" }),
      },
    };
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const usage: Usage = { wallMicroseconds: 0, userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };
    const enforcement = enforcementOf(plan, { kind: "bare" });
    return {
      ok: true,
      ran: { ending: { kind: "unstarted", reason }, usage, denials: [], enforcement, outputDropped: 0, draft: null },
    };
  } finally {
    clearTimeout(timer);
    ends.delete(stopped);
    killGroup(child.pid);
  }
}

async function failure(child: ReturnType<typeof spawn>): Promise<never> {
  const [error] = (await once(child, "error")) as [Error];
  throw error;
}

async function feed(input: Command["input"], stdin: NodeJS.WritableStream): Promise<void> {
  try {
    for await (const bytes of input ?? []) if (!stdin.write(bytes)) await once(stdin, "drain");
  } catch {
    // The program exited or closed its input: there is nothing more to write.
  }
  stdin.end();
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already ended.
  }
}
