import { describe, expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { deniedResult, doneResult } from "./call-result.ts";
import { type ShapedResult, shapedResult, shapeFor } from "./client-shape.ts";

const ENFORCEMENT = [{ axis: "path", strength: "kernel" }];

function shown(
  client: string,
  result: Json,
  tool = "fs_read",
  input: Readonly<Record<string, Json>> = {},
): ShapedResult {
  return shapedResult(doneResult(result, ENFORCEMENT), shapeFor(client), { tool, input });
}

function textOf({ content }: ShapedResult): string {
  expect(content).toHaveLength(1);
  return String(content[0]?.["text"] ?? "");
}

describe("a client that shows data in place of the text", () => {
  test.each(["claude-code", "codex-mcp-client", "Codex"])("%s gets the text alone, and the data aside", (client) => {
    const result = shown(client, { text: 'a "quoted" line\nand one more\n', more: false });
    expect(textOf(result)).toBe('a "quoted" line\nand one more\n\n[more: false]');
    expect(result.structuredContent).toBeUndefined();
    expect(result._meta).toEqual({
      "ambit/result": { enforcement: ENFORCEMENT, text: 'a "quoted" line\nand one more\n', more: false },
    });
  });

  test.each<[Json, string]>([
    ["plain", "plain"],
    [{ text: ["a", "b"], more: false }, "text:\n- a\n- b\nmore: false"],
    [{ key: "a", value: "one\ntwo" }, "key: a\nvalue:\none\ntwo"],
    [
      {
        entries: [
          { name: "a.ts", size: 3 },
          { name: "b", size: 4 },
        ],
        more: false,
      },
      "entries:\n- name: a.ts, size: 3\n- name: b, size: 4\nmore: false",
    ],
    [{ names: ["a", "b"], none: [] }, "names:\n- a\n- b\nnone: []"],
    [{}, "{}"],
    [{ stdout: "out\n", stderr: "", ending: { kind: "exited", status: 2 } }, "out\n[exit status 2]"],
  ])("reads %j as plain text", (result, text) => {
    expect(textOf(shown("claude-code", result, "memory_get"))).toBe(text);
  });

  test("reads a denial with the word denied", () => {
    const denial = {
      outcome: "denied",
      code: "scope_violation",
      need: "fs.read /a",
      hint: "Ask.",
      id: "c_1",
      approval: null,
      reason: null,
    } as const;
    const result = shapedResult(deniedResult("fs_read", denial), shapeFor("codex-mcp-client"), {
      tool: "fs_read",
      input: {},
    });
    expect(textOf(result)).toMatch(/^denied: fs\.read \/a \(scope_violation\)/);
    expect(result.isError).toBe(true);
  });
});

describe("Codex, which cuts without saying so", () => {
  const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at}`);

  test("reads where to go on in a file, and finds every line there", () => {
    let offset = 0;
    const read: string[] = [];
    for (let step = 0; step < 20; step++) {
      const rest = lines.slice(offset);
      const text = textOf(shown("codex-mcp-client", { text: rest.join("\n"), more: false }, "fs_read", { offset }));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
      const next = /\n\[cut: .*"offset": (\d+)\.\]$/.exec(text);
      read.push(...text.replace(/\n\[[^\n]*\]$/, "").split("\n"));
      if (next === null) break;
      expect(text).not.toContain("more: false");
      offset = Number(next[1]);
    }
    expect(read).toEqual(lines);
  });

  test("reads the beginning and the end of other results, and how much is missing", () => {
    const stdout = `begin\n${"ä".repeat(40_000)}\nlast line`;
    const text = textOf(shown("codex", { stdout, stderr: "", ending: { kind: "exited", status: 0 } }, "shell"));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
    expect([text.startsWith("begin\n"), text.endsWith("last line"), text.includes("\ufffd")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(text).toMatch(/\[cut: \d+ bytes in the middle are not shown/);
  });

  test("of one line that is too long the middle is cut", () => {
    const text = textOf(shown("codex", { text: "x".repeat(30_000), more: false }));
    expect(text).toContain("bytes in the middle");
  });
});

test("other clients get text and data as they are", () => {
  const result = doneResult({ text: "a", more: false }, ENFORCEMENT);
  for (const client of ["test", "opencode", "", null])
    expect(shapedResult(result, shapeFor(client), { tool: "fs_read", input: {} })).toBe(result);
});
