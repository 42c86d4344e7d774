// Where a name leads. Every address of the answer must be covered, or the name is refused; the connection then goes
// to one of the addresses that were decided on, and to no other.
import { type Address, parseAddress } from "../../base/address.ts";
import type { Authority } from "../chain.ts";
import type { Moment } from "../compiled.ts";
import type { Decision } from "../decision.ts";
import { judge } from "../judge.ts";
import type { Request } from "../request.ts";
import { isDestination } from "./scope.ts";

const answersMax = 64;

export interface ScreenedAddress {
  readonly decision: Decision;
  /** What may be dialled; empty unless the decision covers. */
  readonly pinned: readonly Address[];
}

/** `answers`: what the resolver said for the request's name, null for a failure. Not looked at for a literal address. */
export function screen(
  authority: Authority,
  request: Request,
  answers: readonly string[] | null,
  moment: Moment,
): ScreenedAddress {
  const axis = request.verb.axes.findIndex((one) => one.kind === "destination");
  const host = request.values[axis];
  const first = judge(authority, request, moment);
  if (first.outcome === "deny" || !isDestination(host)) return { decision: first, pinned: [] };
  if (host.name === null) return { decision: first, pinned: [host.address] };
  if (answers === null || answers.length === 0 || answers.length > answersMax) return refused(null);
  let decision: Decision = first;
  const pinned: Address[] = [];
  for (const answer of answers) {
    const address = parseAddress(answer);
    if (address === null) return refused(null);
    const values = request.values.map((value, at) => (at === axis ? { name: host.name, address } : value));
    const next = judge(authority, { verb: request.verb, values }, moment);
    if (next.outcome === "deny") return { decision: { ...next, code: "address_refused" }, pinned: [] };
    if (next.outcome === "ask" && (decision.outcome !== "ask" || next.level > decision.level)) decision = next;
    pinned.push(address);
  }
  return { decision, pinned };
}

function refused(at: null): ScreenedAddress {
  return { decision: { outcome: "deny", code: "address_refused", at }, pinned: [] };
}
