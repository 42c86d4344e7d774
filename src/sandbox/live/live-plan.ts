// Plans one step of a live root from the changes: carry in, land, or report a conflict. Each git folder is one unit.
import type { UnlandedChange } from "../../core/ports/drafts.ts";
import type { Comparison, SideChange } from "./compare-sides.ts";
import type { TreeFolder } from "./tree-folder.ts";

export interface StepPlan {
  /** The person's changes, additions before deletions. */
  readonly carryIn: readonly SideChange[];
  /** The program's changes. */
  readonly land: readonly SideChange[];
  /** Changed on both sides to different content. */
  readonly apart: readonly SideChange[];
  /** Changed on both sides to the same. */
  readonly equal: readonly SideChange[];
  /** Git folders with changes in `land`. */
  readonly gitFolders: readonly string[];
}

export interface StepRules {
  readonly real: TreeFolder;
  /** Changes that wait for the program's end, by path. */
  isDeferred(key: string): boolean;
  /** Whether both sides have the same content. */
  isEqual(change: SideChange): Promise<boolean>;
}

/** A file that was written this recently may be incomplete. */
export const quietMilliseconds = 200;

/** Whether the program wrote it so recently that it may still be writing. */
export function isFresh({ copy }: SideChange, now: number): boolean {
  return copy !== null && now - Number(copy.changed / 1_000_000n) < quietMilliseconds;
}

export function keyOf(path: readonly string[]): string {
  return path.join("/");
}

/** The git folder that contains or is a path; null for an ordinary path. */
export function gitFolderOf(path: readonly string[]): string | null {
  const at = path.indexOf(".git");
  return at < 0 ? null : keyOf(path.slice(0, at + 1));
}

/** Of the changes those at hidden names: the outermost hidden name of each. */
export function hiddenAmong(
  changes: readonly SideChange[],
  isHidden: (path: readonly string[]) => boolean,
): readonly (readonly string[])[] {
  const hidden = new Map<string, readonly string[]>();
  for (const { path } of changes) {
    const depth = path.findIndex((_, at) => isHidden(path.slice(0, at + 1)));
    if (depth >= 0) hidden.set(keyOf(path.slice(0, depth + 1)), path.slice(0, depth + 1));
  }
  return [...hidden.values()];
}

export const GIT_GONE = "the program removed or replaced its git folder; your repository has what landed before";

/** Why a copy is kept after its program: of a linked worktree or a submodule, its private git folder cannot be listed as a whole. */
export function gitKept(path: string): string {
  const why = "the program's git folder has too many names, names that are not UTF-8, or folders that cannot be opened";
  return `${why}; your repository has what landed before, and the copy stays in ${path} until the draft is discarded`;
}

/** Why a copy is kept after its program. */
export function copyKept({ unreadable }: Comparison, path: string): string {
  const why =
    unreadable > 0
      ? `${unreadable} names are not UTF-8, or are folders that cannot be opened`
      : "it has too many files";
  return `${why}; the copy stays in ${path} until the draft is discarded`;
}

