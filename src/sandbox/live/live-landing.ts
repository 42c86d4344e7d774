// Lands changes of a live root through drafts of their own, git of a linked worktree among them, and keeps at the end what did
// not land.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChangesReport } from "../../core/ports/drafts.ts";
import type { DraftRecord } from "../drafts/draft-records.ts";
import type { BaseTree } from "./base-tree.ts";
import type { Comparison, SideChange } from "./compare-sides.ts";
import type { GitRest, GitSnapshot, LinkedUnit } from "./linked/linked-unit.ts";
import { GIT } from "./linked/private-git.ts";
import {
  CONFLICT,
  type DeferredChanges,
  gitFolderOf,
  hiddenAmong,
  isFresh,
  keyOf,
  type StepPlan,
  unlandedOf,
} from "./live-plan.ts";
import type { LiveRoot, LiveRootParts } from "./live-root.ts";
import { landedStamp, type StagedFile, stage } from "./staging.ts";
import type { TreeFolder } from "./tree-folder.ts";

export interface LiveLandingParts
  extends Pick<LiveRootParts, "folders" | "lifecycle" | "program" | "isHidden" | "context" | "record" | "note"> {
  /** Of the live root. */
  readonly id: string;
  readonly real: TreeFolder;
  readonly rootIdentity: LiveRoot["rootIdentity"];
  readonly copy: TreeFolder;
  readonly base: BaseTree;
  readonly deferred: DeferredChanges;
  compare(): Promise<Comparison>;
}

export const pathsShownMax = 20;
const UNAPPLIED = "it could not be applied";
const NOTHING: StepPlan = { carryIn: [], land: [], apart: [], equal: [], gitFolders: [] };

export class LiveLanding {
  readonly #parts: LiveLandingParts;
  /** Git of a linked worktree or a submodule; null for any other root. */
  linked: LinkedUnit | null = null;
  /** The number of changes that landed, and the names of the first. */
  landed = 0;
  readonly paths: Set<string> = new Set();
  lastDraft: string | null = null;

  constructor(parts: LiveLandingParts) {
    this.#parts = parts;
  }

