// Which files below its root a program sees: those that `fs.read` covers along the deciding chain. A sandbox hides names, so
// only whole folders and single files can be held; any other pattern refuses the run.
import { verbEntry } from "../authority/catalog.ts";
import { type Chain, purposeAt } from "../authority/chain.ts";
import { type CompiledLink, conditionsHold, type Moment } from "../authority/compiled.ts";
import type { Grant, Level } from "../authority/grant.ts";
import { guardPath, pathPatternText, pathText } from "../authority/path.ts";
import { ANY_TEXT } from "../authority/reserved.ts";
import type { Scope } from "../authority/scope.ts";
import { DEEP, segmentMatches } from "../authority/segment.ts";
import { anyMatches, isRun, type Sequence, starSegments } from "../authority/sequence.ts";
import { isWithin } from "./places.ts";
import type { PlanPath } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { type Planned, planned, refusePlan } from "./plan-refusal.ts";
import type { Decided } from "./plan-root.ts";

export interface VisiblePath {
  readonly path: PlanPath;
  /** The folder with everything below it; otherwise this name alone. */
  readonly isTree: boolean;
}

/** Null: the whole root. Outermost paths only. */
export type VisibleFiles = readonly VisiblePath[] | null;

type ViewFacts = Pick<PlanFacts, "moment" | "protectedPaths">;

const READ = verbEntry("fs.read");
const RECORDS_READ = verbEntry("records.read");

/**
 * Where no link of the chain has an `fs.read` grant, the `root` axis of the deciding grant shows the whole root (decision
 * 0060). INVARIANT: otherwise every link covers reading everything that is visible.
 */
export function visibleFiles(decided: Decided, root: PlanPath, facts: ViewFacts): Planned<VisibleFiles> {
  const links = readPatterns(decided, facts.moment);
  if (links === null) return planned(null);
  const isVisible = ({ path, isTree }: VisiblePath): boolean =>
    links.every((patterns) =>
      isTree ? coversTree(patterns, path, facts) : anyMatches(patterns, guardPath(path, facts.protectedPaths)),
    );
  if (isVisible({ path: root, isTree: true })) return planned(null);
  const written = links.map((patterns) => patterns.flatMap((pattern) => pathOf(pattern, root)));
  const visible = outermost(written.flat().filter(isVisible));
  const starred = links.map((patterns) =>
    patterns.filter((pattern) => isStarredBelow(pattern, root) && !isInside(literalStart(pattern), visible)),
  );
  // A link of plain paths that are all visible lets nothing else through, whatever the patterns of the others match.
  const isExact = links.some(
    (_, at) => starred[at]?.length === 0 && written[at]?.every((one) => isInside(one.path, visible)),
  );
  const [pattern] = starred.flat();
  if (pattern !== undefined && !isExact) return refusePlan("scope_violation", unheld(pattern, root), FIX);
  return planned(visible);
}

const FIX = "write whole folders in `fs.read`, such as `fs.read{paths=[docs/**]}`, or single files";

function unheld(pattern: Sequence, root: PlanPath): string {
  return `\`fs.read\` covers a part of ${pathText(root)} by the pattern ${pathPatternText(pattern)}, which no sandbox can hold for a program`;
}

/** Patterns of `fs.read` in the grants of one record that no sandbox can hold for programs in this root. */
export function unheldPatterns(grants: readonly Grant[], root: PlanPath): readonly Sequence[] {
  const patterns = grants.filter(({ verb }) => verb === READ).flatMap(({ scopes: [scope] }) => patternsOf(scope));
  if (coversTree(patterns, root, { protectedPaths: [] })) return [];
  const trees = patterns.flatMap((pattern) => pathOf(pattern, root)).filter(({ isTree }) => isTree);
  return patterns.filter((pattern) => isStarredBelow(pattern, root) && !isInside(literalStart(pattern), trees));
}

/** Records are data of the workspace, beside authority files that programs may see: they follow `records.read`. */
export function seesRecords(decided: Decided, folder: PlanPath, facts: ViewFacts): boolean {
  const chain = decided.authority[decided.by.chain];
  if (chain === undefined || RECORDS_READ === null) return false;
  const level = levelOf(decided, chain);
  const isEvery = chain.every((compiled, place) =>
    usable(chain, compiled, place, level, RECORDS_READ, facts.moment).some(({ scopes }) =>
      scopes.every(({ kind }) => kind === "any"),
    ),
  );
  const files = readPatterns(decided, facts.moment);
  return isEvery || (files?.every((patterns) => coversTree(patterns, folder, facts)) ?? false);
}

/** The first moment at which a program would see less than now; null where no such moment is written. */
export function visibleUntil(decided: Decided, root: PlanPath, facts: ViewFacts): number | null {
  const chain = decided.authority[decided.by.chain];
  if (chain === undefined) return null;
  const { now } = facts.moment;
  const ends = chain.flatMap(({ link }) =>
    link.grants.flatMap(({ verb, conditions: { expires } }) =>
      (verb === READ || verb === RECORDS_READ) && expires !== null && expires > now ? [expires] : [],
    ),
  );
  const shown = JSON.stringify(visibleFiles(decided, root, facts));
  for (const end of [...new Set(ends)].sort((left, right) => left - right)) {
    const then = visibleFiles(decided, root, { ...facts, moment: { ...facts.moment, now: end } });
    if (JSON.stringify(then) !== shown) return end;
  }
  return null;
}

