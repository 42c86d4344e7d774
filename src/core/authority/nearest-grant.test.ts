// The nearest grant is the first that covers the most axes, the first axis counting for more; the index only speeds up the
// search.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ANY, type Scope, scopeMatches } from "./axes/scope.ts";
import { type VerbEntry, verbEntry } from "./catalog.ts";
import { compile, grantMatches } from "./compiled.ts";
import { type Grant, UNCONDITIONAL } from "./grant.ts";
import { ALWAYS, type Link } from "./link.ts";
import { type NearestGrant, nearestGrant } from "./nearest-grant.ts";
import { DEEP, literal } from "./patterns/segment.ts";
import { segmentsOf } from "./patterns/sequence.ts";
import type { Request } from "./request.ts";

function verbOf(name: string): VerbEntry {
  const entry = verbEntry(name);
  if (entry === null) throw new Error(`no verb ${name}`);
  return entry;
}

const EXEC = verbOf("proc.exec");

function linkOf(grants: readonly Grant[]): Link {
  return { id: "link", role: "own", issuer: "person", holder: "scout", grants, validity: ALWAYS, calls: null };
}

function grantOf(scopes: readonly Scope[]): Grant {
  return { verb: EXEC, scopes, conditions: UNCONDITIONAL, root: null, span: null, implied: null };
}

/** By definition: checks every grant. */
function reference(grants: readonly Grant[], { verb, values }: Request): NearestGrant | null {
  const whole = grants.findIndex((grant) => grantMatches(grant, values));
  if (whole >= 0) return { grant: whole, axis: null };
  const met = grants.map(({ scopes }) =>
    scopes.reduce((sum, scope, at) => sum + (scopeMatches(scope, values[at]) ? (at === 0 ? 1.5 : 1) : 0), 0),
  );
  const grant = met.indexOf(Math.max(...met));
  const missed = grants[grant]?.scopes.findIndex((scope, at) => !scopeMatches(scope, values[at])) ?? -1;
  return grant < 0 ? null : { grant, axis: verb.axes[missed]?.name ?? null };
}

const name = fc.constantFrom("a", "b", "c", "d");
const tree: fc.Arbitrary<Scope> = name.map((text) => ({ kind: "sequences", of: [[literal(text), DEEP]] }));
const mode: fc.Arbitrary<Scope> = fc.constantFrom("ro", "rw").map((text) => ({ kind: "words", of: [text] }));
const orAny = (scope: fc.Arbitrary<Scope>): fc.Arbitrary<Scope> => fc.oneof(scope, scope, fc.constant(ANY));
const anyGrant: fc.Arbitrary<Grant> = fc.tuple(orAny(tree), orAny(tree), orAny(mode)).map(grantOf);
const anyRequest: fc.Arbitrary<Request> = fc
  .tuple(name, name, fc.constantFrom("ro", "rw"))
  .map(([root, program, how]) => ({ verb: EXEC, values: [segmentsOf([root]), segmentsOf([program]), how] }));

describe("the nearest grant", () => {
  test("is the one a plain search finds", () => {
    fc.assert(
      fc.property(fc.array(anyGrant, { maxLength: 12 }), anyRequest, (grants, request) => {
        expect(nearestGrant(compile(linkOf(grants)), request)).toEqual(reference(grants, request));
      }),
      { numRuns: 3000 },
    );
  });

  test("names the axis that is not covered, not one that is", () => {
    const trees = (text: string): Scope => ({ kind: "sequences", of: [[literal(text), DEEP]] });
    const grants = ["a", "b", "c", "d", "e"].map((text) => grantOf([trees(text), trees(text), ANY]));
    const asked = (root: string, program: string): Request => ({
      verb: EXEC,
      values: [segmentsOf([root]), segmentsOf([program]), "ro"],
    });
    const compiled = compile(linkOf(grants));
    expect(nearestGrant(compiled, asked("c", "c"))).toEqual({ grant: 2, axis: null });
    expect(nearestGrant(compiled, asked("c", "x"))).toEqual({ grant: 2, axis: "argv" });
    expect(nearestGrant(compiled, asked("x", "d"))).toEqual({ grant: 3, axis: "root" });
    expect(nearestGrant(compiled, asked("x", "x"))).toEqual({ grant: 0, axis: "root" });
  });
});
