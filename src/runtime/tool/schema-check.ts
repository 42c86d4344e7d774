// Checks a value against a parsed schema. Cost is bounded: the schema has no references, and steps are counted.
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { isSameJson, type NumberKeyword, type ReadSchema } from "./schema-reader.ts";

export interface InputIssue {
  /** Path in the input: `city`, `places.0.name`; empty for the whole. */
  readonly at: string;
  readonly message: string;
}

const stepsMax = 1_000_000;
const issuesMax = 20;

/** Empty: valid. */
export function schemaIssues(schema: ReadSchema, value: Json): readonly InputIssue[] {
  const check = new Check();
  check.value(schema, value, "");
  // INVARIANT: a value that was not checked completely is invalid.
  if (check.isExhausted) return [{ at: "", message: "the input is too large for its schema" }];
  return check.issues;
}

class Check {
  readonly issues: InputIssue[] = [];
  #steps = 0;

  get isExhausted(): boolean {
    return this.#steps > stepsMax;
  }

  value(schema: ReadSchema, value: Json, at: string): void {
    if (++this.#steps > stepsMax || this.issues.length >= issuesMax) return;
    const { types, values, oneOf, anyOf } = schema;
    if (types !== null && !types.some((type) => isOfType(type, value))) {
      this.#issue(at, `must be ${types.join(" or ")}`);
      return;
    }
    if (values !== null && !values.some((one) => isSameJson(one, value))) this.#issue(at, "is not one of the values");
    if (typeof value === "string") this.#text(schema, value, at);
    else if (typeof value === "number") this.#number(schema, value, at);
    else if (isJsonList(value)) this.#list(schema, value, at);
    else if (isJsonObject(value)) this.#object(schema, value, at);
    if (anyOf !== null && this.#fitting(anyOf, value, 1) === 0) this.#issue(at, "fits none of the alternatives");
    if (oneOf !== null) {
      const count = this.#fitting(oneOf, value, 2);
      if (count !== 1)
        this.#issue(at, count === 0 ? "fits none of the alternatives" : "fits several of the alternatives");
    }
  }

  /** How many alternatives match, counted up to `most`. An alternative's own issues are not the input's. */
  #fitting(schemas: readonly ReadSchema[], value: Json, most: number): number {
    let count = 0;
    for (const schema of schemas) {
      const inner = new Check();
      inner.#steps = this.#steps;
      inner.value(schema, value, "");
      this.#steps = inner.#steps;
      if (inner.issues.length === 0) count++;
      if (count >= most) break;
    }
    return count;
  }

  #issue(at: string, message: string): void {
    if (this.issues.length < issuesMax) this.issues.push({ at, message });
  }

  #within(
    schema: ReadSchema,
    least: NumberKeyword,
    most: NumberKeyword,
    count: number,
    at: string,
    what: string,
  ): void {
    const [low, high] = [schema.numbers.get(least), schema.numbers.get(most)];
    if (low !== undefined && count < low) this.#issue(at, `has fewer than ${low} ${what}`);
    if (high !== undefined && count > high) this.#issue(at, `has more than ${high} ${what}`);
  }

  #text(schema: ReadSchema, value: string, at: string): void {
    if (schema.numbers.size > 0) this.#within(schema, "minLength", "maxLength", charactersIn(value), at, "characters");
    if (schema.pattern !== null && !schema.pattern(value)) this.#issue(at, "does not match its pattern");
  }

  #number({ numbers }: ReadSchema, value: number, at: string): void {
    const [low, high] = [numbers.get("minimum"), numbers.get("maximum")];
    const [above, below] = [numbers.get("exclusiveMinimum"), numbers.get("exclusiveMaximum")];
    if (low !== undefined && value < low) this.#issue(at, `is below ${low}`);
    if (high !== undefined && value > high) this.#issue(at, `is above ${high}`);
    if (above !== undefined && value <= above) this.#issue(at, `is not above ${above}`);
    if (below !== undefined && value >= below) this.#issue(at, `is not below ${below}`);
  }

  #list(schema: ReadSchema, value: readonly Json[], at: string): void {
    this.#within(schema, "minItems", "maxItems", value.length, at, "elements");
    const { items } = schema;
    if (items === null) return;
    for (const [index, one] of value.entries()) {
      if (this.issues.length >= issuesMax || this.#steps > stepsMax) return;
      this.value(items, one, joined(at, String(index)));
    }
  }

  #object({ properties, required, additional }: ReadSchema, value: JsonObject, at: string): void {
    for (const name of required) if (!Object.hasOwn(value, name)) this.#issue(joined(at, name), "is missing");
    for (const name of Object.keys(value)) {
      if (this.issues.length >= issuesMax || this.#steps > stepsMax) return;
      const schema = properties.get(name) ?? additional;
      if (schema === false) this.#issue(joined(at, name), "is not part of the input");
      else if (schema !== true) this.value(schema, value[name] as Json, joined(at, name));
    }
  }
}

function joined(at: string, name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return at === "" ? shown : `${at}.${shown}`;
}

function isOfType(type: string, value: Json): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return isJsonList(value);
    case "object":
      return isJsonObject(value);
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** A surrogate pair is one character. */
function charactersIn(value: string): number {
  let count = value.length;
  for (let at = 1; at < value.length; at++)
    if ((value.charCodeAt(at) & 0xfc00) === 0xdc00 && (value.charCodeAt(at - 1) & 0xfc00) === 0xd800) count--;
  return count;
}
