// Every hop of a fetch, judged by what the session holds at that moment. The first was decided on and paid for by the call.

import { type Destination, destinationText } from "../../core/authority/axes/destination.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";

export interface Held {
  readonly authority: Authority;
  readonly moment: Moment;
}

/** Null where nothing is held any more. */
export type Holds = () => Held | null;

export class HopJudge {
  readonly #first: Request;
  readonly #holds: Holds;
  readonly #level: Level;
  #hops = 0;
  #refused: { readonly code: DenialCode; readonly request: Request } | null = null;

  /** Made when the call is allowed: what a person had to say to it by then, a person has said. */
  constructor(first: Request, holds: Holds) {
    this.#first = first;
    this.#holds = holds;
    const decision = this.#judge(first, true);
    this.#level = decision.outcome === "ask" ? decision.level : 0;
  }

  /** Requests that servers were asked for, or would have been. */
  get hops(): number {
    return this.#hops;
  }

  /** What ended it, where a decision did. */
  get refused(): { readonly code: DenialCode; readonly request: Request } | null {
    return this.#refused;
  }

  decide(request: Request): Decision {
    // Each hop is asked for by its name alone, or as a literal address; then come the addresses of the name.
    if (!isLed(request)) this.#hops++;
    const found = this.#judge(request, this.#hops <= 1);
    const decision: Decision =
      found.outcome === "ask" && found.level <= this.#level && this.#isFirst(request)
        ? { outcome: "allow", by: found.by }
        : found;
    if (decision.outcome === "deny") this.#refused = { code: decision.code, request };
    if (decision.outcome === "ask") this.#refused = { code: "approval_required", request };
    return decision;
  }

  /** INVARIANT: nobody is charged for the hops that follow, so what is counted does not cover them. */
  #judge(request: Request, isPaid: boolean): Decision {
    const held = this.#holds();
    if (held === null) return { outcome: "deny", code: "revoked", at: null };
    const exhausted = isPaid ? null : countedIsSpent(held.authority);
    return judge(held.authority, request, { ...held.moment, exhausted });
  }

  /** The same verb, host and port: what the person was asked about. */
  #isFirst(request: Request): boolean {
    return request.verb === this.#first.verb && placeText(request) === placeText(this.#first);
  }
}

function hostOf({ values }: Request): Destination | null {
  return isDestination(values[0]) ? values[0] : null;
}

function isLed(request: Request): boolean {
  const host = hostOf(request);
  return host !== null && host.name !== null && host.address !== null;
}

function placeText(request: Request): string {
  const host = hostOf(request);
  return `${host === null ? "" : destinationText(host)} ${String(request.values[1])}`;
}
