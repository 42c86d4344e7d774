// Answers of the lander, parsed to the last byte: every cut and every byte too many is refused.
import { expect, test } from "vitest";
import { PayloadWriter } from "../start/frame.ts";
import { readLandAnswer, readLandings, readNumbers, readScanEnd, readScanPart, shownText } from "./land-answer.ts";

const encode = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const decode = (bytes: Uint8Array): string | null =>
  bytes.some((byte) => byte > 0x7f) ? null : String.fromCharCode(...bytes);

function base(writer: PayloadWriter): PayloadWriter {
  writer.u8(0).u64(1n).u64(2n).u64(3n).u64(4n).u64(5n);
  return writer.u32(0o644).u32(6).u32(7).u64(1n);
}

const PART = base(
  base(new PayloadWriter().u32(9).u8(0).text(encode("a/b")).u64(12n).u8(1))
    .u8(1)
    .text(encode("n"))
    .u8(0xff)
    .u8(2)
    .text(encode("l"))
    .text(encode("../x"))
    .u8(0xff)
    .u8(4)
    .text(Uint8Array.of(0x61, 0xff))
    .u8(0)
    .u8(3)
    .text(encode("old")),
).done();

test("a part of a scan", () => {
  const stamp = {
    kind: "file",
    device: 1n,
    inode: 2n,
    bytes: 3n,
    modifiedNanoseconds: 4n,
    changedNanoseconds: 5n,
    mode: 0o644,
    links: 1n,
  };
  expect(readScanPart(PART, decode)).toEqual({
    changes: [
      { kind: "file", path: ["a", "b"], bytes: 12, isExecutable: true, base: stamp },
      { kind: "folder", path: ["n"], base: null },
      { kind: "link", path: ["l"], target: "../x", base: null },
      { kind: "delete", path: ["old"], base: stamp },
    ],
    unlandable: [{ path: "a\\xff", reason: "name_not_text" }],
  });
});

test("a part truncated anywhere but between entries does not parse", () => {
  const whole = readScanPart(PART, decode)?.changes.length ?? 0;
  let parsed = 0;
  for (let length = 4; length < PART.length; length++) {
    const part = readScanPart(PART.subarray(0, length), decode);
    if (part === null) continue;
    parsed++;
    expect(part.changes.length).toBeLessThan(whole);
  }
  // After the header and after each entry but the last.
  expect(parsed).toBe(5);
});

test.each([
  ["an unknown kind", new PayloadWriter().u32(1).u8(5).text(encode("a")).u8(0xff)],
  ["an unknown reason", new PayloadWriter().u32(1).u8(4).text(encode("a")).u8(5)],
  ["an empty path", new PayloadWriter().u32(1).u8(1).text(encode("")).u8(0xff)],
  ["an absolute path", new PayloadWriter().u32(1).u8(1).text(encode("/a")).u8(0xff)],
  ["a deletion of a missing name", new PayloadWriter().u32(1).u8(3).text(encode("a")).u8(0xff)],
  ["an unknown kind of base", new PayloadWriter().u32(1).u8(1).text(encode("a")).u8(4)],
])("%s does not parse", (_title, writer) => {
  expect(readScanPart(writer.done(), decode)).toBeNull();
});

test("conflicts, with the number of those that did not fit", () => {
  const list = new PayloadWriter().u8(1).u32(0).text(encode("a")).u8(7).u32(28).text(encode("b/c")).done();
  const payload = new PayloadWriter().u32(1).u8(3).u32(4).u32(9).u32(list.length).bytes(list).u32(0).u32(0).done();
  expect(readLandAnswer(payload, decode)).toEqual({
    status: "stuck",
    landing: 4,
    conflicts: {
      total: 9,
      listed: [
        { path: "a", reason: "changed", errno: 0 },
        { path: "b/c", reason: "system_error", errno: 28 },
      ],
    },
    stuck: { total: 0, listed: [] },
  });
  for (let length = 5; length < payload.length; length++) {
    expect(readLandAnswer(payload.subarray(0, length), decode)).toBeNull();
  }
  const status = Uint8Array.from(payload);
  status[4] = 4;
  expect(readLandAnswer(status, decode)).toBeNull();
});

test("ends of scans, landings and numbers", () => {
  const end = new PayloadWriter().u32(2).u32(1).text(encode("user.overlay.x on a")).done();
  expect(readScanEnd(end, decode)).toEqual({ changes: 2, unlandable: 1, alarm: "user.overlay.x on a" });
  expect(readScanEnd(end.subarray(0, end.length - 1), decode)).toBeNull();
  expect(readLandings(new PayloadWriter().u32(1).u8(0x44).u32(2).u8(0x45).done())).toEqual([
    { number: 1, state: "done" },
    { number: 2, state: "undone" },
  ]);
  expect(readLandings(new PayloadWriter().u32(1).u8(0x49).done())).toBeNull();
  expect(readNumbers(new PayloadWriter().u32(1).u32(2).done(), 2)).toEqual([1, 2]);
  expect(readNumbers(new PayloadWriter().u32(1).u32(2).done(), 1)).toBeNull();
  expect(shownText(Uint8Array.of(0x5c, 0x41, 0x0a, 0xfe), decode)).toBe("\\x5cA\\x0a\\xfe");
});
