// A tool's input: converts any kind of schema into one function that accepts a value or says why not.
import { copyJson, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { FromSchema, JsonSchema } from "./json-schema.ts";
import { type InputIssue, schemaIssues } from "./schema-check.ts";
import { readSchema, type SchemaFault } from "./schema-reader.ts";
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
      ? { ok: false as const, faults: [{ at: "input", message: "a schema is plain data, at most 64 deep" }] }
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
  return { accept: () => refused("", "the tool's schema cannot be read"), schema: null, faults };
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
  if (typeof answer !== "object" || answer === null) return refused("", "the schema failed over the input");
  if ("then" in answer) return refused("", "the schema answers later, and a decision cannot wait for it");
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
