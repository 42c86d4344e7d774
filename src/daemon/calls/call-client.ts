// What the client of a call can do while it runs: answer a server's questions, hear progress and log messages, and come back with
// answers to what an earlier round of the same call asked for.
import type { Request } from "../../core/authority/request.ts";
import { flagIn, objectIn, textIn, textsIn } from "../../core/base/fields.ts";
import { type JsonObject, member } from "../../core/base/json.ts";
import { SERVER_ASKS, type ServerAskKind } from "../../core/notation/servers/server-file.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { Session } from "../session.ts";
import type { DaemonTool } from "../tools/daemon-tool.ts";

export interface CallClient {
  /** What it can be asked for. */
  readonly answers: ReadonlySet<ServerAskKind>;
  readonly isProgressWanted: boolean;
  /** Messages from this level on; null for none. */
  readonly logLevel: string | null;
  /** Null in the first round. */
  readonly resume: CallResume | null;
  tell(event: JsonObject): void;
}

export interface CallResume {
  readonly state: string;
  /** By the key of what was asked for. */
  readonly responses: JsonObject;
}

const stateCharactersMax = 131_072;

/** What the answers need that the client comes back with; nothing in the first round. */
export function resumedCall(
  exchange: Pick<Exchange, "value" | "tell">,
  owner: Pick<DaemonTool, "name" | "resumed"> | null,
  input: JsonObject,
  session: Session,
): Answer<readonly Request[]> {
  const client = callClient(exchange);
  if (client === undefined) return refusal("invalid_input", "the client data of the call is malformed");
  if (client === null || client.resume === null) return { ok: true, value: [] };
  const resumed = owner?.resumed?.(input, session, client.resume);
  if (resumed === undefined) return refusal("invalid_input", "this tool has no open question to answer");
  return resumed.ok ? { ok: true, value: resumed.value } : refusal("invalid_input", resumed.message);
}

/** Null for a client that says nothing about itself; undefined for one that says something else. */
export function callClient(exchange: Pick<Exchange, "value" | "tell">): CallClient | null | undefined {
  const { value } = exchange;
  if (member(value, "client") === undefined) return member(value, "resume") === undefined ? null : undefined;
  const client = objectIn(value, "client");
  const answers = client === null ? null : textsIn(client, "answers", SERVER_ASKS.length);
  if (client === null || answers === null) return undefined;
  const resume = objectIn(value, "resume");
  const [state, responses] =
    resume === null ? [null, null] : [textIn(resume, "state", stateCharactersMax), objectIn(resume, "responses")];
  const isResumed = member(value, "resume") !== undefined;
  if (isResumed && (state === null || responses === null)) return undefined;
  return {
    answers: new Set(SERVER_ASKS.filter((kind) => answers.includes(kind))),
    isProgressWanted: flagIn(client, "isProgressWanted"),
    logLevel: textIn(client, "logLevel", 16),
    resume: state === null || responses === null ? null : { state, responses },
    tell: (event) => exchange.tell(event),
  };
}
