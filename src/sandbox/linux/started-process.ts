// bubblewrap as a child of ours: what it is given, what it complains of, which process it started, and that it is gone.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type ProcessIdentity, processIdentity, stateOf } from "../../platform/daemon/process-identity.ts";
import { type BubblewrapCommand, CONTROL_FD, HANDLES_FD } from "../plan/start/bubblewrap.ts";

const complaintBytesMax = 4_096;
/** How long the end may take after the control descriptor is closed, before its first process is killed. */
const endMillisecondsMax = 5_000;
/** Between two looks for the sandbox's first process. */
const lookMilliseconds = 1;

export class StartedProcess {
  readonly control: Duplex;
  /** The sandbox's own pid 1, as the host numbers it, from the moment it is there; null where bubblewrap never says so. */
  readonly announced: Promise<number | null>;
  /** Kept when it is gone and has said all it will. Never broken. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  #complaint = "";
  #isGone = false;
  #first: ProcessIdentity | null = null;

  /** Throws where not even a process can be made. */
  constructor(program: string, { argv, data }: BubblewrapCommand, withHandles: boolean) {
    const stdio: StdioOptions = ["ignore", "ignore", "pipe"];
    stdio[CONTROL_FD] = "pipe";
    stdio[HANDLES_FD] = withHandles ? "ipc" : "ignore";
    for (const { fd } of data) stdio[fd] = "pipe";
    // Absent on purpose: `--info-fd`. Whoever reads it may be killed; bubblewrap then dies of its own announcement, before it
    // gives its second process the word to begin, and that one waits for the word for ever.
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

  get complaint(): string {
    return this.#complaint;
  }

  /** The sockets that are handed out over the channel of Node's own. */
  onHandle(take: (message: unknown, handle: unknown) => void): void {
    this.#child.on("message", (message, handle) => take(message, handle));
  }

  /** The same, as the kernel has it now; null where that cannot be told for certain. */
  firstProcess(): number | null {
    const { pid } = this.#child;
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
      return /^\d+$/.test(children) ? Number(children) : null;
    } catch {
      return null;
    }
  }

  /** From outside: the kernel knows of the child as soon as it is there. */
  async #announcement(): Promise<number | null> {
    let first = this.firstProcess();
    for (; first === null && !this.#isGone; first = this.firstProcess()) await pause(lookMilliseconds);
    if (first !== null) this.#first = processIdentity(first);
    return first;
  }

  /** Whether this process, being idle, keeps ours from ending. */
  hold(isBusy: boolean): void {
    const { stderr, channel } = this.#child;
    // One that is closed already would wait for a connection that never comes.
    const parts = [this.#child, this.control, stderr, channel] as readonly Held[];
    for (const part of parts.filter((one) => one?.destroyed !== true)) isBusy ? part?.ref?.() : part?.unref?.();
  }

  /** After its control descriptor is closed. */
  async end(): Promise<void> {
    if (this.#isGone) return;
    this.hold(true);
    const late = setTimeout(() => this.#kill(), endMillisecondsMax);
    await this.gone;
    clearTimeout(late);
  }

  /**
   * After the end: whether the sandbox's pid 1 is gone for certain, and with it everything it started. bubblewrap waits for
   * it, unless bubblewrap itself was killed.
   */
  async isEmpty(): Promise<boolean> {
    if (!this.#isGone || this.#first === null) return false;
    for (let waited = 0; waited < endMillisecondsMax; waited += lookMilliseconds) {
      if (stateOf(this.#first) === "gone") return true;
      await pause(lookMilliseconds);
    }
    return false;
  }

  /** For one that was stopped by a signal from outside and cannot end itself. */
  #kill(): void {
    const first = this.firstProcess();
    try {
      if (first !== null) process.kill(first, "SIGKILL");
    } catch {
      // It went in this very moment.
    }
  }

  #watch(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", () => resolve());
    });
    // Out of descriptors there is not even a pipe.
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

type Held = { ref?(): void; unref?(): void; readonly destroyed?: boolean } | null | undefined;
