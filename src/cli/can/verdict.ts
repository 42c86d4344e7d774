// One verdict as data: what `--json` prints, and what the sentence on the terminal is made from.

import { pathText } from "../../core/authority/axes/path.ts";
import type { Authority, Chain } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { explain, isHelpedByGrant, isPolicyChange } from "../../core/authority/explain.ts";
import type { Grant, Span } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Verdict } from "../../core/gate/decide.ts";
import { linkWords, policyWords } from "../../core/notation/link-words.ts";
import { denyingCapability, type PolicyTable } from "../../core/notation/policy/policy.ts";
import { compactText } from "../../core/notation/printer.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";

export interface GrantView {
  readonly grant: string;
  readonly implied: string | null;
  readonly span: Span | null;
}

export interface VerdictView {
  readonly outcome: "allow" | "ask" | "deny";
  readonly code: DenialCode | null;
  /** `ask` or `presence`, where a person is needed. */
  readonly level: "ask" | "presence" | null;
  readonly request: string;
  /** The deciding grant of each link. */
  readonly by: readonly (GrantView & { readonly link: string })[];
  /** A ceiling or a policy that denies, in words: no grant in the record would help. */
  readonly deniedBy: string | null;
  /** Tools never change the files of a policy, whatever is granted. */
  readonly isPolicyChange: boolean;
  /** The grant that came closest, and the axis or condition it does not match on. */
  readonly nearest: (GrantView & { readonly link: string; readonly axis: string | null }) | null;
  /** The smallest grant that would allow it; null where no grant can. */
  readonly suggest: string | null;
  /** The agent's root, where the request lies outside of it: a grant only narrows that. */
  readonly outside: string | null;
  /** It names an address that is not public, so no grant is proposed. */
  readonly special: boolean;
  /** For a delegation: a request that could be made with what was proposed, but not by the granter. */
  readonly exceeds: string | null;
  /** Why grants that cover a program cannot be enforced for it, and what to write instead. */
  readonly unenforceable: { readonly message: string; readonly fix: string | null } | null;
}

/** As much of an agent as a verdict is told with. */
export interface VerdictSubject {
  readonly authority: Authority;
  /** The root its grants are hoisted to; null where it has none. */
  readonly workingRoot: readonly string[] | null;
  /** Nothing of its text counts, so no grant in it would. */
  readonly refused: boolean;
  /** What a policy denies it, whatever its text grants. */
  readonly policyLimits?: PolicyTable;
}

export function showVerdict(judged: VerdictSubject, request: Request, verdict: Verdict, moment: Moment): VerdictView {
  const { authority, workingRoot, refused, policyLimits } = judged;
  const capability = policyLimits === undefined ? null : denyingCapability(policyLimits, request);
  const { decision, exceeds, unenforceable } = verdict;
  const why = explain(authority, request, moment, decision, workingRoot);
  const chain = authority[decision.outcome === "deny" ? (decision.at?.chain ?? 0) : decision.by.chain] as
    | Chain
    | undefined;
  const shown = why.links.map(({ link, covers, grant, axis }, place) => {
    const held = grant === null ? undefined : chain?.[place]?.link.grants[grant];
    return held === undefined ? null : { link, covers, axis, ...showGrant(held) };
  });
  const short =
    decision.outcome === "deny" && decision.at !== null
      ? (shown.find((one) => one !== null && !one.covers) ?? null)
      : null;
  const isUncovered = decision.outcome === "deny" && isHelpedByGrant(decision.code);
  const limit = why.limit === null ? null : linkWords(why.limit, null);
  const deniedBy = capability === null ? limit : policyWords(capability);
  const axis = decision.outcome === "deny" ? (decision.at?.axis ?? null) : null;
  return {
    outcome: decision.outcome,
    code: decision.outcome === "deny" ? decision.code : null,
    level: decision.outcome === "ask" ? (decision.level === 2 ? "presence" : "ask") : null,
    request: requestText(request),
    by:
      decision.outcome === "deny"
        ? []
        : shown.flatMap((one) =>
            one === null ? [] : [{ link: one.link, grant: one.grant, implied: one.implied, span: one.span }],
          ),
    deniedBy: isUncovered ? deniedBy : null,
    isPolicyChange: isUncovered && isPolicyChange(request),
    nearest:
      short === null
        ? null
        : { link: short.link, axis: short.axis ?? axis, grant: short.grant, implied: short.implied, span: short.span },
    suggest: why.suggest === null || refused || capability !== null ? null : compactText(why.suggest),
    outside: why.isOutside && workingRoot !== null ? pathText(workingRoot) : null,
    special: why.isSpecial,
    exceeds: exceeds?.kind === "exceeds" ? requestText(exceeds.request) : null,
    unenforceable: unenforceable === null ? null : { message: unenforceable.message, fix: unenforceable.fix },
  };
}

function showGrant(grant: Grant): GrantView {
  return { grant: compactText(grant), implied: grant.implied, span: grant.span };
}
