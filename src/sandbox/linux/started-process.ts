// The child process that starts a sandbox, bubblewrap or our supervisor: its arguments, its error output, the process it started, and its exit.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type ProcessIdentity, processIdentity, stateOf } from "../../platform/daemon/process-identity.ts";
import { type BubblewrapCommand, CONTROL_FD, HANDLES_FD } from "../plan/start/bubblewrap.ts";

const complaintBytesMax = 4_096;
/** How long exiting may take after the control descriptor is closed, before pid 1 of the sandbox is killed. */
const endMillisecondsMax = 5_000;
/** Poll interval for the sandbox's pid 1. */
const lookMilliseconds = 1;

export class StartedProcess {
  readonly control: Duplex;
  /** The host pid of the sandbox's pid 1, once it exists; null where bubblewrap failed before that. */
  readonly announced: Promise<number | null>;
  /** Resolves when it has exited and its output is complete. Never rejects. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  #complaint = "";
  #isGone = false;
  #status: number | null = null;
  #first: ProcessIdentity | null = null;

  /** Throws where no process can be created. */
  constructor(program: string, { argv, data }: BubblewrapCommand, withHandles: boolean) {
    const stdio: StdioOptions = ["ignore", "ignore", "pipe"];
    stdio[CONTROL_FD] = "pipe";
    stdio[HANDLES_FD] = withHandles ? "ipc" : "ignore";
    for (const { fd } of data) stdio[fd] = "pipe";
    // Absent on purpose: `--info-fd`. If its reader is killed, bubblewrap dies of SIGPIPE before it lets its child
    // continue, and the child waits forever.
    this.#child = spawn(program, argv, { stdio, env: {}, cwd: "/" });
    this.gone = this.#watch();
    const pipes = this.#child.stdio as readonly (Duplex | null | undefined)[];
    this.control = pipes[CONTROL_FD] as Duplex;
    this.announced = this.#announcement();
    for (const { fd, bytes } of data) (pipes[fd] as Writable).on("error", () => {}).end(bytes);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** After its exit; null where a signal ended it. */
  get status(): number | null {
    return this.#status;
  }

  get complaint(): string {
    return this.#complaint;
  }

  /** The sockets that are passed over Node's IPC channel. */
  onHandle(take: (message: unknown, handle: unknown) => void): void {
    this.#child.on("message", (message, handle) => take(message, handle));
  }

  /** The same as the kernel reports it now; null where that is uncertain. */
  firstProcess(): number | null {
    const { pid } = this.#child;
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
      return /^\d+$/.test(children) ? Number(children) : null;
    } catch {
      return null;
    }
  }

  /** Read from outside: the kernel lists the child as soon as it exists. */
  async #announcement(): Promise<number | null> {
    let first = this.firstProcess();
    for (; first === null && !this.#isGone; first = this.firstProcess()) await pause(lookMilliseconds);
    if (first !== null) this.#first = processIdentity(first);
    return first;
  }

  /** Whether this process, while idle, keeps ours alive. */
  hold(isBusy: boolean): void {
    const { stderr, channel } = this.#child;
    // A socket that is closed already would wait for a connection that never comes.
    const parts = [this.#child, this.control, stderr, channel] as readonly RefHandle[];
    for (const part of parts.filter((one) => one?.destroyed !== true)) isBusy ? part?.ref?.() : part?.unref?.();
  }

  /** Called after its control descriptor is closed. */
  async end(): Promise<void> {
    if (this.#isGone) return;
    this.hold(true);
    const late = setTimeout(() => this.#kill(), endMillisecondsMax);
    await this.gone;
    clearTimeout(late);
  }

  /**
   * After the exit: whether the sandbox's pid 1 is gone for certain, and with it everything it started. bubblewrap
   * waits for it, unless bubblewrap itself was killed.
   */
  async isEmpty(): Promise<boolean> {
    if (!this.#isGone || this.#first === null) return false;
    for (let waited = 0; waited < endMillisecondsMax; waited += lookMilliseconds) {
      if (stateOf(this.#first) === "gone") return true;
      await pause(lookMilliseconds);
    }
    return false;
  }

  /** For a process that was stopped by a signal and cannot exit by itself. */
  #kill(): void {
    const first = this.firstProcess();
    try {
      if (first !== null) process.kill(first, "SIGKILL");
    } catch {
      // It has just exited.
    }
  }

  #watch(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#child.once("exit", (status) => {
        this.#status = status;
        resolve();
      });
      this.#child.once("error", () => resolve());
    });
    // Without free descriptors there is not even a pipe.
    const complaints = this.#child.stderr as Readable | null | undefined;
    if (!complaints) throw Object.assign(new Error("no pipe to a child"), { code: "EMFILE" });
    complaints.on("error", () => {});
    complaints.on("data", (chunk: Uint8Array) => {
      const room = complaintBytesMax - this.#complaint.length;
      if (room > 0) this.#complaint += Buffer.from(chunk).toString("utf8").slice(0, room);
    });
    const said = new Promise<void>((resolve) => complaints.once("close", resolve));
    return Promise.all([said, ended]).then(() => {
      this.#isGone = true;
    });
  }
}

type RefHandle = { ref?(): void; unref?(): void; readonly destroyed?: boolean } | null | undefined;
