// Text that a tool shows about itself: every refused text is beside an accepted one.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/base/json.ts";
import { defineTool } from "./define.ts";
import { schemaCharactersMax, textFault } from "./description-text.ts";
import { readToolDescriptions } from "./hosted.ts";

describe("a displayed text", () => {
  test.each([
    ["a terminal control sequence", "a\u001b[2Jb", "a[2Jb"],
    ["a bell", "a\u0007", "a"],
    ["an eight-bit control", "a\u009b2Jb", "a\u00a02Jb"],
    ["a carriage return alone", "a\rb", "a\r\nb"],
    ["a direction override", "a\u202eb", "a\u2030b"],
    ["an isolated direction", "a\u2066b", "a\u2070b"],
    ["a direction mark", "a\u200fb", "a\u200db"],
    ["half a character", "a\ud83d", "a\ud83d\ude00"],
    ["a tag", "a\u{e0041}", "a\u{e0100}"],
    ["a line separator", "a\u2028b", "a\n\tb"],
  ])("does not contain %s", (_title, hidden, plain) => {
    expect(textFault(hidden)).toMatch(/^U\+[0-9A-F]{4,5} is invisible/);
    expect(textFault(plain)).toBeNull();
  });
});

function faultsOf(more: object): readonly string[] {
  const whole = { name: "weather", description: "Says it.", input: {}, execute: () => null, ...more };
  return defineTool(whole as never).faults.map(({ part }) => part);
}

/** `{"description":""}` is 18 characters. */
function schemaOf(characters: number): JsonObject {
  return { description: "d".repeat(characters - 18) };
}

describe("a tool is refused when it is defined", () => {
  test("for a description with hidden or control characters", () => {
    expect(faultsOf({ description: "Says \u202eit." })).toEqual(["description"]);
    expect(faultsOf({ description: "Says\nit." })).toEqual([]);
  });
  test.each([
    ["a text of it", { description: "\u001b]0;owned\u0007" }, { description: "]0;owned" }],
    ["a name of it", { properties: { "a\u202e": {} } }, { properties: { a: {} } }],
    ["a value of it", { properties: { a: { enum: ["\u0000"] } } }, { properties: { a: { enum: ["\t", "\r\n"] } } }],
    ["its length", schemaOf(schemaCharactersMax + 1), schemaOf(schemaCharactersMax)],
  ])("for its schema, by %s", (_title, refused, taken) => {
    expect(faultsOf({ input: refused })).toEqual(["input"]);
    expect(faultsOf({ input: taken })).toEqual([]);
  });
  test("for the length of a schema library's schema", () => {
    const schema = (characters: number): object => ({
      "~standard": {
        ...{ version: 1, vendor: "test", "validate": (value: unknown) => ({ value }) },
        jsonSchema: { input: () => schemaOf(characters) },
      },
    });
    expect(faultsOf({ input: schema(schemaCharactersMax + 1) })).toEqual(["input"]);
    expect(faultsOf({ input: schema(schemaCharactersMax) })).toEqual([]);
  });
});

test("a host's own description of a schema is not trusted", () => {
  const described = (schema: JsonObject): unknown =>
    readToolDescriptions([
      {
        name: "weather",
        description: "Says it.",
        risk: null,
        capabilities: {},
        schema,
        isLibrarySchema: true,
        faults: [],
      },
    ])?.[0]?.faults.map(({ part }) => part);
  expect(described(schemaOf(schemaCharactersMax + 1))).toEqual(["input"]);
  expect(described({ title: "a\u202e" })).toEqual(["input"]);
  expect(described(schemaOf(schemaCharactersMax))).toEqual([]);
});
