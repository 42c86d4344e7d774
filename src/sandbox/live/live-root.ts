// A live root: a private copy of a project for one program, synchronized while it runs. The person's edits are carried
// in; the program's changes land through drafts of their own, by the same rules as any other program's.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ChangesReport, UnlandedChange } from "../../core/ports/drafts.ts";
import type { DraftFolders } from "../drafts/draft-folders.ts";
import type { DraftLifecycle } from "../drafts/draft-lifecycle.ts";
import type { DraftRecord } from "../drafts/draft-records.ts";
import type { DraftSize } from "../drafts/draft-size.ts";
import type { LinkedGit } from "../drafts/git/linked-git.ts";
import type { LandingContext } from "../drafts/landing.ts";
import { BaseTree } from "./base-tree.ts";
import { carryIn } from "./carry-in.ts";
import { type Comparison, compareSides, type SideChange } from "./compare-sides.ts";
import { messageOf, nanoseconds } from "./file-clock.ts";
import { FolderWatch } from "./folder-watch.ts";
import { type GitRest, type GitSnapshot, LinkedUnit } from "./linked/linked-unit.ts";
import { GIT } from "./linked/private-git.ts";
import {
  CONFLICT,
  copyKept,
  DeferredChanges,
  gitFolderOf,
  hiddenAmong,
  isFresh,
  keyOf,
  planStep,
  quietMilliseconds,
  type StepPlan,
  unlandedOf,
} from "./live-plan.ts";
import { type CopyLimits, makeCopy } from "./make-copy.ts";
import { changesLeft, isEqualContent } from "./same-content.ts";
import { landedStamp, type StagedFile, stage } from "./staging.ts";
import { TreeFolder } from "./tree-folder.ts";

export interface LiveRootParts {
  readonly folders: DraftFolders;
  readonly lifecycle: DraftLifecycle;
  /** Path of the native program. */
  readonly program: string;
  readonly limits: CopyLimits;
  /** The git folder outside the root that its `.git` file leads to; null where there is none. */
  readonly linkedGit: LinkedGit | null;
  /** Names hidden from programs, below the root, from the current configuration. */
  isHidden(path: readonly string[]): boolean;
  /** The rules for changes that land now. */
  context(): LandingContext;
  /** The record of a draft that begins now. */
  record(draft: string, start: bigint, rootIdentity: LiveRoot["rootIdentity"]): DraftRecord;
  note(line: string): void;
}

export const COPY_FOLDER = "copy";
export const BASE_FILE = "base.jsonl";
const INCOMING_FOLDER = "incoming";

/** A file that is written all the time does not keep the rest from landing. */
const patienceMilliseconds = 2_000;
/** Longer than a tick of file system clocks: a later change has a later change time. */
const tickMilliseconds = 25;
const tickNanoseconds: bigint = BigInt(tickMilliseconds) * 1_000_000n;
const pathsShownMax = 20;
/** The private git folder is compared by values, not by files. */
const APART: ReadonlySet<string> = new Set([GIT]);
const NOTHING: StepPlan = { carryIn: [], land: [], apart: [], equal: [], gitFolders: [] };

export class LiveRoot {
  readonly id: string;
  /** Absolute: what the program sees as its root. */
  readonly copyPath: string;
  /** Of the copy before its program ran. */
  size: DraftSize = { bytes: 0, inodes: 0 };
  /** Of the real folder. */
  readonly rootIdentity: { readonly device: bigint; readonly inode: bigint };
  readonly #parts: LiveRootParts;
  /** Absolute: the real folder. */
  readonly #path: string;
  readonly #real: TreeFolder;
  readonly #copy: TreeFolder;
  readonly #base: BaseTree;
  readonly #incoming: string;
  readonly #watch = new FolderWatch();
  readonly #began: bigint;
  readonly #deferred = new DeferredChanges();
  /** Git of a linked worktree or a submodule; null for any other root. */
  #linked: LinkedUnit | null = null;
  /** When a change that is not quiet was first seen. */
  #pendingSince: number | null = null;
  #landed = 0;
  readonly #paths = new Set<string>();
  #lastDraft: string | null = null;
  #isOver = false;
  #loop: Promise<void> = Promise.resolve();
  #synchronizing: (() => void)[] = [];

