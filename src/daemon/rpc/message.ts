// Messages from a client, parsed strictly: anything that is not exactly one of these is invalid.
//
//   {hello: {protocol, version}}                       each side's first message
//   {id, ask, value}       {..., input: true, sent}    client: a request; with input bytes; its send time (monotonic ms)
//   {id, stop: true}       {tell, value}               client: cancels the request; a notification, without a response
//   {id, took}             {ping}                      client: acknowledges received bytes; asks for a pong
//   {id, ok: true, value}  {id, ok: false, code, ...}  daemon: the one response
//   {id, event}            {id, took}                  daemon: an event before the response; acknowledges input bytes
//   {event}   {pong}       {ok: false, code, ...}      daemon: unsolicited; refusal of the whole connection before it closes
//
// Bytes frames carry the id of their request and a channel: 0 from the client, 1 and more to it.
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { JsonMeter } from "../../core/base/json-meter.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import { exchangeNumberMax, notificationCharactersMax, requestValuesMax } from "./limits.ts";

export type ClientMessage =
  | { readonly kind: "hello"; readonly protocol: number; readonly version: string }
  | RequestMessage
  | { readonly kind: "stop"; readonly id: number }
  | { readonly kind: "took"; readonly id: number; readonly bytes: number }
  | { readonly kind: "ping" }
  | { readonly kind: "tell"; readonly name: string; readonly value: JsonObject }
  /** Invalid, but with a known id, so that it can be answered: everything else on the connection continues. */
  | { readonly kind: "misasked"; readonly id: number; readonly why: string }
  | { readonly kind: "none"; readonly why: string };

export interface RequestMessage {
  readonly kind: "ask";
  readonly id: number;
  readonly name: string;
  readonly value: JsonObject;
  /** Whether input bytes follow. */
  readonly hasInput: boolean;
  /** Milliseconds of the machine's monotonic clock; null if absent. */
  readonly sent: number | null;
}

const versionCharactersMax = 64;

/** The text of a frame; null if it is invalid. */
export function readClientMessage(text: string | null): ClientMessage {
  if (text === null) return none("a message is not UTF-8");
  if (!isParsable(text)) return unread(text, `a message has at most ${requestValuesMax} values`);
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
  return message ?? none("the kind of the message is unknown");
}

function isParsable(text: string): boolean {
  return text.length <= requestValuesMax || new JsonMeter(requestValuesMax).take(Buffer.from(text));
}

/** A request may contain a model's own text: an unreadable one is refused, and other requests on the connection continue. */
function unread(text: string, why: string): ClientMessage {
  const id = Number(/^\{"id":([1-9][0-9]{0,9}),"ask":/.exec(text)?.[1]);
  return isNumber(id) ? { kind: "misasked", id, why } : none(why);
}

function none(why: string): ClientMessage {
  return { kind: "none", why };
}

/** Later protocols may add fields; the version number stays in the same field. */
function helloOf(value: JsonObject): ClientMessage | null {
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

function toldOf(message: JsonObject, length: number): ClientMessage | null {
  const name = member(message, "tell");
  const value = member(message, "value");
  if (typeof name !== "string" || !isJsonObject(value) || Object.keys(message).length !== 2) return null;
  return length <= notificationCharactersMax ? { kind: "tell", name, value } : none("the notification is too long");
}

function pingOf(message: JsonObject): ClientMessage | null {
  return member(message, "ping") === true && Object.keys(message).length === 1 ? { kind: "ping" } : null;
}

function numbered(message: JsonObject, id: number): ClientMessage {
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
  return { kind: "misasked", id, why: "a request needs an `id`, a name in `ask` and an object as `value`" };
}

function isNumber(id: Json): id is number {
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 && id <= exchangeNumberMax;
}

/** The machine-wide monotonic clock, which cannot be set: measures how long a request was in flight. */
export function monotonicMilliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + Math.trunc(nanoseconds / 1_000_000);
}

/**
 * Acts once the sockets were read again. A process that was suspended runs its timers first: what arrived before a deadline may
 * still be in its socket.
 */
export function afterReading(act: () => void): void {
  setImmediate(() => setImmediate(act));
}
