// Tools inside their host process: describes a module's exports as plain data, derives the requests of a call, and runs it with
// a remote context. Incoming calls were decided; outgoing uses are decided again.
import { foreignErrorMessage } from "../../core/base/error-message.ts";
import { copyJson, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { OpenContext } from "../context/context.ts";
import { remoteContext } from "../context/remote.ts";
import { useDenial } from "../context/use-result.ts";
import { SAYS_UNAVAILABLE } from "./availability.ts";
import { defineTool, type Tool, type ToolDefinition } from "./define.ts";
import { schemaFault } from "./description-text.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isStandardSchema } from "./standard-schema.ts";
import { type ToolOutcome, toolOutcome } from "./tool-outcome.ts";

/** A tool as its host describes it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly risk: string | null;
  readonly capabilities: JsonObject | null;
  /** Time limit of a call; null if unspecified. */
  readonly milliseconds: number | null;
  /** The input schema for a model; null if the schema library does not provide it. */
  readonly schema: JsonObject | null;
  /** Only the host can check an input against a schema library's schema. */
  readonly isLibrarySchema: boolean;
  /** It derives the requests of a call itself. */
  readonly isAsking: boolean;
  /** Its own answer when it was loaded. */
  readonly isAvailable: boolean;
  readonly faults: readonly { readonly part: string; readonly at: string; readonly message: string }[];
}

export type HostMessage =
  | { readonly kind: "derive" | "execute"; readonly call: number; readonly tool: string; readonly input: JsonObject }
  | { readonly kind: "used"; readonly call: number; readonly use: number; readonly answer: Json }
  | { readonly kind: "stop"; readonly call: number };

export const toolsOfSourceMax = 64;
const requestsMax = 256;
const usesMax = 32;
/** Result size limit: a daemon message, minus its envelope. */
const outcomeCharactersMax = 524_288;

export class HostedTools {
  readonly #tools: readonly Tool[];
  readonly #library: ReadonlySet<Tool>;
  readonly #asking: ReadonlySet<Tool>;
  readonly #post: (message: object) => boolean;
  /** By call. */
  readonly #running = new Map<
    number,
    { readonly open: OpenContext; readonly waiting: Map<number, (answer: Json) => void> }
  >();
  #uses = 0;

  /** `post`: false if it was too long to be sent. */
  constructor(exported: unknown, post: (message: object) => boolean) {
    const definitions = definitionsIn(exported);
    const made = definitions.map((one) => ({
      tool: defineTool(one),
      isLibrary: isStandardSchema(one.input),
      isAsking: one.requests !== undefined,
    }));
    this.#tools = made.map(({ tool }) => tool);
    this.#asking = new Set(made.flatMap(({ tool, isAsking }) => (isAsking ? [tool] : [])));
    this.#library = new Set(made.flatMap(({ tool, isLibrary }) => (isLibrary ? [tool] : [])));
    this.#post = post;
  }

