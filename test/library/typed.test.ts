// Tools of an application are typed by their schema, of any schema library; invalid input is refused with the errors, as data.
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { defineTool, type JsonObject } from "../../src/index.ts";
import type { Ambit } from "../../src/library/library.ts";
import { type LibraryFixture, libraryFixture } from "./fixture.ts";

let library: LibraryFixture;
let ambit: Ambit;
beforeAll(async () => {
  library = await libraryFixture({ app: ["tool.invoke{tools=[tool:**]}"] });
  ambit = await library.open({
    policy: { network: { allowedHosts: ["*.weather.gov"] }, fs_reach: { read: ["notes"] } },
  });
});
afterAll(() => library?.remove());

const description = "Says what it was given.";

const ofZod = defineTool({
  name: "of_zod",
  description,
  input: z.object({ city: z.string(), days: z.number().int().default(3), units: z.enum(["c", "f"]).optional() }),
  execute: (input) => {
    expectTypeOf(input).toEqualTypeOf<{ city: string; days: number; units?: "c" | "f" | undefined }>();
    return input as unknown as JsonObject;
  },
});
const ofValibot = defineTool({
  name: "of_valibot",
  description,
  input: v.object({
    city: v.string(),
    tags: v.optional(v.array(v.string())),
    far: v.pipe(v.string(), v.transform(Number)),
  }),
  execute: (input) => {
    expectTypeOf(input).toEqualTypeOf<{ city: string; tags?: string[] | undefined; far: number }>();
    return { far: input.far };
  },
});
const ofJsonSchema = defineTool({
  name: "of_json_schema",
  description,
  input: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" }, units: { enum: ["c", "f"] } },
    required: ["city"],
  },
  requests: (input) => {
    expectTypeOf(input.city).toEqualTypeOf<string>();
    return [];
  },
  execute: (input) => {
    expectTypeOf(input).toEqualTypeOf<
      { readonly city: string } & { readonly days?: number; readonly units?: "c" | "f" }
    >();
    // @ts-expect-error: there is no such member.
    return input.town ?? input.city;
  },
});

describe("input", () => {
  test("is checked by its schema, and transformed by it", async () => {
    for (const tool of [ofZod, ofValibot, ofJsonSchema]) expect(ambit.register(tool)).toMatchObject({ ok: true });
    const session = await ambit.session("app");
    expect(await session.call("of_zod", { city: "Oslo" })).toMatchObject({
      ok: true,
      value: { city: "Oslo", days: 3 },
    });
    expect(await session.call("of_zod", { city: 1 })).toMatchObject({
      ok: false,
      code: "invalid_input",
      reason: expect.stringMatching(/^city /),
    });
    expect(await session.call("of_valibot", { city: "Oslo", far: "7" })).toMatchObject({ ok: true, value: { far: 7 } });
    expect(await session.call("of_valibot", { city: "Oslo" })).toMatchObject({ ok: false, code: "invalid_input" });
    expect(await session.call("of_json_schema", { city: "Oslo" })).toMatchObject({ ok: true, value: "Oslo" });
    expect(await session.call("of_json_schema", { city: "Oslo", days: 1.5 })).toMatchObject({ ok: false });
  });

  test("is shown to a model as JSON Schema", async () => {
    const shown = await (await ambit.session("app")).tools();
    const input = (name: string): unknown => shown.find((one) => one.name === name)?.input;
    expect(input("of_zod")).toMatchObject({ type: "object", properties: { city: { type: "string" } } });
    // A library whose schemas cannot be expressed as JSON Schema still has them checked.
    expect(input("of_valibot")).toMatchObject({ type: "object" });
    expect(input("of_json_schema")).toMatchObject({ required: ["city"] });
  });
});

describe("registration", () => {
  const input = { type: "object" } as const;
  const execute = (): null => null;

  test("checks a declaration against the policy, entry by entry", () => {
    const within = { network: { allowedHosts: ["api.weather.gov"] }, fs_reach: { read: ["notes"] } };
    expect(ambit.register(defineTool({ name: "within", description, input, execute, capabilities: within }))).toEqual({
      ok: true,
      name: "within",
      warnings: [],
    });
    const beyond = { network: { allowedHosts: ["api.weather.gov", "evil.example"] } };
    expect(
      ambit.register(defineTool({ name: "beyond", description, input, execute, capabilities: beyond })),
    ).toMatchObject({
      ok: false,
      errors: [{ tool: "beyond", capability: "network", entry: "evil.example", code: "exceeds_policy" }],
    });
  });

  test("refuses the name of a built-in tool, and one that is taken", () => {
    const named = (name: string): unknown => ambit.register(defineTool({ name, description, input, execute }));
    expect(named("memory-get")).toMatchObject({ ok: false, errors: [{ capability: "name" }] });
    expect(named("within")).toMatchObject({ ok: false, errors: [{ code: "duplicate" }] });
    expect(ambit.tools.map(({ name }) => name)).toEqual(["of_json_schema", "of_valibot", "of_zod", "within"]);
  });

  test("an invalid policy opens nothing", async () => {
    await expect(library.open({ policy: { network: { allowedHosts: ["a b"] } } })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

test("disposing the library closes its sessions", async () => {
  const other = await library.open();
  const session = await other.session("app");
  await other[Symbol.asyncDispose]();
  expect(await session.call("memory_get", {})).toMatchObject({ ok: false, code: "revoked" });
  await expect(other.session("app")).rejects.toMatchObject({ code: "not_available" });
});
