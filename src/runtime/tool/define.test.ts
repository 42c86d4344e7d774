// Definitions: typed by their schema, frozen, and never throwing; faults are data.
import { describe, expect, expectTypeOf, test } from "vitest";
import { PART_READERS } from "../../core/notation/tools/declaration-readers.ts";
import { type Context, defineTool, type JsonObject, type StandardSchema, type ToolRequest } from "../../index.ts";
import type { Capabilities } from "./declaration.ts";
import { readSchema } from "./schema-reader.ts";

const basic = { name: "weather", description: "Says what the weather is." } as const;

/** A schema library's schema, as small as possible. */
function standard<Output>(check: (value: unknown) => unknown): StandardSchema<unknown, Output> {
  return { "~standard": { version: 1, vendor: "test", "validate": check as never } };
}

describe("the input is typed by its schema", () => {
  test("JSON Schema", () => {
    defineTool({
      ...basic,
      input: {
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer" },
          unit: { enum: ["celsius", "kelvin"] },
          places: {
            type: "array",
            items: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
          },
          either: { anyOf: [{ type: "string" }, { type: "null" }] },
          both: { type: ["string", "boolean"] },
        },
        required: ["city", "unit", "places", "either", "both"],
      },
      requests: (input) => {
        expectTypeOf(input.city).toEqualTypeOf<string>();
        return [{ verb: "net.get", url: `https://api.example.com/${input.city}` }] satisfies readonly ToolRequest[];
      },
      execute: (input, context) => {
        expectTypeOf(context).toEqualTypeOf<Context>();
        expectTypeOf(input.city).toEqualTypeOf<string>();
        expectTypeOf(input.days).toEqualTypeOf<number | undefined>();
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "kelvin">();
        expectTypeOf(input.places[0]?.id).toEqualTypeOf<number | undefined>();
        expectTypeOf(input.either).toEqualTypeOf<string | null>();
        expectTypeOf(input.both).toEqualTypeOf<string | boolean>();
        // @ts-expect-error: the schema knows no such property
        return input.country;
      },
    });
  });

  test("a schema library's schema", () => {
    const schema = standard<{ readonly city: string }>((value) => ({ value }));
    defineTool({
      ...basic,
      input: schema,
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ readonly city: string }>();
        return input.city;
      },
    });
  });

  test("a declaration has these parts and no others", () => {
    expect([...PART_READERS.keys()].sort()).toEqual(
      Object.keys({
        network: true,
        secrets: true,
        storage: true,
        fs_reach: true,
        process: true,
      } satisfies Record<keyof Capabilities, true>).sort(),
    );
    // @ts-expect-error: not a part
    const odd: Capabilities = { browser: {} };
    expect(odd).toBeDefined();
  });
});

describe("a tool", () => {
  test("is frozen, and does not change with the object it was made from", () => {
    const definition = {
      ...basic,
      capabilities: { secrets: ["A"] },
      input: { type: "object" as const },
      execute: () => 1,
    };
    const tool = defineTool(definition);
    definition.capabilities.secrets.push("B");
    definition.execute = () => 2;
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool.capabilities).toEqual({ secrets: ["A"] });
    expect(Object.isFrozen(tool.capabilities?.["secrets"])).toBe(true);
    expect(tool.execute({}, {} as Context)).toBe(1);
  });

  test("without a declaration declares nothing", () => {
    expect(defineTool({ ...basic, input: {}, execute: () => null }).capabilities).toEqual({});
  });

  const wrong: readonly (readonly [string, object])[] = [
    ["name", { name: 7 }],
    ["description", { description: " " }],
    ["risk", { risk: "none" }],
    ["milliseconds", { milliseconds: 0 }],
    ["milliseconds", { milliseconds: 120_001 }],
    ["milliseconds", { milliseconds: 1.5 }],
    ["milliseconds", { milliseconds: "1" }],
    ["milliseconds", { milliseconds: Number.NaN }],
    ["capabilities", { capabilities: { secrets: () => 1 } }],
    ["capabilities", { capabilities: Object.defineProperty({}, "secrets", { get: () => ["A"], enumerable: true }) }],
    ["input", { input: { type: "text" } }],
    ["input", { input: null }],
    ["input", { input: { "~standard": { version: 2 } } }],
    ["requests", { requests: 7 }],
    ["execute", { execute: null }],
  ];
  test.each(wrong)("with a wrong %s is reported", (part, more) => {
    const whole = { ...basic, input: {}, execute: () => null, ...more };
    expect(defineTool(whole as never).faults.map((fault) => fault.part)).toContain(part);
  });
});

describe("a schema library's result", () => {
  const accept = (check: (value: unknown) => unknown): unknown =>
    defineTool({ ...basic, input: standard(check), execute: () => null }).accept({ a: 1 });

  test("with a value is that value", () => {
    expect(accept(() => ({ value: { b: 2 } }))).toEqual({ ok: true, value: { b: 2 } });
  });
  const refusing: readonly (readonly [string, (value: unknown) => unknown])[] = [
    ["issues", () => ({ issues: [{ message: "no", path: ["a", { key: 0 }] }] })],
    ["no issues in a list of them", () => ({ issues: [] })],
    ["a value beside issues", () => ({ value: 1, issues: [{ message: "no" }] })],
    ["a promise", async () => ({ value: 1 })],
    ["nothing", () => undefined],
    [
      "an exception",
      () => {
        throw new Error("no");
      },
    ],
  ];
  test.each(refusing)("with %s is a refusal", (_title, check) => {
    expect(accept(check)).toMatchObject({ ok: false });
  });
  test("has the path", () => {
    expect(accept(refusing[0]?.[1] as never)).toEqual({ ok: false, issues: [{ at: "a.0", message: "no" }] });
  });
});