  describe(): readonly ToolDescription[] {
    return this.#tools.map((tool) => {
      const { name, description, risk, capabilities, milliseconds, schema, faults } = tool;
      const isLibrarySchema = this.#library.has(tool);
      const isAsking = this.#asking.has(tool);
      const isAvailable = tool.isAvailable();
      const flags = { isLibrarySchema, isAsking, isAvailable };
      return { name, description, risk, capabilities, milliseconds, schema, ...flags, faults };
    });
  }

  take(message: HostMessage): void {
    switch (message.kind) {
      case "derive":
        this.#post({ kind: "derived", call: message.call, ...this.#derive(message.tool, message.input) });
        break;
      case "execute":
        void this.#execute(message);
        break;
      case "used":
        this.#running.get(message.call)?.waiting.get(message.use)?.(message.answer);
        break;
      case "stop":
        this.#running.get(message.call)?.open.end();
        break;
      default:
        message satisfies never;
    }
  }

  #derive(name: string, input: JsonObject): object {
    try {
      const tool = this.#tools.find((one) => one.name === name);
      const accepted = tool?.accept(input);
      if (tool === undefined || accepted === undefined) return { message: "no such tool" };
      if (!accepted.ok) {
        const [issue] = accepted.issues;
        return { message: issue === undefined ? "refused" : `${issue.at} ${issue.message}`.trim() };
      }
      const requests = copyJson(tool.requests(accepted.value));
      if (!Array.isArray(requests) || requests.length > requestsMax)
        return { message: "its requests are not a plain list" };
      return { requests };
    } catch (error) {
      return { message: foreignErrorMessage(error) };
    }
  }

  async #execute({ call, tool: name, input }: Extract<HostMessage, { readonly input: JsonObject }>): Promise<void> {
    const waiting = new Map<number, (answer: Json) => void>();
    const open = remoteContext((asked) => {
      if (waiting.size >= usesMax)
        return Promise.resolve({ ...useDenial("not_available", null, "too many uses at once") });
      const use = ++this.#uses;
      return new Promise<Json>((give) => {
        waiting.set(use, (answer) => {
          waiting.delete(use);
          give(answer);
        });
        if (!this.#post({ kind: "use", call, use, asked }))
          waiting.get(use)?.({ ...useDenial("invalid_input", null, "the request is too long") });
      });
    });
    this.#running.set(call, { open, waiting });
    const outcome = await this.#outcome(name, input, open);
    open.end();
    for (const give of [...waiting.values()]) give({ ...useDenial("revoked", null, "the call has ended") });
    this.#running.delete(call);
    const isFitting = JSON.stringify(outcome).length <= outcomeCharactersMax;
    this.#post({ kind: "done", call, outcome: isFitting ? outcome : TOO_LONG });
  }

  async #outcome(name: string, input: JsonObject, open: OpenContext): Promise<ToolOutcome> {
    try {
      const tool = this.#tools.find((one) => one.name === name);
      const accepted = tool?.accept(input);
      if (tool === undefined || accepted?.ok !== true)
        return { ok: false, code: "invalid_input", message: "the arguments do not match the tool's input" };
      if (!tool.isAvailable()) return { ok: false, code: "not_available", message: SAYS_UNAVAILABLE };
      return await toolOutcome(await tool.execute(accepted.value, open.context));
    } catch (error) {
      return { ok: false, code: "execution_failed", message: foreignErrorMessage(error) };
    }
  }
}

const TOO_LONG: ToolOutcome = {
  ok: false,
  code: "execution_failed",
  message: `its result is longer than ${outcomeCharactersMax} characters`,
};

/** The default export, or `tool`, or `tools`; one or a list. A CommonJS module's exports come as its default. */
function definitionsIn(exported: unknown): readonly ToolDefinition<JsonSchema>[] {
  const module = (exported ?? {}) as Readonly<Record<string, unknown>>;
  const inner = module["default"] ?? module["tools"] ?? module["tool"];
  const again = (inner ?? {}) as Readonly<Record<string, unknown>>;
  const found = again["execute"] === undefined ? (again["default"] ?? again["tools"] ?? again["tool"] ?? inner) : inner;
  const list: readonly unknown[] = Array.isArray(found)
    ? (found as readonly unknown[]).slice(0, toolsOfSourceMax)
    : [found];
  return list.filter((one): one is ToolDefinition<JsonSchema> => typeof one === "object" && one !== null);
}

/** A description is untrusted input. Null: invalid. */
export function readToolDescriptions(value: unknown): readonly ToolDescription[] | null {
  const list = copyJson(value);
  if (!Array.isArray(list) || list.length > toolsOfSourceMax) return null;
  const tools: ToolDescription[] = [];
  for (const one of list as readonly Json[]) {
    if (!isJsonObject(one)) return null;
    const {
      name,
      description,
      risk,
      capabilities,
      milliseconds,
      schema,
      isLibrarySchema,
      isAsking,
      isAvailable,
      faults,
    } = one;
    if (typeof name !== "string" || typeof description !== "string" || !Array.isArray(faults)) return null;
    const told: JsonObject[] = (faults as readonly Json[])
      .slice(0, 20)
      .map((fault) => (isJsonObject(fault) ? fault : {}));
    // Code in the same host may have hidden the tool's faults.
    const shown = isJsonObject(schema) ? schemaFault(schema) : null;
    if (shown !== null && told.length === 0) told.push({ part: "input", at: "input", message: shown });
    tools.push({
      name: name.slice(0, 200),
      description,
      risk: typeof risk === "string" ? risk : null,
      capabilities: isJsonObject(capabilities) ? capabilities : null,
      milliseconds: typeof milliseconds === "number" ? milliseconds : null,
      schema: isJsonObject(schema) ? schema : null,
      isLibrarySchema: isLibrarySchema === true,
      // An absent flag counts as true, so the host is asked.
      isAsking: isAsking !== false,
      isAvailable: isAvailable === true,
      faults: told.map((fault) => ({
        part: String(fault["part"]),
        at: String(fault["at"]).slice(0, 200),
        message: String(fault["message"]).slice(0, 500),
      })),
    });
  }
  return tools;
}
