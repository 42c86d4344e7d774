// Encodes one command for a ready sandbox as frames: what to run, its input, and the stop.

import type { TerminalSize } from "../../core/ports/process.ts";
import type { Limits, Plan, PlanPath } from "./plan.ts";
import { frameOf, framePayloadBytesMax, PayloadWriter } from "./start/frame.ts";
import { count, type Encode } from "./start/setup.ts";

export interface CommandFrame {
  readonly argv: readonly [string, ...string[]];
  /** Whether standard input follows. */
  readonly hasInput: boolean;
  /** Null: three pipes. Otherwise its size, and the input is what is typed. */
  readonly terminal: TerminalSize | null;
  readonly directory: PlanPath;
  readonly environment: Plan["environment"];
  readonly limits: Pick<Limits, "wallMilliseconds" | "outputBytes">;
}

/**
 * Null for what cannot be encoded: a zero byte in an argument, or more arguments than a frame takes. Nothing is
 * truncated.
 */
export function runFrame(command: CommandFrame, encode: Encode): Uint8Array | null {
  const words = [...command.argv];
  const environment = command.environment.map(([name, value]) => `${name}=${value}`);
  if ([...words, ...environment, ...command.directory].some((text) => text.includes("\0"))) return null;
  const { wallMilliseconds, outputBytes } = command.limits;
  const payload = new PayloadWriter()
    .u32(Math.min(count(wallMilliseconds), millisecondsMax))
    .u64(BigInt(count(outputBytes)))
    .u8(command.terminal === null ? (command.hasInput ? INPUT.pipe : INPUT.none) : INPUT.terminal);
  if (command.terminal !== null) addSize(payload, command.terminal);
  payload.text(encode(`/${command.directory.join("/")}`));
  for (const list of [words, environment]) {
    payload.u32(list.length);
    for (const text of list) payload.text(encode(text));
  }
  const bytes = payload.done();
  return bytes.length > framePayloadBytesMax ? null : frameOf("X", bytes);
}

const INPUT = { none: 0, pipe: 1, terminal: 2 } as const;
const millisecondsMax = 0xffffffff;
const sizeMax = 0xffff;

/** INVARIANT: no number wraps around in a frame. */
function addSize(payload: PayloadWriter, { columns, rows }: TerminalSize): PayloadWriter {
  return payload.u16(Math.min(count(columns), sizeMax)).u16(Math.min(count(rows), sizeMax));
}

export function resizeFrame(size: TerminalSize): Uint8Array {
  return frameOf("W", addSize(new PayloadWriter(), size).done());
}

export function continueFrame(): Uint8Array {
  return frameOf("C", new Uint8Array(0));
}

const inputBytesMax = 65_536;

export function inputFrames(bytes: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += inputBytesMax)
    frames.push(frameOf("I", bytes.subarray(at, at + inputBytesMax)));
  return frames;
}

export function inputEndFrame(): Uint8Array {
  return frameOf("J", new Uint8Array(0));
}

export function endFrame(): Uint8Array {
  return frameOf("K", new Uint8Array(0));
}
