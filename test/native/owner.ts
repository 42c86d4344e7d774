// The owner's side of the native program, for tests: starts it under the real bubblewrap and speaks its frames.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Frame, FrameCutter, frameOf, PayloadReader, PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";

const CONTROL = 3;
/** Paths inside the sandbox. */
export const PROJECT = "/project";
export const NODE = "/run/ambit/node";

export interface Start {
  /** The program to run as pid 1. */
  readonly program: string;
  /** Bound writable as the project. */
  readonly root?: string;
  /** The user that starts it; null is the user who runs the tests. */
  readonly user?: number | null;
  readonly network?: boolean;
  /** More arguments for bubblewrap, before the program. */
  readonly more?: readonly string[];
}

export interface Ending {
  readonly how: number;
  readonly value: number;
  readonly wall: bigint;
  readonly user: bigint;
  readonly system: bigint;
  readonly memory: bigint;
  readonly dropped: bigint;
  readonly leftovers: number;
  readonly clean: number;
}

export interface Outcome extends Ending {
  readonly output: string;
  readonly errors: string;
}

export interface Ready {
  readonly landlock: number;
  readonly seccomp: number;
  readonly network: number;
  readonly memfdHeld: number;
  /** Of the coarse clock, in nanoseconds; 0 without an overlay. */
  readonly start: bigint;
  readonly pins: readonly number[];
}

export interface Run {
  readonly argv: readonly string[];
  readonly directory?: string;
  readonly environment?: readonly string[];
  readonly milliseconds?: number;
  readonly outputBytes?: number;
  /** Sent at once, followed by the end of input. */
  readonly input?: string | null;
  /** Instead of pipes: a terminal of this size. */
  readonly terminal?: readonly [columns: number, rows: number];
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);

export class Owner {
  readonly child: ChildProcess;
  readonly control: Duplex;
  /** Standard error of the program or bubblewrap. */
  errors = "";
  readonly #cutter = new FrameCutter();
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame | null) => void)[] = [];
  #ended = false;

  constructor(child: ChildProcess) {
    this.child = child;
    this.control = child.stdio[CONTROL] as Duplex;
    this.control.on("data", (chunk: Uint8Array) => this.#push(chunk));
    this.control.on("error", () => undefined);
    this.control.on("close", () => this.#close());
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.errors += chunk;
    });
  }

  send(kind: string, payload: Uint8Array = new Uint8Array(0)): void {
    this.control.write(frameOf(kind, payload));
  }

  /** The next frame, or null if there will be none. */
  next(): Promise<Frame | null> {
    const frame = this.#frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The next frame, which must be of this kind. */
  async expect(kind: string): Promise<PayloadReader> {
    const frame = await this.next();
    if (frame === null) throw new Error(`no ${kind}: the program ended: ${this.errors}`);
    if (frame.kind !== kind) throw new Error(`not ${kind} but ${frame.kind}: ${Buffer.from(frame.payload)}`);
    return new PayloadReader(frame.payload);
  }

  async ready(): Promise<Ready> {
    const reader = await this.expect("R");
    const [landlock, seccomp, network, memfdHeld] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()] as number[];
    const start = reader.u64();
    const count = reader.u32();
    const pins = [...reader.rest()];
    if (count !== pins.length) throw new Error("pins are not what was counted");
    return { landlock, seccomp, network, memfdHeld, start, pins } as Ready;
  }

  async failure(): Promise<{ readonly errno: number; readonly stage: string }> {
    const reader = await this.expect("F");
    return { errno: reader.i32() as number, stage: Buffer.from(reader.text() as Uint8Array).toString() };
  }

  begin(run: Run): void {
    this.send("X", commandPayload(run));
    if (run.input === undefined || run.input === null) return;
    const input = bytes(run.input);
    for (let at = 0; at < input.length; at += 65_536) this.send("I", input.subarray(at, at + 65_536));
    this.send("J");
  }

  async run(run: Run): Promise<Outcome> {
    this.begin(run);
    return this.done();
  }

  /** Everything up to and including the next `D`. */
  async done(): Promise<Outcome> {
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    for (;;) {
      const frame = await this.next();
      if (frame === null) throw new Error(`the program ended: ${this.errors}`);
      if (frame.kind === "O") output.push(Buffer.from(frame.payload));
      else if (frame.kind === "E") errors.push(Buffer.from(frame.payload));
      else if (frame.kind === "D")
        return {
          ...endingOf(frame.payload),
          output: Buffer.concat(output).toString("latin1"),
          errors: Buffer.concat(errors).toString("latin1"),
        };
      else throw new Error(`unexpected ${frame.kind}: ${Buffer.from(frame.payload)}`);
    }
  }

  /** Closes the control socket and waits for the exit status of bubblewrap, which is the program's. */
  async end(): Promise<number | null> {
    this.control.destroy();
    return this.exit();
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }

  #push(chunk: Uint8Array): void {
    const frames = this.#cutter.push(new Uint8Array(chunk));
    if (frames === null) throw new Error("the program speaks another protocol");
    for (const frame of frames) {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#frames.push(frame);
      else waiting(frame);
    }
  }

  #close(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting(null);
  }
}