/** For each link the patterns that cover without another question; null where no link has a grant of the verb. */
function readPatterns(decided: Decided, moment: Moment): readonly (readonly Sequence[])[] | null {
  const chain = decided.authority[decided.by.chain];
  if (chain === undefined || READ === null || chain.every((link) => link.grantsOf(READ).length === 0)) return null;
  const level = levelOf(decided, chain);
  return chain.map((compiled, place) =>
    usable(chain, compiled, place, level, READ, moment).flatMap(({ scopes: [scope] }) => patternsOf(scope)),
  );
}

/** What was agreed to with the run itself: reading may need as much, and no more. */
function levelOf({ by, level }: Decided, chain: Chain): Level {
  return chain.reduce((most: Level, compiled, place) => {
    const needs = compiled.link.grants[by.grants[place] ?? -1]?.conditions.ask ?? 0;
    return needs > most ? needs : most;
  }, level);
}

/** What a program reads is charged to no account: a counted grant shows nothing. */
function usable(
  chain: Chain,
  compiled: CompiledLink,
  place: number,
  level: Level,
  verb: NonNullable<typeof READ>,
  moment: Moment,
): readonly Grant[] {
  const purpose = purposeAt(chain, place, "use");
  return compiled
    .grantsOf(verb)
    .map((index) => compiled.link.grants[index] as Grant)
    .filter((grant) => {
      const { ask, calls, rate } = grant.conditions;
      return ask <= level && calls === null && rate === null && conditionsHold(grant, moment, purpose);
    });
}

function patternsOf(scope: Scope | undefined): readonly Sequence[] {
  if (scope?.kind === "any") return [[DEEP]];
  return scope?.kind === "sequences" ? scope.of : [];
}

/** As in `witness.ts`, unknown names stand for all: everything below the folder is covered, its own name aside. */
function coversTree(
  patterns: readonly Sequence[],
  folder: PlanPath,
  { protectedPaths }: Pick<ViewFacts, "protectedPaths">,
): boolean {
  const stars = patterns.reduce((most, pattern) => Math.max(most, starSegments(pattern)), 0);
  const { guarded } = guardPath(folder, protectedPaths);
  for (let copies = 1; copies <= stars + 2; copies++) {
    const unknown = new Array<string>(copies).fill(ANY_TEXT);
    const segments = [...folder, ...unknown];
    const guards = guarded === null ? null : [...guarded, ...unknown.map(() => false)];
    if (!anyMatches(patterns, { segments, guarded: guards })) return false;
  }
  return true;
}

/** A plain folder or file strictly below the root. */
function pathOf(pattern: Sequence, root: PlanPath): readonly VisiblePath[] {
  const path = literalStart(pattern);
  const isTree = path.length === pattern.length - 1 && pattern[path.length]?.kind === "deep";
  const isPlain = isTree || path.length === pattern.length;
  return isPlain && path.length > root.length && isWithin(path, root) ? [{ path, isTree }] : [];
}

function literalStart(pattern: Sequence): PlanPath {
  const names: string[] = [];
  for (const segment of pattern) {
    if (segment.kind !== "literal") break;
    names.push(segment.text);
  }
  return names;
}

/** Neither a plain folder nor a plain file, and it may match something below the root. */
function isStarredBelow(pattern: Sequence, root: PlanPath): boolean {
  if (pattern.every(({ kind }) => kind === "literal")) return false;
  if (literalStart(pattern).length === pattern.length - 1 && pattern[pattern.length - 1]?.kind === "deep") return false;
  let places = new Set(reachable(pattern, 0));
  for (const name of root) {
    const next = new Set<number>();
    for (const place of places) {
      const segment = pattern[place];
      if (segment === undefined) continue;
      if (isRun(segment)) for (const one of reachable(pattern, place)) next.add(one);
      else if (segmentMatches(segment, name)) for (const one of reachable(pattern, place + 1)) next.add(one);
    }
    places = next;
  }
  return [...places].some((place) => place < pattern.length);
}

/** The place itself and, behind a run that matches no segment, the next ones. */
function reachable(pattern: Sequence, from: number): readonly number[] {
  const places = [from];
  for (let place = from; pattern[place] !== undefined && isRun(pattern[place] as Sequence[number]); place++)
    places.push(place + 1);
  return places;
}

function isInside(path: PlanPath, visible: readonly VisiblePath[]): boolean {
  return visible.some((one) => (one.isTree ? isWithin(path, one.path) : pathText(path) === pathText(one.path)));
}

function outermost(all: readonly VisiblePath[]): readonly VisiblePath[] {
  const kept: VisiblePath[] = [];
  // Shorter paths first, and a folder before the same path as a single name.
  const sorted = [...all].sort(
    (left, right) => left.path.length - right.path.length || Number(right.isTree) - Number(left.isTree),
  );
  for (const one of sorted) if (!isInside(one.path, kept)) kept.push(one);
  return kept;
}