export async function planStep({ changes }: Comparison, rules: StepRules): Promise<StepPlan> {
  const carryIn: SideChange[] = [];
  const land: SideChange[] = [];
  const apart: SideChange[] = [];
  const equal: SideChange[] = [];
  const units = new Map<string, SideChange[]>();
  for (const change of changes) {
    const unit = gitFolderOf(change.path);
    if (unit !== null) units.set(unit, [...(units.get(unit) ?? []), change]);
    else if (change.isRealChanged && change.isCopyChanged) ((await rules.isEqual(change)) ? equal : apart).push(change);
    else if (rules.isDeferred(keyOf(change.path))) continue;
    else (change.isRealChanged ? carryIn : land).push(change);
  }
  const gitFolders: string[] = [];
  for (const [unit, all] of units) {
    const differing: SideChange[] = [];
    for (const change of all)
      if (change.isRealChanged && change.isCopyChanged && (await rules.isEqual(change))) equal.push(change);
      else differing.push(change);
    const own = differing.filter(({ path, isCopyChanged }) => isCopyChanged && !rules.isDeferred(keyOf(path)));
    const isBoth = own.some(({ isRealChanged }) => isRealChanged);
    // A lock file: a git works in it at this moment.
    const isLocked = differing.some(({ path, copy }) => copy !== null && (path.at(-1) ?? "").endsWith(".lock"));
    if (isBoth) apart.push(...own);
    else if (own.length === 0) carryIn.push(...differing.filter(({ isCopyChanged }) => !isCopyChanged));
    else if (!isLocked && !rules.isDeferred(unit)) {
      land.push(...own);
      gitFolders.push(unit);
    }
  }
  const landing = withoutPartialFolders(land, rules.real);
  return {
    carryIn: [
      ...carryIn.filter(({ real }) => real !== null),
      ...landing.restored,
      ...carryIn.filter(({ real }) => real === null).reverse(),
    ],
    land: landing.land,
    apart: [...apart, ...landing.apart],
    equal,
    gitFolders,
  };
}

/**
 * A folder is deleted as a whole only where everything the project has in it is deleted, including names that are not
 * copied; otherwise its files are deleted one by one, and the folder itself is restored.
 */
function withoutPartialFolders(
  changes: readonly SideChange[],
  real: TreeFolder,
): { readonly land: readonly SideChange[]; readonly restored: SideChange[]; readonly apart: SideChange[] } {
  const gone = new Set(changes.filter(({ copy }) => copy === null).map(({ path }) => keyOf(path)));
  const restored: SideChange[] = [];
  const apart: SideChange[] = [];
  for (const change of [...changes].reverse()) {
    if (change.real?.kind !== "folder" || change.copy?.kind === "folder") continue;
    const folder = real.descend(change.path);
    const names = folder?.names() ?? { names: [], unreadable: 1 };
    folder?.close();
    const isWhole = names.unreadable === 0 && names.names.every((name) => gone.has(keyOf([...change.path, name])));
    if (isWhole) continue;
    gone.delete(keyOf(change.path));
    if (change.copy === null) restored.push(change);
    else apart.push(change);
  }
  const left = new Set([...restored, ...apart]);
  const whole = changes.filter(
    (change) => change.real?.kind === "folder" && change.copy?.kind !== "folder" && !left.has(change),
  );
  const tops = new Set(whole.map(({ path }) => keyOf(path)));
  const isBelowWhole = ({ path }: SideChange): boolean =>
    path.some((_, at) => at > 0 && tops.has(keyOf(path.slice(0, at))));
  return {
    land: changes.filter((change) => !left.has(change) && !isBelowWhole(change)),
    restored: restored.reverse(),
    apart,
  };
}

const attemptsMax = 3;

export const CONFLICT = "the project changed there while the program ran; nothing was overwritten";
const KINDS = { file: "write", folder: "folder", link: "link" } as const;

type Changed = Pick<SideChange, "path" | "copy">;

export function unlandedOf({ path, copy }: Changed, code: UnlandedChange["code"], reason: string): UnlandedChange {
  return { path: keyOf(path), kind: copy === null ? "delete" : KINDS[copy.kind], code, reason };
}

/** Changes of the program that did not land while it runs: they wait for its end. */
export class DeferredChanges {
  readonly #changes = new Map<string, UnlandedChange>();
  readonly #attempts = new Map<string, number>();

  has(key: string): boolean {
    return this.#changes.has(key);
  }

  isConflict(key: string): boolean {
    return this.#changes.get(key)?.code === "draft_conflict";
  }

  add(change: SideChange, code: UnlandedChange["code"], reason: string): void {
    this.set(keyOf(change.path), unlandedOf(change, code, reason));
  }

  set(key: string, change: UnlandedChange): void {
    this.#changes.set(key, change);
  }

  delete(key: string): void {
    this.#changes.delete(key);
  }

  /** Counts an attempt; true after too many. */
  isGivenUp(key: string): boolean {
    const count = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, count);
    return count >= attemptsMax;
  }
}
