// Judges every hop of a fetch by the session's current authority. The call decided and charged the first one.

import { type Destination, destinationText } from "../../core/authority/axes/destination.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";

export interface HeldAuthority {
  readonly authority: Authority;
  readonly moment: Moment;
}

/** Null if the session holds nothing any more. */
export type Holds = () => HeldAuthority | null;

export class HopJudge {
  readonly #first: Request;
  readonly #holds: Holds;
  readonly #level: Level;
  #hops = 0;
  #refused: { readonly code: DenialCode; readonly request: Request } | null = null;

  /** Created when the call is allowed: a required approval was given by then. */
  constructor(first: Request, holds: Holds) {
    this.#first = first;
    this.#holds = holds;
    const decision = this.#judge(first, true);
    this.#level = decision.outcome === "ask" ? decision.level : 0;
  }

  /** Requests sent to servers, or about to be. */
  get hops(): number {
    return this.#hops;
  }

  /** The decision that ended it, if one did. */
  get refused(): { readonly code: DenialCode; readonly request: Request } | null {
    return this.#refused;
  }

  decide(request: Request): Decision {
    // Each hop is judged by its name alone, or as a literal address; then the addresses of the name are.
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

  /** INVARIANT: later hops are not charged, so grants with a budget do not cover them. */
  #judge(request: Request, isPaid: boolean): Decision {
    const held = this.#holds();
    if (held === null) return { outcome: "deny", code: "revoked", at: null };
    const exhausted = isPaid ? null : countedIsSpent(held.authority);
    return judge(held.authority, request, { ...held.moment, exhausted });
  }

  /** The same verb, host and port: what the approver was shown. */
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
