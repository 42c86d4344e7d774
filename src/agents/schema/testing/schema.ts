// Checks a value against a schema, for tests: only the keywords that our schemas use, so that none is ignored.
import type { TreeNode } from "../../../core/notation/tree.ts";
import type { Schema } from "../schema-value.ts";

/** The path where the value does not match, or null. */
export function firstMismatch(value: unknown, schema: Schema, top: Schema = schema, at = "$"): string | null {
  for (const [keyword, wanted] of Object.entries(schema)) {
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`the keyword ${keyword} is not one the checker knows`);
    const mismatch = check({ value, wanted, schema, top, at });
    if (mismatch !== null) return mismatch;
  }
  return null;
}

/** A tree as plain JSON. */
export function plain(node: TreeNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plain);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
}

interface Question {
  readonly value: unknown;
  readonly wanted: unknown;
  readonly schema: Schema;
  readonly top: Schema;
  readonly at: string;
}

const silent = (): null => null;

const CHECKS: Readonly<Record<string, (question: Question) => string | null>> = {
  $schema: silent,
  $id: silent,
  $defs: silent,
  title: silent,
  description: silent,
  $ref: ({ value, wanted, top, at }) => {
    const name = String(wanted).replace("#/$defs/", "");
    const target = (top["$defs"] as Readonly<Record<string, Schema>>)[name];
    if (target === undefined) throw new Error(`${String(wanted)} refers to nothing`);
    return firstMismatch(value, target, top, at);
  },
  type: ({ value, wanted, at }) => {
    const types = (Array.isArray(wanted) ? wanted : [wanted]) as readonly string[];
    const own = typeOf(value);
    const fits = types.includes(own) || (own === "integer" && types.includes("number"));
    return fits ? null : `${at} is ${own}`;
  },
  const: ({ value, wanted, at }) => (value === wanted ? null : `${at} is not ${String(wanted)}`),
  enum: ({ value, wanted, at }) => ((wanted as readonly unknown[]).includes(value) ? null : `${at} is another word`),
  pattern: ({ value, wanted, at }) =>
    typeof value !== "string" || new RegExp(String(wanted), "u").test(value) ? null : `${at} has another shape`,
  minLength: bound((value) => (typeof value === "string" ? value.length : null), least),
  minimum: bound((value) => (typeof value === "number" ? value : null), least),
  maximum: bound((value) => (typeof value === "number" ? value : null), most),
  minItems: bound((value) => (Array.isArray(value) ? value.length : null), least),
  maxItems: bound((value) => (Array.isArray(value) ? value.length : null), most),
  minProperties: bound((value) => mapOf(value)?.size ?? null, least),
  maxProperties: bound((value) => mapOf(value)?.size ?? null, most),
  items: ({ value, wanted, top, at }) =>
    first(Array.isArray(value) ? value : [], (item, place) =>
      firstMismatch(item, wanted as Schema, top, `${at}[${place}]`),
    ),
  anyOf: ({ value, wanted, top, at }) =>
    (wanted as readonly Schema[]).some((one) => firstMismatch(value, one, top, at) === null) ? null : `${at} fits none`,
  required: ({ value, wanted, at }) => {
    const missing = (wanted as readonly string[]).find((key) => mapOf(value)?.has(key) === false);
    return missing === undefined ? null : `${at}.${missing} is missing`;
  },
  propertyNames: ({ value, wanted, top, at }) =>
    first([...(mapOf(value)?.keys() ?? [])], (key) => firstMismatch(key, wanted as Schema, top, `${at}.${key}`)),
  properties: ({ value, wanted, top, at }) =>
    first([...(mapOf(value) ?? [])], ([key, inner]) => {
      const one = Object.hasOwn(wanted as object, key) ? (wanted as Readonly<Record<string, Schema>>)[key] : undefined;
      return one === undefined ? null : firstMismatch(inner, one, top, `${at}.${key}`);
    }),
  additionalProperties: ({ value, wanted, schema, top, at }) =>
    first([...(mapOf(value) ?? [])], ([key, inner]) => {
      if (Object.hasOwn((schema["properties"] ?? {}) as object, key)) return null;
      if (wanted === false) return `${at}.${key} is unknown`;
      return firstMismatch(inner, wanted as Schema, top, `${at}.${key}`);
    }),
};

function bound(
  sizeOf: (value: unknown) => number | null,
  holds: (size: number, limit: number) => boolean,
): (question: Question) => string | null {
  return ({ value, wanted, at }) => {
    const size = sizeOf(value);
    return size === null || holds(size, Number(wanted)) ? null : `${at} is beyond ${String(wanted)}`;
  };
}

function least(size: number, limit: number): boolean {
  return size >= limit;
}

function most(size: number, limit: number): boolean {
  return size <= limit;
}

function first<T>(items: readonly T[], check: (item: T, place: number) => string | null): string | null {
  for (const [place, item] of items.entries()) {
    const mismatch = check(item, place);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

function mapOf(value: unknown): ReadonlyMap<string, unknown> | null {
  return typeOf(value) === "object" ? new Map(Object.entries(value as object)) : null;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}
