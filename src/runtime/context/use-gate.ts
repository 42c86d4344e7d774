// Asks the judge about each single use. An approval for this call covers exactly its requests: of all uses that need
// approval, only those may be made.

import { isArguments, isDestination, isSegments, type Value } from "../../core/authority/axes/scope.ts";
import type { Basis, Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { type RequestReading, requestOf, type ToolRequest } from "./tool-request.ts";
import { type UseResult, unreadable, useDenial, useResult } from "./use-result.ts";

export interface AllowedUse {
  readonly request: Request;
  readonly by: Basis;
  readonly level: number;
  /** A redirect: no budget was charged for it. */
  readonly isUncharged?: true;
}

/** Called for every refused use, for the outcome of the call. */
export type ReportDenial = (request: Request | null, code: DenialCode) => void;

export class UseGate {
  readonly #judge: Judge;
  readonly #warrant: Warrant;
  readonly #tell: ReportDenial;
  readonly reading: RequestReading;

  constructor(judge: Judge, warrant: Warrant, asking: RequestReading, tell: ReportDenial) {
    this.#judge = judge;
    this.#warrant = warrant;
    this.#tell = tell;
    this.reading = asking;
  }

  get agent(): string {
    return this.#warrant.agent;
  }

  /** Converts a tool's arguments to the decided request. */
  ask(asked: ToolRequest): UseResult<AllowedUse> {
    const request = requestOf(asked, this.reading);
    if (request.ok) return this.decide(request.value);
    this.#tell(null, "invalid_input");
    return unreadable(asked.verb, request);
  }

  /**
   * `first`: the request that led to this one by a redirect. INVARIANT: a redirect is not charged, so grants with a budget do
   * not cover it; an approval covers it only if the call requested the same.
   */
  decide(request: Request, first: AllowedUse | null = null): UseResult<AllowedUse> {
    const uncharged = first === null ? {} : ({ isUncharged: true } as const);
    const decision = this.#judge(request, uncharged.isUncharged);
    switch (decision.outcome) {
      case "allow":
        return useResult({ request, by: decision.by, level: 0, ...uncharged });
      case "ask": {
        const { by, level } = decision;
        const isApproved =
          (first === null || level <= first.level) && this.#warrant.requests.some((one) => isSameRequest(one, request));
        return isApproved
          ? useResult({ request, by, level, ...uncharged })
          : this.#refuse(request, "approval_required");
      }
      case "deny":
        return this.#refuse(request, decision.code);
      default:
        return decision satisfies never;
    }
  }

  /** Whether it would be allowed without approval; for filtering lists, which is no denial. */
  covers(asked: ToolRequest): boolean {
    const request = requestOf(asked, this.reading);
    return request.ok && this.#judge(request.value).outcome === "allow";
  }

  /** The same request with its resolved address. An approval of the name covers no more than the name's request. */
  decideAddress(use: AllowedUse, asked: Request): UseResult<AllowedUse> {
    const decision: Decision = this.#judge(asked, use.isUncharged);
    if (decision.outcome === "allow" || (decision.outcome === "ask" && decision.level <= use.level))
      return useResult(use);
    return this.#refuse(use.request, decision.outcome === "deny" ? "address_refused" : "approval_required");
  }

  /** A port refused an allowed request. */
  refused(request: Request, code: DenialCode): void {
    if (code !== "not_available" && code !== "invalid_input") this.#tell(request, code);
  }

  #refuse(request: Request, code: DenialCode): UseResult<never> {
    this.#tell(request, code);
    return useDenial(code, request.verb.verb, MESSAGES[code] ?? "it is not allowed");
  }
}

const MESSAGES: Readonly<Partial<Record<DenialCode, string>>> = {
  capability_absent: "not both declared by the tool and granted to the agent",
  scope_violation: "outside the tool's declaration or the agent's grants",
  approval_required: "this needs approval, and the approval of this call does not cover it",
  address_refused: "the name resolves to an address that is not allowed",
};

export function isSameRequest(left: Request, right: Request): boolean {
  return (
    left.verb === right.verb &&
    left.delegation === undefined &&
    right.delegation === undefined &&
    left.values.length === right.values.length &&
    left.values.every((value, at) => isSameValue(value, right.values[at]))
  );
}

function isSameValue(left: Value, right: Value): boolean {
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  if (isSegments(left)) return isSegments(right) && isSameList(left.segments, right.segments);
  if (isArguments(left) || isArguments(right)) return false;
  if (!isDestination(left) || !isDestination(right)) return false;
  if (left.address?.family !== right.address?.family || left.address?.number !== right.address?.number) return false;
  if (left.name === null || right.name === null) return left.name === right.name;
  return isSameList(left.name.segments, right.name.segments);
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, at) => one === right[at]);
}
