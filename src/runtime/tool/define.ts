// Defines a tool: its name, declaration, input schema and function. The result is frozen data and functions; the registry
// decides whether it may be registered, with errors as data.
import type { Risk } from "../../core/authority/catalog.ts";
import { copyJson, isJsonObject, type JsonObject } from "../../core/base/json.ts";
import type { Context } from "../context/context.ts";
import type { ToolRequest } from "../context/tool-request.ts";
import type { Capabilities } from "./declaration.ts";
import { schemaFault, textFault } from "./description-text.ts";
import { type InputOf, type InputResult, type InputSchema, inputParser } from "./input.ts";

export interface ToolDefinition<S extends InputSchema> {
  readonly name: string;
  /** For the model that calls it. */
  readonly description: string;
  /** A lower bound; the declaration can only raise it. */
  readonly risk?: Risk;
  /** Undeclared means unreachable: without it every instrument is closed. */
  readonly capabilities?: Capabilities;
  /** Time limit of one call in a host: at most, and by default, `callMillisecondsMax`. */
  readonly milliseconds?: number;
  readonly input: S;
  /** Whether it can be used here and now, asked where the tool runs. False, or an exception: `not_available`, and not listed. */
  isAvailable?(): boolean;
  /** The requests of a call with this input, as far as known: decided, and approved, before it runs. */
  requests?(input: InputOf<S>): readonly ToolRequest[];
  execute(input: InputOf<S>, context: Context): unknown;
}

/** `Input` appears only in methods, so that a tool with any input is a `Tool`. */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly risk: Risk | null;
  /** As declared; null if it is not plain data, and then unreadable. */
  readonly capabilities: JsonObject | null;
  /** Null: the maximum. */
  readonly milliseconds: number | null;
  /** The input schema for a model. */
  readonly schema: JsonObject | null;
  readonly faults: readonly ToolFault[];
  /** Never throws. */
  isAvailable(): boolean;
  accept(input: JsonObject): InputResult<Input>;
  requests(input: Input): readonly ToolRequest[];
  execute(input: Input, context: Context): unknown;
}

/** Faults of the definition itself. */
export interface ToolFault {
  readonly part:
    | "name"
    | "description"
    | "risk"
    | "capabilities"
    | "milliseconds"
    | "input"
    | "isAvailable"
    | "requests"
    | "execute";
  readonly at: string;
  readonly message: string;
}

const RISKS: readonly unknown[] = ["low", "medium", "high", undefined];
const descriptionCharactersMax = 16_384;
/** Time limit of one call of a tool in its host. */
export const callMillisecondsMax = 120_000;

export function defineTool<const S extends InputSchema>(definition: ToolDefinition<S>): Tool<InputOf<S>> {
  // Read once: later changes of the object have no effect on the registered tool.
  const {
    name,
    description,
    risk,
    capabilities: written,
    milliseconds,
    input,
    isAvailable,
    requests,
    execute,
  } = definition;
  const capabilities = copyJson(written ?? {});
  const faults: ToolFault[] = [];
  const fault = (part: ToolFault["part"], message: string, at: string = part): void => {
    faults.push(Object.freeze({ part, at, message }));
  };
  if (typeof name !== "string") fault("name", "a name must be a string");
  if (typeof description !== "string" || description.trim() === "" || description.length > descriptionCharactersMax)
    fault("description", `a description must be text of at most ${descriptionCharactersMax} characters`);
  else {
    const hidden = textFault(description);
    if (hidden !== null) fault("description", hidden);
  }
  if (!RISKS.includes(risk)) fault("risk", "a risk is low, medium or high");
  if (!isJsonObject(capabilities)) fault("capabilities", "a declaration must be plain data");
  if (milliseconds !== undefined && !isCallTime(milliseconds))
    fault("milliseconds", `the timeout of a call is at least 1 and at most ${callMillisecondsMax} milliseconds`);
  if (isAvailable !== undefined && typeof isAvailable !== "function") fault("isAvailable", "a function without input");
  if (requests !== undefined && typeof requests !== "function") fault("requests", "a function of the input");
  if (typeof execute !== "function") fault("execute", "a function of the input and the context");
  const acceptor = inputParser(input);
  for (const { at, message } of acceptor.faults) fault("input", message, at);
  const told = acceptor.schema === null ? null : schemaFault(acceptor.schema);
  if (told !== null) fault("input", told);
  return Object.freeze({
    name: String(name),
    description: String(description),
    risk: risk ?? null,
    capabilities: isJsonObject(capabilities) ? capabilities : null,
    milliseconds: isCallTime(milliseconds) ? milliseconds : null,
    schema: acceptor.schema,
    faults: Object.freeze(faults),
    isAvailable: () => {
      try {
        return isAvailable === undefined || isAvailable.call(definition) === true;
      } catch {
        return false;
      }
    },
    accept: acceptor.accept,
    requests: (asked: InputOf<S>) => (requests === undefined ? [] : requests.call(definition, asked)),
    execute: (asked: InputOf<S>, context: Context) => execute.call(definition, asked, context),
  });
}

function isCallTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= callMillisecondsMax;
}
