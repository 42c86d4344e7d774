// A command is encoded completely or not at all.
import { describe, expect, test } from "vitest";
import {
  type CommandFrame,
  continueFrame,
  endFrame,
  inputEndFrame,
  inputFrames,
  resizeFrame,
  runFrame,
} from "./command.ts";
import { type Frame, FrameCutter, PayloadReader } from "./start/frame.ts";
import { at, encode, PLAN } from "./testing/plan.ts";

const COMMAND: CommandFrame = {
  argv: ["git", "log", ""],
  hasInput: true,
  terminal: null,
  directory: at("/home/u/work"),
  environment: [
    ["PATH", "/bin"],
    ["EMPTY", ""],
  ],
  limits: PLAN.limits,
};

function cut(bytes: Uint8Array | null): Frame {
  const [frame] = new FrameCutter().push(bytes ?? new Uint8Array(0)) ?? [];
  if (frame === undefined) throw new Error("no frame");
  return frame;
}

describe("a command", () => {
  test("parses back as it was given", () => {
    const frame = cut(runFrame(COMMAND, encode));
    const reader = new PayloadReader(frame.payload);
    const text = (): string => String.fromCharCode(...(reader.text() ?? []));
    const texts = (): string[] => Array.from({ length: reader.u32() ?? 0 }, text);
    expect(frame.kind).toBe("X");
    expect([reader.u32(), reader.u64(), reader.u8(), text()]).toEqual([120_000, 16_777_216n, 1, "/home/u/work"]);
    expect(texts()).toEqual(["git", "log", ""]);
    expect(texts()).toEqual(["PATH=/bin", "EMPTY="]);
    expect(reader.rest()).toHaveLength(0);
  });

  test("on a terminal has its size instead of an input", () => {
    const frame = runFrame({ ...COMMAND, terminal: { columns: 132, rows: 70_000 } }, encode);
    const reader = new PayloadReader(cut(frame).payload);
    const [, , input] = [reader.u32(), reader.u64(), reader.u8()];
    expect([input, ...reader.rest().subarray(0, 4)]).toEqual([2, 132, 0, 255, 255]);
    expect(cut(continueFrame())).toEqual({ kind: "C", payload: new Uint8Array(0) });
    expect(cut(resizeFrame({ columns: 80, rows: 24 }))).toEqual({ kind: "W", payload: Uint8Array.of(80, 0, 24, 0) });
  });

  test.each([
    { argv: ["git", "a\0b"] },
    { environment: [["A", "b\0c"]] },
    { directory: ["a\0b"] },
    { argv: ["echo", "x".repeat(1_048_576)] },
  ] as const)("that cannot be encoded is refused", (part) => {
    expect(runFrame({ ...COMMAND, ...part } as CommandFrame, encode)).toBeNull();
  });
});

test("no number wraps around: a long time is clamped, and an invalid count is our own mistake", () => {
  const limited = (limits: CommandFrame["limits"]): Uint8Array | null => runFrame({ ...COMMAND, limits }, encode);
  const reader = new PayloadReader(cut(limited({ wallMilliseconds: 2 ** 32, outputBytes: 1 })).payload);
  expect(reader.u32()).toBe(0xffffffff);
  for (const odd of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => limited({ wallMilliseconds: odd, outputBytes: 1 })).toThrow(RangeError);
    expect(() => limited({ wallMilliseconds: 1, outputBytes: odd })).toThrow(RangeError);
  }
});

describe("input", () => {
  test("is sent in chunks, in order, and nothing for no bytes", () => {
    const bytes = Uint8Array.from({ length: 150_000 }, (_, place) => place % 251);
    const pieces = inputFrames(bytes).map((frame) => cut(frame));
    expect(pieces.map(({ kind, payload }) => [kind, payload.length])).toEqual([
      ["I", 65_536],
      ["I", 65_536],
      ["I", 18_928],
    ]);
    expect(pieces.flatMap(({ payload }) => [...payload])).toEqual([...bytes]);
    expect(inputFrames(new Uint8Array(0))).toEqual([]);
  });

  test("and its end, and the command's, are separate frames", () => {
    expect(cut(inputEndFrame())).toEqual({ kind: "J", payload: new Uint8Array(0) });
    expect(cut(endFrame())).toEqual({ kind: "K", payload: new Uint8Array(0) });
  });
});
