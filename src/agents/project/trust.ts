// Which part of a project's authority is in effect: nothing before it is trusted, a narrowing at once, a widening only
// after it is trusted too.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Authority, Chain } from "../../core/authority/chain.ts";
import { compile } from "../../core/authority/compiled.ts";
import { type Grant, type Purpose, purposeAllowed } from "../../core/authority/grant.ts";
import type { Link } from "../../core/authority/link.ts";
import { stricterApprovers } from "../../core/notation/config/approvers.ts";
import { stricter } from "../../core/notation/policy/outer-policies.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { AuthorityFile } from "../../core/ports/trust.ts";
import { type Agent, agentRefused } from "./agent.ts";
import { type Change, differenceOf } from "./difference.ts";

export type TrustStatus =
  /** The user's own folder, or a file the user named: it cannot have come with a project. */
  | { readonly kind: "own" }
  | { readonly kind: "untrusted" }
  | { readonly kind: "trusted" }
  /** Changed since to less than was trusted: in effect as written now. */
  | { readonly kind: "narrowed" }
  /** Changed since to more than was trusted: in effect as far as both texts agree. */
  | { readonly kind: "waiting"; readonly widened: readonly Change[] };

export interface AgentTrust {
  readonly status: TrustStatus;
  /** The text as if it were trusted. */
  readonly written: Agent;
  /** What is in effect. INVARIANT: within what is written, and within what was trusted. */
  readonly agent: Agent;
}

export function untrustedAgent(written: Agent): AgentTrust {
  return { status: { kind: "untrusted" }, written, agent: inert(written) };
}

/** `trusted` is null for an agent that did not exist when the project was trusted. */
export function changedAgent(
  written: Agent,
  trusted: Agent | null,
  protectedPaths: PathSettings["protectedPaths"],
): AgentTrust {
  // Another id is another agent: grants to consult it, delegate to it or hear from it were written about the old one.
  const known = trusted?.id === written.id ? trusted : null;
  const before = known ?? agentRefused(written.id, written.form, []);
  const { widened } = differenceOf(before, written, protectedPaths);
  // INVARIANT: a changed text never counts by itself. Its calls are charged to the accounts of the trusted lines too,
  // so that no unreviewed edit, however narrow, brings a budget of its own.
  const agent = known === null ? inert(written) : meetAgents(written, known);
  return { status: widened.length === 0 ? { kind: "narrowed" } : { kind: "waiting", widened }, written, agent };
}

/** The digest of a project's whole authority: of every path and every text in it, and of nothing else. */
export function authorityDigest(files: readonly AuthorityFile[], digest: Digest): string {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
  // Each text by its own digest, each path with its length: no two lists encode alike.
  return digest(sorted.map(({ path, text }) => `${path.length}:${path} ${digest(text)}\n`).join(""));
}

function inert(agent: Agent): Agent {
  const nothing = agentRefused(agent.id, agent.form, agent.diagnostics);
  return { ...nothing, refused: agent.refused, tests: agent.tests, around: agent.around };
}

/** What both texts allow. The trusted one is a limit: it delegates nothing by itself, and its accounts are charged too. */
function meetAgents(written: Agent, trusted: Agent): Agent {
  const authority = written.authority.flatMap((chain) => trusted.authority.flatMap(([{ link }]) => meet(chain, link)));
  const approvers = stricterApprovers(written.approvers, trusted.approvers);
  const needsReview = written.needsReview || trusted.needsReview;
  const policyLimits = stricter(written.policyLimits ?? null, trusted.policyLimits ?? null) ?? new Map();
  // An account with two limits has the smaller one.
  const budgets = [...(written.budgets ?? []), ...(trusted.budgets ?? [])];
  return { ...written, authority, mode: trusted.mode, approvers, needsReview, policyLimits, budgets };
}

function meet(chain: Chain, trusted: Link): Authority {
  const [{ link: own }, ...limits] = chain;
  const both = (written: readonly Grant[], agreed: readonly Grant[]): Chain => [
    compile({ ...own, grants: written, version: "written" }),
    ...limits,
    compile({ ...trusted, grants: agreed, id: `${trusted.id} as trusted`, role: "limit", version: "trusted" }),
  ];
  // The usage and delegation flags of a limit are not checked, so each purpose gets a chain of its own.
  if (trusted.grants.every(({ conditions }) => conditions.pass === "both")) return [both(own.grants, trusted.grants)];
  const purposes: readonly Purpose[] = ["use", "pass"];
  return purposes.map((purpose) => both(forPurpose(own.grants, purpose), forPurpose(trusted.grants, purpose)));
}

function forPurpose(grants: readonly Grant[], purpose: Purpose): readonly Grant[] {
  return grants
    .filter(({ conditions }) => purposeAllowed(conditions.pass, purpose))
    .map((grant) => ({ ...grant, conditions: { ...grant.conditions, pass: purpose } }));
}
