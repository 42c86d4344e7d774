// Bytes to lines: limits, pieces, and reused buffers.
import { describe, expect, test } from "vitest";
import { type Line, LineReader } from "./line-reader.ts";

const lineBytesMax = 2_097_152;

describe("lines", () => {
  const cut = (chunks: readonly (string | Buffer)[]): readonly string[] => {
    const reader = new LineReader(lineBytesMax);
    const lines: Line[] = [];
    for (const chunk of chunks) reader.push(Buffer.from(chunk), (line) => lines.push(line) > 0);
    const rest = reader.rest();
    return [...lines, ...(rest === null ? [] : [rest])].map((one) =>
      one.kind === "line" ? one.text : `long ${one.head.length} ${one.tail.length}`,
    );
  };

  test.each<[string, readonly (string | Buffer)[], readonly string[]]>([
    ["one chunk, many lines", ["a\nb\n\nc\n"], ["a", "b", "", "c"]],
    ["one line, many chunks", ["a", "b", "c\nd"], ["abc", "d"]],
    ["a character split in two", [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a])], ["ä"]],
    ["as long as allowed", [`${"x".repeat(lineBytesMax)}\ny\n`], ["x".repeat(lineBytesMax), "y"]],
    ["one byte longer", [`${"x".repeat(lineBytesMax + 1)}\ny\n`], ["long 256 256", "y"]],
    [
      "much longer, in chunks",
      [...Array.from({ length: 40 }, () => "x".repeat(100_000)), "z\ny\n"],
      ["long 256 256", "y"],
    ],
  ])("%s", (_, chunks, lines) => expect(cut(chunks)).toEqual(lines));

  test("a line in chunks is complete although the input reuses its buffer", () => {
    const reader = new LineReader(lineBytesMax);
    const lines: Line[] = [];
    const bytes = Buffer.alloc(4);
    for (const piece of ["ab", "cd", "e\nf", "\n"]) {
      const length = bytes.write(piece);
      reader.push(bytes.subarray(0, length), (line) => lines.push(line) > 0);
    }
    expect(lines.map((line) => (line.kind === "line" ? line.text : line.kind))).toEqual(["abcde", "f"]);
  });

  test("no line is passed on after the callback returns false", () => {
    const reader = new LineReader(lineBytesMax);
    const lines: Line[] = [];
    reader.push(Buffer.from("a\nb\nc"), (line) => lines.push(line) > 1);
    expect(lines).toHaveLength(1);
  });
});
