// What an MCP server asks for during a call: input of the person (elicitation) or an answer of the client's model (sampling).
// What the client shows is made here: it names the server, has limits, and hides nothing. What comes back is read here too.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { ServerAskKind } from "../core/notation/servers/server-file.ts";
import { isHidden, withHiddenShown } from "./pins.ts";

/** The method of each kind, and the verb that grants it. */
export const ASK_METHODS: Readonly<Record<ServerAskKind, string>> = {
  elicitation: "elicitation/create",
  sampling: "sampling/createMessage",
};
export const ASK_VERBS: Readonly<Record<ServerAskKind, string>> = {
  elicitation: "mcp.elicit",
  sampling: "mcp.sample",
};
export const ROOTS_METHOD = "roots/list";

/** The kind of a method; null for another method. */
export function askKind(method: string): ServerAskKind | null {
  if (method === ASK_METHODS.elicitation) return "elicitation";
  return method === ASK_METHODS.sampling ? "sampling" : null;
}

/** What the client is sent, or why it is not. */
export type ReadAsk = { readonly ok: true; readonly params: JsonObject } | { readonly ok: false; readonly why: string };

const messageCharactersMax = 4_000;
const fieldsMax = 32;
const choicesMax = 256;
const schemaCharactersMax = 16_384;
const samplingMessagesMax = 64;
const samplingCharactersMax = 200_000;
const samplingTokensMax = 16_384;
const answerCharactersMax = 1_000_000;
const elicitedCharactersMax = 65_536;

export function readAsk(kind: ServerAskKind, server: string, params: Json | undefined): ReadAsk {
  if (!isJsonObject(params)) return refused("it has no parameters");
  return kind === "elicitation" ? readElicitation(server, params) : readSampling(server, params);
}

/** Only forms: an address that a server chooses could lead the person anywhere. */
function readElicitation(server: string, params: JsonObject): ReadAsk {
  const [mode, message, schema] = ["mode", "message", "requestedSchema"].map((key) => member(params, key));
  if (mode !== undefined && mode !== "form") return refused("only forms can be shown to the user, not URLs");
  if (typeof message !== "string" || message.length > messageCharactersMax)
    return refused(`its message is not a text of at most ${messageCharactersMax} characters`);
  if (!isJsonObject(schema) || member(schema, "type") !== "object") return refused("its form has no schema");
  const fields = member(schema, "properties") ?? {};
  const needed = member(schema, "required") ?? [];
  if (!isJsonObject(fields) || Object.keys(fields).length > fieldsMax)
    return refused(`its form has more than ${fieldsMax} fields, or none that can be parsed`);
  if (JSON.stringify(schema).length > schemaCharactersMax)
    return refused(`its form has more than ${schemaCharactersMax} characters`);
  const shown: [string, JsonObject][] = [];
  for (const [name, field] of Object.entries(fields)) {
    const one = isHidden(name) ? null : shownField(field);
    if (one === null) return refused("a field of its form has a type that a user cannot fill in");
    shown.push([name, one]);
  }
  // A field may have any name, that of a member of every object too.
  const properties = Object.fromEntries(shown);
  const required = isJsonList(needed)
    ? needed.filter((name) => typeof name === "string" && Object.hasOwn(properties, name))
    : [];
  return {
    ok: true,
    params: {
      message: `The MCP server "${server}" asks: ${withHiddenShown(message)}`,
      requestedSchema: { type: "object", properties, required },
    },
  };
}

const FIELD_TYPES: readonly Json[] = ["string", "number", "integer", "boolean", "array"];
const SHOWN_TEXTS: readonly string[] = ["title", "description"];
const NUMBERS: readonly string[] = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"];
const FORMATS: readonly Json[] = ["email", "uri", "date", "date-time"];

/** A field with the keys that the protocol has for forms, and no others; null for one that a person could not read. */
function shownField(field: Json): JsonObject | null {
  if (!isJsonObject(field) || !FIELD_TYPES.includes(member(field, "type") ?? null)) return null;
  const shown: Record<string, Json> = { type: member(field, "type") ?? null };
  for (const key of SHOWN_TEXTS) {
    const text = member(field, key);
    if (typeof text === "string") shown[key] = withHiddenShown(text);
  }
  for (const key of NUMBERS) {
    const value = member(field, key);
    if (typeof value === "number") shown[key] = value;
  }
  const format = member(field, "format");
  if (format !== undefined && FORMATS.includes(format)) shown["format"] = format;
  const otherwise = member(field, "default");
  if (otherwise !== undefined) {
    const isPlain = isJsonList(otherwise) ? otherwise.every(isPlainValue) : isPlainValue(otherwise);
    if (!isPlain) return null;
    shown["default"] = otherwise;
  }
  const choices = shownChoices(field);
  if (choices === null) return null;
  const items = member(field, "items");
  if (shown["type"] !== "array") return { ...shown, ...choices };
  const of = isJsonObject(items) ? shownChoices(items) : null;
  return of === null ? null : { ...shown, items: { ...("anyOf" in of ? {} : { type: "string" }), ...of } };
}