describe("JSON Schema", () => {
  const rows: readonly (readonly [string, object, JsonObject, JsonObject])[] = [
    ["type", { type: "object", properties: { a: { type: "string" } } }, { a: "1" }, { a: 1 }],
    ["integer", { properties: { a: { type: "integer" } } }, { a: 1 }, { a: 1.5 }],
    ["null", { properties: { a: { type: "null" } } }, { a: null }, { a: 0 }],
    ["several types", { properties: { a: { type: ["string", "null"] } } }, { a: null }, { a: false }],
    ["required", { required: ["a"] }, { a: null }, { b: 1 }],
    ["required is an own property", { required: ["toString"] }, { toString: 1 }, {}],
    ["additionalProperties", { properties: { a: {} }, additionalProperties: false }, { a: 1 }, { a: 1, b: 1 }],
    ["additionalProperties by schema", { additionalProperties: { type: "number" } }, { a: 1 }, { a: "1" }],
    ["__proto__ is an ordinary name", { additionalProperties: false }, {}, JSON.parse('{"__proto__":1}') as JsonObject],
    ["items", { properties: { a: { items: { type: "number" } } } }, { a: [1] }, { a: [1, "2"] }],
    ["minItems", { properties: { a: { minItems: 1 } } }, { a: [1] }, { a: [] }],
    ["maxItems", { properties: { a: { maxItems: 1 } } }, { a: [1] }, { a: [1, 2] }],
    ["enum", { properties: { a: { enum: [1, { b: [2] }] } } }, { a: { b: [2] } }, { a: { b: [3] } }],
    ["const", { properties: { a: { const: "x" } } }, { a: "x" }, { a: "y" }],
    ["enum and const", { properties: { a: { enum: ["x", "y"], const: "x" } } }, { a: "x" }, { a: "y" }],
    ["minimum", { properties: { a: { minimum: 2 } } }, { a: 2 }, { a: 1 }],
    ["maximum", { properties: { a: { maximum: 2 } } }, { a: 2 }, { a: 3 }],
    ["exclusiveMinimum", { properties: { a: { exclusiveMinimum: 2 } } }, { a: 3 }, { a: 2 }],
    ["exclusiveMaximum", { properties: { a: { exclusiveMaximum: 2 } } }, { a: 1 }, { a: 2 }],
    ["minLength counts characters", { properties: { a: { minLength: 2 } } }, { a: "😀😀" }, { a: "😀" }],
    ["maxLength", { properties: { a: { maxLength: 1 } } }, { a: "😀" }, { a: "ab" }],
    ["pattern", { properties: { a: { pattern: "^[a-z]+$" } } }, { a: "ab" }, { a: "aB" }],
    ["anyOf", { properties: { a: { anyOf: [{ type: "string" }, { minimum: 3 }] } } }, { a: 3 }, { a: 2 }],
    ["oneOf", { properties: { a: { oneOf: [{ minimum: 0 }, { maximum: 5 }] } } }, { a: 9 }, { a: 3 }],
  ];
  test.each(rows)("%s", (_title, schema, fits, fails) => {
    const { accept, faults } = defineTool({ ...basic, input: schema, execute: () => null });
    expect(faults).toEqual([]);
    expect(accept(fits)).toMatchObject({ ok: true });
    expect(accept(fails)).toMatchObject({ ok: false });
  });

  const refused: readonly (readonly [string, object])[] = [
    ["a reference", { $ref: "#/definitions/a" }],
    ["not", { not: {} }],
    ["allOf", { allOf: [{}] }],
    ["patternProperties", { patternProperties: { "^a": {} } }],
    ["a misspelt keyword", { properties: { a: { minimun: 1 } } }],
    ["a pattern with a group", { pattern: "^(a+)+$" }],
    ["a pattern without anchors", { pattern: "a" }],
    ["an empty enum", { enum: [] }],
    ["a negative count", { minLength: -1 }],
    ["no schema", { properties: { a: 1 } }],
  ];
  test.each(refused)("%s is refused when the tool is defined", (_title, schema) => {
    const tool = defineTool({ ...basic, input: schema as never, execute: () => null });
    expect(tool.faults).not.toEqual([]);
    expect(tool.accept({})).toMatchObject({ ok: false });
  });

  test("nested too deep or too large is refused", () => {
    let deep: object = {};
    for (let at = 0; at < 40; at++) deep = { items: deep };
    expect(readSchema(deep as never)).toMatchObject({ ok: false });
    const wide = { properties: Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`p${at}`, {}])) };
    expect(readSchema(wide as never)).toMatchObject({ ok: false });
  });

  test("that costs too much to check is not accepted", () => {
    const alternatives = Array.from({ length: 1000 }, (_, at) => ({ const: at }));
    const { accept } = defineTool({
      ...basic,
      input: { properties: { a: { items: { anyOf: alternatives } } } },
      execute: () => null,
    });
    expect(accept({ a: new Array(500).fill(999) })).toMatchObject({ ok: true });
    expect(accept({ a: new Array(5000).fill(999) })).toMatchObject({ ok: false });
  });
});
