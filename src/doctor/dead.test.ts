// Dead grants against their definition, over random grants: what is found can be removed, and nothing more could.
import { describe, expect, test } from "vitest";
import { runSeed } from "../../test/house/seed.ts";
import { PROTECTED } from "../../test/laws/alphabet.ts";
import { authorityOf, grants, VERBS } from "../../test/laws/arbitraries.ts";
import { oneOf, type Source, seededSource } from "../../test/laws/source.ts";
import { isNothing } from "../core/authority/axes/scope.ts";
import type { Grant } from "../core/authority/grant.ts";
import { type Containment, within } from "../core/authority/witness/within.ts";
import { deadRules } from "./dead.ts";

const OPTIONS = { protectedPaths: PROTECTED, delegating: false };
const NOW = 15;

/** The definition: within the remaining grants, of those that count now and cannot run out. */
function containment(grant: Grant, rest: readonly Grant[]): Containment["kind"] {
  const lasting = rest.filter(({ conditions }) => conditions.calls === null && conditions.rate === null);
  return within([grant], authorityOf(lasting), OPTIONS).kind;
}

function hasOther(grant: Grant, rest: readonly Grant[]): boolean {
  return rest.some(
    ({ verb, conditions }, at) => verb === grant.verb && conditions.calls === null && rest[at] !== grant,
  );
}

function live(list: readonly Grant[]): readonly Grant[] {
  return list.filter(
    ({ scopes, conditions }) => !scopes.some(isNothing) && (conditions.expires === null || conditions.expires > NOW),
  );
}

function randomGrants(source: Source): readonly Grant[] {
  const budgeted = (grant: Grant): Grant =>
    source.below(5) === 4 ? { ...grant, conditions: { ...grant.conditions, calls: 3 } } : grant;
  const first = grants(source, oneOf(source, VERBS), 1, 4).map(budgeted);
  const second = grants(source, oneOf(source, VERBS), 0, 2).map(budgeted);
  const again = source.below(3) === 2 ? first.slice(0, 1).map((grant) => ({ ...grant })) : [];
  return [...first, ...second, ...again];
}

describe("dead grants of random agents", () => {
  test("are each within the others, can all be removed together, and leave none behind", { timeout: 60_000 }, () => {
    let found = 0;
    // 250,369,275: two grants are comparable only after a third one was found dead.
    const seeds = [250_369_275, ...Array.from({ length: 3_000 }, (_, at) => runSeed() + at)];
    for (const seed of seeds) {
      const all = randomGrants(seededSource(seed));
      const { dead, cut } = deadRules(all, NOW, PROTECTED);
      expect(cut).toBe(false);
      found += dead.length;
      const counted = live(all);
      const kept = counted.filter((grant) => !dead.includes(grant));
      for (const grant of dead) {
        expect([seed, containment(grant, kept)]).toEqual([seed, "within"]);
        // With more grants it may be undecidable, but never shown to add something.
        const others = counted.filter((one) => one !== grant);
        expect([seed, containment(grant, others)]).not.toEqual([seed, "exceeds"]);
      }
      for (const grant of kept) {
        // Without others it can only be "within" by covering nothing at all, which is another finding.
        if (!hasOther(grant, kept)) continue;
        const others = kept.filter((one) => one !== grant);
        expect([seed, containment(grant, others)]).not.toEqual([seed, "within"]);
      }
    }
    expect(found).toBeGreaterThan(500);
  });

  test("are never implied grants", () => {
    for (let seed = runSeed(); seed < runSeed() + 300; seed++) {
      const all = randomGrants(seededSource(seed)).map((grant) => ({ ...grant, implied: "sandbox" }));
      expect(deadRules(all, NOW, PROTECTED).dead).toEqual([]);
    }
  });
});

test("more grants than can be compared are reported as such", () => {
  const [one] = grants(seededSource(3), oneOf(seededSource(1), VERBS), 1, 1, false);
  const many = Array.from({ length: 3_000 }, () => ({ ...(one as Grant) }));
  expect(deadRules(many, NOW, PROTECTED).cut).toBe(true);
});
