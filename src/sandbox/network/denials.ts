// What was refused to one sandbox: each thing once, with how often it was tried.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import { denialsMax } from "./limits.ts";

/** What kind of thing went wrong, for a person who wonders; the code is what programs go by. */
export type Reason =
  /** The broker's own copy of the authority, or where the name leads. */
  | "authority"
  /** The owner said no, or could not be asked. */
  | "owner"
  | "question"
  /** The name said in the open is another one. */
  | "name_differs"
  | "name_missing"
  | "name_hidden"
  /** Nobody could say where the name leads. */
  | "name_unresolved"
  /** Not TLS on 443, not HTTP/1 on 80, or not in a form that can only be read in one way. */
  | "protocol"
  | "limit"
  | "credential";

export interface Denial extends RunDenial {
  readonly reason: Reason;
}

/** Bounded: what no longer fits is counted and not named. */
export class Denials {
  readonly #found = new Map<string, { code: DenialCode; request: string; reason: Reason; times: number }>();
  #unnamed = 0;

  /** True the first time, which is the time to tell. `again` false: a second time is part of the first. */
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
