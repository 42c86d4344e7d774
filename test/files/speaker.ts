// Talks to the worker without its owner: raw frames in both directions, for messages the owner would never send.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { type Frame, FrameCutter, frameOf, PayloadReader, PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { nativeProgram } from "./native.ts";

export class Speaker {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #frames: Frame[] = [];
  readonly #ended: Promise<number | null>;
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor() {
    this.#child = spawn(nativeProgram, ["files", "3"], { stdio: ["ignore", "ignore", "ignore", "pipe"], env: {} });
    this.#socket = this.#child.stdio[3] as Socket;
    const cutter = new FrameCutter();
    this.#socket.on("data", (chunk: Buffer) => {
      this.#frames.push(...(cutter.push(chunk) ?? []));
      this.#wake?.();
    });
    this.#socket.on("error", () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.on("close", (status) => {
        this.#isOver = true;
        this.#wake?.();
        resolve(status);
      });
    });
  }

  get processId(): number {
    return this.#child.pid as number;
  }

  say(kind: string, payload: Uint8Array = new Uint8Array(0)): this {
    this.#socket.write(frameOf(kind, payload));
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#socket.write(bytes);
    return this;
  }

  tree(path: string, mode: number): this {
    return this.say("T", new PayloadWriter().u8(mode).text(Buffer.from(path)).done());
  }

  ask(kind: string, number: number, tree: number, path: string, rest: Uint8Array = new Uint8Array(0)): this {
    return this.say(kind, new PayloadWriter().u32(number).u32(tree).text(Buffer.from(path)).bytes(rest).done());
  }

  /** Null if the program exited without another frame. */
  async hear(): Promise<Frame | null> {
    while (this.#frames.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#frames.shift() ?? null;
  }

  /** Number and status of a response, and the errno of a refusal. */
  async answer(): Promise<readonly (number | null)[]> {
    const frame = await this.hear();
    if (frame?.kind !== "A") throw new Error(`no response: ${frame === null ? "the end" : frame.kind}`);
    const reader = new PayloadReader(frame.payload);
    const [number, status] = [reader.u32(), reader.u8()];
    return status === 1 ? [number, status, reader.u32()] : [number, status];
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }

  hangUp(): Promise<number | null> {
    this.#socket.destroy();
    return this.#ended;
  }
}

export function readRest(offset = 0n, bytesMax = 100): Uint8Array {
  return new PayloadWriter().u64(offset).u32(bytesMax).u8(0).done();
}
