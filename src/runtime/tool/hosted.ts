// Tools inside their host: what a module exports, described as plain data, asked what a call will ask for, and run with a
// context that is somewhere else. What arrives here was decided; what leaves here is decided again.
import { copyJson, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { OpenContext } from "../context/context.ts";
import { remoteContext } from "../context/remote.ts";
import { denied } from "../context/used.ts";
import { defineTool, type Tool, type ToolDefinition } from "./define.ts";
import type { JsonSchema } from "./json-schema.ts";
import { returned, type ToolOutcome } from "./returned.ts";
import { isStandardSchema } from "./standard-schema.ts";
import { schemaFault } from "./told-text.ts";

/** A tool as a host tells of it. */
export interface ToolDescribed {
  readonly name: string;
  readonly description: string;
  readonly risk: string | null;
  readonly capabilities: JsonObject | null;
  /** How long a call of it may take; null where it does not say. */
  readonly milliseconds: number | null;
  /** The input for a model to read; null where the schema does not say. */
  readonly schema: JsonObject | null;
  /** Only the host can hold an input against a schema library's schema. */
  readonly isLibrarySchema: boolean;
  /** It says itself what a call will ask for. */
  readonly isAsking: boolean;
  readonly faults: readonly { readonly part: string; readonly at: string; readonly message: string }[];
}

export type HostMessage =
  | { readonly kind: "derive" | "execute"; readonly call: number; readonly tool: string; readonly input: JsonObject }
  | { readonly kind: "used"; readonly call: number; readonly use: number; readonly answer: Json }
  | { readonly kind: "stop"; readonly call: number };

export const toolsOfSourceMax = 64;
const requestsMax = 256;
const usesMax = 32;
/** What one call may answer with: as much as a message of the daemon's holds, with room around it. */
const outcomeCharactersMax = 524_288;

export class HostedTools {
  readonly #tools: readonly Tool[];
  readonly #library: ReadonlySet<Tool>;
  readonly #asking: ReadonlySet<Tool>;
  readonly #post: (message: object) => boolean;
  #running: {
    readonly call: number;
    readonly open: OpenContext;
    readonly waiting: Map<number, (answer: Json) => void>;
  } | null = null;
  #uses = 0;

  /** `post`: false where it was too long to be sent. */
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

  describe(): readonly ToolDescribed[] {
    return this.#tools.map((tool) => {
      const { name, description, risk, capabilities, milliseconds, schema, faults } = tool;
      const isLibrarySchema = this.#library.has(tool);
      const isAsking = this.#asking.has(tool);
      return { name, description, risk, capabilities, milliseconds, schema, isLibrarySchema, isAsking, faults };
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
        if (this.#running?.call === message.call) this.#running.waiting.get(message.use)?.(message.answer);
        break;
      case "stop":
        if (this.#running?.call === message.call) this.#running.open.end();
        break;
      default:
        message satisfies never;
    }
  }

  #derive(name: string, input: JsonObject): object {
    try {
      const tool = this.#tools.find((one) => one.name === name);
      const accepted = tool?.accept(input);
      if (tool === undefined || accepted === undefined) return { message: "there is no such tool" };
      if (!accepted.ok) {
        const [issue] = accepted.issues;
        return { message: issue === undefined ? "refused" : `${issue.at} ${issue.message}`.trim() };
      }
      const requests = copyJson(tool.requests(accepted.value));
      if (!Array.isArray(requests) || requests.length > requestsMax)
        return { message: "its requests are no plain list" };
      return { requests };
    } catch (error) {
      return { message: messageOf(error) };
    }
  }

  async #execute({ call, tool: name, input }: Extract<HostMessage, { readonly input: JsonObject }>): Promise<void> {
    const waiting = new Map<number, (answer: Json) => void>();
    const open = remoteContext((asked) => {
      if (waiting.size >= usesMax)
        return Promise.resolve({ ...denied("not_available", null, "too many uses at once") });
      const use = ++this.#uses;
      return new Promise<Json>((give) => {
        waiting.set(use, (answer) => {
          waiting.delete(use);
          give(answer);
        });
        if (!this.#post({ kind: "use", call, use, asked }))
          waiting.get(use)?.({ ...denied("invalid_input", null, "what was asked for is too long") });
      });
    });
    this.#running?.open.end();
    this.#running = { call, open, waiting };
    const outcome = await this.#outcome(name, input, open);
    open.end();
    for (const give of [...waiting.values()]) give({ ...denied("revoked", null, "the call has ended") });
    if (this.#running?.call === call) this.#running = null;
    const isFitting = JSON.stringify(outcome).length <= outcomeCharactersMax;
    this.#post({ kind: "done", call, outcome: isFitting ? outcome : TOO_LONG });
  }

  async #outcome(name: string, input: JsonObject, open: OpenContext): Promise<ToolOutcome> {
    try {
      const tool = this.#tools.find((one) => one.name === name);
      const accepted = tool?.accept(input);
      if (tool === undefined || accepted?.ok !== true)
        return { ok: false, code: "invalid_input", message: "the arguments do not match the tool's input" };
      return await returned(await tool.execute(accepted.value, open.context));
    } catch (error) {
      return { ok: false, code: "execution_failed", message: messageOf(error) };
    }
  }
}

const TOO_LONG: ToolOutcome = {
  ok: false,
  code: "execution_failed",
  message: `what it returned is longer than ${outcomeCharactersMax} characters`,
};

/** The default export, or `tool`, or `tools`; one or a list. What an old-style module exports comes as its default. */
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

/** What is described is read as if a stranger had written it. Null: no description. */
export function readDescribed(value: unknown): readonly ToolDescribed[] | null {
  const list = copyJson(value);
  if (!Array.isArray(list) || list.length > toolsOfSourceMax) return null;
  const tools: ToolDescribed[] = [];
  for (const one of list as readonly Json[]) {
    if (!isJsonObject(one)) return null;
    const { name, description, risk, capabilities, milliseconds, schema, isLibrarySchema, isAsking, faults } = one;
    if (typeof name !== "string" || typeof description !== "string" || !Array.isArray(faults)) return null;
    const told: JsonObject[] = (faults as readonly Json[])
      .slice(0, 20)
      .map((fault) => (isJsonObject(fault) ? fault : {}));
    // Whoever runs beside the tool may have said that there was nothing wrong with it.
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
      // What is not said is asked.
      isAsking: isAsking !== false,
      faults: told.map((fault) => ({
        part: String(fault["part"]),
        at: String(fault["at"]).slice(0, 200),
        message: String(fault["message"]).slice(0, 500),
      })),
    });
  }
  return tools;
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message).slice(0, 2000) : "it threw something that is no error";
  } catch {
    return "it threw something that is no error";
  }
}
