// Forms of servers: which fields a person is shown, and which of them have to be filled in.
import { expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { readAsk } from "./asks.ts";

const text = { type: "string" };

/** As it arrives: JSON has own members of any name. */
function formOf(properties: string, required: readonly string[]): Json {
  return JSON.parse(
    `{"message":"?","requestedSchema":{"type":"object","properties":${properties},"required":${JSON.stringify(required)}}}`,
  ) as Json;
}

test.each([
  ['{"name":{"type":"string"}}', ["name"], ["name"]],
  ['{"name":{"type":"string"}}', ["name", "other"], ["name"]],
  ['{"name":{"type":"string"}}', ["name", "constructor", "toString", "__proto__"], ["name"]],
  ['{"constructor":{"type":"string"}}', ["constructor"], ["constructor"]],
  ['{"__proto__":{"type":"string"}}', ["__proto__", "type"], ["__proto__"]],
])("of the form %s with the required fields %j a person has to fill in %j", (properties, required, shown) => {
  const read = readAsk("elicitation", "s", formOf(properties, required));
  const { requestedSchema } = (read.ok ? read.params : {}) as { readonly requestedSchema?: Record<string, unknown> };
  expect(requestedSchema?.["required"]).toEqual(shown);
  expect(Object.entries(requestedSchema?.["properties"] ?? {})).toEqual(shown.map((name) => [name, text]));
});
