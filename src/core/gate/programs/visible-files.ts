// Which files below its root a program sees: those that `fs.read` covers along the deciding chain. A sandbox hides
// names, so only whole folders and single files can be enforced; any other pattern refuses the run.

import { guardPath, pathPatternText, pathText } from "../../authority/axes/path.ts";
import { scopeMatches } from "../../authority/axes/scope.ts";
import { verbEntry } from "../../authority/catalog.ts";
import { type Chain, purposeAt } from "../../authority/chain.ts";
import { type CompiledLink, conditionsHold, type Moment } from "../../authority/compiled.ts";
import { type Grant, isCounted, type Level } from "../../authority/grant.ts";
import { anyMatches, type Sequence } from "../../authority/patterns/sequence.ts";
import {
  coversTree,
  isInside,
  isStarredBelow,
  literalStart,
  pathPatterns,
  plainPath,
  type TreePath,
} from "../../authority/patterns/tree-patterns.ts";
import type { RunRefusal } from "../../ports/process.ts";
import { type PlanningResult, planValue, refusePlan } from "./plan-refusal.ts";
import { approvedLevel, chooseRoot, type FolderPath, type PlanDecision, type RootFacts } from "./program-root.ts";

/** Null: the whole root. Outermost paths only. */
export type VisibleFiles = readonly TreePath[] | null;

const READ = verbEntry("fs.read");
const RECORDS_READ = verbEntry("records.read");

/**
 * Where no link of the chain has an `fs.read` grant, the `root` axis of the deciding grant shows the whole root (decision
 * 0060). INVARIANT: otherwise every link covers reading everything that is visible.
 */
export function visibleFiles(decided: PlanDecision, root: FolderPath, facts: RootFacts): PlanningResult<VisibleFiles> {
  const links = readPatterns(decided, facts.moment);
  if (links === null) return planValue(null);
  // Everything below a path may be covered and the path itself not (`*/*/**`): it may be a file. The root is a folder.
  const coversTop = (patterns: readonly Sequence[], path: FolderPath): boolean =>
    path.length === root.length || anyMatches(patterns, guardPath(path, facts.protectedPaths));
  const isVisible = ({ path, isTree }: TreePath): boolean =>
    links.every((patterns) =>
      isTree
        ? coversTree(patterns, path, facts.protectedPaths) && coversTop(patterns, path)
        : anyMatches(patterns, guardPath(path, facts.protectedPaths)),
    );
  if (isVisible({ path: root, isTree: true })) return planValue(null);
  const written = links.map((patterns) => patterns.flatMap((pattern) => plainPath(pattern, root)));
  const visible = outermost(written.flat().filter(isVisible));
  const starred = links.map((patterns) =>
    patterns.filter((pattern) => isStarredBelow(pattern, root) && !isInside(literalStart(pattern), visible)),
  );
  // A link of plain paths that are all visible excludes everything else, whatever the patterns of the others match.
  const isExact = links.some(
    (patterns, at) =>
      starred[at]?.length === 0 &&
      written[at]?.every((one) => isInside(one.path, visible)) === true &&
      !coversTree(patterns, root, facts.protectedPaths),
  );
  const [pattern] = starred.flat();
  if (pattern !== undefined && !isExact) return refusePlan("scope_violation", unheld(pattern, root), FIX);
  return planValue(visible);
}

/** The same for a program that starts in `directory`: in a folder that it sees. */
export function visibleFrom(
  decided: PlanDecision,
  { root, directory }: { readonly root: { readonly path: FolderPath }; readonly directory: FolderPath },
  facts: RootFacts,
): PlanningResult<VisibleFiles> {
  const visible = visibleFiles(decided, root.path, facts);
  if (!visible.ok || visible.value === null || isAt(root.path, directory)) return visible;
  const isSeen = visible.value.some(
    (one) => startsWith(one.path, directory) || (one.isTree && startsWith(directory, one.path)),
  );
  return isSeen
    ? visible
    : refusePlan("scope_violation", UNSEEN(directory), "run the program in a folder that `fs.read` covers");
}

/**
 * Why the grants that cover a program cannot be enforced for it; null where they can, and for requests that run none. Part of
 * the decision: such a request is denied and charges no account.
 */
