// Resources and prompts of MCP servers for a client. They are listed and read by the same calls that a model makes: decided,
// charged and logged. `docs://a` of the server `notes` is `notes+docs://a` here, so that no server can speak for another.
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { objectIn, textIn } from "../core/base/fields.ts";
import { isJsonList, isJsonObject, type JsonObject, member } from "../core/base/json.ts";
import type { CallResult } from "./call-result.ts";
import type { ClientCallOptions, ReconnectingSession } from "./reconnecting-session.ts";

const LIST = "resources_list";
const READ = "resources_read";
const COMPLETE = "resources_complete";
const WATCH = "resources_watch";
const INPUT_REQUIRED = "input_required";
/** Each is a call that runs. */
export const watchesMax = 16;
const NO_COMPLETION: JsonObject = { completion: { values: [], hasMore: false } };
/** Between a server and what it has: no name of a server has a `+` or two underscores. */
const URI = /^([a-z][a-z0-9-]*)\+(.+)$/s;
const PROMPT = /^([a-z][a-z0-9-]*)__(.+)$/s;

export class ServedResources {
  readonly #session: ReconnectingSession;
  readonly #watches = new Map<string, Watch>();

  constructor(session: ReconnectingSession) {
    this.#session = session;
  }

  async list(signal: AbortSignal): Promise<{ readonly resources: readonly JsonObject[] }> {
    return { resources: (await this.#items("resource", signal)).map((one) => shown(one, "uri")) };
  }

  async templates(signal: AbortSignal): Promise<{ readonly resourceTemplates: readonly JsonObject[] }> {
    return { resourceTemplates: (await this.#items("template", signal)).map((one) => shown(one, "uriTemplate")) };
  }

  async prompts(signal: AbortSignal): Promise<readonly JsonObject[]> {
    return (await this.#items("prompt", signal)).map((one) => ({
      name: `${member(one, "server")}__${member(one, "name")}`,
      description: member(one, "description") ?? "",
      arguments: member(one, "arguments") ?? [],
    }));
  }

  /** A result of the protocol, which may say what the server needs first. */
  async read(uri: string, signal: AbortSignal, during: ClientCallOptions): Promise<JsonObject> {
    const [, server, own] = URI.exec(uri) ?? [];
    if (server === undefined || own === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "there is no such resource: its URI is SERVER+URI");
    const result = await this.#read({ server, uri: own }, signal, during, { uri });
    if (isInputNeeded(result)) return result;
    const contents = member(result, "contents");
    return {
      contents: (isJsonList(contents) ? contents.filter(isJsonObject) : []).map((one) => ({
        ...one,
        uri: `${server}+${String(member(one, "uri") ?? own)}`,
      })),
    };
  }

  /** Null for a name that belongs to no server. */
  async prompt(
    name: string,
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
    during: ClientCallOptions,
  ): Promise<JsonObject | null> {
    const [, server, own] = PROMPT.exec(name) ?? [];
    if (server === undefined || own === undefined) return null;
    const result = await this.#read({ server, uri: `prompt:${own}`, arguments: given }, signal, during);
    if (isInputNeeded(result)) return result;
    const { description, messages } = result;
    return { description: description ?? "", messages: messages ?? [] };
  }

  /** Nothing for what has no completions, or what is not granted. */
  async complete(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const [ref, argument, context] = ["ref", "argument", "context"].map((key) => objectIn(params, key) ?? {});
    const [name, uri] = [textIn(ref ?? {}, "name"), textIn(ref ?? {}, "uri")];
    const [, server, own] = (name === null ? URI.exec(uri ?? "") : PROMPT.exec(name)) ?? [];
    if (server === undefined || own === undefined) return NO_COMPLETION;
    const result = await this.#session.call(
      COMPLETE,
      {
        server,
        uri: name === null ? own : `prompt:${own}`,
        argument: textIn(argument ?? {}, "name") ?? "",
        value: textIn(argument ?? {}, "value") ?? "",
        known: objectIn(context ?? {}, "arguments") ?? {},
      },
      signal,
    );
    if (result.isError)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, textOf(result), result.structuredContent);
    const values = member(result.structuredContent, "values");
    return { completion: { values: isJsonList(values) ? values : [], hasMore: false } };
  }

  /** Resolves once changes are told, which is as long as a call runs for it. */
  async watch(uri: string, changed: (uri: string) => void): Promise<void> {
    const [, server, own] = URI.exec(uri) ?? [];
    const known = this.#watches.get(uri);
    if (server === undefined || own === undefined || (known === undefined && this.#watches.size >= watchesMax))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "there is no such resource, or too many subscriptions are open",
      );
    const refused = await (known ?? this.#begin(uri, { server, uri: own }, changed)).refused;
    if (refused === null) return;
    const text = textOf(refused) === "" ? "there is no subscription to this resource" : textOf(refused);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, text, refused.structuredContent);
  }

  unwatch(uri: string): void {
    this.#watches.get(uri)?.stopping.abort();
    this.#watches.delete(uri);
  }

  #begin(uri: string, input: JsonObject, changed: (uri: string) => void): Watch {
    const stopping = new AbortController();
    const client = { answers: [], isProgressWanted: false, logLevel: null };
    const refused = new Promise<CallResult | null>((settle) => {
      const onTold = (_: string, told: JsonObject): void => (told["isFirst"] === true ? settle(null) : changed(uri));
      void this.#session.call(WATCH, input, stopping.signal, { client, onTold }).then((result) => {
        if (this.#watches.get(uri) === watch) this.#watches.delete(uri);
        settle(result);
      });
    });
    const watch: Watch = { stopping, refused };
    this.#watches.set(uri, watch);
    return watch;
  }

  close(): void {
    for (const uri of [...this.#watches.keys()]) this.unwatch(uri);
  }

  /** `about`: what an error says besides, as the client named it. */
  async #read(
    input: JsonObject,
    signal: AbortSignal,
    during: ClientCallOptions,
    about: JsonObject = {},
  ): Promise<JsonObject> {
    const result = await this.#session.call(READ, input, signal, during);
    if (result.input !== undefined) return { ...result.input, resultType: INPUT_REQUIRED };
    if (result.isError)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, textOf(result), {
        ...result.structuredContent,
        ...about,
      });
    return result.structuredContent;
  }

  /** Nothing, and no log entry of a denial, for an agent without such grants. */
  async #items(kind: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const tools = await this.#session.list();
    if (!tools.ok || tools.value.every(({ name }) => name !== LIST)) return [];
    const { structuredContent, isError } = await this.#session.call(LIST, {}, signal);
    const items = member(structuredContent, "items");
    if (isError || !isJsonList(items)) return [];
    return items.filter(isJsonObject).filter((one) => member(one, "kind") === kind);
  }
}

interface Watch {
  readonly stopping: AbortController;
  /** The answer of a watch that did not begin; null for one that did. */
  readonly refused: Promise<CallResult | null>;
}

/** Set by us alone: what a server answers with has no member of this name here. */
function isInputNeeded(result: JsonObject): boolean {
  return member(result, "resultType") === INPUT_REQUIRED;
}

function shown(one: JsonObject, key: "uri" | "uriTemplate"): JsonObject {
  const { server, uri, name, description, mimeType } = one;
  return {
    [key]: `${server}+${uri}`,
    name: name ?? "",
    description: description ?? "",
    ...(typeof mimeType === "string" ? { mimeType } : {}),
  };
}

function textOf({ content }: CallResult): string {
  return content.map(({ text }) => text).join("\n");
}
