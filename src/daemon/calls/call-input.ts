// What a client sends with a call: the tool and its arguments, how long it waits for an approval, and whether it cancels.

import { builtinName } from "../../core/authority/axes/name.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { numberOr, objectIn, textIn, textsIn } from "../../core/base/fields.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { withAliases } from "../../tools/shell/argument-aliases.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { Session } from "../session.ts";
import type { Holding } from "./holding.ts";

export const waitMillisecondsMax: number = 24 * 3_600_000;
const requestsMax = 64;
const toolCharactersMax = 256;

/** A call before its tool is looked up. */
export interface ParsedCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** How long it waits for an approval. */
  readonly waitMilliseconds: number;
  /** The requests of a client tool; null for a tool of the daemon. */
  readonly requests: readonly string[] | null;
  /** Requests that the caller needs besides those of a tool of the daemon. */
  readonly also?: readonly string[];
}

/** A built-in tool also by its dotted name, and `shell` with others' arguments. */
export function parseCall(value: JsonObject): ParsedCall | null {
  const name = textIn(value, "tool", toolCharactersMax);
  const input = objectIn(value, "input");
  const waitMilliseconds = numberOr(value, "waitMilliseconds", 0, 0, waitMillisecondsMax);
  const hasRequests = (value["requests"] ?? null) !== null;
  const requests = hasRequests ? textsIn(value, "requests", requestsMax) : null;
  if (name === null || input === null || waitMilliseconds === null || (hasRequests && requests === null)) return null;
  const also = value["also"] === undefined ? [] : textsIn(value, "also", requestsMax);
  if (also === null) return null;
  const tool = builtinName(name);
  return { tool, input: withAliases(tool, input), waitMilliseconds, requests, also };
}

export interface ApprovalWait {
  readonly milliseconds: number;
  /** Aborts when the caller cancels, or the connection is closed; null if it never does. */
  readonly signal: AbortSignal | null;
  /** Called when an approval request is created, with its id. */
  asked(approval: string): void;
}

/** Waits for an approval as long as the client does. */
export class ExchangeWait implements ApprovalWait {
  readonly milliseconds: number;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, milliseconds: number) {
    this.#exchange = exchange;
    this.milliseconds = milliseconds;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  asked(approval: string): void {
    this.#exchange.tell({ waiting: approval });
  }
}

/** How folders are named by the session, the input and the record: a link may be on the path. */
export function folderNames({ facts }: Session, { record }: Holding, input: JsonObject): readonly string[] {
  const named = [facts.cwd, facts.environment["PWD"], input["in"]].filter((name) => typeof name === "string");
  return [...named, ...(record?.linkedRoots ?? []).map(pathText)];
}
