// The native program that listens for the daemon: it reports each client process, and passes its socket.
import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { readBytesMax } from "./limits.ts";
import type { SocketName } from "./serving.ts";

const CHANNEL = 3;
const FOLDER = 4;
const lastWordsCharactersMax = 2_048;
const readyMilliseconds = 10_000;

/** A connecting process, as the kernel reports it. */
export interface ConnectingProcess {
  readonly socketName: SocketName;
  readonly pid: number;
  readonly uid: number;
  /** Empty if the process had ended before it could be inspected. */
  readonly start: string;
}

/** The socket of a client. Received data is at the start of a buffer that is reused afterwards. */
export type OpenSocket = (arrive: (buffer: Buffer, length: number) => void) => Socket;

export interface DoorsEvents {
  come(caller: ConnectingProcess, open: OpenSocket): void;
  /** Called once, however it ended. */
  over(lastWords: string): void;
}

export class ListenerProcess {
  readonly #child: ChildProcess;
  /** Null once both sockets exist; otherwise why they do not. */
  readonly ready: Promise<string | null>;
  readonly over: Promise<void>;
  #isOver = false;
  #lastWords = "";

  constructor(native: string, folder: number, events: DoorsEvents) {
    // One buffer for all sockets: its data is parsed before the next read.
    const buffer = Buffer.alloc(readBytesMax);
    this.#child = spawn(native, ["listen", String(CHANNEL), String(FOLDER)], {
      env: {},
      cwd: "/",
      stdio: ["ignore", "pipe", "pipe", "ipc", folder],
      serialization: "json",
    });
    this.#child.stderr?.on("data", (bytes: Buffer) => {
      this.#lastWords = (this.#lastWords + bytes.toString("utf8")).slice(-lastWordsCharactersMax);
    });
    this.#child.on("message", (message, handle: unknown) => {
      const caller = callerOf(message);
      // If no file descriptors are free, the message may arrive without one.
      if (!isStream(handle)) return;
      if (caller === null || this.#isOver) handle.close();
      else
        events.come(caller, (arrive) => {
          const callback = (length: number): boolean => {
            arrive(buffer, length);
            return true;
          };
          return new Socket({ handle, allowHalfOpen: false, onread: { buffer, callback } } as object);
        });
    });
    this.over = new Promise((done) => {
      const end = (): void => {
        if (this.#isOver) return;
        this.#isOver = true;
        if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
        events.over(this.#lastWords.trim());
        done();
      };
      // Output comes before the end; `close` waits for it.
      this.#child.once("close", end);
      this.#child.once("error", end);
    });
    this.ready = this.#untilReady();
  }

  stop(): void {
    if (!this.#isOver) this.#child.kill("SIGKILL");
  }

  #untilReady(): Promise<string | null> {
    return new Promise((give) => {
      const timer = setTimeout(() => {
        give("it does not respond");
        this.stop();
      }, readyMilliseconds);
      const end = (why: string | null): void => {
        clearTimeout(timer);
        give(why);
      };
      let said = "";
      this.#child.stdout?.on("data", (bytes: Buffer) => {
        said = (said + bytes.toString("utf8")).slice(0, lastWordsCharactersMax);
        if (said === "ready\n") end(null);
      });
      void this.over.then(() => end(this.#lastWords.trim() || "it exited immediately"));
    });
  }
}

function callerOf(message: unknown): ConnectingProcess | null {
  if (typeof message !== "object" || message === null) return null;
  const { socketName, pid, uid, start } = message as Partial<ConnectingProcess>;
  const isSocketName = socketName === "call" || socketName === "control";
  return isSocketName && typeof pid === "number" && typeof uid === "number" && typeof start === "string"
    ? { socketName, pid, uid, start }
    : null;
}

interface Stream {
  close(): void;
}

function isStream(handle: unknown): handle is Stream {
  return typeof handle === "object" && handle !== null && typeof (handle as Partial<Stream>).close === "function";
}
