// One use of a context from the call socket, and its response: inline if it fits, else as bytes.
import { objectIn } from "../../core/base/fields.ts";
import { copyJson, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { JsonMeter } from "../../core/base/json-meter.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { useCharactersMax } from "../../runtime/context/remote.ts";
import { useDenial } from "../../runtime/context/use-result.ts";
import type { Exchange } from "../rpc/serving.ts";
import { ANSWER_CHANNEL, inlineCharactersMax } from "./context-sender.ts";
import type { CallContext } from "./contexts.ts";
import { LONG_USE_TIMEOUTS, type LongUse, type LongUseTimeouts } from "./long-uses.ts";

/** INVARIANT: nothing is read for a call without a context, and all data that is read or waits to be sent is counted. */
export async function answerUse(
  exchange: Exchange,
  context: CallContext | null,
  long: LongUse,
  { inputMillisecondsMax, answerMillisecondsMax }: LongUseTimeouts = LONG_USE_TIMEOUTS,
): Promise<Answer<{ readonly answer: Json; readonly bytes?: number }>> {
  if (context === null) return { ok: true, value: { answer: { ...NO_CONTEXT } } };
  try {
    const read =
      exchange.value["hasInput"] === true
        ? await longUse(exchange, long, inputMillisecondsMax)
        : objectIn(exchange.value, "use");
    if (read === null) return refusal("invalid_input", "a use is an object of bounded length");
    if (read === "too much") return { ok: true, value: { answer: { ...TOO_MUCH } } };
    if (read === "late") return { ok: true, value: { answer: { ...TOO_LATE } } };
    if (read === "gone") return { ok: true, value: { answer: { ...NO_CONTEXT } } };
    const answer = await context.serve(read);
    const text = JSON.stringify(answer);
    if (text.length <= inlineCharactersMax) return { ok: true, value: { answer } };
    if (text.length > useCharactersMax) return { ok: true, value: { answer: { ...TOO_LONG } } };
    // Counted until the client has read it.
    const bytes = long.take(Buffer.byteLength(text, "utf8")) ? Buffer.from(text, "utf8") : null;
    if (bytes === null) return { ok: true, value: { answer: { ...TOO_MUCH } } };
    if (!(await isWithin(answerMillisecondsMax, exchange.send(ANSWER_CHANNEL, bytes)))) {
      // Data waiting to be sent is released only with the connection.
      exchange.connected.close();
      return { ok: true, value: { answer: { ...TOO_LATE } } };
    }
    return { ok: true, value: { answer: null, bytes: bytes.length } };
  } finally {
    long.end();
  }
}

const NO_CONTEXT = useDenial("revoked", null, "no such call is running, or its tool has no declaration");
const TOO_LONG = useDenial("not_available", null, "the response is too long: request less at once");
const TOO_MUCH = useDenial("not_available", null, "too many long operations at once: wait until some end");
const TOO_LATE = useDenial("not_available", null, "a long operation, or its response, did not finish in time");

/** Reads into a buffer of known size: received chunks may be small views of much larger buffers. */
const blockBytes = 262_144;
/** A use is long because of a text in it; one with many values would be slow to parse and to check. */
const useValuesMax = 262_144;

async function longUse(
  exchange: Exchange,
  long: LongUse,
  milliseconds: number,
): Promise<JsonObject | "too much" | "gone" | "late" | null> {
  let isLate = false;
  // A client that waits for more gets nothing more.
  const timer = setTimeout(() => {
    isLate = true;
    void exchange.input[Symbol.asyncIterator]().return?.();
  }, milliseconds);
  try {
    const read = await readUse(exchange, long);
    return isLate ? "late" : read;
  } finally {
    clearTimeout(timer);
  }
}

async function readUse(exchange: Exchange, long: LongUse): Promise<JsonObject | "too much" | "gone" | null> {
  const blocks: Buffer[] = [];
  const meter = new JsonMeter(useValuesMax);
  let length = 0;
  for await (const piece of exchange.input) {
    // Text of that length has at most three bytes per character; anything longer is invalid.
    if (length + piece.length > useCharactersMax * 3 || !meter.take(piece)) return null;
    for (let from = 0; from < piece.length; ) {
      const at = length % blockBytes;
      if (at === 0) {
        if (!long.take(blockBytes)) return "too much";
        blocks.push(Buffer.allocUnsafe(blockBytes));
      }
      const part = piece.subarray(from, from + blockBytes - at);
      blocks.at(-1)?.set(part, at);
      from += part.length;
      length += part.length;
    }
  }
  // An incomplete use: the client disconnected.
  if (exchange.signal.aborted) return "gone";
  try {
    const value = copyJson(JSON.parse(Buffer.concat(blocks, length).toString("utf8")));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

async function isWithin(milliseconds: number, over: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((give) => {
    timer = setTimeout(() => give(false), milliseconds);
  });
  try {
    return await Promise.race([over.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
