// Containment rebuilt from the core's parts, with witnesses that are wrong on purpose.

import type { Scope, Value } from "../../src/core/authority/axes/scope.ts";
import type { CompiledLink } from "../../src/core/authority/compiled.ts";
import { compile, conditionsHold, type Moment } from "../../src/core/authority/compiled.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { type AxisFacts, factsOf } from "../../src/core/authority/witness/facts.ts";
import type { Containment } from "../../src/core/authority/witness/within.ts";
import { sequenceWitnesses, TOO_MANY } from "../../src/core/authority/witness/witness.ts";
import { NO_FACTS, scopeWitnesses } from "../../src/core/authority/witness/witness-axis.ts";
import { PROTECTED } from "./alphabet.ts";
import { ACTING } from "./arbitraries.ts";
import { CORE, type Implementation, type Links, single } from "./implementation.ts";
import { guard } from "./requests.ts";

/** `within` rebuilt from its parts, with other witnesses. */
function rebuilt(
  witnesses: (scope: Scope, grant: Grant, axis: number, facts: AxisFacts) => readonly Value[] | typeof TOO_MANY,
): Implementation {
  const decide = (child: readonly Grant[], parent: readonly Links[], delegating: boolean): Containment => {
    const links: readonly CompiledLink[] = parent.flat().map(compile);
    for (const [index, grant] of child.entries()) {
      const facts: AxisFacts[] = [];
      for (const link of links) factsOf(link.link.grants, link.grantsOf(grant.verb), facts);
      const lists = grant.scopes.map((scope, axis) => witnesses(scope, grant, axis, facts[axis] ?? NO_FACTS));
      if (lists.includes(TOO_MANY)) return { kind: "unknown", grant: index };
      for (const values of product(lists as (readonly Value[])[])) {
        const request: Request = { verb: grant.verb, values };
        const { expires, clean, ask, pass } = grant.conditions;
        const now = expires === null ? Number.MAX_SAFE_INTEGER : expires - 1;
        const held = single([{ ...grant, conditions: { ...grant.conditions, pass: "both" } }]);
        const purposes = delegating ? (["pass"] as const) : pass === "both" ? (["use", "pass"] as const) : [pass];
        for (const principals of ACTING) {
          const at: Moment = { now, clean, generation: 0, revoked: null, exhausted: null, principals };
          if (!conditionsHold(grant, at, null) || CORE.level(held, request, at, "use") === null) continue;
          for (const purpose of purposes) {
            const level = CORE.level(parent, request, at, purpose);
            if (level === null || level > ask) return { kind: "exceeds", grant: index, request, because: "request" };
          }
        }
      }
    }
    return { kind: "within" };
  };
  return { ...CORE, within: decide };
}

function product(lists: readonly (readonly Value[])[]): readonly (readonly Value[])[] {
  return lists.reduce<readonly (readonly Value[])[]>(
    (all, list) => all.flatMap((before) => list.map((value) => [...before, value])),
    [[]],
  );
}

const axisKind = (grant: Grant, axis: number): Parameters<typeof scopeWitnesses>[1] =>
  (grant.verb.axes[axis] as { kind: Parameters<typeof scopeWitnesses>[1] }).kind;

/** As many copies of an unknown segment as the other side has stars, where one more is needed. */
export const fewerCopies: Implementation = rebuilt((scope, grant, axis, facts) =>
  scopeWitnesses(scope, axisKind(grant, axis), { ...facts, stars: facts.stars - 1 }, PROTECTED),
);

/** The rebuilt containment with the right witnesses: shows that the witnesses make the mutants wrong. */
export const rebuiltRight: Implementation = rebuilt((scope, grant, axis, facts) =>
  scopeWitnesses(scope, axisKind(grant, axis), facts, PROTECTED),
);

/** Commands without a witness for each program that has risky options. */
export const unknownProgramsOnly: Implementation = rebuilt((scope, grant, axis, facts) => {
  const kind = axisKind(grant, axis);
  if (scope.kind !== "sequences" || kind !== "argv") return scopeWitnesses(scope, kind, facts, PROTECTED);
  const lists = scope.of.map((pattern) => sequenceWitnesses(pattern, facts.stars, (list) => guard("argv", list)));
  return lists.includes(TOO_MANY)
    ? TOO_MANY
    : (lists as Value[][])
        .flat()
        .filter((value) => typeof value === "object" && "segments" in value && value.segments.length > 0);
});

/** Ranges without the boundaries of the other side. */
export const firstAddressOnly: Implementation = rebuilt((scope, grant, axis, facts) =>
  scopeWitnesses(scope, axisKind(grant, axis), { ...facts, ranges: [], ports: new Set() }, PROTECTED),
);