export function programRefusal(decided: PlanDecision, facts: RootFacts): RunRefusal | null {
  if (!decided.request.verb.axes.some(({ name }) => name === "root")) return null;
  const chosen = chooseRoot(decided, facts);
  if (!chosen.ok) return chosen.refused;
  const visible = chosen.value === null ? null : visibleFrom(decided, chosen.value, facts);
  return visible === null || visible.ok ? null : visible.refused;
}

function isAt(left: FolderPath, right: FolderPath): boolean {
  return left.length === right.length && startsWith(left, right);
}

function startsWith(path: FolderPath, base: FolderPath): boolean {
  return base.length <= path.length && base.every((name, at) => name === path[at]);
}

const UNSEEN = (directory: FolderPath): string =>
  `\`fs.read\` does not cover the working folder ${pathText(directory)}`;

const FIX = "use whole folders in `fs.read`, such as `fs.read{paths=[docs/**]}`, or single files";

function unheld(pattern: Sequence, root: FolderPath): string {
  return `\`fs.read\` covers a part of ${pathText(root)} by the pattern ${pathPatternText(pattern)}, which a sandbox cannot enforce for a program`;
}

/** Records are workspace data beside authority files that programs may see: they follow `records.read`. */
export function seesRecords(decided: PlanDecision, folder: FolderPath, facts: RootFacts): boolean {
  const chain = decided.authority[decided.by.chain];
  if (chain === undefined || RECORDS_READ === null) return false;
  const level = approvedLevel(decided, chain);
  const isEvery = chain.every((compiled, place) =>
    usable(chain, compiled, place, level, RECORDS_READ, facts.moment).some(({ scopes }) =>
      scopes.every(({ kind }) => kind === "any"),
    ),
  );
  const files = readPatterns(decided, facts.moment);
  return isEvery || (files?.every((patterns) => coversTree(patterns, folder, facts.protectedPaths)) ?? false);
}

/**
 * Whether programs see a shared store as a file: `records.read` covers all of it along the deciding chain. An approval of the
 * run is none of the store, and no file disappears when a grant expires: grants with either condition show nothing.
 */
export function seesStore(decided: PlanDecision, store: string, recordClass: string, moment: Moment): boolean {
  const chain = decided.authority[decided.by.chain];
  if (chain === undefined || RECORDS_READ === null) return false;
  const value = { segments: [recordClass], guarded: null };
  return chain.every((compiled, place) => {
    const patterns = usable(chain, compiled, place, 0, RECORDS_READ, moment)
      .filter(({ conditions }) => conditions.expires === null && !conditions.clean)
      .filter(({ scopes: [classes] }) => classes !== undefined && scopeMatches(classes, value))
      .flatMap(({ scopes: [, paths] }) => pathPatterns(paths));
    return coversTree(patterns, [store], []);
  });
}

/** The first moment at which a program would see less than now; null for none. */
export function visibleUntil(decided: PlanDecision, root: FolderPath, facts: RootFacts): number | null {
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

/** The patterns of each link that cover without further approval; null where no link has a grant of the verb. */
function readPatterns(decided: PlanDecision, moment: Moment): readonly (readonly Sequence[])[] | null {
  const chain = decided.authority[decided.by.chain];
  if (chain === undefined || READ === null || chain.every((link) => link.grantsOf(READ).length === 0)) return null;
  const level = approvedLevel(decided, chain);
  return chain.map((compiled, place) =>
    usable(chain, compiled, place, level, READ, moment).flatMap(({ scopes: [scope] }) => pathPatterns(scope)),
  );
}

/** Reads of a program are charged to no account: a counted grant shows nothing. */
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
      const { conditions } = grant;
      return conditions.ask <= level && !isCounted(conditions) && conditionsHold(grant, moment, purpose);
    });
}

function outermost(all: readonly TreePath[]): readonly TreePath[] {
  const kept: TreePath[] = [];
  // Shorter paths first, and a folder before the same path as a single name.
  const sorted = [...all].sort(
    (left, right) => left.path.length - right.path.length || Number(right.isTree) - Number(left.isTree),
  );
  for (const one of sorted) if (!isInside(one.path, kept)) kept.push(one);
  return kept;
}
