// What a session may pass on: which of its chains a delegation rests on, and which part of the proposed grants is its own.
import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Chain } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { delegationDepthMax, delegationFault, lastingPart } from "../../core/authority/delegation.ts";
import { type Grant, isCounted } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { meetChain, meetGrants } from "../../core/authority/meet.ts";
import { withinEach } from "../../core/authority/witness/within.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { type UseDenial, useDenial } from "../../runtime/context/use-result.ts";

/** What a session could delegate. */
export interface Granter {
  readonly id: string;
  /** Each authority separately, with the link that it came through; null for the agent's own record. */
  readonly chains: readonly { readonly parent: string | null; readonly chain: Chain }[];
  /** They limit what the session passes on, too. */
  readonly pledges: readonly CompiledLink[];
  /** Limits of the user that the session acts for. */
  readonly userLimits: readonly CompiledLink[];
  readonly protectedPaths: PathSettings["protectedPaths"];
}

export interface PassedGrants {
  /** The link they rest on; null for the granter's own record. */
  readonly parent: string | null;
  readonly grants: readonly Grant[];
}

/** A pledge belongs only to its session's chains: its budgets would not be charged below. */
export function hasCountedPledge({ pledges }: Granter): boolean {
  return pledges.some(({ link }) =>
    link.grants.some(({ conditions }) => isCounted(conditions) || conditions.expires !== null),
  );
}

/** The part of the proposed grants that one of the chains may pass on: of the chain that passes most. */
export function passablePart(granter: Granter, target: string, proposed: readonly Grant[]): readonly Grant[] {
  let most: readonly Grant[] = [];
  for (const { chain } of granter.chains) {
    const held: Chain = [...chain, ...granter.pledges];
    // INVARIANT: what is passed on is shown to be the agent's own, grant by grant; the meet alone is no proof.
    const own = meetGrants(passedOn(held), proposed).grants.filter((grant) => mayPass(granter, held, target, [grant]));
    if (own.length > most.length) most = own;
  }
  return most;
}

/** Everything that one of the chains may pass on: of the chain that passes most. Null if there is nothing. */
export function passableWhole(granter: Granter, target: string): PassedGrants | null {
  let most: PassedGrants | null = null;
  for (const { parent, chain } of granter.chains) {
    if (chain.length > delegationDepthMax) continue;
    const held: Chain = [...chain, ...granter.pledges];
    const grants = passedOn(held).filter((grant) => mayPass(granter, held, target, [grant]));
    if (grants.length > (most?.grants.length ?? 0)) most = { parent, grants };
  }
  return most;
}

/** Whether the chain that came through a link may pass these grants on, within the session's pledges. */
export function mayPassInSession(
  granter: Granter,
  target: string,
  parent: string | null,
  grants: readonly Grant[],
): boolean {
  return granter.chains.some(
    (one) => one.parent === parent && mayPass(granter, [...one.chain, ...granter.pledges], target, grants),
  );
}

/** Each grant that was not passed on whole, with a request that the other agent cannot make. */
export function leftOut(specs: readonly string[], passed: readonly Grant[], reading: Reading): readonly JsonObject[] {
  const proposed = parseSpecs(specs, reading) ?? [];
  const link = { id: "passed", role: "own", issuer: "", holder: "", validity: ALWAYS, calls: null } as const;
  const authority = [[compile({ ...link, grants: passed })] as const];
  const { protectedPaths } = reading.pathSettings;
  return withinEach(proposed, authority, { protectedPaths, delegating: true }).flatMap((found, at) =>
    found.kind === "within"
      ? []
      : [{ grant: specs[at] ?? "", example: found.kind === "exceeds" ? requestText(found.request) : null }],
  );
}

/**
 * The creator's tools, used if the new agent's grants do not mention tools: those of the chain that covers the other grants,
 * else of the first chain that has any. INVARIANT: never more than the creator may delegate in this session.
 */
export function toolsFor(granter: Granter, target: string, preferred: string | null): PassedGrants | null {
  const chains = [...granter.chains].sort(
    (left, right) => Number(right.parent === preferred) - Number(left.parent === preferred),
  );
  for (const { parent, chain } of chains) {
    const held: Chain = [...chain, ...granter.pledges];
    const grants = passedOn(held).filter(isAboutTools);
    const isHeld = mayPass(granter, held, target, grants);
    if (grants.length > 0 && isHeld && chain.length <= delegationDepthMax) return { parent, grants };
  }
  return null;
}

/**
 * The one chain that covers all grants by itself. Grants that only several chains cover have to be delegated separately.
 * INVARIANT: what is written into a record rests on nothing that is counted or ends: no call by the record is charged above.
 */
export function parentFor(
  granter: Granter,
  target: string,
  proposed: readonly Grant[],
  isWritten: boolean,
): { readonly ok: true; readonly value: string | null } | UseDenial {
  let depth = 0;
  let isLimited = false;
  for (const { parent, chain } of granter.chains) {
    depth = chain.length;
    const held: Chain = [...chain, ...granter.pledges];
    if (!mayPass(granter, held, target, proposed)) continue;
    if (chain.length > delegationDepthMax) break;
    if (!isWritten) return { ok: true, value: parent };
    const lasting = lastingPart([...held, ...granter.userLimits]);
    if (mayPass(granter, lasting, target, proposed)) return { ok: true, value: parent };
    isLimited = true;
  }
  if (isLimited) return exceeds(LIMITED);
  return exceeds(
    depth > delegationDepthMax
      ? `grants can be delegated at most ${delegationDepthMax} times in a row`
      : "no single one of your authorities covers all of it: delegate it in parts",
  );
}

const LIMITED =
  "your grant has a budget, a rate or an expiry, so it cannot be written to a record: call this without `write`";

export function exceeds(message: string): UseDenial {
  return useDenial("exceeds_grantor_authority", null, message);
}

export function isAboutTools({ verb }: Grant): boolean {
  return verb.verb === "tool.invoke";
}

function mayPass({ id, protectedPaths }: Granter, held: Chain, target: string, grants: readonly Grant[]): boolean {
  return delegationFault({ id, authority: [held] }, target, grants, protectedPaths) === null;
}

/** What a chain allows its holder to pass on, written out. */
function passedOn(chain: Chain): readonly Grant[] {
  return meetChain(chain)
    .grants.filter((grant) => grant.conditions.pass !== "use")
    .map((grant): Grant => ({ ...grant, conditions: { ...grant.conditions, pass: "both" } }));
}
