// The proof of every edit: the record afterwards grants what it granted before, plus or minus exactly the edit. What
// cannot be proved is refused.

import { isNothing } from "../../core/authority/axes/scope.ts";
import type { VerbEntry } from "../../core/authority/catalog.ts";
import { type Conditions, type Grant, UNCONDITIONAL } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Agent } from "../project/agent.ts";
import { type Change, differenceOf } from "../project/difference.ts";
import { linkOf, type ProtectedPaths, relation } from "./edit-subtract.ts";

export type AuthorityEdit =
  | { readonly kind: "grant"; readonly grant: Grant }
  /** Without a part: every grant of the verb. */
  | { readonly kind: "revoke"; readonly verb: VerbEntry; readonly part: RevokedPart | null };

export interface RevokedPart {
  readonly grant: Grant;
  /** If conditions were written, only grants with exactly these are affected; null matches any. */
  readonly conditions: Conditions | null;
}

export interface EditProblem {
  readonly message: string;
  /** A request that shows it, if one can be found. */
  readonly example: Request | null;
}

/** Null: the edit does exactly what it says. */
export function checkEdit(
  before: readonly Grant[],
  after: readonly Grant[],
  edit: AuthorityEdit,
  protectedPaths: ProtectedPaths,
): EditProblem | null {
  switch (edit.kind) {
    case "grant": {
      const expected = [...before, edit.grant];
      const held = before.length === 0 ? after.filter((grant) => !isImpliedTool(grant)) : after;
      return (
        problem("would also allow", more(expected, held, protectedPaths)) ??
        problem("would no longer allow", more(after, expected, protectedPaths))
      );
    }
    case "revoke": {
      const kept = before.filter((grant) => !isMeant(grant, edit) && !(after.length === 0 && isImpliedTool(grant)));
      const meant = edit.part === null ? [] : before.filter((grant) => isMeant(grant, edit));
      const rest = edit.part === null ? after : [...after, partOf(edit.part)];
      return (
        problem("would also allow", more(before, after, protectedPaths)) ??
        problem("would also revoke", more(after, kept, protectedPaths)) ??
        problem("would revoke more than that of", more(rest, meant, protectedPaths)) ??
        left(after, edit, protectedPaths)
      );
    }
  }
}

/** Whether the revocation applies to this grant. */
export function isMeant(grant: Grant, edit: Extract<AuthorityEdit, { kind: "revoke" }>): boolean {
  if (grant.verb !== edit.verb) return false;
  const wanted = edit.part?.conditions ?? null;
  return wanted === null || sameConditions(grant.conditions, wanted);
}

function partOf({ grant, conditions }: RevokedPart): Grant {
  return { ...grant, conditions: conditions ?? UNCONDITIONAL };
}

/** What `to` allows beyond `from`. Grants present on both sides need no proof. */
export function more(from: readonly Grant[], to: readonly Grant[], protectedPaths: ProtectedPaths): readonly Change[] {
  const held = new Set(from.map(compactText));
  const asked = to.filter((grant) => !held.has(compactText(grant)));
  return asked.length === 0 ? [] : differenceOf(holder(from), holder(asked), protectedPaths).widened;
}

function left(
  after: readonly Grant[],
  edit: Extract<AuthorityEdit, { kind: "revoke" }>,
  protectedPaths: ProtectedPaths,
): EditProblem | null {
  const still = after.find(
    (grant) =>
      isMeant(grant, edit) &&
      !grant.scopes.some(isNothing) &&
      (edit.part === null || relation(grant, edit.part.grant, protectedPaths) !== "apart"),
  );
  return still === undefined ? null : { message: `${compactText(still)} would still be granted`, example: null };
}

/** A record with any grant may call the built-in tools: this right comes with its first grant and goes with its last. */
function isImpliedTool({ verb, implied }: Grant): boolean {
  return verb.verb === "tool.invoke" && implied === "default";
}

function problem(words: string, changes: readonly Change[]): EditProblem | null {
  const [first] = changes;
  if (first === undefined) return null;
  const what = first.grant === null ? "something else" : compactText(first.grant);
  const how =
    first.because === "unknown" ? `it cannot be proved that the edit leaves ${what} unchanged` : `it ${words} ${what}`;
  return { message: how, example: first.example };
}

function sameConditions(left: Conditions, right: Conditions): boolean {
  return (
    left.ask === right.ask &&
    left.calls === right.calls &&
    left.rate?.calls === right.rate?.calls &&
    left.rate?.seconds === right.rate?.seconds &&
    left.tokens === right.tokens &&
    left.money === right.money &&
    left.per === right.per &&
    left.expires === right.expires &&
    left.principals?.join() === right.principals?.join() &&
    left.pass === right.pass &&
    left.clean === right.clean
  );
}

function holder(grants: readonly Grant[]): Agent {
  return {
    id: "",
    form: "record",
    authority: [[linkOf(grants)]],
    grants,
    tests: [],
    workingRoot: null,
    mode: null,
    approvers: null,
    needsReview: false,
    diagnostics: [],
    refused: false,
  };
}
