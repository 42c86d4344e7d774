// Building blocks for schemas of built-in tools. INVARIANT: every string and every number has a limit.
import type { JsonSchema } from "./json-schema.ts";

export function objectSchema(
  properties: { readonly [name: string]: JsonSchema },
  required: readonly string[] = [],
): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

export function textSchema(description: string, minLength: number, maxLength: number): JsonSchema {
  return { type: "string", description, minLength, maxLength };
}

export function countSchema(description: string, minimum: number, maximum: number): JsonSchema {
  return { type: "integer", description, minimum, maximum };
}

export function flagSchema(description: string): JsonSchema {
  return { type: "boolean", description };
}

export function choiceSchema(description: string, choices: readonly string[]): JsonSchema {
  return { type: "string", description, enum: choices };
}

export function textsSchema(description: string, countMax: number, charactersMax: number): JsonSchema {
  return { type: "array", description, maxItems: countMax, items: { type: "string", maxLength: charactersMax } };
}
