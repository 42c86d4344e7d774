// Runs a foreign program that stores a key for us: no shell, an empty environment, limits on time and output.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const complaintCharactersMax = 200;

export interface KeyProgramOptions {
  readonly argv: readonly [string, ...string[]];
  /** Written to its input and wiped; null for no input. */
  readonly input: Buffer | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly millisecondsMax: number;
  readonly outputBytesMax: number;
}

export interface KeyProgramFailure {
  readonly ok: false;
  /** `failed`: it exited with a non-zero status. */
  readonly why: "not_run" | "late" | "large" | "killed" | "failed";
  /** To be printed after the program's name. */
  readonly message: string;
  readonly status: number | null;
  /** The first line of its error output, as far as it is printable. */
  readonly complaint: string | null;
}

export type KeyProgramResult =
  /** The caller wipes it. */
  { readonly ok: true; readonly output: Buffer } | KeyProgramFailure;

/** Always resolves in time, even if a child of the program keeps its output open. */
export function runProgram(wish: KeyProgramOptions): Promise<KeyProgramResult> {
  return new Promise((give) => {
    const { argv, environment } = wish;
    const [program, ...words] = argv;
    try {
      const child = spawn(program, words, {
        cwd: "/",
        env: { ...environment },
        stdio: ["pipe", "pipe", "pipe"],
        shell: false,
        // A process group of its own, so that its children are killed with it.
        detached: true,
      });
      listen(child, wish, give);
    } catch (error) {
      // `spawn` throws at once for some failures, such as too many open files or no memory.
      wish.input?.fill(0);
      give(notRun(error));
    }
  });
}

function listen(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  { input, millisecondsMax, outputBytesMax }: KeyProgramOptions,
  give: (said: KeyProgramResult) => void,
): void {
  const pieces: Buffer[] = [];
  let length = 0;
  let complained = "";
  let isOver = false;
  const over = (said: KeyProgramResult): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    process.off("exit", stop);
    for (const piece of pieces) piece.fill(0);
    input?.fill(0);
    for (const stream of child.stdio) stream?.destroy();
    give(said);
  };
  const no = (why: KeyProgramFailure["why"], message: string, status: number | null = null): void =>
    over({ ok: false, why, message, status, complaint: complaintIn(complained) });
  const end = (why: "late" | "large", message: string): void => {
    endGroup(child.pid);
    no(why, message);
  };
  const stop = (): void => endGroup(child.pid);
  // The program does not outlive this process.
  process.once("exit", stop);
  const seconds = Math.ceil(millisecondsMax / 1000);
  const timer = setTimeout(() => end("late", `did not respond within ${seconds} seconds`), millisecondsMax);
  child.once("error", (error) => over(notRun(error)));
  child.once("close", (status, signal) => {
    if (signal !== null) no("killed", `was killed by ${signal}`);
    else if (status !== 0) no("failed", `exited with status ${status}`, status);
    else over({ ok: true, output: Buffer.concat(pieces) });
  });
  child.stdout.on("data", (bytes: Buffer) => {
    length += bytes.length;
    pieces.push(bytes);
    if (length > outputBytesMax) end("large", `printed more than ${outputBytesMax} bytes`);
  });
  child.stderr.on("data", (bytes: Buffer) => {
    if (complained.length < complaintCharactersMax) complained += bytes.toString("utf8");
  });
  // A program that does not read its input shows that by its exit status.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? undefined);
}

/** The path of an executable of that name in one of these folders; null if there is none. */
export function programIn(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}

function notRun(error: unknown): KeyProgramFailure {
  const code = error instanceof Error && "code" in error ? error.code : "unknown";
  return { ok: false, why: "not_run", message: `cannot be run (${code})`, status: null, complaint: null };
}

function complaintIn(text: string): string | null {
  const line = text.split("\n", 1)[0] ?? "";
  const shown = line
    .replace(/[^\x20-\x7e]/g, "?")
    .trim()
    .slice(0, complaintCharactersMax);
  return shown === "" ? null : shown;
}
