// Every entry can be serialized and parsed; none is too large, and cuts are marked.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entryOf } from "../../../test/audit/written-log.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { entryBody, entryBytesMax, readEntryBody } from "./entry-body.ts";

const bytes = (text: string): number => Buffer.byteLength(text, "utf8");

describe("an entry's body", () => {
  test("parses back as the entry", () => {
    const entry = entryOf(1, {
      more: { requests: ["fs.read /w/ä"], by: [{ link: "l", grant: "g", at: null }], left: 3 },
    });
    expect(readEntryBody(entryBody(entry))).toEqual(entry);
  });

  test("contains nothing but the entry", () => {
    const entry = { ...entryOf(1), secret: "hunter2" };
    expect(entryBody(entry)).not.toContain("hunter2");
  });

  const deep = (depth: number): Json => (depth === 0 ? 1 : [deep(depth - 1)]);
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`key ${at}`, "x".repeat(30)]));
  const longKeys = Object.fromEntries(Array.from({ length: 9 }, (_, at) => ["k".repeat(20_000) + at, at]));
  test.each<[string, JsonObject, string]>([
    ["one long text", { a: "x".repeat(200_000) }, "characters]"],
    ["a text of wide characters", { a: "€".repeat(30_000) }, "characters]"],
    ["a text of pairs", { a: "𝄞".repeat(60_000) }, "characters]"],
    ["a text of escapes", { a: "\u0000".repeat(40_000) }, "characters]"],
    ["many texts", { requests: Array.from({ length: 9000 }, (_, at) => `fs.read /w/${at}`) }, "elements]"],
    ["many members", many, "members]"],
    ["long names", longKeys, "characters]"],
    ["something deep", { a: deep(5000) }, "deeper]"],
  ])("is truncated to the limit: %s", (_what, more, mark) => {
    const body = entryBody(entryOf(1, { more }));
    expect(bytes(body)).toBeLessThanOrEqual(entryBytesMax);
    expect(body).toContain(mark);
    expect(readEntryBody(body)).toMatchObject({ id: "c000001", agent: "scout", outcome: "allow" });
  });

  test("loses no member whose name was truncated", () => {
    const read = readEntryBody(entryBody(entryOf(1, { more: longKeys })));
    expect(Object.values(read?.more ?? {})).toEqual(expect.arrayContaining([0, 1, 2, 3, 4, 5, 6, 7]));
  });

  test("fits whatever is too long, everywhere at once", () => {
    const long = "\u0001".repeat(100_000);
    const list = Array.from({ length: 3000 }, () => long);
    const more = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`${at}${long}`, list]));
    const entry = entryOf(1, { user: long, agent: long, workspace: long, session: long, trace: long, tool: long });
    const body = entryBody({ ...entry, id: long, code: long, of: long, outcome: long, chain: list, verbs: list, more });
    expect(bytes(body)).toBeLessThanOrEqual(entryBytesMax);
    expect(readEntryBody(body)).not.toBeNull();
  });

  test("of any value fits, and parses back unless it was truncated", () => {
    const more = fc.dictionary(
      fc.string({ unit: "binary" }),
      fc.jsonValue({ maxDepth: 3 }),
    ) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(more, fc.string({ unit: "binary" }), (value, tool) => {
        const entry = entryOf(1, { more: JSON.parse(JSON.stringify(value)) as JsonObject, tool });
        const body = entryBody(entry);
        expect(bytes(body)).toBeLessThanOrEqual(entryBytesMax);
        expect(readEntryBody(body)).toEqual(entry);
      }),
      { numRuns: 150 },
    );
  });
});

describe("a text that is not an entry", () => {
  const good = JSON.parse(entryBody(entryOf(1))) as Record<string, unknown>;
  const nested = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  test.each([
    ["empty", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["too long", JSON.stringify({ ...good, tool: "x".repeat(entryBytesMax) })],
    ["too deep", JSON.stringify({ ...good, more: { a: 0 } }).replace('"a":0', `"a":${nested}`)],
    ...Object.keys(good).map((key) => [`without ${key}`, JSON.stringify({ ...good, [key]: undefined })]),
    ["with another kind", JSON.stringify({ ...good, kind: "gossip" })],
    ["with a number for a text", JSON.stringify({ ...good, agent: 5 })],
    ["with a list of numbers", JSON.stringify({ ...good, verbs: [5] })],
    ["with a list for more", JSON.stringify({ ...good, more: [] })],
  ])("does not parse: %s", (_what, body) => {
    expect(readEntryBody(body as string)).toBeNull();
  });
});
