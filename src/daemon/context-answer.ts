// One use of a context as it comes in on the call socket, and its answer as it goes back: inline where it fits, else as bytes.
import { copyJson, isJsonObject, type Json, type JsonObject } from "../authority/json.ts";
import { useCharactersMax } from "../context/remote.ts";
import { denied } from "../context/used.ts";
import type { Answer } from "../ports/exchange.ts";
import { ANSWER_CHANNEL, inlineCharactersMax } from "./context-sender.ts";
import type { ServedContext } from "./contexts.ts";
import { objectIn } from "./input.ts";
import { refusal } from "./refusal.ts";
import type { Exchange } from "./serving.ts";

export async function answerUse(
  exchange: Exchange,
  context: ServedContext | null,
): Promise<Answer<{ readonly answer: Json; readonly bytes?: number }>> {
  const use = exchange.value["hasInput"] === true ? await longUse(exchange) : objectIn(exchange.value, "use");
  if (use === null) return refusal("invalid_input", "a use is an object of bounded length");
  if (context === null) return { ok: true, value: { answer: { ...NO_CONTEXT } } };
  const answer = await context.serve(use);
  const text = JSON.stringify(answer);
  if (text.length <= inlineCharactersMax) return { ok: true, value: { answer } };
  if (text.length > useCharactersMax) return { ok: true, value: { answer: { ...TOO_LONG } } };
  const bytes = Buffer.from(text, "utf8");
  await exchange.send(ANSWER_CHANNEL, bytes);
  return { ok: true, value: { answer: null, bytes: bytes.length } };
}

const NO_CONTEXT = denied("revoked", null, "there is no such call any more, or it declared nothing");
const TOO_LONG = denied("not_available", null, "the answer is too long: ask for less at once");

async function longUse({ input }: Exchange): Promise<JsonObject | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of input) {
    length += piece.length;
    // Text of such a length has at most three bytes a character; what is longer is none.
    if (length > useCharactersMax * 3) return null;
    pieces.push(piece);
  }
  try {
    const value = copyJson(JSON.parse(Buffer.concat(pieces).toString("utf8")));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