/** A choice comes back as it is written, so it is shown as it is written or not at all. */
function shownChoices(field: JsonObject): JsonObject | null {
  const shown: Record<string, Json> = {};
  for (const key of ["enum", "enumNames"]) {
    const values = member(field, key);
    if (values === undefined) continue;
    if (!isJsonList(values) || values.length > choicesMax || !values.every(isShownText)) return null;
    shown[key] = values;
  }
  for (const key of ["oneOf", "anyOf"]) {
    const values = member(field, key);
    if (values === undefined) continue;
    if (!isJsonList(values) || values.length > choicesMax) return null;
    const titled = values.map((one) =>
      isJsonObject(one) ? { const: member(one, "const") ?? null, title: member(one, "title") ?? null } : {},
    );
    if (!titled.every((one) => isShownText(member(one, "const")) && isShownText(member(one, "title")))) return null;
    shown[key] = titled;
  }
  return shown;
}

function isShownText(value: Json | undefined): value is string {
  return typeof value === "string" && !isHidden(value);
}

function isPlainValue(value: Json): boolean {
  return typeof value === "string" ? !isHidden(value) : typeof value === "number" || typeof value === "boolean";
}

/** Text and pictures alone: no tools, and nothing of the client's own conversation. */
function readSampling(server: string, params: JsonObject): ReadAsk {
  const messages = member(params, "messages");
  if (!isJsonList(messages) || messages.length === 0 || messages.length > samplingMessagesMax)
    return refused(`it has no messages, or more than ${samplingMessagesMax}`);
  if (member(params, "tools") !== undefined || member(params, "toolChoice") !== undefined)
    return refused("a sampling request of a server must not name tools");
  if (JSON.stringify(params).length > samplingCharactersMax)
    return refused(`it has more than ${samplingCharactersMax} characters`);
  const shown = messages.map(shownMessage);
  if (shown.some((one) => one === null)) return refused("one of its messages is malformed");
  const system = member(params, "systemPrompt");
  const tokens = member(params, "maxTokens");
  const label = `This request comes from the MCP server "${server}", not from the user.`;
  const kept: Record<string, Json> = {};
  for (const key of ["temperature", "stopSequences", "modelPreferences"]) {
    const value = member(params, key);
    if (value !== undefined) kept[key] = value;
  }
  return {
    ok: true,
    params: {
      ...kept,
      messages: shown as readonly JsonObject[],
      systemPrompt: typeof system === "string" ? `${label}\n\n${withHiddenShown(system)}` : label,
      maxTokens: typeof tokens === "number" && tokens >= 1 ? Math.min(Math.floor(tokens), samplingTokensMax) : 1_024,
    },
  };
}

function shownMessage(message: Json): JsonObject | null {
  if (!isJsonObject(message)) return null;
  const [role, content] = [member(message, "role"), member(message, "content")];
  if (role !== "user" && role !== "assistant") return null;
  const parts = isJsonList(content) ? content.map(shownPart) : [shownPart(content)];
  if (parts.length === 0 || parts.some((part) => part === null)) return null;
  return { role, content: (isJsonList(content) ? parts : parts[0]) as Json };
}

function shownPart(part: Json | undefined): JsonObject | null {
  if (!isJsonObject(part)) return null;
  const [type, text, data, mimeType] = ["type", "text", "data", "mimeType"].map((key) => member(part, key));
  if (type === "text" && typeof text === "string") return { type, text: withHiddenShown(text) };
  const isMedia = type === "image" || type === "audio";
  return isMedia && typeof data === "string" && typeof mimeType === "string" ? { type, data, mimeType } : null;
}

/** What the server gets of the client's answer; null for an answer that is none. */
export function readAskAnswer(kind: ServerAskKind, answer: Json | undefined): JsonObject | null {
  if (!isJsonObject(answer) || JSON.stringify(answer).length > answerCharactersMax) return null;
  return kind === "elicitation" ? readElicited(answer) : readSampled(answer);
}

function readElicited(answer: JsonObject): JsonObject | null {
  const [action, content] = [member(answer, "action"), member(answer, "content")];
  if (action !== "accept") return action === "decline" || action === "cancel" ? { action } : null;
  if (content === undefined) return { action };
  if (!isJsonObject(content) || JSON.stringify(content).length > elicitedCharactersMax) return null;
  return { action, content };
}

function readSampled(answer: JsonObject): JsonObject | null {
  const [role, content, model, stopReason] = ["role", "content", "model", "stopReason"].map((key) =>
    member(answer, key),
  );
  if (typeof model !== "string" || shownMessage({ role: role ?? null, content: content ?? null }) === null) return null;
  return {
    role: role ?? "assistant",
    content: content ?? null,
    model,
    ...(typeof stopReason === "string" ? { stopReason } : {}),
  };
}

/** For the log: never what a person or a model said. */
export function answerWord(kind: ServerAskKind, answer: JsonObject): string {
  const action = member(answer, "action");
  return kind === "elicitation" && typeof action === "string" ? action : "answered";
}

function refused(why: string): ReadAsk {
  return { ok: false, why };
}