  /** A git change lands together with files, unless it was refused before: then it does not keep them from landing. */
  async land(plan: StepPlan, git: GitSnapshot | null, start: bigint, isFinal: boolean): Promise<boolean> {
    if (plan.land.length === 0 && git === null) return true;
    if (git === null || this.linked?.isRefused !== true) return this.#landPart(plan, git, start, isFinal);
    const isLanded = plan.land.length === 0 || (await this.#landPart(plan, null, start, isFinal));
    return (await this.#landPart(NOTHING, git, start, isFinal)) && isLanded;
  }

  /** Where the program does not see what the project has, its changes never land: also at names that appeared since. */
  record(draft: string, start: bigint, changes: readonly SideChange[] = []): DraftRecord {
    // Also after the folders are closed.
    const record = this.#parts.record(draft, start, this.#parts.rootIdentity);
    return { ...record, masked: [...record.masked, ...hiddenAmong(changes, this.#parts.isHidden)] };
  }

  /**
   * INVARIANT: `start` is from before the comparison, and a tick older: a later edit of the person has a later time. False:
   * the project changed within that tick, or git did not land, and the next comparison decides.
   */
  async #landPart(
    { land, gitFolders }: StepPlan,
    git: GitSnapshot | null,
    start: bigint,
    isFinal: boolean,
  ): Promise<boolean> {
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
      if (git !== null && !isWhole(git, staged, this.linked)) {
        // A git of the program is working.
        await folders.remove(id);
        if (wanted.length > 0) await this.#landPart({ ...NOTHING, land, gitFolders }, null, start, isFinal);
        return false;
      }
    } catch (error) {
      await folders.remove(id).catch(() => undefined);
      throw error;
    }
    if (staged.length === 0) return folders.remove(id).then(() => isAllSettled);
    folders.dropWork(id);
    const index = git === null ? null : stagedIndex(folders.upper(id));
    const record: DraftRecord = { ...this.record(id, start, wanted), isSealed: true };
    lifecycle.begin(record);
    const report = await lifecycle.finish(record, this.#parts.context());
    const kept = await lifecycle.dropKept(id);
    if (report.landed > 0) {
      this.lastDraft = id;
      this.landed += report.landed;
      for (const path of report.paths) if (this.paths.size < pathsShownMax) this.paths.add(path);
    }
    const failed = new Set(report.kept.filter(({ kind }) => kind === "git").map(({ path }) => path));
    const isGitLanded = git === null || this.#gitOutcome(git, index, kept !== null && !failed.has(GIT), report);
    // Of a draft that is kept as a whole, git is not named by itself.
    for (const unit of gitFolders) if (kept === null) failed.add(unit);
    const givenUp = new Set(gitFolders.filter((unit) => failed.has(unit) && this.#parts.deferred.isGivenUp(unit)));
    const outcome: StepOutcome = { kept, failed, givenUp, report };
    for (const file of staged) await this.#outcome(file, byKey.get(keyOf(file.path)), outcome);
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
    if (git !== null) this.linked?.writeSeed(folders.path(id));
    return stage([...changes, ...(git?.changes ?? [])], { copy: this.#parts.copy, upper: folders.upper(id), program });
  }

  /** False where it did not land. `index`: as it was staged. */
  #gitOutcome(git: GitSnapshot, index: Buffer | null, isLanded: boolean, report: ChangesReport): boolean {
    const told = report.kept.filter(({ kind }) => kind === "git");
    if (isLanded) {
      this.linked?.landed(git, told, index);
      return true;
    }
    const own = told.find(({ path }) => path === GIT) ?? report.kept[0];
    const { code = "not_landed", reason = UNAPPLIED } = own ?? {};
    this.linked?.refused(git, { path: GIT, kind: "git", code, reason });
    this.#parts.note(`live root ${this.#parts.id}: git did not land: ${reason}`);
    return false;
  }

  async #outcome(
    file: StagedFile,
    change: SideChange | undefined,
    { kept, failed, givenUp, report }: StepOutcome,
  ): Promise<void> {
    if (change === undefined) return;
    const { path } = file;
    const unit = gitFolderOf(path);
    if (unit !== null) {
      const place = failed.has(unit) ? unit : keyOf(path);
      const told = report.kept.find(({ kind, path: one }) => kind === "git" && one === place);
      if (told === undefined && place !== unit) return this.#parts.base.settle(path, change.real, file.copy);
      // Its configuration and hooks never land, and are kept at the end; a failed git import is retried.
      if (place !== unit || givenUp.has(unit))
        this.#parts.deferred.set(place, told ?? { path: place, kind: "git", code: "not_landed", reason: UNAPPLIED });
      return;
    }
    const code = kept?.get(`${file.copy?.kind ?? "delete"} ${keyOf(path)}`);
    // It landed. Where the project differs by now, the person changed it since, and that is carried in.
    if (kept !== null && code === undefined)
      return this.#parts.base.settle(path, await landedStamp(file, this.#parts.real), file.copy);
    const told = report.kept.find(({ path: one }) => one === keyOf(path));
    // The person may have just changed it: compared again, and landed or reported as a conflict.
    const isTransient = code === undefined || code === "draft_conflict" || code === "not_landed";
    if (isTransient && !this.#parts.deferred.isGivenUp(keyOf(path))) return;
    this.#parts.deferred.add(change, told?.code ?? "not_landed", told?.reason ?? UNAPPLIED);
  }

  /** Imported semantically: both sides count as in sync, although their files differ. */
  async #settleGit(unit: string): Promise<void> {
    const { changes } = await this.#parts.compare();
    for (const { path, real, isRealChanged } of changes)
      if (isRealChanged && gitFolderOf(path) === unit)
        this.#parts.base.settle(path, real, this.#parts.base.find(path)?.copy ?? null);
  }

  /** The remaining changes become a waiting draft; null where there are none. */
  async keep(
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
    const record: DraftRecord = { ...this.record(id, start, changes), isSealed };
    lifecycle.begin(record);
    if (!isConflict || !isSealed) return lifecycle.finish(record, this.#parts.context());
    const files = git === null ? staged : staged.filter(({ path }) => path[0] !== GIT);
    return lifecycle.keep(record, [
      ...(git?.conflict == null ? [] : [git.conflict]),
      ...files.map((file) => unlandedOf(file, "draft_conflict", CONFLICT)),
    ]);
  }
}

interface StepOutcome {
  /** Kind, path and code of what did not land; null where nothing is known to have landed. */
  readonly kept: ReadonlyMap<string, string> | null;
  /** Git folders, and names in them, that did not land. */
  readonly failed: ReadonlySet<string>;
  /** Git folders that were tried too often. */
  readonly givenUp: ReadonlySet<string>;
  readonly report: ChangesReport;
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
