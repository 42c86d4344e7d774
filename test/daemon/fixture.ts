// A machine with a daemon for tests: its own program and state folder, real processes, real sockets.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Answer, RequestOptions } from "../../src/core/ports/daemon/exchange.ts";
import { connect, type SilenceLimits } from "../../src/daemon/rpc/client.ts";
import { makeDaemonFolder } from "../../src/daemon/rpc/folder.ts";
import { FrameCutter, jsonFrame } from "../../src/daemon/rpc/frame.ts";
import { controlResponseBytesMax, protocolVersion } from "../../src/daemon/rpc/limits.ts";
import { connectStarting, daemonFolder, type StartOptions } from "../../src/platform/daemon/daemon-start.ts";
import { stateOf } from "../../src/platform/daemon/process-identity.ts";
import { lastHolder } from "../../src/platform/daemon/state-lock.ts";
import { root } from "../e2e/ambit.ts";
import { pause } from "../house/pause.ts";
import { built, type Variant } from "../native/program.ts";

/** The echo daemon's answer to the requests of the real one. */
export interface Echo {
  ask(name: string, value: object, along?: RequestOptions): Promise<Answer<Record<string, unknown>>>;
  tell(name: string, value: object): boolean;
  close(): void;
}

export type Door = "call" | "control";

const OWN = join(".local", "state", "ambit");

/** The home folder whose default state folder this is. */
export function homeOf(state: string): string {
  return state.slice(0, -OWN.length - 1);
}

export class DaemonFixture {
  readonly #folder: string;
  readonly #started: ChildProcess[] = [];
  readonly #states: string[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(variant: Variant = "program"): Promise<DaemonFixture> {
    const folder = mkdtempSync(join(tmpdir(), "ambit-daemon-"));
    mkdirSync(join(folder, "native"));
    symlinkSync(built(variant), join(folder, "native", "ambit-native"));
    for (const entry of ["echo-daemon", "starter"])
      await build({
        absWorkingDir: root,
        entryPoints: [`test/daemon/${entry}.ts`],
        outfile: join(folder, `${entry}.cjs`),
        bundle: true,
        platform: "node",
        format: "cjs",
        target: "node20",
        logLevel: "error",
      });
    return new DaemonFixture(folder);
  }

  /** The default state folder, in its own home, at any depth. */
  state(...below: readonly string[]): string {
    const state = join(mkdtempSync(join(this.#folder, "home-")), ...below, OWN);
    mkdirSync(state, { recursive: true, mode: 0o700 });
    this.#states.push(state);
    return state;
  }

  /** The root folder of all files of these tests. */
  get folder(): string {
    return this.#folder;
  }

  program(name: string): string {
    return join(this.#folder, `${name}.cjs`);
  }

  asked(state: string, door: Door = "call", more: Partial<StartOptions<Echo>> = {}): StartOptions<Echo> {
    return {
      state,
      home: homeOf(state),
      bundle: this.program("echo-daemon"),
      native: join(this.#folder, "native", "ambit-native"),
      idleSeconds: 60,
      isByName: false,
      connect: (folder) => connect(door, { folder, version: "test" }) as Promise<Answer<Echo>>,
      makeFolder: makeDaemonFolder,
      ...more,
    };
  }

  start(state: string, door: Door = "call", more: Partial<StartOptions<Echo>> = {}): Promise<Answer<Echo>> {
    return connectStarting(this.asked(state, door, more));
  }

  /** Connects to a daemon that must start. */
  async started(state: string, door: Door = "call", more: Partial<StartOptions<Echo>> = {}): Promise<Echo> {
    return expectValue(await this.start(state, door, more));
  }

  connect(state: string, door: Door = "call", silence?: SilenceLimits): Promise<Answer<Echo>> {
    const options = { folder: daemonFolder(state), version: "test", ...(silence === undefined ? {} : { silence }) };
    return connect(door, options) as Promise<Answer<Echo>>;
  }

  /** A child process that is killed with this world. */
  spawn(words: readonly string[]): ChildProcess {
    return this.spawnWith(process.execPath, words);
  }

  spawnWith(program: string, words: readonly string[]): ChildProcess {
    const child = spawn(program, [...words], { stdio: ["pipe", "pipe", "inherit"] });
    this.#started.push(child);
    return child;
  }

  async remove(): Promise<void> {
    for (const child of this.#started) child.kill("SIGKILL");
    for (const state of this.#states) {
      const owner = ownerOf(state);
      if (owner !== null) process.kill(owner, "SIGKILL");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function expectValue<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
  return answer.value;
}

export async function ask(
  echo: Echo,
  name: string,
  value: object = {},
  along?: RequestOptions,
): Promise<Record<string, unknown>> {
  return expectValue(await echo.ask(name, value, along));
}

/** The process that owns the state now. */
export function ownerOf(state: string): number | null {
  const owner = lastHolder(join(daemonFolder(state), "owner.lock"));
  return owner !== null && stateOf(owner) === "running" ? owner.pid : null;
}

export function logOf(state: string): string {
  const file = join(daemonFolder(state), "daemon.log");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** A raw client that sends whatever a test wants. */
export class RawClient {
  readonly socket: Socket;
  readonly messages: Record<string, unknown>[] = [];
  readonly closed: Promise<void>;
  bytes = 0;
  isClosed = false;
  readonly #cutter: FrameCutter = new FrameCutter(controlResponseBytesMax);
  readonly #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Uint8Array) => {
      this.bytes += chunk.length;
      this.#cutter.take(Buffer.from(chunk), chunk.length, (frame) => {
        if (frame.kind === "json") this.messages.push(JSON.parse(frame.text ?? ""));
        return true;
      });
      for (const ring of this.#waiting.splice(0)) ring();
    });
    this.closed = new Promise<void>((done) => socket.once("close", () => done())).then(() => {
      this.isClosed = true;
      for (const ring of this.#waiting.splice(0)) ring();
    });
  }

  static async come(state: string, door: Door = "call"): Promise<RawClient> {
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const socket = connectSocket(join(daemonFolder(state), `${door}.sock`));
      const raw = new RawClient(socket);
      const isThere = await new Promise<boolean>((done) => {
        socket.once("connect", () => done(true));
        socket.once("close", () => done(false));
      });
      if (isThere) return raw;
      // With so many connections at once the kernel's backlog is full.
      await pause(10, "a backlog with room again reports no event");
    }
    throw new Error("no connection to the socket");
  }

  /** With the daemon's hello read and ours sent. */
  static async greeted(state: string, door: Door = "call"): Promise<RawClient> {
    const raw = await RawClient.come(state, door);
    raw.say({ hello: { protocol: protocolVersion, version: "raw" } });
    await raw.message();
    return raw;
  }

  say(message: object): void {
    this.socket.write(jsonFrame(JSON.stringify(message)));
  }

  /** The next message; nothing if the connection ends before it. */
  async message(): Promise<Record<string, unknown> | undefined> {
    while (this.messages.length === 0 && !this.isClosed) await new Promise<void>((done) => this.#waiting.push(done));
    return this.messages.shift();
  }
}
