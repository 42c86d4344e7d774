// Answers are parsed to the last byte; malformed ones are null, and no input makes the parser throw.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encode } from "../testing/plan.ts";
import { readAnswer } from "./answers.ts";
import { PayloadWriter } from "./frame.ts";

const payload = (write: (writer: PayloadWriter) => PayloadWriter): Uint8Array => write(new PayloadWriter()).done();

const HELLO = payload((to) => to.u32(1).u32(7).u8(1));
const READY = payload((to) => to.u8(1).u8(1).u8(2).u8(1).u64(9n).u32(2).u8(0).u8(1));
const FAILED = payload((to) => to.u32(0xffffffff).text(encode("pin .git")));

function done(how: number, value: number, clean = 1): Uint8Array {
  return payload((to) => to.u8(how).u32(value).u64(5n).u64(4n).u64(3n).u64(2n).u64(1n).u32(6).u8(clean));
}

describe("valid answers", () => {
  test("hello", () =>
    expect(readAnswer({ kind: "h", payload: HELLO })).toEqual({ kind: "hello", landlock: 7, connects: true }));

  test("ready", () =>
    expect(readAnswer({ kind: "R", payload: READY })).toEqual({
      kind: "ready",
      ready: {
        landlock: true,
        seccomp: true,
        network: "transparent",
        memfdHeld: true,
        startNanoseconds: 9n,
        pins: ["absent", "held"],
      },
    }));

  test("stopped, which has no payload", () => {
    expect(readAnswer({ kind: "Z", payload: new Uint8Array(0) })).toEqual({ kind: "halted" });
    expect(readAnswer({ kind: "Z", payload: Uint8Array.of(0) })).toBeNull();
  });

  test("failed", () =>
    expect(readAnswer({ kind: "F", payload: FAILED })).toEqual({ kind: "failed", errno: -1, stage: "pin .git" }));

  test("output and errors, as they arrive", () => {
    const bytes = Uint8Array.of(0, 255, 10);
    expect(readAnswer({ kind: "O", payload: bytes })).toEqual({ kind: "output", bytes });
    expect(readAnswer({ kind: "E", payload: bytes })).toEqual({ kind: "errors", bytes });
  });

  test.each([
    [0, 3, { kind: "exited", status: 3 }],
    [1, 9, { kind: "signalled", signal: 9 }],
    [2, 0, { kind: "ended", because: "time" }],
    [3, 0, { kind: "ended", because: "output" }],
    [4, 0, { kind: "ended", because: "stopped" }],
    [5, 2, { kind: "unstarted", reason: "no such program on the sandbox's PATH", isMissing: true }],
    [5, 99, { kind: "unstarted", reason: "errno 99" }],
  ])("done: %i, %i", (how, value, ending) => {
    expect(readAnswer({ kind: "D", payload: done(how, value) })).toEqual({
      kind: "done",
      done: {
        ending,
        usage: { wallMicroseconds: 5, userMicroseconds: 4, systemMicroseconds: 3, memoryKibibytes: 2 },
        outputDropped: 1,
        leftovers: 6,
        clean: true,
      },
    });
  });
});

describe("malformed answers", () => {
  test.each([
    ["another protocol", "h", payload((to) => to.u32(2).u32(7).u8(1))],
    ["an unknown Landlock version", "h", payload((to) => to.u32(1).u32(1_001).u8(1))],
    ["an invalid flag of hello", "h", payload((to) => to.u32(1).u32(7).u8(2))],
    ["an invalid flag", "R", payload((to) => to.u8(2).u8(1).u8(0).u8(1).u32(0))],
    ["an unknown kind of network", "R", payload((to) => to.u8(1).u8(1).u8(3).u8(1).u32(0))],
    ["a pin too few", "R", payload((to) => to.u8(1).u8(1).u8(0).u8(1).u32(2).u8(1))],
    ["a pin too many", "R", payload((to) => to.u8(1).u8(1).u8(0).u8(1).u32(0).u8(1))],
    ["an unknown result of a pin", "R", payload((to) => to.u8(1).u8(1).u8(0).u8(1).u32(1).u8(4))],
    ["a stage with a control character", "F", payload((to) => to.u32(1).text(encode("a\nb")))],
    ["a stage without an end", "F", payload((to) => to.u32(1).bytes(encode("ab")))],
    ["an unknown kind of end", "D", done(6, 0)],
    ["an impossible status", "D", done(0, 256)],
    ["an unknown signal", "D", done(1, 65)],
    ["neither clean nor not", "D", done(0, 0, 2)],
    [
      "a count that overflows",
      "D",
      payload((to) =>
        to
          .u8(0)
          .u32(0)
          .u64(1n << 60n)
          .u64(0n)
          .u64(0n)
          .u64(0n)
          .u64(0n)
          .u32(0)
          .u8(1),
      ),
    ],
    ["too much output at once", "O", new Uint8Array(65_537)],
    ["another kind", "x", new Uint8Array(0)],
    ["a frame of the owner", "X", new Uint8Array(0)],
  ])("%s", (_, kind, bytes) => expect(readAnswer({ kind, payload: bytes })).toBeNull());

  test.each([
    ["h", HELLO],
    ["R", READY],
    ["F", FAILED],
    ["D", done(0, 0)],
  ])("%s with one more byte or missing bytes", (kind, bytes) => {
    expect(readAnswer({ kind, payload: bytes })).not.toBeNull();
    expect(readAnswer({ kind, payload: Uint8Array.of(...bytes, 0) })).toBeNull();
    for (let length = 0; length < bytes.length; length++)
      expect(readAnswer({ kind, payload: bytes.subarray(0, length) })).toBeNull();
  });

  test("never make the parser throw", () => {
    fc.assert(
      fc.property(fc.constantFrom(..."hRFDOEx"), fc.uint8Array({ maxLength: 80 }), (kind, bytes) => {
        readAnswer({ kind, payload: bytes });
      }),
      { numRuns: 2_000 },
    );
  });
});