  private constructor(parts: LiveRootParts, id: string, path: string, began: bigint) {
    const real = TreeFolder.open(path);
    this.#path = path;
    this.#parts = parts;
    this.id = id;
    this.#real = real;
    this.#began = began;
    const folder = parts.folders.path(id);
    this.copyPath = join(folder, COPY_FOLDER);
    this.#incoming = join(folder, INCOMING_FOLDER);
    mkdirSync(this.copyPath, { mode: 0o755 });
    mkdirSync(this.#incoming, { mode: 0o700 });
    this.#copy = TreeFolder.open(this.copyPath);
    this.#base = new BaseTree(join(folder, BASE_FILE));
    this.rootIdentity = { device: real.device, inode: real.inode };
  }

  /** The live root with its copy; else why there is none. */
  static async open(
    path: string,
    parts: LiveRootParts,
  ): Promise<{ readonly ok: true; readonly live: LiveRoot } | { readonly ok: false; readonly reason: string }> {
    const began = nanoseconds();
    let live: LiveRoot | null = null;
    let reason: string | null;
    try {
      const { id } = parts.folders.make();
      try {
        live = new LiveRoot(parts, id, path, began);
      } catch (error) {
        await parts.folders.remove(id).catch(() => undefined);
        throw error;
      }
      const { limits, linkedGit } = parts;
      const hasOwnGit = linkedGit !== null && !parts.isHidden([GIT]);
      const isHidden = (below: readonly string[]): boolean =>
        (hasOwnGit && below.length === 1 && below[0] === GIT) || parts.isHidden(below);
      const made = await makeCopy({ real: live.#real, target: live.copyPath, base: live.#base, limits, isHidden });
      reason = made.ok ? null : made.reason;
      if (made.ok) live.size = made.size;
      // As late as possible, so that the program sees the current HEAD and refs.
      const unit = made.ok && hasOwnGit ? live.#openLinked(linkedGit) : null;
      if (unit !== null) reason = unit;
    } catch (error) {
      reason = `the folder cannot be copied: ${messageOf(error)}`;
    }
    if (live !== null && reason === null) return { ok: true, live };
    if (live !== null) await live.discard();
    return { ok: false, reason: reason ?? "the folder cannot be copied" };
  }

  /** Why git of a linked worktree cannot work; null where it can. */
  #openLinked(linked: LinkedGit): string | null {
    const opened = LinkedUnit.open(this.#parts.folders.path(this.id), this.copyPath, this.#copy, linked);
    if (!opened.ok) return opened.refusal.message;
    this.#linked = opened.value;
    return null;
  }

  /** Starts synchronizing both sides; without it, what changed is carried over at the end alone. */
  start(isSynchronized = true): void {
    this.#parts.lifecycle.begin(this.#record(this.id, this.#began));
    if (isSynchronized) this.#loop = this.#run();
  }

  /** For a program that never ran. */
  async discard(): Promise<void> {
    this.#isOver = true;
    this.#watch.close();
    await this.#loop;
    this.#real.close();
    this.#copy.close();
    try {
      this.#parts.folders.discard(this.id);
    } catch (error) {
      this.#parts.note(`${this.id}: ${String(error)}`);
    }
    this.#parts.lifecycle.forget(this.id);
  }

  /** Resolves after a comparison that starts from now on, and what it found is carried over, also what was written just now. */
  synchronize(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#synchronizing.push(resolve);
      this.#watch.hurry();
    });
  }

  async #run(): Promise<void> {
    // A program that ends at once costs one comparison, that of its end.
    await this.#watch.wait(quietMilliseconds, 0);
    while (!this.#isOver) {
      const began = performance.now();
      const waiting = this.#synchronizing.splice(0);
      let isPending = false;
      try {
        ({ isPending } = await this.#step(waiting.length > 0));
      } catch (error) {
        this.#parts.note(`live root ${this.id}: ${messageOf(error)}`);
      }
      for (const tell of waiting) tell();
      const took = performance.now() - began;
      if (!this.#isOver) await this.#watch.wait(isPending ? quietMilliseconds : null, took);
    }
    for (const tell of this.#synchronizing.splice(0)) tell();
  }

  /**
   * `isPending`: a change waits until its file is quiet. `isFinal`: none does. `isLast`: the program has ended, and nothing is
   * carried in any more.
   */
  async #step(isFinal: boolean, isLast = false): Promise<{ readonly found: Comparison; readonly isPending: boolean }> {
    const start = nanoseconds() - tickNanoseconds;
    const found = await this.#compare(isLast);
    if (!found.isComplete) throw new Error("the copy has too many files; no more changes land while the program runs");
    if (!isLast) this.#follow(found);
    const plan = await this.#plan(found);
    for (const { path, real, copy } of plan.equal) {
      this.#base.settle(path, real, copy);
      this.#deferred.delete(keyOf(path));
    }
    for (const change of plan.apart) this.#deferred.add(change, "draft_conflict", CONFLICT);
    const sides = { real: this.#real, copy: this.#copy, base: this.#base, incoming: this.#incoming };
    for (const change of plan.carryIn) await carryIn(change, sides);
    const git = (await this.#linked?.step(isLast)) ?? null;
    const isQuiet = isFinal || this.#isQuiet([...plan.land, ...(git?.changes ?? [])]);
    const isLeft = isQuiet && !(await this.#landAll(plan, git, start, isFinal));
    this.#base.flush();
    return { found, isPending: !isQuiet || isLeft };
  }

  #follow({ folders }: Comparison): void {
    const { inside, outside } = this.#linked?.watched() ?? { inside: [], outside: [] };
    this.#watch.follow([...inside, ...folders], this.#real, this.#copy, outside);
  }

  /** A git change lands together with files, unless it was refused before: then it does not keep them from landing. */
  async #landAll(plan: StepPlan, git: GitSnapshot | null, start: bigint, isFinal: boolean): Promise<boolean> {
    if (plan.land.length === 0 && git === null) return true;
    if (git === null || this.#linked?.isRefused !== true) return this.#land(plan, git, start, isFinal);
    const isLanded = plan.land.length === 0 || (await this.#land(plan, null, start, isFinal));
    return (await this.#land(NOTHING, git, start, isFinal)) && isLanded;
  }

  /** Where the program does not see what the project has, its changes never land: also at names that appeared since. */
  #record(draft: string, start: bigint, changes: readonly SideChange[] = []): DraftRecord {
    const record = this.#parts.record(draft, start, this.rootIdentity);
    return { ...record, masked: [...record.masked, ...hiddenAmong(changes, this.#parts.isHidden)] };
  }

  #compare(isCopyOnly = false): Promise<Comparison> {
    const { isHidden } = this.#parts;
    const apart = this.#linked === null ? {} : { apart: APART };
    return compareSides({ real: this.#real, copy: this.#copy, base: this.#base, isHidden, isCopyOnly, ...apart });
  }

  #plan(found: Comparison): Promise<StepPlan> {
    return planStep(found, {
      real: this.#real,
      isDeferred: (key) => this.#deferred.has(key),
      isEqual: (change) => isEqualContent(change, this.#real, this.#copy),
    });
  }

  /** Whether nothing was written just now, or some change has waited for long. */
  #isQuiet(land: readonly SideChange[]): boolean {
    const now = Date.now();
    if (land.length === 0) {
      this.#pendingSince = null;
      return true;
    }
    this.#pendingSince ??= now;
    const isAnyFresh = land.some((change) => isFresh(change, now));
    const waited = now - this.#pendingSince;
    const isGone = land.some(({ copy }) => copy === null) && waited < quietMilliseconds;
    return (!isAnyFresh && !isGone) || waited > patienceMilliseconds;
  }

  /**
   * INVARIANT: `start` is from before the comparison, and a tick older: a later edit of the person has a later time. False:
   * the project changed within that tick, or git did not land, and the next comparison decides.
   */
  async #land(
    { land, gitFolders }: StepPlan,
    git: GitSnapshot | null,
    start: bigint,
    isFinal: boolean,
  ): Promise<boolean> {
    this.#pendingSince = null;
    // Its project side may have changed within the same tick: it is compared again.
    const isSettled = ({ real }: SideChange): boolean =>
      real === null || real.kind === "folder" || real.changed <= start;
    const wanted = land.filter(
      (change) => isSettled(change) && (isFinal || gitFolderOf(change.path) !== null || !isFresh(change, Date.now())),
    );
    const isAllSettled = land.every(isSettled);
    if (wanted.length === 0 && git === null) return isAllSettled;
    const { folders, lifecycle } = this.#parts;
    const { id } = folders.make();
    const byKey = new Map(wanted.map((change) => [keyOf(change.path), change]));
    let staged: readonly StagedFile[];
    try {
      staged = await this.#stage(id, wanted, git);
      if (git !== null && !isWhole(git, staged, this.#linked)) {
        // A git of the program is working.
        await folders.remove(id);
        if (wanted.length > 0) await this.#land({ ...NOTHING, land, gitFolders }, null, start, isFinal);
        return false;
      }
    } catch (error) {
      await folders.remove(id).catch(() => undefined);
      throw error;
    }
    if (staged.length === 0) return folders.remove(id).then(() => isAllSettled);
    folders.dropWork(id);
    const index = git === null ? null : stagedIndex(folders.upper(id));
    const record: DraftRecord = { ...this.#record(id, start, wanted), isSealed: true };
    lifecycle.begin(record);
    const report = await lifecycle.finish(record, this.#parts.context());
    const kept = await lifecycle.dropKept(id);
    if (report.landed > 0) {
      this.#lastDraft = id;
      this.#landed += report.landed;
      for (const path of report.paths) if (this.#paths.size < pathsShownMax) this.#paths.add(path);
    }
    const failed = new Set(report.kept.filter(({ kind }) => kind === "git").map(({ path }) => path));
    const isGitLanded = git === null || this.#gitOutcome(git, index, kept !== null && !failed.has(GIT), report);
    for (const file of staged) await this.#outcome(file, byKey.get(keyOf(file.path)), kept, failed, report);
    for (const unit of gitFolders) if (!failed.has(unit)) await this.#settleGit(unit);
    return isAllSettled && isGitLanded;
  }

  /** Rejects as the system does. */
  #stage(
    id: string,
    changes: readonly SideChange[],
    git: GitSnapshot | GitRest | null,
  ): Promise<readonly StagedFile[]> {
    const { folders, program } = this.#parts;
    if (git !== null) this.#linked?.writeSeed(folders.path(id));
    return stage([...changes, ...(git?.changes ?? [])], { copy: this.#copy, upper: folders.upper(id), program });
  }

  /** False where it did not land. `index`: as it was staged. */
  #gitOutcome(git: GitSnapshot, index: Buffer | null, isLanded: boolean, report: ChangesReport): boolean {
    const told = report.kept.filter(({ kind }) => kind === "git");
    if (isLanded) {
      this.#linked?.landed(git, told, index);
      return true;
    }
    const own = told.find(({ path }) => path === GIT) ?? report.kept[0];
    const { code = "not_landed", reason = "it could not be applied" } = own ?? {};
    this.#linked?.refused(git, { path: GIT, kind: "git", code, reason });
    this.#parts.note(`live root ${this.id}: git did not land: ${reason}`);
    return false;
  }

  async #outcome(
    file: StagedFile,
    change: SideChange | undefined,
    kept: ReadonlyMap<string, string> | null,
    failedGit: ReadonlySet<string>,
    report: ChangesReport,
  ): Promise<void> {
    if (change === undefined) return;
    const { path } = file;
    const unit = gitFolderOf(path);
    // Nothing of the step is known to have landed, git among it: it is staged again.
    if (unit !== null && kept === null) return;
    if (unit !== null) {
      const place = failedGit.has(unit) ? unit : keyOf(path);
      const told = report.kept.find(({ kind, path: one }) => kind === "git" && one === place);
      if (told === undefined) return this.#base.settle(path, change.real, file.copy);
      // Its configuration and hooks never land, and are kept at the end; a failed git import is retried.
      if (place !== unit || this.#deferred.isGivenUp(unit)) this.#deferred.set(place, told);
      return;
    }
    const code = kept?.get(`${file.copy?.kind ?? "delete"} ${keyOf(path)}`);
    // It landed. Where the project differs by now, the person changed it since, and that is carried in.
    if (kept !== null && code === undefined)
      return this.#base.settle(path, await landedStamp(file, this.#real), file.copy);
    const told = report.kept.find(({ path: one }) => one === keyOf(path));
    // The person may have just changed it: compared again, and landed or reported as a conflict.
    const isTransient = code === undefined || code === "draft_conflict" || code === "not_landed";
    if (isTransient && !this.#deferred.isGivenUp(keyOf(path))) return;
    this.#deferred.add(change, told?.code ?? "not_landed", told?.reason ?? "it could not be applied");
  }

  /** Imported semantically: both sides count as in sync, although their files differ. */
  async #settleGit(unit: string): Promise<void> {
    const { changes } = await this.#compare();
    for (const { path, real, isRealChanged } of changes)
      if (isRealChanged && gitFolderOf(path) === unit)
        this.#base.settle(path, real, this.#base.find(path)?.copy ?? null);
  }

  /**
   * After the program: lands the last changes, keeps what may not or cannot land, and removes the copy. `isSealed`:
   * whether the sandbox has ended for certain.
   */
  async finish(isSealed: boolean): Promise<ChangesReport> {
    this.#isOver = true;
    this.#watch.wake();
    await this.#loop;
    this.#watch.close();
    const kept: UnlandedChange[] = [];
    let draft: string | null = null;
    let isCopyKept = false;
    try {
      let found: Comparison | null = null;
      let isLeft = true;
      for (let round = 0; isSealed && round < 2 && isLeft; round++) {
        const step = await this.#step(true, true);
        found = step.found;
        isLeft = found.changes.length > 0 || step.isPending;
        if (step.isPending) await pause(tickMilliseconds);
      }
      const git = (await this.#linked?.rest()) ?? null;
      const start = nanoseconds();
      if (found?.changes.length !== 0) {
        await pause(tickMilliseconds);
        found = await this.#compare(true);
      }
      const left = await changesLeft(found, this.#real, this.#copy);
      const conflicts = left.filter(
        ({ path, isRealChanged }) => isRealChanged || this.#deferred.isConflict(keyOf(path)),
      );
      const waiting = left.filter((change) => !conflicts.includes(change));
      const isGitConflict = git?.conflict != null;
      for (const [changes, from, own] of [
        [waiting, start, isGitConflict ? null : git],
        [conflicts, this.#began, isGitConflict ? git : null],
      ] as const) {
        const report = await this.#keep(changes, own, from, isSealed, changes === conflicts);
        if (report === null) continue;
        kept.push(...report.kept);
        draft ??= report.draft;
        this.#landed += report.landed;
      }
      for (const path of found.unlandable.slice(0, pathsShownMax))
        kept.push({ path, kind: "write", code: "not_landed", reason: "it is not a file, folder or link" });
      kept.push(...(this.#linked?.notCarried ?? []));
      const gone = this.#linked?.goneReason ?? null;
      if (gone !== null) kept.push({ path: GIT, kind: "git", code: "not_landed", reason: gone });
      isCopyKept = found.unreadable > 0 || !found.isComplete;
      if (isCopyKept)
        kept.push({ path: ".", kind: "write", code: "not_landed", reason: copyKept(found, this.copyPath) });
    } catch (error) {
      isCopyKept = true;
      const reason = `its last changes could not be applied: ${messageOf(error)}; it is in ${this.copyPath}`;
      this.#parts.note(`live root ${this.id}: ${reason}`);
      kept.push({ path: ".", kind: "write", code: "not_landed", reason });
    }
    if (isCopyKept) {
      this.#real.close();
      this.#copy.close();
      const last = kept.at(-1);
      await this.#parts.lifecycle.keep(this.#record(this.id, this.#began), last === undefined ? [] : [last]);
      draft ??= this.id;
    } else await this.discard();
    const [root, landed, paths] = [this.#path, this.#landed, [...this.#paths]];
    return { draft: draft ?? this.#lastDraft, root, landed, paths, kept, keptMore: 0 };
  }

  /** The remaining changes become a waiting draft; null where there are none. */
  async #keep(
    changes: readonly SideChange[],
    git: GitRest | null,
    start: bigint,
    isSealed: boolean,
    isConflict: boolean,
  ): Promise<ChangesReport | null> {
    if (changes.length === 0 && git === null) return null;
    const { folders, lifecycle } = this.#parts;
    const { id } = folders.make();
    const staged = await this.#stage(id, changes, git);
    folders.dropWork(id);
    const record: DraftRecord = { ...this.#record(id, start, changes), isSealed };
    lifecycle.begin(record);
    if (!isConflict || !isSealed) return lifecycle.finish(record, this.#parts.context());
    const files = git === null ? staged : staged.filter(({ path }) => path[0] !== GIT);
    return lifecycle.keep(record, [
      ...(git?.conflict == null ? [] : [git.conflict]),
      ...files.map((file) => unlandedOf(file, "draft_conflict", CONFLICT)),
    ]);
  }
}

/** Null where there is none. */
function stagedIndex(upper: string): Buffer | null {
  const path = join(upper, GIT, "index");
  return existsSync(path) ? readFileSync(path) : null;
}

/** Whether everything of the git part was staged, as it was at one moment. */
function isWhole(git: GitSnapshot, staged: readonly StagedFile[], linked: LinkedUnit | null): boolean {
  const own = staged.filter(({ path }) => path[0] === GIT);
  return own.length === git.changes.length && linked?.isSame(git) === true;
}
