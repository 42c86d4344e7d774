// What a client may send to a model through the relay: a list of methods, paths and fields for each provider. Whatever would
// let the provider act on its own (server tools, files and pages it fetches, stored or background answers) is refused.
import type { IncomingMessage } from "node:http";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../../core/base/json.ts";
import { MODEL_PROVIDERS, type ModelProvider } from "../../../core/notation/config/model-setting.ts";
import { KEY_PLACEHOLDER } from "../../../core/ports/model-key.ts";
import { type ModelEstimate, promptCharactersMax } from "../../plan/sandboxes.ts";
import { estimateOf } from "./relay-estimate.ts";

export type ModelCall =
  | {
      readonly ok: true;
      readonly provider: ModelProvider;
      readonly model: string;
      /** Below the provider's own address, with its query. */
      readonly path: string;
      readonly body: JsonObject;
      readonly estimate: ModelEstimate;
    }
  | { readonly ok: false; readonly provider: ModelProvider; readonly status: 400 | 404; readonly message: string };

interface Endpoint {
  readonly method: "POST";
  readonly path: RegExp;
  readonly fields: ReadonlySet<string>;
  readonly isCharged: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const MESSAGES = words(
  "model messages system tools tool_choice max_tokens temperature top_p top_k stop_sequences stream thinking metadata service_tier context_management output_config output_format cache_control speed",
);
const RESPONSES = words(
  "model input instructions tools tool_choice parallel_tool_calls reasoning store stream stream_options include prompt_cache_key prompt_cache_retention text max_output_tokens max_tool_calls temperature top_p top_logprobs truncation service_tier metadata client_metadata safety_identifier user",
);
const COMPLETIONS = words(
  "model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens temperature top_p top_k frequency_penalty presence_penalty n stop seed response_format reasoning_effort logit_bias logprobs top_logprobs user store metadata verbosity prompt_cache_key prompt_cache_retention service_tier safety_identifier prediction",
);
const GENERATE = words(
  "contents systemInstruction system_instruction tools toolConfig tool_config generationConfig generation_config safetySettings safety_settings labels",
);
const COUNTED: ReadonlySet<string> = new Set(["model", ...GENERATE]);

const ENDPOINTS: Readonly<Record<ModelProvider, readonly Endpoint[]>> = {
  anthropic: [
    { method: "POST", path: /^\/v1\/messages$/, fields: MESSAGES, isCharged: true },
    { method: "POST", path: /^\/v1\/messages\/count_tokens$/, fields: MESSAGES, isCharged: false },
  ],
  openai: [
    { method: "POST", path: /^\/v1\/responses$/, fields: RESPONSES, isCharged: true },
    { method: "POST", path: /^\/v1\/chat\/completions$/, fields: COMPLETIONS, isCharged: true },
  ],
  gemini: [
    {
      method: "POST",
      path: /^\/v1(?:beta|alpha)?\/models\/[\w.-]+:(?:generateContent|streamGenerateContent)$/,
      fields: GENERATE,
      isCharged: true,
    },
    {
      method: "POST",
      path: /^\/v1(?:beta|alpha)?\/models\/[\w.-]+:countTokens$/,
      fields: words("contents generateContentRequest systemInstruction system_instruction tools"),
      isCharged: false,
    },
  ],
};

/** Query words that are passed on. A key in the query, as one provider allows it, is dropped with the rest. */
const QUERY: Readonly<Record<ModelProvider, readonly string[]>> = {
  anthropic: ["beta=true"],
  openai: [],
  gemini: ["alt=sse"],
};

/** The provider of a target such as `/anthropic/v1/messages?beta=true`; null for any other target. */
export function providerOf(target: string): ModelProvider | null {
  return MODEL_PROVIDERS.find((one) => target.startsWith(`/${one}/`)) ?? null;
}

/** `body`: the parsed body; undefined where it is no JSON. `bytes`: of its text. */
export function modelCall(
  method: string,
  target: string,
  provider: ModelProvider,
  body: Json | undefined,
  bytes: number,
): ModelCall {
  const refuse = (status: 400 | 404, message: string): ModelCall => ({ ok: false, provider, status, message });
  const [path = "", query = ""] = target.slice(provider.length + 1).split("?", 2);
  const endpoint = ENDPOINTS[provider].find((one) => one.method === method && one.path.test(path));
  if (endpoint === undefined) return refuse(404, `${method} ${path.slice(0, 200)} is not allowed through the relay`);
  if (!isJsonObject(body)) return refuse(400, "the body is not a JSON object");
  const fault = bodyFault(body, endpoint.fields, provider);
  if (fault !== null) return refuse(400, fault);
  const model = modelOf(provider, target, body);
  if (model === null) return refuse(400, "the request names no model");
  const counted = member(body, "generateContentRequest");
  const countedFault = counted === undefined ? null : countedRequestFault(counted, model);
  if (countedFault !== null) return refuse(400, countedFault);
  const kept = query.split("&").filter((word) => QUERY[provider].includes(word));
  const isStream = member(body, "stream") === true || path.endsWith(":streamGenerateContent");
  const estimate = estimateOf(provider, path, body, bytes);
  if (typeof estimate === "string") return refuse(400, estimate);
  return {
    ok: true,
    ...{ provider, model, estimate: { ...estimate, isCharged: endpoint.isCharged } },
    path: kept.length === 0 ? path : `${path}?${kept.join("&")}`,
    body: withAccounting(body, path, isStream),
  };
}

const CREDENTIAL_HEADER = /^(?:(?:proxy-)?authorization|cookie|(?:[a-z-]+-)?(?:api-key|auth-token|access-token))$/;
const CREDENTIAL_QUERY: readonly string[] = ["key", "api_key", "access_token", "token"];

/** A program with another account's credential wants to send what it has to that account. */
export function carriesForeignCredential({ rawHeaders, url }: IncomingMessage): boolean {
  const sent = [...new URLSearchParams((url ?? "").split("?", 2)[1] ?? "")].flatMap(([name, value]) =>
    CREDENTIAL_QUERY.includes(name) ? [value] : [],
  );
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (CREDENTIAL_HEADER.test((rawHeaders[at] as string).toLowerCase())) sent.push(rawHeaders[at + 1] as string);
  return sent.some((value) => ![KEY_PLACEHOLDER, ""].includes(value.replace(/^Bearer\b/i, "").trim()));
}

function bodyFault(body: JsonObject, fields: ReadonlySet<string>, provider: ModelProvider): string | null {
  const unknown = Object.keys(body).find((key) => !fields.has(key));
  const twice = Object.keys(body).find((key) => key.includes("_") && provider === "gemini" && camel(key) in body);
  if (twice !== undefined) return `\`${twice.slice(0, 80)}\` is given in both of its spellings`;
  if (unknown !== undefined) return `the field \`${unknown.slice(0, 80)}\` is not allowed through the relay`;
  return toolsFault(member(body, "tools") ?? null, provider, 0) ?? sourceFault(body, provider);
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Gemini counts the tokens of a whole request inside the request. */
function countedRequestFault(counted: Json, model: string): string | null {
  if (!isJsonObject(counted)) return "`generateContentRequest` is not an object";
  if ((member(counted, "model") ?? `models/${model}`) !== `models/${model}`)
    return "`generateContentRequest` names another model";
  return bodyFault(counted, COUNTED, "gemini");
}

/** Null where the request names none. */
export function modelOf(provider: ModelProvider, target: string, body: Json | undefined): string | null {
  const written = isJsonObject(body) ? member(body, "model") : undefined;
  const model = provider === "gemini" ? /^[^?]*\/models\/([\w.-]+):/.exec(target)?.[1] : written;
  return typeof model === "string" && /^[\w.:/@-]{1,128}$/.test(model) ? model : null;
}

/** Tools that run at the client; every other kind runs at the provider. */
const CLIENT_TOOLS =
  /^(function|custom|local_shell|apply_patch|shell|namespace|tool_search|bash_\d+|text_editor_\d+|memory_\d+)$/;
const CLIENT_DECLARATIONS: ReadonlySet<string> = new Set(["functionDeclarations", "function_declarations"]);
const toolDepthMax = 4;

/** `tools`: null where there are none. */
function toolsFault(tools: Json, provider: ModelProvider, depth: number): string | null {
  if (tools === null) return null;
  if (!isJsonList(tools)) return "`tools` is not a list";
  if (depth > toolDepthMax) return "the tools are nested too deep";
  for (const tool of tools) {
    if (!isJsonObject(tool)) return "a tool is not an object";
    const fault = provider === "gemini" ? declarationFault(tool) : toolFault(tool, provider, depth);
    if (fault !== null) return fault;
  }
  return null;
}

function declarationFault(tool: JsonObject): string | null {
  const other = Object.keys(tool).find((key) => !CLIENT_DECLARATIONS.has(key));
  return other === undefined ? null : runsAtProvider(other);
}

function toolFault(tool: JsonObject, provider: ModelProvider, depth: number): string | null {
  const type = member(tool, "type") ?? "custom";
  if (typeof type !== "string") return "the `type` of a tool is not a text";
  if (!CLIENT_TOOLS.test(type)) return runsAtProvider(type);
  const environment = member(tool, "environment") ?? null;
  const isLocal = environment === null || (isJsonObject(environment) && member(environment, "type") === "local");
  if (!isLocal) return runsAtProvider(`${type} with an environment that is not local`);
  return toolsFault(member(tool, "tools") ?? null, provider, depth + 1);
}

function runsAtProvider(tool: string): string {
  return `the tool \`${tool.slice(0, 80)}\` runs at the provider, which the relay does not allow`;
}

const depthMax = 64;
/** Keys whose value is an address or a file that the provider would fetch. */
const URL_KEYS: ReadonlySet<string> = new Set(["image_url", "file_url", "url", "fileUri", "file_uri"]);
/** Keys that name something stored at the provider: a file, a container, an earlier answer or conversation. */
const STORED_KEYS = words(
  "file_id file_ids fileData file_data_id cachedContent cached_content container container_id previous_response_id response_id conversation conversation_id thread_id vector_store_id vector_store_ids batch_id",
);

/** Fields with content of the conversation. Not those with schemas, in which any word may stand. */
const CONTENT_FIELDS = words(
  "messages input contents system systemInstruction system_instruction instructions prediction",
);

function sourceFault(body: JsonObject, provider: ModelProvider): string | null {
  for (const key of CONTENT_FIELDS) {
    const fault = blockFault(member(body, key) ?? null, provider, 0);
    if (fault !== null) return fault;
  }
  return null;
}

/**
 * A block with a `type` describes content; what a tool was called with or printed is data of the conversation, in which any
 * word may stand.
 */
function blockFault(value: Json, provider: ModelProvider, depth: number): string | null {
  if (depth > depthMax) return "the messages are nested too deep";
  if (isJsonList(value)) {
    for (const item of value) {
      const fault = blockFault(item, provider, depth + 1);
      if (fault !== null) return fault;
    }
    return null;
  }
  if (!isJsonObject(value)) return null;
  const reference = referenceIn(value);
  if (reference !== null) return storedAtProvider(reference);
  for (const [key, item] of Object.entries(value)) {
    if (DATA_KEYS.has(key)) continue;
    if (STORED_KEYS.has(key)) return storedAtProvider(key);
    if (URL_KEYS.has(key) && !addressesIn(item).every((address) => address.startsWith("data:")))
      return `\`${key}\` is an address that the provider would fetch, which the relay does not allow`;
    // A block can add tools to those of the request.
    const fault = key === "tools" ? toolsFault(item, provider, 0) : blockFault(item, provider, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

/** A block that stands for one that the provider stored. An `id` without anything but a type is such a reference. */
function referenceIn(block: JsonObject): string | null {
  const type = member(block, "type") ?? null;
  if (type === "item_reference") return type;
  if (Object.keys(block).every((key) => key === "id" || key === "type") && member(block, "id")) return "id";
  const audio = member(block, "audio");
  return audio !== undefined && isJsonObject(audio) && member(audio, "id") !== undefined ? "audio" : null;
}

function storedAtProvider(key: string): string {
  return `\`${key}\` names something stored at the provider, which the relay does not allow`;
}

/** Arguments and results of the client's own tools. A result may hold blocks, which are checked by their own keys. */
const DATA_KEYS: ReadonlySet<string> = new Set(["arguments", "args", "input", "response"]);

/** Every text of it, in whatever form a provider may read one. */
function addressesIn(item: Json): readonly string[] {
  if (typeof item === "string") return [item];
  if (isJsonList(item)) return item.flatMap(addressesIn);
  return isJsonObject(item) ? addressesIn(member(item, "url") ?? null) : [];
}

/** Answers are not stored at the provider, and a stream ends with its usage. */
function withAccounting(body: JsonObject, path: string, isStream: boolean): JsonObject {
  if (path === "/v1/responses") return { ...body, store: false };
  if (path !== "/v1/chat/completions") return body;
  return isStream ? { ...body, store: false, stream_options: { include_usage: true } } : { ...body, store: false };
}

/** The end of a request's conversation, for a user who keeps prompts. */
export function conversationEnd(body: JsonObject): string {
  const conversation = ["messages", "input", "contents"]
    .map((name) => member(body, name))
    .find((one) => one !== undefined);
  // A pair of surrogates may be cut in two.
  return JSON.stringify(conversation ?? null)
    .slice(-promptCharactersMax)
    .replace(/^[\uDC00-\uDFFF]/, "");
}

/** In the provider's own form, so that the client shows it. */
export function errorBody(provider: ModelProvider, status: number, message: string): JsonObject {
  const text = `ambit: ${message}`;
  switch (provider) {
    case "anthropic":
      return {
        type: "error",
        error: { type: status === 403 ? "permission_error" : "invalid_request_error", message: text },
      };
    case "openai":
      return { error: { message: text, type: "invalid_request_error", code: "ambit_denied", param: null } };
    case "gemini":
      return {
        error: { code: status, message: text, status: status === 403 ? "PERMISSION_DENIED" : "INVALID_ARGUMENT" },
      };
    default:
      return provider satisfies never;
  }
}
