// A grant: one verb, a scope on each of its axes, and the conditions under which it covers.

import type { Scope } from "./axes/scope.ts";
import type { VerbEntry } from "./catalog.ts";
import type { Principal, PrincipalKind } from "./principal.ts";

/** How much of a person an action needs: 0 none, 1 ask, 2 presence. Along a chain the strictest wins. */
export type Level = 0 | 1 | 2;

/** May the holder use it, hand it on, or both? */
export type Pass = "use" | "pass" | "both";
export type Purpose = "use" | "pass";

export interface Rate {
  readonly calls: number;
  readonly seconds: number;
}

export interface Conditions {
  readonly ask: Level;
  readonly calls: number | null;
  readonly rate: Rate | null;
  /** Tokens of models, all together. Metered verbs only, as `money`. */
  readonly tokens: number | null;
  /** Price of these tokens in millionths of the currency of the user's price list. */
  readonly money: number | null;
  /** Budgets are counted separately for each of these; null: once for all. */
  readonly per: PrincipalKind | null;
  /** Milliseconds since 1970; the grant covers before that moment. */
  readonly expires: number | null;
  /** Covers only in sessions that act for one of these; null: in every session. Written `users`. */
  readonly principals: readonly Principal[] | null;
  readonly pass: Pass;
  /** Covers only while the session has read nothing untrusted. */
  readonly clean: boolean;
}

export const UNCONDITIONAL: Conditions = {
  ask: 0,
  calls: null,
  rate: null,
  tokens: null,
  money: null,
  per: null,
  expires: null,
  principals: null,
  pass: "both",
  clean: false,
};

/** Where in a text something was written. */
export interface Span {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

export interface Grant {
  readonly verb: VerbEntry;
  /** One scope for each axis of the verb, in the catalog's order. */
  readonly scopes: readonly Scope[];
  readonly conditions: Conditions;
  /** Folder an `fs.*` grant was written for; its paths lie below. For showing and for the sandbox plan. */
  readonly root: readonly string[] | null;
  readonly span: Span | null;
  /** Why a grant exists that is not written in the record: "sandbox", "access", "room", "default", a preset. */
  readonly implied: string | null;
}

/** Whether its uses are charged to an account. */
export function isCounted({ calls, rate, tokens, money }: Conditions): boolean {
  return (calls ?? rate ?? tokens ?? money) !== null;
}

export function purposeAllowed(pass: Pass, purpose: Purpose): boolean {
  return pass === "both" || pass === purpose;
}
