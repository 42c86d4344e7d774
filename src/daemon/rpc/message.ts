// What an asker may say, read strictly: a message that is not exactly one of these is none.
//
//   {hello: {protocol, version}}                       each side's first message
//   {id, ask, value}       {..., input: true, sent}    asker: a question; bytes go along; when it was sent (monotonic ms)
//   {id, stop: true}       {tell, value}               asker: its answer is not wanted any more; what needs no answer
//   {id, took}             {ping}                      asker: bytes taken of what came back; whether the daemon is there
//   {id, ok: true, value}  {id, ok: false, code, ...}  daemon: the one answer
//   {id, event}            {id, took}                  daemon: on the way to it; bytes taken of what was sent along
//   {event}   {pong}       {ok: false, code, ...}      daemon: unasked; and of the whole connection, before it is closed
//
// Bytes that go along have the number of their question and a channel: 0 from the asker, 1 and more to it.
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { JsonMeter } from "../../core/base/json-meter.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import { exchangeNumberMax, questionValuesMax, toldCharactersMax } from "./limits.ts";

export type AskerMessage =
  | { readonly kind: "hello"; readonly protocol: number; readonly version: string }
  | Question
  | { readonly kind: "stop"; readonly id: number }
  | { readonly kind: "took"; readonly id: number; readonly bytes: number }
  | { readonly kind: "ping" }
  | { readonly kind: "tell"; readonly name: string; readonly value: JsonObject }
  /** Its number is known, so that it can be answered: everything else on the connection goes on. */
  | { readonly kind: "misasked"; readonly id: number; readonly why: string }
  | { readonly kind: "none"; readonly why: string };

export interface Question {
  readonly kind: "ask";
  readonly id: number;
  readonly name: string;
  readonly value: JsonObject;
  /** Whether bytes go along. */
  readonly hasInput: boolean;
  /** In milliseconds of the monotonic clock that all processes of a machine share; null where it does not say. */
  readonly sent: number | null;
}

const versionCharactersMax = 64;

/** The text of a frame; null where it is none. */
export function readAskerMessage(text: string | null): AskerMessage {
  if (text === null) return none("a message is not UTF-8");
  if (!isParsable(text)) return unread(text, `a message has at most ${questionValuesMax} values`);
  const parsed = parseJson(text);
  if (!parsed.ok) return unread(text, parsed.message);
  const { value } = parsed;
  if (!isJsonObject(value)) return none("a message is an object");
  const id = member(value, "id");
  const message =
    id === undefined
      ? (toldOf(value, text.length) ?? helloOf(value) ?? pingOf(value))
      : isNumber(id)
        ? numbered(value, id)
        : null;
  return message ?? none("a message is none of those there are");
}

function isParsable(text: string): boolean {
  return text.length <= questionValuesMax || new JsonMeter(questionValuesMax).take(Buffer.from(text));
}

/** What a question says may be a model's own: it is answered that it cannot be read, and whoever else asks here goes on. */
function unread(text: string, why: string): AskerMessage {
  const id = Number(/^\{"id":([1-9][0-9]{0,9}),"ask":/.exec(text)?.[1]);
  return isNumber(id) ? { kind: "misasked", id, why } : none(why);
}

function none(why: string): AskerMessage {
  return { kind: "none", why };
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

function toldOf(message: JsonObject, length: number): AskerMessage | null {
  const name = member(message, "tell");
  const value = member(message, "value");
  if (typeof name !== "string" || !isJsonObject(value) || Object.keys(message).length !== 2) return null;
  return length <= toldCharactersMax ? { kind: "tell", name, value } : none("what is told is too long");
}

function pingOf(message: JsonObject): AskerMessage | null {
  return member(message, "ping") === true && Object.keys(message).length === 1 ? { kind: "ping" } : null;
}

function numbered(message: JsonObject, id: number): AskerMessage {
  const count = Object.keys(message).length;
  const name = member(message, "ask");
  const value = member(message, "value");
  if (typeof name === "string" && isJsonObject(value)) {
    const [input, sent] = [member(message, "input"), member(message, "sent")];
    const more = (input === true ? 1 : 0) + (typeof sent === "number" ? 1 : 0);
    if (count === 3 + more)
      return { kind: "ask", id, name, value, hasInput: input === true, sent: typeof sent === "number" ? sent : null };
  }
  if (count === 2 && member(message, "stop") === true) return { kind: "stop", id };
  const took = member(message, "took");
  if (count === 2 && typeof took === "number" && Number.isSafeInteger(took) && took > 0)
    return { kind: "took", id, bytes: took };
  return { kind: "misasked", id, why: "a question is an id, a name to ask and an object as its value" };
}

function isNumber(id: Json): id is number {
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 && id <= exchangeNumberMax;
}
