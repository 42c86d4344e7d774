// Parses the native program's answers to the last byte. Null is a malformed answer, which closes the connection.
import type { Ending, Usage } from "../../../core/ports/process.ts";
import { type Frame, PayloadReader } from "./frame.ts";

/** The result of a pin, in the order in which the pins were sent. */
export type PinOutcome = "absent" | "held";

export interface Ready {
  readonly landlock: boolean;
  readonly seccomp: boolean;
  readonly network: "none" | "ports" | "transparent";
  readonly memfdHeld: boolean;
  /**
   * CLOCK_REALTIME_COARSE before the root's overlay was mounted, in nanoseconds since 1970; null without an overlay.
   */
  readonly startNanoseconds: bigint | null;
  readonly pins: readonly PinOutcome[];
}

export interface DoneAnswer {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly outputDropped: number;
  readonly leftovers: number;
  /** False: the temporary folders could not be emptied, and the sandbox ends. */
  readonly clean: boolean;
}

export type Answer =
  | { readonly kind: "hello"; readonly landlock: number; readonly connects: boolean }
  | { readonly kind: "ready"; readonly ready: Ready }
  | { readonly kind: "failed"; readonly errno: number; readonly stage: string }
  | { readonly kind: "output"; readonly bytes: Uint8Array }
  | { readonly kind: "errors"; readonly bytes: Uint8Array }
  /** The command on a terminal stopped, and waits to be continued. */
  | { readonly kind: "halted" }
  | { readonly kind: "done"; readonly done: DoneAnswer };

export const PROTOCOL = 1;
const outputBytesMax = 65_536;

export function readAnswer({ kind, payload }: Frame): Answer | null {
  const reader = new PayloadReader(payload);
  switch (kind) {
    case "h":
      return whole(reader, readHello(reader));
    case "R":
      return whole(reader, readReady(reader));
    case "F":
      return whole(reader, readFailed(reader));
    case "Z":
      return whole(reader, { kind: "halted" });
    case "D":
      return whole(reader, readDone(reader));
    case "O":
    case "E":
      if (payload.length > outputBytesMax) return null;
      return { kind: kind === "O" ? "output" : "errors", bytes: payload };
    default:
      return null;
  }
}

function whole<T>(reader: PayloadReader, value: T | null): T | null {
  return reader.rest().length === 0 ? value : null;
}

const landlockVersionMax = 1_000;

function readHello(reader: PayloadReader): Answer | null {
  const [protocol, landlock] = [reader.u32(), reader.u32()];
  const connects = flag(reader);
  if (protocol !== PROTOCOL || landlock === null || landlock > landlockVersionMax || connects === null) return null;
  return { kind: "hello", landlock, connects };
}

const NETWORKS = ["none", "ports", "transparent"] as const;
const PINS: readonly PinOutcome[] = ["absent", "held"];

function readReady(reader: PayloadReader): Answer | null {
  const [landlock, seccomp] = [flag(reader), flag(reader)];
  const network = NETWORKS[reader.u8() ?? -1];
  const [memfdHeld, start, count] = [flag(reader), reader.u64(), reader.u32()];
  if (landlock === null || seccomp === null || network === undefined || memfdHeld === null) return null;
  if (start === null || count === null) return null;
  const bytes = reader.rest();
  if (bytes.length !== count) return null;
  const pins: PinOutcome[] = [];
  for (const byte of bytes) {
    const pin = PINS[byte];
    if (pin === undefined) return null;
    pins.push(pin);
  }
  const startNanoseconds = start === 0n ? null : start;
  return { kind: "ready", ready: { landlock, seccomp, network, memfdHeld, startNanoseconds, pins } };
}

function flag(reader: PayloadReader): boolean | null {
  const value = reader.u8();
  return value === 0 ? false : value === 1 ? true : null;
}

function readFailed(reader: PayloadReader): Answer | null {
  const [errno, stage] = [reader.i32(), plainText(reader.text())];
  return errno === null || stage === null ? null : { kind: "failed", errno, stage };
}

/** Stages are fixed words. */
function plainText(bytes: Uint8Array | null): string | null {
  if (bytes === null || bytes.some((byte) => byte < 0x20 || byte > 0x7e)) return null;
  return String.fromCharCode(...bytes.subarray(0, stageBytesMax));
}

const stageBytesMax = 256;

function readDone(reader: PayloadReader): Answer | null {
  const ending = endingOf(reader.u8(), reader.i32());
  const numbers = Array.from({ length: 5 }, () => count64(reader));
  const [leftovers, clean] = [reader.u32(), flag(reader)];
  const [wall, user, system, memory, dropped] = numbers;
  if (ending === null || leftovers === null || clean === null) return null;
  if (wall == null || user == null || system == null || memory == null || dropped == null) return null;
  const usage: Usage = {
    wallMicroseconds: wall,
    userMicroseconds: user,
    systemMicroseconds: system,
    memoryKibibytes: memory,
  };
  return { kind: "done", done: { ending, usage, outputDropped: dropped, leftovers, clean } };
}

/** A count that a number represents exactly. */
function count64(reader: PayloadReader): number | null {
  const value = reader.u64();
  return value === null || value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(value);
}

function endingOf(how: number | null, value: number | null): Ending | null {
  if (value === null) return null;
  switch (how) {
    case 0:
      return value >= 0 && value <= 255 ? { kind: "exited", status: value } : null;
    case 1:
      return value >= 1 && value <= 64 ? { kind: "signalled", signal: value } : null;
    case 2:
      return { kind: "ended", because: "time" };
    case 3:
      return { kind: "ended", because: "output" };
    case 4:
      return { kind: "ended", because: "stopped" };
    case 5:
      return {
        kind: "unstarted",
        reason: UNSTARTED[value] ?? `errno ${value}`,
        ...(value === missingProgram ? { isMissing: true } : {}),
      };
    default:
      return null;
  }
}

const missingProgram = 2;

/** Why the command did not start, for errnos with a plain meaning. */
const UNSTARTED: Readonly<Record<number, string>> = {
  2: "no such program on the sandbox's PATH",
  7: "more arguments than the kernel allows",
  8: "neither a program for this machine nor a script that begins with #!",
  11: "the limit on processes is reached",
  12: "not enough memory to run it",
  13: "it may not be executed: it is a folder, or a file without `chmod +x`",
  20: "a part of its path is not a folder",
};
