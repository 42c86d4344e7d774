// The door of a session: what programs in its sandbox may ask of it.
import type { JsonObject } from "../../base/json.ts";
import type { CallCompletion, DenialView, ToolView } from "./daemon-calls.ts";
import type { Answer } from "./exchange.ts";
import type { DecisionView } from "./holding-view.ts";

/** One HTTP request on the sandbox's own loopback. */
export interface DoorCall {
  /** The last part of the target: `can`. */
  readonly route: string;
  readonly body: string;
  /** For a person who reads it; otherwise JSON. */
  readonly isText: boolean;
}

export interface DoorAnswer {
  readonly status: number;
  readonly body: string;
}

/** An entry of the session's own calls. */
export interface DoorEntry {
  readonly id: string;
  readonly kind: string;
  readonly outcome: string;
  readonly tool: string | null;
  readonly code: string | null;
  readonly at: number;
  readonly need: string | null;
  /** The smallest grant that would have covered it. */
  readonly suggest: string | null;
}

/**
 * INVARIANT: bound to one session when it is made. No value that comes in names a session or an agent, and nothing here
 * adds to what the session holds.
 */
export interface DoorSession {
  list(): Promise<Answer<{ readonly tools: readonly ToolView[] }>>;
  call(tool: string, input: JsonObject): Promise<Answer<CallCompletion | DenialView>>;
  /** Decided as it would be now, and not executed. */
  can(words: readonly string[]): Answer<DecisionView>;
  why(id: string): Promise<Answer<DoorEntry>>;
}

export type DoorProtocol = (session: DoorSession, call: DoorCall) => Promise<DoorAnswer>;
