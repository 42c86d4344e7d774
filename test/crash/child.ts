// Starts the writing program, plain or under another program, and collects its output.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../e2e/ambit.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { type Orders, usual } from "./orders.ts";

const runMillisecondsMax = 120_000;

export interface Ran {
  readonly said: readonly string[];
  readonly errors: string;
  /** Null if a signal ended it. */
  readonly status: number | null;
}

export interface Running {
  readonly ended: Promise<Ran>;
  /** Resolves after this many lines, or when it has exited. */
  until(lines: number): Promise<void>;
  kill(): void;
}

export function writer(): Promise<string> {
  return bundleProgram("test/crash/main.ts");
}

export function ownFolder(): string {
  return mkdtempSync(join(tmpdir(), "ambit-crash-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** `before`: the command line of the program it runs under. */
export function start(
  program: string,
  folder: string,
  orders: Partial<Orders> = {},
  before: readonly string[] = [],
): Running {
  const whole: Orders = { ...usual, folder, program: root, ...orders };
  // As the daemon is started: some versions of Node warn about their built-in database.
  const node = [process.execPath, "--disable-warning=ExperimentalWarning"];
  const [file = "", ...words] = [...before, ...node, program, JSON.stringify(whole)];
  const child = spawn(file, words, { stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), runMillisecondsMax);
  let [out, errors] = ["", ""];
  const rings = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    for (const ring of [...rings]) ring();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => {
      clearTimeout(timer);
      // A truncated line does not count.
      resolve({ said: out.split("\n").slice(0, -1), errors, status });
    });
  });
  const until = (lines: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (out.split("\n").length <= lines) return;
        rings.delete(look);
        resolve();
      };
      rings.add(look);
      look();
      ended.then(
        () => resolve(),
        () => resolve(),
      );
    });
  return { ended, until, kill: () => void child.kill("SIGKILL") };
}
