// One broker process, from the daemon's side: started with an empty environment, controlled over Node's IPC channel,
// never restarted.
import { type ChildProcess, type SendHandle, spawn } from "node:child_process";
import { type BrokerMessage, type MessageToBroker, readBrokerMessage } from "./messages.ts";
import { type Handle, isHandle } from "./sockets.ts";

const memoryMebibytes = 256;
const lastWordsCharactersMax = 2048;
const stopMilliseconds = 5_000;

export interface ProcessEvents {
  message(message: BrokerMessage): void;
  /** Called once; no message follows. */
  over(lastWords: string): void;
}

export class BrokerProcess {
  readonly #child: ChildProcess;
  readonly #over: Promise<void>;
  #isOver = false;
  #lastWords = "";

  constructor(bundle: string, events: ProcessEvents) {
    this.#child = spawn(process.execPath, [`--max-old-space-size=${memoryMebibytes}`, bundle], {
      env: {},
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      serialization: "json",
    });
    this.#child.stderr?.on("data", (bytes: Buffer) => {
      this.#lastWords = (this.#lastWords + bytes.toString("utf8")).slice(-lastWordsCharactersMax);
    });
    this.#child.on("message", (value, handle: unknown) => {
      // Its output is not used.
      if (isHandle(handle)) handle.close();
      const message = readBrokerMessage(value);
      if (message === null) this.#child.kill("SIGKILL");
      else if (!this.#isOver) events.message(message);
    });
    this.#over = new Promise((done) => {
      const end = (): void => {
        if (this.#isOver) return;
        this.#isOver = true;
        // It exits when its channel closes; otherwise it is killed.
        if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
        events.over(this.#lastWords);
        done();
      };
      this.#child.once("exit", end);
      this.#child.once("disconnect", end);
      this.#child.once("error", end);
    });
    this.ref(false);
  }

  get pid(): number | null {
    return this.#isOver ? null : (this.#child.pid ?? null);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it keeps the daemon's process alive. */
  ref(isWaited: boolean): void {
    const word = isWaited ? "ref" : "unref";
    this.#child[word]();
    this.#child.channel?.[word]();
    const errors = this.#child.stderr as unknown as { ref(): void; unref(): void } | null;
    errors?.[word]();
  }

  send(message: MessageToBroker): void {
    if (!this.#isOver) this.#child.send(message, () => undefined);
  }

  /** Our own copy is closed, sent or not. */
  give(message: MessageToBroker, handle: Handle): void {
    if (this.#isOver) {
      handle.close();
      return;
    }
    this.#child.send(message, handle as unknown as SendHandle, {}, () => handle.close());
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.ref(true);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), stopMilliseconds);
    if (this.#child.connected) this.#child.disconnect();
    await this.#over;
    clearTimeout(timer);
  }
}
