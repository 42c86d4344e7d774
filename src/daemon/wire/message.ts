// What an asker may say, read strictly: a message that is not exactly one of these is none.
//
//   {hello: {protocol, version}}                       each side's first message
//   {id, ask, value}       {id, stop: true}            asker: a question, and that its answer is not wanted any more
//   {id, ok: true, value}  {id, ok: false, code, ...}  daemon: the one answer
//   {id, event}            {id, took}                  daemon: on the way to it; bytes taken of what was sent along
//   {event}                {ok: false, code, ...}      daemon: unasked; and of the whole connection, before it is closed
//
// Bytes that go along have the number of their question and a channel: 0 from the asker, 1 and 2 to it.
import { isJsonObject, type Json, type JsonObject, member } from "../../authority/json.ts";
import { exchangeNumberMax } from "./limits.ts";
import { readMessageJson } from "./quick-json.ts";

export type AskerMessage =
  | { readonly kind: "hello"; readonly protocol: number; readonly version: string }
  | { readonly kind: "ask"; readonly id: number; readonly name: string; readonly value: JsonObject }
  | { readonly kind: "stop"; readonly id: number }
  /** Its number is known, so that it can be answered: everything else on the connection goes on. */
  | { readonly kind: "misasked"; readonly id: number; readonly why: string };

export type ReadMessage =
  | { readonly ok: true; readonly message: AskerMessage }
  | { readonly ok: false; readonly why: string };

const versionCharactersMax = 64;

export function readAskerMessage(payload: Uint8Array): ReadMessage {
  const text = textOf(payload);
  if (text === null) return { ok: false, why: "a message is not UTF-8" };
  const parsed = readMessageJson(text);
  if (!parsed.ok) return { ok: false, why: parsed.message };
  if (!isJsonObject(parsed.value)) return { ok: false, why: "a message is an object" };
  const message = helloOf(parsed.value) ?? numbered(parsed.value);
  return message === null ? { ok: false, why: "a message is none of those there are" } : { ok: true, message };
}

/** Later protocols may say more in it; the number is where it always was. */
function helloOf(value: JsonObject): AskerMessage | null {
  const hello = member(value, "hello");
  if (!isJsonObject(hello)) return null;
  const protocol = member(hello, "protocol");
  const version = member(hello, "version");
  if (typeof protocol !== "number" || !Number.isSafeInteger(protocol)) return null;
  return {
    kind: "hello",
    protocol,
    version: typeof version === "string" ? version.slice(0, versionCharactersMax) : "",
  };
}

function numbered(value: JsonObject): AskerMessage | null {
  const id = member(value, "id");
  if (!isNumber(id)) return null;
  const keys = Object.keys(value);
  if (keys.length === 2 && member(value, "stop") === true) return { kind: "stop", id };
  const name = member(value, "ask");
  const asked = member(value, "value");
  if (keys.length === 3 && typeof name === "string" && isJsonObject(asked))
    return { kind: "ask", id, name, value: asked };
  return { kind: "misasked", id, why: "a question is an id, a name to ask and an object as its value" };
}

function isNumber(id: Json | undefined): id is number {
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 && id <= exchangeNumberMax;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function textOf(payload: Uint8Array): string | null {
  try {
    return decoder.decode(payload);
  } catch {
    return null;
  }
}
