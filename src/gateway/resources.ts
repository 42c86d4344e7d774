// Resources and prompts of an MCP server: its lists and their contents, checked for their form and cut to limits. A prompt is
// named like a resource, by `prompt:NAME`, so that one kind of grant covers both.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import { resultCharactersMax } from "./call-result.ts";
import { isHidden } from "./pins.ts";

export type ResourceKind = "resource" | "template" | "prompt";

export interface ListedResource {
  readonly kind: ResourceKind;
  /** Of a template: with `{variables}`. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string | null;
  /** Of a prompt. */
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument extends JsonObject {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** The method that lists each kind, and the member of its answer. */
export const RESOURCE_LISTS: Readonly<
  Record<ResourceKind, { readonly method: string; readonly key: string; readonly capability: string }>
> = {
  resource: { method: "resources/list", key: "resources", capability: "resources" },
  template: { method: "resources/templates/list", key: "resourceTemplates", capability: "resources" },
  prompt: { method: "prompts/list", key: "prompts", capability: "prompts" },
};

/** Of one server, of each kind. */
export const resourcesMax = 1_000;
const uriCharactersMax = 2_048;
const textCharactersMax = 1_024;
const argumentsMax = 32;
const contentsMax = 100;
const PROMPT = "prompt:";

/** The name of the prompt that a URI names; null for a resource. */
export function promptName(uri: string): string | null {
  return uri.startsWith(PROMPT) ? uri.slice(PROMPT.length) : null;
}

/** Null for an entry that names nothing, or has characters that do not show. */
export function readListed(kind: ResourceKind, entry: Json): ListedResource | null {
  if (!isJsonObject(entry)) return null;
  const name = text(entry, "name");
  const uri = kind === "prompt" ? `${PROMPT}${name}` : text(entry, kind === "template" ? "uriTemplate" : "uri");
  if (name === "" || uri === "" || uri.length > uriCharactersMax) return null;
  const given = member(entry, "arguments");
  const [description, mimeType] = [text(entry, "description"), text(entry, "mimeType")];
  const named = isJsonList(given) ? given.slice(0, argumentsMax).flatMap(readArgument) : [];
  // A list has no pin that a person could review.
  if ([uri, name, description, mimeType, ...named.flatMap((one) => [one.name, one.description])].some(isHidden))
    return null;
  return { ...{ kind, uri, name, description, mimeType: mimeType === "" ? null : mimeType }, arguments: named };
}

function readArgument(entry: Json): readonly PromptArgument[] {
  if (!isJsonObject(entry) || text(entry, "name") === "") return [];
  return [
    {
      name: text(entry, "name"),
      description: text(entry, "description"),
      required: member(entry, "required") === true,
    },
  ];
}

/** The contents of a resource, or the messages of a prompt; null for an answer that has none, or is too large. */
export function readContents(uri: string, answer: JsonObject): JsonObject | null {
  const isPrompt = promptName(uri) !== null;
  const list = member(answer, isPrompt ? "messages" : "contents");
  if (!isJsonList(list) || list.length > contentsMax || !list.every(isJsonObject)) return null;
  if (JSON.stringify(list).length > resultCharactersMax) return null;
  return isPrompt ? { description: text(answer, "description"), messages: list } : { contents: list };
}

function text(entry: JsonObject, key: string): string {
  const value = member(entry, key);
  return typeof value === "string" ? value.slice(0, Math.max(textCharactersMax, uriCharactersMax + 1)) : "";
}
