// A live root: a private copy of a project for one program, synchronized while it runs. The person's edits are carried
// in; the program's changes land through drafts of their own, by the same rules as any other program's.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../core/base/error-message.ts";
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
import { FolderWatch } from "./folder-watch.ts";
import { type GitSnapshot, LinkedUnit } from "./linked/linked-unit.ts";
import { GIT } from "./linked/private-git.ts";
import { LiveLanding, pathsShownMax } from "./live-landing.ts";
import {
  CONFLICT,
  copyKept,
  DeferredChanges,
  GIT_GONE,
  gitKept,
  isFresh,
  keyOf,
  planStep,
  quietMilliseconds,
  type StepPlan,
} from "./live-plan.ts";
import { type CopyLimits, makeCopy } from "./make-copy.ts";
import { changesLeft, isEqualContent } from "./same-content.ts";
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
/** The private git folder is compared by values, not by files. */
const APART: ReadonlySet<string> = new Set([GIT]);

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
  readonly #landing: LiveLanding;
  /** When a change that is not quiet was first seen. */
  #pendingSince: number | null = null;
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
    this.#landing = new LiveLanding({
      ...{
        ...parts,
        id,
        real,
        rootIdentity: this.rootIdentity,
        copy: this.#copy,
        base: this.#base,
        deferred: this.#deferred,
      },
      compare: () => this.#compare(),
    });
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
      reason = `the folder cannot be copied: ${errorMessage(error)}`;
    }
    if (live !== null && reason === null) return { ok: true, live };
    if (live !== null) await live.discard();
    return { ok: false, reason: reason ?? "the folder cannot be copied" };
  }

  /** Why git of a linked worktree cannot work; null where it can. */
  #openLinked(linked: LinkedGit): string | null {
    const opened = LinkedUnit.open(this.#parts.folders.path(this.id), this.copyPath, this.#copy, linked);
    if (!opened.ok) return opened.refusal.message;
    this.#landing.linked = opened.value;
    return null;
  }

  /** Starts synchronizing both sides; without it, what changed is carried over at the end alone. */
  start(isSynchronized = true): void {
    this.#parts.lifecycle.begin(this.#landing.record(this.id, this.#began));
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
        this.#parts.note(`live root ${this.id}: ${errorMessage(error)}`);
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
    const git = (await this.#landing.linked?.step(isLast)) ?? null;
    const isQuiet = isFinal || this.#isQuiet([...plan.land, ...(git?.changes ?? [])]);
    const isLeft = isQuiet && !(await this.#land(plan, git, start, isFinal));
    this.#base.flush();
    return { found, isPending: !isQuiet || isLeft };
  }

  #land(plan: StepPlan, git: GitSnapshot | null, start: bigint, isFinal: boolean): Promise<boolean> {
    this.#pendingSince = null;
    return this.#landing.land(plan, git, start, isFinal);
  }

  #follow({ folders }: Comparison): void {
    const { inside, outside } = this.#landing.linked?.watched() ?? { inside: [], outside: [] };
    this.#watch.follow([...inside, ...folders], this.#real, this.#copy, outside);
  }

  #compare(isCopyOnly = false): Promise<Comparison> {
    const { isHidden } = this.#parts;
    const apart = this.#landing.linked === null ? {} : { apart: APART };
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
      const git = (await this.#landing.linked?.rest()) ?? null;
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
        const report = await this.#landing.keep(changes, own, from, isSealed, changes === conflicts);
        if (report === null) continue;
        kept.push(...report.kept);
        draft ??= report.draft;
        this.#landing.landed += report.landed;
      }
      for (const path of found.unlandable.slice(0, pathsShownMax))
        kept.push({ path, kind: "write", code: "not_landed", reason: "it is not a file, folder or link" });
      kept.push(...(this.#landing.linked?.notCarried ?? []));
      const condition = this.#landing.linked?.condition ?? "listed";
      if (condition === "gone") kept.push({ path: GIT, kind: "git", code: "not_landed", reason: GIT_GONE });
      const isGitUnlisted = condition === "unlisted";
      isCopyKept = isGitUnlisted || found.unreadable > 0 || !found.isComplete;
      if (isGitUnlisted) kept.push({ path: GIT, kind: "git", code: "not_landed", reason: gitKept(this.copyPath) });
      else if (isCopyKept)
        kept.push({ path: ".", kind: "write", code: "not_landed", reason: copyKept(found, this.copyPath) });
    } catch (error) {
      isCopyKept = true;
      const reason = `its last changes could not be applied: ${errorMessage(error)}; it is in ${this.copyPath}`;
      this.#parts.note(`live root ${this.id}: ${reason}`);
      kept.push({ path: ".", kind: "write", code: "not_landed", reason });
    }
    if (isCopyKept) {
      this.#real.close();
      this.#copy.close();
      const last = kept.at(-1);
      await this.#parts.lifecycle.keep(this.#landing.record(this.id, this.#began), last === undefined ? [] : [last]);
      draft ??= this.id;
    } else await this.discard();
    const { landed, paths, lastDraft } = this.#landing;
    return { draft: draft ?? lastDraft, root: this.#path, landed, paths: [...paths], kept, keptMore: 0 };
  }
}

/** As file systems count. */
function nanoseconds(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
