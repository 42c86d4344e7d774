// The grants that the user reviewed when trusting an agent. A text can mean more later, when the user's own root or org
// table around it is lifted: what was hidden during the review is not trusted.
import { compile } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Agent } from "./agent.ts";
import { asWritten } from "./project-moment.ts";

export function shownGrants({ grants }: Agent): readonly string[] {
  return grants.map(compactText);
}

/** Whether the agent grants nothing beyond the reviewed grants. */
export function isAsReviewed({ grants }: Agent, shown: readonly string[]): boolean {
  const known = new Set(shown);
  return grants.every((grant) => known.has(compactText(grant)));
}

/** The agent with the reviewed grants in place of those that its text means now. */
export function asReviewed(agent: Agent, shown: readonly string[], reading: Reading): Agent {
  const [own] = agent.authority[0] ?? [];
  if (own === undefined || agent.refused) return agent;
  const byText = new Map(agent.grants.map((grant) => [compactText(grant), grant]));
  const grants = shown.flatMap((spec) => byText.get(spec) ?? readReviewedGrant(spec, reading) ?? []);
  return { ...agent, grants, authority: [[compile({ ...own.link, grants })]] };
}

/** INVARIANT: a spec that does not parse back to itself grants nothing. */
function readReviewedGrant(spec: string, reading: Reading): Grant | null {
  const diagnostics = new Diagnostics();
  const span = { source: "trust", start: 0, end: spec.length };
  // Its roots were resolved at the time of the review.
  const plain: Reading = { ...reading, ceiling: null, realRoot: asWritten };
  const grant = readCompact(spec, { reading: plain, diagnostics, span, root: null });
  const isExact = grant !== null && compactText(grant) === spec;
  return isExact && !diagnostics.list.some(({ severity }) => severity === "error") ? { ...grant, span: null } : null;
}
