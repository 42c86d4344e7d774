// Compares the budgets of two texts: whether the counted lines of one allow more calls than those of the other, all
// lines together. A call is charged to one line, and an exhausted line is skipped for the next: budgets of overlapping
// lines add up.

import type { Ground } from "../../core/authority/axes/path.ts";
import { compile } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { meetGrants } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";
import { compactText } from "../../core/notation/printer.ts";

/** A line of the earlier text with its budget not yet claimed by the later text; infinite if it is not counted. */
interface Line {
  readonly grant: Grant;
  readonly text: string;
  calls: number;
  /** Calls in any window of its rate. */
  burst: number;
}

/**
 * The grants of `to` that may be used more often than `from` allows. Each of `to` is within `from` in everything else.
 * Every line of `to` claims its whole budget from lines of `from` that cover it: from an equal one, else from one that
 * covers it alone, else from all that cover it together, of the lines that `to` no longer has. INVARIANT: no budget is claimed twice, so whatever is not
 * returned could be spent under `from` as well. What cannot be proved in this way is returned.
 */
export function moreBudget(
  from: readonly Grant[],
  to: readonly Grant[],
  protectedPaths: Ground["protectedPaths"],
): readonly Grant[] {
  if (!from.some(isCounted)) return [];
  const lines = from.map(lineOf);
  const more = to.filter((grant) => !claimsSame(lines, grant));
  // A line that stays keeps its account with what was spent, so a line beside it would start with a fresh budget.
  const staying = new Set(to.map(textOf));
  const claimable = lines.filter((line) => isFree(line) || !staying.has(line.text));
  return more.filter((grant) => !claims(claimable, grant, protectedPaths));
}

function isCounted({ conditions: { calls, rate } }: Grant): boolean {
  return calls !== null || rate !== null;
}

function lineOf(grant: Grant): Line {
  const { calls, rate } = grant.conditions;
  const infinite = Number.POSITIVE_INFINITY;
  return { grant, text: textOf(grant), calls: calls ?? infinite, burst: rate?.calls ?? infinite };
}

/** What it covers, ignoring its budget. */
function textOf(grant: Grant): string {
  return compactText({ ...grant, conditions: { ...grant.conditions, calls: null, rate: null, per: null } });
}

function claimsSame(lines: readonly Line[], grant: Grant): boolean {
  const text = textOf(grant);
  const line = lines.find((one) => one.text === text && isEnough(one, grant));
  if (line !== undefined) claim(line, grant);
  return line !== undefined;
}

function claims(lines: readonly Line[], grant: Grant, protectedPaths: Ground["protectedPaths"]): boolean {
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

function isFree({ calls, burst }: Line): boolean {
  return calls === Number.POSITIVE_INFINITY && burst === Number.POSITIVE_INFINITY;
}

function isEnough(line: Line, grant: Grant): boolean {
  // A budget for each user is more than the same budget for all of them.
  if (grant.conditions.per !== null && line.grant.conditions.per === null && !isFree(line)) return false;
  return callsOf(grant) <= line.calls && burstOf(line, grant) <= line.burst;
}

function claim(line: Line, grant: Grant): void {
  // Infinity stays infinite.
  if (line.calls !== Number.POSITIVE_INFINITY) line.calls -= callsOf(grant);
  if (line.burst !== Number.POSITIVE_INFINITY) line.burst -= burstOf(line, grant);
}

function callsOf({ conditions: { calls } }: Grant): number {
  return calls ?? Number.POSITIVE_INFINITY;
}

/** The most calls by this grant in any window of the line's rate. */
function burstOf({ grant: { conditions: line } }: Line, grant: Grant): number {
  const { rate } = grant.conditions;
  const windows = line.rate === null || rate === null ? 0 : Math.ceil(line.rate.seconds / rate.seconds);
  const byRate = rate === null ? Number.POSITIVE_INFINITY : rate.calls * Math.max(windows, 1);
  return Math.min(byRate, callsOf(grant));
}

/** True also if the intersection cannot be expressed. */
function overlaps(line: Line, grant: Grant): boolean {
  const { grants, complete } = meetGrants([line.grant], [grant]);
  return grants.length > 0 || !complete;
}
