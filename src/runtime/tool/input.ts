// A tool's input: converts any kind of schema into one function that accepts a value or says why not.
import { copyJson, isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { FromSchema, JsonSchema } from "./json-schema.ts";
import { isSameJson, type NumberKeyword, type ReadSchema, readSchema, type SchemaFault } from "./schema-reader.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard-schema.ts";

export type InputSchema = StandardSchema | JsonSchema;

/** The type `execute` gets: the output of a schema library's schema, or the type of a JSON Schema. */
export type InputOf<S> =
  S extends StandardSchema<infer _Input, infer Output> ? (unknown extends Output ? JsonObject : Output) : FromSchema<S>;

export type InputResult<Input> =
  | { readonly ok: true; readonly value: Input }
  | { readonly ok: false; readonly issues: readonly InputIssue[] };

export interface InputParser<Input> {
  accept(input: JsonObject): InputResult<Input>;
  /** For a model to read; null if the schema library does not provide it. */
  readonly schema: JsonObject | null;
  readonly faults: readonly SchemaFault[];
}

const issuesMax = 20;

/** An invalid schema accepts nothing, and its faults say why. */
export function inputParser<S extends InputSchema>(schema: S): InputParser<InputOf<S>> {
  return (isStandardSchema(schema) ? ofLibrary(schema) : ofJson(schema)) as InputParser<InputOf<S>>;
}

function ofJson(written: unknown): InputParser<Json> {
  const schema = copyJson(written);
  const reading =
    schema === undefined
      ? {
          ok: false as const,
          faults: [{ at: "input", message: "a schema must be plain data, nested at most 64 levels deep" }],
        }
      : readSchema(schema);
  if (!reading.ok) return refusing(reading.faults);
  return {
    accept: (input) => {
      const issues = schemaIssues(reading.value, input);
      return issues.length === 0 ? { ok: true, value: input } : { ok: false, issues };
    },
    schema: isJsonObject(schema) ? schema : null,
    faults: [],
  };
}

function refusing(faults: readonly SchemaFault[]): InputParser<never> {
  return { accept: () => refused("", "the tool's schema cannot be parsed"), schema: null, faults };
}

function ofLibrary(schema: StandardSchema): InputParser<unknown> {
  const standard: unknown = attempt(() => schema["~standard"]);
  const { version, "validate": check } = (standard ?? {}) as {
    readonly version?: unknown;
    readonly "validate"?: unknown;
  };
  if (version !== 1 || typeof check !== "function")
    return refusing([{ at: "input", message: "a Standard Schema of version 1, or a JSON Schema" }]);
  return {
    accept: (input) => {
      const answer = attempt(() => (check as (value: unknown) => unknown).call(standard, input));
      return readAnswer(answer);
    },
    schema: jsonSchemaOf(standard),
    faults: [],
  };
}

/** The gate decides synchronously: an asynchronous schema is refused. */
function readAnswer(answer: unknown): InputResult<unknown> {
  if (typeof answer !== "object" || answer === null) return refused("", "the schema threw an error on the input");
  if ("then" in answer) return refused("", "the schema is asynchronous; decisions need a synchronous one");
  const { issues } = answer as { readonly issues?: unknown };
  if (issues === undefined && "value" in answer) return { ok: true, value: answer.value };
  const list = Array.isArray(issues) ? (issues as readonly Partial<StandardIssue>[]).slice(0, issuesMax) : [];
  const told = list.map((one) => ({ at: placeOf(one.path), message: String(one.message).slice(0, 500) }));
  return told.length === 0 ? refused("", "the schema refused the input") : { ok: false, issues: told };
}

function placeOf(path: StandardIssue["path"]): string {
  if (!Array.isArray(path)) return "";
  return (path as NonNullable<StandardIssue["path"]>)
    .slice(0, 64)
    .map((step) => String(typeof step === "object" ? step.key : step).slice(0, 80))
    .join(".");
}

function refused(at: string, message: string): InputResult<never> {
  return { ok: false, issues: [{ at, message }] };
}

/** Newer libraries can convert their schema to JSON Schema. Shown to a model, never checked here. */
function jsonSchemaOf(standard: unknown): JsonObject | null {
  const made = attempt(() =>
    (standard as { jsonSchema?: { input?: (asked: object) => unknown } }).jsonSchema?.input?.({
      target: "draft-2020-12",
    }),
  );
  // Through its text: some libraries attach a hidden member to their output.
  const copy = copyJson(attempt(() => JSON.parse(JSON.stringify(made)) as unknown));
  return isJsonObject(copy) ? copy : null;
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

export interface InputIssue {
  /** Path in the input: `city`, `places.0.name`; empty for the whole. */
  readonly at: string;
  readonly message: string;
}

const stepsMax = 1_000_000;

/** Cost is bounded: the schema has no references, and steps are counted. Empty: valid. */
function schemaIssues(schema: ReadSchema, value: Json): readonly InputIssue[] {
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
