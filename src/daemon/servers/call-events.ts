// What a server may say while it works on one call: it asks for input, reports progress, and writes log messages.
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { ServerAskKind } from "../../core/notation/servers/server-file.ts";

/** A request of the server during a call. It is answered once, or not at all where the call ended before. */
export interface ServerAsk {
  readonly kind: ServerAskKind;
  readonly params: Json | undefined;
  give(result: JsonObject): void;
  refuse(why: string): void;
  /** Set by the one who answers it: the server does not want the answer any more. */
  onDropped: () => void;
}

export interface CallEvents {
  /** The client wants progress of this call. */
  readonly isProgressWanted: boolean;
  /** Messages from this level on are wanted; null for none. */
  readonly logLevel: string | null;
  asked(ask: ServerAsk): void;
  progressed(params: JsonObject): void;
  /**
   * False where the client does not want the message, or does not listen now. A message does not say which call it belongs to: the
   * oldest that wants it gets it.
   */
  logged(params: JsonObject): boolean;
}

/** What is declared to a server: the same for every session, so that what it says about itself does not depend on the client. */
export interface ServerOffers {
  /** As URIs; null where the server is not told of any. */
  readonly roots: readonly string[] | null;
  readonly asks: ReadonlySet<ServerAskKind>;
}

/** By the protocol, least urgent first. */
export const LOG_LEVELS: readonly string[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** The level from which on one of the calls wants messages; null where none does. */
export function leastUrgent(talks: readonly (CallEvents | null)[]): string | null {
  return LOG_LEVELS.find((level) => talks.some((events) => events?.logLevel === level)) ?? null;
}
