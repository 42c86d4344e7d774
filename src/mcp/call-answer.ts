// The answer to a call as it stands on a line: what the protocol's library would write, in either era, spelled once.
import { SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import type { CallAsked } from "./call-asked.ts";
import { type CallResult, refusedResult } from "./call-result.ts";
import type { KeptSession } from "./kept-session.ts";
import { ourSpelling } from "./other-spelling.ts";
import type { Era } from "./spoken-era.ts";
import type { RequestId } from "./wire-message.ts";

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
}

/** Always an answer: whatever goes wrong is told to the model. */
export type AnswerCall = (call: CallAsked) => Promise<string>;

export function callAnswers(session: KeptSession, identity: ServerIdentity): AnswerCall {
  const spelled = spelling(identity);
  return async (call) => {
    const { id, era, tool, input, flaw, refused, wanted } = call;
    if (refused !== null) return JSON.stringify(refused);
    if (flaw !== null) return spelled(era, id, refusedResult(tool === "" ? "the call" : tool, invalid(flaw)));
    try {
      return spelled(era, id, await session.call(tool, ourSpelling(tool, input), wanted));
    } catch {
      // Deeper than can be written, or a mistake of ours: nothing is told of it but that nothing came of the call.
      return spelled(era, id, refusedResult(tool, NOT_CARRIED_ON));
    }
  };
}

/** In the newer era every result says that it is whole, and who made it. */
function spelling(identity: ServerIdentity): (era: Era, id: RequestId, result: CallResult) => string {
  const identified = JSON.stringify({ [SERVER_INFO_META_KEY]: identity });
  const whole = `,"resultType":"complete","_meta":${identified}}`;
  return (era, id, result) => {
    const text = resultText(result);
    const told = era === "modern" ? text.slice(0, -1) + whole : text;
    return `{"result":${told},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  };
}

/** As JSON has it. What a tool has read stands in it twice and may be long, so that it is spelled once. */
function resultText(result: CallResult): string {
  const [first, ...others] = result.content;
  if (first === undefined || result.structuredContent["text"] !== first.text) return JSON.stringify(result);
  const text = JSON.stringify(first.text);
  let content = `{"type":"text","text":${text}}`;
  for (const other of others) content += `,${JSON.stringify(other)}`;
  let members = "";
  for (const [key, value] of Object.entries(result.structuredContent))
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${key === "text" ? text : JSON.stringify(value)}`;
  return `{"content":[${content}],"structuredContent":{${members}}}`;
}

const NOT_CARRIED_ON = { code: "not_available", message: "the call could not be carried on", fix: null };

function invalid(message: string): { readonly code: string; readonly message: string; readonly fix: null } {
  return { code: "invalid_input", message, fix: null };
}
