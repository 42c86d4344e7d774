// Decides and plans a request from grants in record notation, for tests.
import type { Authority } from "../../../core/authority/chain.ts";
import { compile } from "../../../core/authority/compiled.ts";
import type { Grant, Level } from "../../../core/authority/grant.ts";
import { judge } from "../../../core/authority/judge.ts";
import { ALWAYS } from "../../../core/authority/link.ts";
import type { Request } from "../../../core/authority/request.ts";
import type { PlanDecision } from "../../../core/gate/programs/program-root.ts";
import { readCompact } from "../../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../../core/notation/diagnostic.ts";
import type { Reading } from "../../../core/notation/reading.ts";
import { readRequest } from "../../../core/notation/request/request.ts";
import type { PlanFacts } from "../plan-facts.ts";
import { planDecision } from "../plan-root.ts";
import { type PlanResult, planOf } from "../planning.ts";
import { FACTS } from "./plan.ts";

export const READING: Reading = {
  pathSettings: { home: FACTS.home, base: FACTS.home, protectedPaths: FACTS.protectedPaths },
  toAscii: () => null,
  ceiling: null,
};

export function grantOf(text: string): Grant {
  const diagnostics = new Diagnostics();
  const span = { source: "test", start: 0, end: 0 };
  const grant = readCompact(text, { reading: READING, diagnostics, span, root: null });
  if (grant === null || diagnostics.list.length > 0) throw new Error(`${text}: ${diagnostics.list[0]?.message}`);
  return grant;
}

/** One chain for each list, one link for each list in it. */
export function authorityOf(chains: readonly (readonly (readonly string[])[])[]): Authority {
  return chains.map((links) => {
    const [first, ...rest] = links.map((grants, place) =>
      compile({
        id: `link-${place}`,
        role: place === 0 ? "own" : "limit",
        issuer: "person",
        holder: "agent",
        grants: grants.map(grantOf),
        validity: ALWAYS,
        calls: null,
      }),
    );
    if (first === undefined) throw new Error("a chain has a link");
    return [first, ...rest];
  });
}

export function requestOf(text: string): Request {
  const request = readRequest(text.split(" "), READING);
  if (!request.ok) throw new Error(`${text}: ${request.message}`);
  return request.value;
}

export function planDecisionFor(authority: Authority, request: Request, approved: Level = 0): PlanDecision | null {
  return planDecision(authority, request, judge(authority, request, FACTS.moment), approved);
}

/** Null where it is not even decided. */
export function plannedBy(
  links: readonly (readonly string[])[],
  request: string,
  facts: Partial<PlanFacts> = {},
  approved: Level = 0,
): PlanResult | null {
  const one = planDecisionFor(authorityOf([links]), requestOf(request), approved);
  return one === null ? null : planOf(one, { ...FACTS, ...facts });
}
