// Sends the uses of a context to the daemon, for a tool in the client process. A use or response that is too long for one
// message is sent as bytes.
import { DENIAL_CODES } from "../../core/authority/decision.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { CallMessages } from "../../core/ports/daemon/daemon-calls.ts";
import type { MessageClient } from "../../core/ports/daemon/exchange.ts";
import { type SendUse, useCharactersMax } from "../../runtime/context/remote.ts";
import { useDenial } from "../../runtime/context/use-result.ts";

/** Size limit of an inline message, minus its envelope. */
export const inlineCharactersMax = 131_072;
/** The channel of long responses. */
export const ANSWER_CHANNEL = 3;

/** Only for `remoteContext`. INVARIANT: never rejects; without a daemon a use is `not_available`. */
export function contextSender(call: MessageClient<CallMessages>, session: string, receipt: string): SendUse {
  return async (use: JsonObject): Promise<Json> => {
    const text = JSON.stringify(use);
    if (text.length > useCharactersMax) return { ...useDenial("invalid_input", null, "the request is too long") };
    const isLong = text.length > inlineCharactersMax;
    const pieces: Uint8Array[] = [];
    let length = 0;
    const answer = await call.ask(
      "context.use",
      isLong ? { session, receipt, use: {}, hasInput: true } : { session, receipt, use },
      {
        input: isLong ? once(text) : null,
        onBytes: (channel, bytes) => {
          length += bytes.length;
          if (channel === ANSWER_CHANNEL && length <= useCharactersMax * 3) pieces.push(bytes);
        },
      },
    );
    if (!answer.ok) {
      const code = DENIAL_CODES.find((one) => one === answer.code) ?? "not_available";
      return { ...useDenial(code, null, answer.message) };
    }
    const { answer: told, bytes } = answer.value;
    if (bytes === undefined) return told;
    const whole = Buffer.concat(pieces);
    if (whole.length !== bytes) return { ...useDenial("not_available", null, "the response is incomplete") };
    try {
      return JSON.parse(whole.toString("utf8")) as Json;
    } catch {
      return { ...useDenial("not_available", null, "the response cannot be parsed") };
    }
  };
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text, "utf8");
}
