// JSON Schema for tool inputs: a subset that can be checked in bounded time, and its TypeScript type.
import type { Json, JsonObject } from "../../core/base/json.ts";

export type SchemaType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";

/** All supported keywords. Any other is refused: ignoring it would drop a limit. */
export interface JsonSchema {
  readonly type?: SchemaType | readonly SchemaType[];
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** From `^` to `$`, only characters, classes and counts: see `simple-pattern.ts`. */
  readonly pattern?: string;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly examples?: readonly Json[];
  /** Shown, not checked. */
  readonly format?: string;
  readonly deprecated?: boolean;
  readonly $schema?: string;
  readonly $comment?: string;
}

/** The type of the values that such a schema accepts. */
export type FromSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly oneOf: readonly (infer One)[] }
      ? FromSchema<One>
      : S extends { readonly anyOf: readonly (infer One)[] }
        ? FromSchema<One>
        : S extends { readonly type: readonly (infer Type)[] }
          ? FromType<Type, S>
          : S extends { readonly type: infer Type }
            ? FromType<Type, S>
            : Json;

type FromType<Type, S> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? FromItems<S>
          : Type extends "object"
            ? FromProperties<S>
            : Json;

type FromItems<S> = S extends { readonly items: infer Items } ? readonly FromSchema<Items>[] : readonly Json[];

type FromProperties<S> = S extends { readonly properties: infer Properties }
  ? { readonly [Name in keyof Properties & Required<S>]: FromSchema<Properties[Name]> } & {
      readonly [Name in Exclude<keyof Properties, Required<S>>]?: FromSchema<Properties[Name]>;
    }
  : JsonObject;

type Required<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;