export function commandPayload(run: Run): Uint8Array {
  const payload = new PayloadWriter()
    .u32(run.milliseconds ?? 60_000)
    .u64(BigInt(run.outputBytes ?? 16_777_216))
    .u8(run.terminal === undefined ? (run.input === undefined ? 0 : 1) : 2);
  for (const number of run.terminal ?? []) payload.u16(number);
  payload.text(bytes(run.directory ?? "/"));
  for (const list of [run.argv, run.environment ?? ["PATH=/usr/bin:/bin"]]) {
    payload.u32(list.length);
    for (const word of list) payload.text(bytes(word));
  }
  return payload.done();
}

function endingOf(payload: Uint8Array): Ending {
  const reader = new PayloadReader(payload);
  const ending = {
    how: reader.u8(),
    value: reader.i32(),
    wall: reader.u64(),
    user: reader.u64(),
    system: reader.u64(),
    memory: reader.u64(),
    dropped: reader.u64(),
    leftovers: reader.u32(),
    clean: reader.u8(),
  };
  if (ending.clean === null || reader.rest().length > 0) throw new Error("not an ending");
  return ending as Ending;
}

export function bubblewrapArguments({ program, root, network = false, more = [] }: Start): string[] {
  const devices = ["null", "zero", "full", "random", "urandom"].flatMap((name) => {
    const path = `/dev/${name}`;
    return ["--dev-bind", path, path];
  });
  return [
    ...["--unshare-all", "--as-pid-1", "--new-session", "--die-with-parent", "--clearenv"],
    ...["SYS_ADMIN", "DAC_OVERRIDE", "NET_ADMIN", "NET_BIND_SERVICE", "SETPCAP"].flatMap((name) => [
      "--cap-add",
      `CAP_${name}`,
    ]),
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"],
    ...["--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin"],
    ...["--tmpfs", "/dev", ...devices, "--proc", "/proc"],
    ...["--perms", "0700", "--size", "67108864", "--tmpfs", "/tmp"],
    ...(root === undefined ? [] : ["--bind", root, PROJECT]),
    ...["--ro-bind", program, "/run/ambit/ambit-native", "--ro-bind", process.execPath, NODE, ...more, "--chdir", "/"],
    ...["--", "/run/ambit/ambit-native", "sandbox", String(CONTROL), network ? "4" : "-"],
  ];
}

/** The private folder that is emptied, and one inside it. */
export function sendTemporary(owner: Owner): void {
  for (const path of ["/tmp", "/tmp/home"])
    owner.send("D", new PayloadWriter().u32(67_108_864).text(bytes(path)).done());
}

/** Set up with the private folders and nothing else. */
export async function startReady(asked: Start): Promise<Owner> {
  const { owner } = await start(asked);
  sendTemporary(owner);
  owner.send("G");
  await owner.ready();
  return owner;
}

/** Started, with the hello read. */
export async function start(asked: Start): Promise<{ readonly owner: Owner; readonly landlockAbi: number }> {
  const user = asked.user ?? null;
  const as = user === null ? [] : ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups", "--"];
  const [program, ...rest] = [...as, "bwrap", ...bubblewrapArguments(asked)] as [string, ...string[]];
  const stdio: ("ignore" | "pipe" | "ipc")[] = ["ignore", "ignore", "pipe", "pipe"];
  if (asked.network === true) stdio.push("ipc");
  const owner = new Owner(spawn(program, rest, { stdio }));
  const hello = await owner.expect("h");
  if (hello.u32() !== 1) throw new Error("another protocol");
  return { owner, landlockAbi: hello.u32() as number };
}

const FILTER = fileURLToPath(new URL("../supervised/container-filter.py", import.meta.url));

/** Without namespaces, behind a filter like a container engine's, and with a network; the hello is read. */
export async function startSupervised({
  program,
  user = null,
}: Pick<Start, "program" | "user">): Promise<{ readonly owner: Owner; readonly landlockAbi: number }> {
  const as = user === null ? [] : ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups", "--"];
  // The parent of the guard is of the same account, as a daemon is: the guard tries whether its signals reach it.
  const parent = ["/bin/sh", "-c", '"$@"; exit $?', "sh"];
  const [command = "", ...words] = [
    ...[...as, "/usr/bin/python3", FILTER, ...parent],
    ...[program, "supervised", String(CONTROL), "4"],
  ];
  const owner = new Owner(spawn(command, words, { stdio: ["ignore", "ignore", "pipe", "pipe", "ipc"] }));
  const hello = await owner.expect("h");
  if (hello.u32() !== 1) throw new Error("another protocol");
  return { owner, landlockAbi: hello.u32() as number };
}
