// Parses a JSON Schema once, when a tool is defined: every keyword is known and valid, or a fault names its path.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { parseSimplePattern, type SimplePattern } from "./simple-pattern.ts";

export interface ReadSchema {
  /** Null: any type. */
  readonly types: readonly string[] | null;
  readonly properties: ReadonlyMap<string, ReadSchema>;
  readonly required: readonly string[];
  readonly additional: boolean | ReadSchema;
  readonly items: ReadSchema | null;
  readonly numbers: ReadonlyMap<NumberKeyword, number>;
  readonly values: readonly Json[] | null;
  readonly pattern: SimplePattern | null;
  readonly oneOf: readonly ReadSchema[] | null;
  readonly anyOf: readonly ReadSchema[] | null;
}

export type NumberKeyword = (typeof COUNTS)[number] | (typeof BOUNDS)[number];

export interface SchemaFault {
  /** Path in the schema: `properties.city.type`. */
  readonly at: string;
  readonly message: string;
}

export type SchemaReading =
  | { readonly ok: true; readonly value: ReadSchema }
  | { readonly ok: false; readonly faults: readonly SchemaFault[] };

const TYPES: readonly string[] = ["string", "number", "integer", "boolean", "null", "array", "object"];
const COUNTS = ["minLength", "maxLength", "minItems", "maxItems"] as const;
const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;
const NUMBERS: readonly NumberKeyword[] = [...COUNTS, ...BOUNDS];
const TOLD: readonly string[] = [
  ...["title", "description", "default", "examples", "format", "deprecated", "$schema", "$comment"],
];

const depthMax = 32;
const schemasMax = 2048;
const faultsMax = 20;

/** `schema` is a plain copy already. */
export function readSchema(schema: Json): SchemaReading {
  const reader = new Reader();
  const value = reader.read(schema, "", 0);
  return value === null || reader.faults.length > 0
    ? { ok: false, faults: reader.faults.slice(0, faultsMax) }
    : { ok: true, value };
}

class Reader {
  readonly faults: SchemaFault[] = [];
  #schemas = 0;

  read(schema: Json | undefined, at: string, depth: number): ReadSchema | null {
    if (!isJsonObject(schema)) return this.#fault(at, "a schema is an object");
    if (depth > depthMax || ++this.#schemas > schemasMax)
      return this.#fault(at, "the schema is nested too deeply or is too large");
    const inner = (key: string, value: Json | undefined): ReadSchema | null =>
      this.read(value, at === "" ? key : `${at}.${key}`, depth + 1);
    const numbers = new Map<NumberKeyword, number>();
    let types: readonly string[] | null = null;
    let values: readonly Json[] | null = null;
    let pattern: SimplePattern | null = null;
    let items: ReadSchema | null = null;
    let additional: boolean | ReadSchema = true;
    let required: readonly string[] = [];
    let properties: ReadonlyMap<string, ReadSchema> = new Map();
    const branches = new Map<string, readonly ReadSchema[]>();
    for (const key of Object.keys(schema)) {
      const value = member(schema, key) as Json;
      const place = at === "" ? key : `${at}.${key}`;
      switch (key) {
        case "type":
          types = this.#types(value, place);
          break;
        case "properties":
          properties = this.#properties(value, place, (name, one) => inner(`properties.${name}`, one));
          break;
        case "required":
          required = this.#texts(value, place);
          break;
        case "additionalProperties":
          additional = typeof value === "boolean" ? value : (inner(key, value) ?? false);
          break;
        case "items":
          items = inner(key, value);
          break;
        case "enum":
          if (isJsonList(value) && value.length > 0) values = narrowed(values, value);
          else this.#fault(place, "a list that is not empty");
          break;
        case "const":
          values = narrowed(values, [value]);
          break;
        case "pattern":
          pattern = this.#pattern(value, place);
          break;
        case "oneOf":
        case "anyOf":
          branches.set(
            key,
            this.#branches(value, place, (index, one) => inner(`${key}.${index}`, one)),
          );
          break;
        default:
          this.#other(key, value, place, numbers);
      }
    }
    const [oneOf = null, anyOf = null] = [branches.get("oneOf"), branches.get("anyOf")];
    return { types, properties, required, additional, items, numbers, values, pattern, oneOf, anyOf };
  }

  #fault(at: string, message: string): null {
    if (this.faults.length < faultsMax) this.faults.push({ at: at === "" ? "input" : at, message });
    return null;
  }

  #types(value: Json, at: string): readonly string[] | null {
    const list = isJsonList(value) ? value : [value];
    if (list.length > 0 && list.every((one) => typeof one === "string" && TYPES.includes(one)))
      return list as readonly string[];
    return this.#fault(at, `one of ${TYPES.join(", ")}, or a list of them`);
  }

  #texts(value: Json, at: string): readonly string[] {
    if (isJsonList(value) && value.every((one) => typeof one === "string")) return value as readonly string[];
    this.#fault(at, "a list of names");
    return [];
  }

  #properties(
    value: Json,
    at: string,
    read: (name: string, schema: Json) => ReadSchema | null,
  ): ReadonlyMap<string, ReadSchema> {
    const found = new Map<string, ReadSchema>();
    if (!isJsonObject(value)) this.#fault(at, "a schema for each name");
    else
      for (const name of Object.keys(value)) {
        const schema = read(name, member(value, name) as Json);
        if (schema !== null) found.set(name, schema);
      }
    return found;
  }

  #branches(value: Json, at: string, read: (index: number, schema: Json) => ReadSchema | null): readonly ReadSchema[] {
    if (!isJsonList(value) || value.length === 0) {
      this.#fault(at, "a list of schemas");
      return [];
    }
    return value.map((one, index) => read(index, one)).filter((one) => one !== null);
  }

  #pattern(value: Json, at: string): SimplePattern | null {
    if (typeof value !== "string") return this.#fault(at, "a text");
    const pattern = parseSimplePattern(value);
    return pattern.ok ? pattern.value : this.#fault(at, pattern.message);
  }

  #other(key: string, value: Json, at: string, numbers: Map<NumberKeyword, number>): void {
    const number = NUMBERS.find((one) => one === key);
    if (number !== undefined) {
      const isCount = COUNTS.some((one) => one === key);
      if (typeof value === "number" && (!isCount || (Number.isSafeInteger(value) && value >= 0)))
        numbers.set(number, value);
      else this.#fault(at, isCount ? "a whole number, 0 or more" : "a number");
    } else if (!TOLD.includes(key))
      this.#fault(at, `${JSON.stringify(key.slice(0, 80))} is not supported here; remove it`);
  }
}

/** If both `enum` and `const` are given, both apply. */
function narrowed(before: readonly Json[] | null, list: readonly Json[]): readonly Json[] {
  return before === null ? list : before.filter((one) => list.some((other) => isSameJson(one, other)));
}

export function isSameJson(left: Json, right: Json): boolean {
  if (isJsonList(left))
    return (
      isJsonList(right) && left.length === right.length && left.every((one, at) => isSameJson(one, right[at] as Json))
    );
  if (!isJsonObject(left)) return left === right;
  if (!isJsonObject(right)) return false;
  return isSameObject(left, right);
}

function isSameObject(left: JsonObject, right: JsonObject): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name] as Json, right[name] as Json))
  );
}
