// A preserialized entry has the same text as the canonical one, whatever it contains.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entryOf } from "../../../test/audit/written-log.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { ENTRY_KINDS, type LogEntry } from "../../core/ports/stores/log.ts";
import { canonicalJson } from "./canonical.ts";
import { entryBody, readEntryBody } from "./entry-body.ts";
import { encodeIdentity, PreserializedEntry } from "./preserialized-entry.ts";

function spelled(entry: LogEntry): PreserializedEntry {
  const { user, agent, workspace, chain, session, trace } = entry;
  return new PreserializedEntry(
    encodeIdentity({ user, agent, workspace, chain, session, trace }),
    entry,
    canonicalJson(entry.more),
  );
}

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    '"',
    "\\",
    "\\u0041",
    "\u0000",
    "\ud800",
    "\udc00a",
    "\u2028",
    "é",
    "💥",
    '","at":1,"id":"',
    "null",
    "",
  ),
);
const maybe = fc.option(text);
const more = fc.dictionary(text, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;
const entries: fc.Arbitrary<LogEntry> = fc.record({
  ...{ id: text, kind: fc.constantFrom(...ENTRY_KINDS), at: fc.oneof(fc.integer(), fc.constantFrom(-0, 1e21, 0.5)) },
  ...{ user: maybe, agent: maybe, workspace: maybe, chain: fc.array(text), session: maybe, trace: maybe },
  ...{ tool: maybe, verbs: fc.array(text), outcome: text, code: maybe, of: maybe, more },
});

describe("a preserialized entry", () => {
  test("is written as the same entry without its text", () => {
    fc.assert(
      fc.property(entries, (entry) => {
        expect(entryBody(spelled(entry))).toBe(entryBody(entry));
      }),
      { numRuns: 1000 },
    );
  });

  test("has the same members as its text", () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const one = spelled(entry);
        const { id, kind, at, user, agent, workspace, chain, session, trace, tool, verbs, outcome, code, of } = one;
        const said = { user, agent, workspace, session, trace, tool, code, of, id, kind, at, chain, verbs, outcome };
        // JSON has one zero.
        expect({ ...said, at: at + 0, more: one.more }).toEqual(readEntryBody(entryBody(one)));
      }),
      { numRuns: 300 },
    );
  });

  test.each<[string, Partial<LogEntry>]>([
    ["a long request", { more: { requests: ["€".repeat(30_000)] } }],
    ["a long tool", { tool: "x".repeat(70_000) }],
    ["long everywhere", { tool: "\u0001".repeat(40_000), of: "y".repeat(40_000), chain: ["z".repeat(40_000)] }],
  ])("is truncated as any other: %s", (_what, part) => {
    const entry = entryOf(1, part);
    expect(entryBody(spelled(entry))).toBe(entryBody(entry));
    expect(entryBody(spelled(entry))).toContain("characters]");
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])("does not exist at %s", (at) => {
    expect(() => spelled(entryOf(1, { at }))).toThrow(TypeError);
  });

  test("is only its members once it was copied", () => {
    const copy = { ...spelled(entryOf(1)), more: {}, tool: "another" };
    expect(readEntryBody(entryBody(copy))).toMatchObject({ tool: "another", more: {} });
  });
});
