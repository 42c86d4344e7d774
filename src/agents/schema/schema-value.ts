// The part of JSON Schema (draft 2020-12) that our schemas use.

export type Schema = { readonly [keyword: string]: SchemaValue };
type SchemaValue = string | number | boolean | null | Schema | readonly SchemaValue[];

export function listOf(items: Schema, description: string): Schema {
  return { type: "array", items, description };
}

export function oneOfWords(words: readonly string[], description: string): Schema {
  return { enum: [...words], description };
}

/** A map with these keys and no others: an unknown key is an error, never ignored. */
export function closedMap(properties: Schema, description: string, more: Schema = {}): Schema {
  return { type: "object", properties, additionalProperties: false, description, ...more };
}

export function reference(name: string): Schema {
  return { $ref: `#/$defs/${name}` };
}

export function whole(id: string, title: string, body: Schema): Schema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", $id: `urn:ambit:schema:${id}`, title, ...body };
}
