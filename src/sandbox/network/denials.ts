// Denials of one sandbox: each once, with its number of attempts.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import { denialsMax } from "./limits.ts";

/** The cause, for people; programs use the code. */
export type Reason =
  /** The broker's own copy of the authority, or the resolved address. */
  | "authority"
  /** The daemon denied it, or could not be asked. */
  | "daemon"
  | "question"
  /** The name in the traffic is another one. */
  | "name_differs"
  | "name_missing"
  | "name_hidden"
  /** A process of ambit listens there. */
  | "own_port"
  /** The name could not be resolved. */
  | "name_unresolved"
  /** Not TLS on 443, not HTTP/1 on 80, or ambiguous. */
  | "protocol"
  | "limit"
  | "credential"
  /** A request to a model that the relay does not pass. */
  | "relay";

export interface Denial extends RunDenial {
  readonly reason: Reason;
}

/** Bounded: denials beyond the limit are counted and not named. */
export class Denials {
  readonly #found = new Map<string, { code: DenialCode; request: string; reason: Reason; times: number }>();
  #unnamed = 0;

  /** True for the first attempt, which is reported. `again` false: a second attempt counts as part of the first. */
  add(code: DenialCode, request: string, reason: Reason, again = true): boolean {
    const key = `${code} ${reason} ${request}`;
    const known = this.#found.get(key);
    if (known !== undefined) {
      if (again) known.times++;
      return false;
    }
    if (this.#found.size >= denialsMax) {
      this.#unnamed++;
      return false;
    }
    this.#found.set(key, { code, request, reason, times: 1 });
    return true;
  }

  get list(): readonly Denial[] {
    return [...this.#found.values()].map((one) => ({ ...one }));
  }

  get unnamed(): number {
    return this.#unnamed;
  }
}
