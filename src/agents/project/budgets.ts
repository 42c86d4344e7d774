// Compares the budgets of two texts: whether the counted lines of one allow more calls, tokens or money than those of the
// other, all lines together. A call is charged to one line, and an exhausted line is skipped for the next: budgets of overlapping
// lines add up.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import { compile } from "../../core/authority/compiled.ts";
import { type Conditions, type Grant, isCounted } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { meetGrants } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";
import { compactText } from "../../core/notation/printer.ts";

/** A line of the earlier text with its budget not yet claimed by the later text; infinite if it is not counted. */
interface Line {
  readonly grant: Grant;
  readonly text: string;
  readonly left: Record<Budget, number>;
}

/** `burst`: calls in any window of its rate. */
type Budget = "calls" | "burst" | "tokens" | "money";
const BUDGETS = ["calls", "burst", "tokens", "money"] as const satisfies readonly Budget[];

/**
 * The grants of `to` that may be used more often than `from` allows. Each of `to` is within `from` in everything else.
 * Every line of `to` claims its whole budget from lines of `from` that cover it: from an equal one, else from one that
 * covers it alone, else from all that cover it together, of the lines that `to` no longer has. INVARIANT: no budget is claimed twice, so whatever is not
 * returned could be spent under `from` as well. What cannot be proved in this way is returned.
 */
export function moreBudget(
  from: readonly Grant[],
  to: readonly Grant[],
  protectedPaths: PathSettings["protectedPaths"],
): readonly Grant[] {
  if (!from.some(({ conditions }) => isCounted(conditions))) return [];
  const lines = from.map(lineOf);
  const more = to.filter((grant) => !claimsSame(lines, grant));
  // A line that stays keeps its account with what was spent, so a line beside it would start with a fresh budget.
  const staying = new Set(to.map(textOf));
  const claimable = lines.filter((line) => isFree(line) || !staying.has(line.text));
  return more.filter((grant) => !claims(claimable, grant, protectedPaths));
}

function lineOf(grant: Grant): Line {
  const { rate } = grant.conditions;
  const left = { ...totalsOf(grant.conditions), burst: rate?.calls ?? Number.POSITIVE_INFINITY };
  return { grant, text: textOf(grant), left };
}

function totalsOf({ calls, tokens, money }: Conditions): Record<Exclude<Budget, "burst">, number> {
  const infinite = Number.POSITIVE_INFINITY;
  return { calls: calls ?? infinite, tokens: tokens ?? infinite, money: money ?? infinite };
}

/** What it covers, ignoring its budget. */
function textOf(grant: Grant): string {
  const uncounted = { calls: null, rate: null, tokens: null, money: null, per: null };
  return compactText({ ...grant, conditions: { ...grant.conditions, ...uncounted } });
}

function claimsSame(lines: readonly Line[], grant: Grant): boolean {
  const text = textOf(grant);
  const line = lines.find((one) => one.text === text && isEnough(one, grant));
  if (line !== undefined) claim(line, grant);
  return line !== undefined;
}

function claims(lines: readonly Line[], grant: Grant, protectedPaths: PathSettings["protectedPaths"]): boolean {
  const enough = lines.filter((line) => line.grant.verb === grant.verb && isEnough(line, grant));
  const covered = (some: readonly Line[]): boolean => {
    const link = { id: "from", role: "own", issuer: "", holder: "", validity: ALWAYS, calls: null } as const;
    const authority = [[compile({ ...link, grants: some.map((line) => line.grant) })] as const];
    return within([grant], authority, { protectedPaths, delegating: false }).kind === "within";
  };
  // Uncounted lines first: what they cover costs nothing.
  if (covered(enough.filter(isFree))) return true;
  const alone = enough.find((line) => covered([line]));
  const needed = alone === undefined ? enough.filter((line) => overlaps(line, grant)) : [alone];
  if (alone === undefined && !covered(needed)) return false;
  for (const line of needed) claim(line, grant);
  return true;
}

function isFree({ left }: Line): boolean {
  return BUDGETS.every((budget) => left[budget] === Number.POSITIVE_INFINITY);
}

function isEnough(line: Line, grant: Grant): boolean {
  // A budget for each user is more than the same budget for all of them.
  if (grant.conditions.per !== null && line.grant.conditions.per === null && !isFree(line)) return false;
  const needed = neededOf(line, grant);
  return BUDGETS.every((budget) => needed[budget] <= line.left[budget]);
}

function claim(line: Line, grant: Grant): void {
  const needed = neededOf(line, grant);
  // Infinity stays infinite.
  for (const budget of BUDGETS) if (line.left[budget] !== Number.POSITIVE_INFINITY) line.left[budget] -= needed[budget];
}

function neededOf(line: Line, grant: Grant): Record<Budget, number> {
  return { ...totalsOf(grant.conditions), burst: burstOf(line, grant) };
}

/** The most calls by this grant in any window of the line's rate. */
function burstOf({ grant: { conditions: line } }: Line, grant: Grant): number {
  const { rate } = grant.conditions;
  const windows = line.rate === null || rate === null ? 0 : Math.ceil(line.rate.seconds / rate.seconds);
  const byRate = rate === null ? Number.POSITIVE_INFINITY : rate.calls * Math.max(windows, 1);
  return Math.min(byRate, grant.conditions.calls ?? Number.POSITIVE_INFINITY);
}

/** True also if the intersection cannot be expressed. */
function overlaps(line: Line, grant: Grant): boolean {
  const { grants, complete } = meetGrants([line.grant], [grant]);
  return grants.length > 0 || !complete;
}
