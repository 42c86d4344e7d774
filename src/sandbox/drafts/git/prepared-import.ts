// A prepared import: objects in quarantine, index and refs locked with their old values compared. Nothing a git command
// shows has changed yet. It is committed or aborted once.

import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitRefusal, type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { GitImportPlan, RepositoryState } from "../../plan/drafts/git/import-plan.ts";
import { nullId } from "../../plan/drafts/git/object-id.ts";
import type { RefValue } from "../../plan/drafts/git/ref-file.ts";
import { STASH } from "../../plan/drafts/git/ref-name.ts";
import type { RecordedChange } from "../../plan/drafts/git/undo-plan.ts";
import type { Plan } from "../../plan/plan.ts";
import type { ConfinedGit } from "./confined-git.ts";
import type { LockFile } from "./lock-file.ts";
import type { NewObjects } from "./objects.ts";
import { placePack } from "./place-pack.ts";
import type { RefTransaction } from "./ref-transaction.ts";
import type { GitFolders } from "./repository.ts";
import type { Workbench } from "./workbench.ts";

export interface PreparedParts {
  readonly plan: GitImportPlan;
  readonly real: RepositoryState;
  readonly folders: GitFolders;
  readonly bench: Workbench;
  readonly git: ConfinedGit;
  /** The sandbox that writes refs and index. */
  readonly writing: Plan;
  readonly objects: NewObjects;
  /** Resolves when no sandbox of the checks is left. */
  readonly checksEnded: Promise<void>;
  readonly head: LockFile | null;
  readonly index: LockFile | null;
  readonly refs: RefTransaction | null;
  /** For the log of HEAD. */
  readonly message: string;
}

/** What was changed, in this order. */
export type GitStep = "objects" | "refs" | "stash" | "head" | "index";

export type GitCommitResult =
  | {
      readonly ok: true;
      readonly steps: readonly GitStep[];
      readonly commits: number;
      readonly objects: number;
      /** Problems that affect nothing that landed. */
      readonly notes: readonly string[];
    }
  /** `steps` are done and final; importing the same draft again continues from there. */
  | { readonly ok: false; readonly refusal: GitRefusal; readonly steps: readonly GitStep[] };

export class PreparedGitImport {
  readonly plan: GitImportPlan;
  readonly #parts: PreparedParts;
  readonly #steps: GitStep[] = [];
  readonly #notes: string[] = [];
  #isOver = false;

  constructor(parts: PreparedParts) {
    this.plan = parts.plan;
    this.#parts = parts;
  }

  /** What it changes, for a record from which it can be taken back. */
  get change(): RecordedChange {
    const { plan, real } = this.#parts;
    const before = real.head.value;
    return {
      refs: plan.refs.map(({ name, oldId, newId }) => ({ name, oldId, newId })),
      head: { before, after: plan.head?.to ?? before },
      index: plan.index,
      stashes: plan.stash?.pushes.length ?? 0,
    };
  }

  async commit(): Promise<GitCommitResult> {
    this.#begin();
    const { objects } = this.#parts;
    try {
      const done = await this.#commit();
      if (!done.ok) return { ...done, steps: this.#steps };
      const { commits, count } = objects;
      return { ok: true, steps: this.#steps, commits: commits.length, objects: count, notes: this.#notes };
    } finally {
      await this.#clean();
    }
  }

  async abort(): Promise<void> {
    this.#begin();
    try {
      await this.#parts.refs?.abort();
    } finally {
      await this.#clean();
    }
  }

  #begin(): void {
    if (this.#isOver) throw new Error("an import is committed or aborted once");
    this.#isOver = true;
  }

  async #commit(): Promise<GitResult<null>> {
    const { bench, folders, objects, refs, plan, head, index } = this.#parts;
    if (objects.pack !== null) {
      const placed = await placePack(bench.quarantine, join(folders.common, "objects"), objects.pack);
      if (!placed.ok) {
        await refs?.abort();
        return placed;
      }
      this.#steps.push("objects");
    }
    if (refs !== null) {
      const moved = await refs.commit();
      if (!moved.ok) return moved;
      this.#steps.push("refs");
    }
    if (plan.stash !== null) {
      const pushed = await this.#pushStashes(plan.stash);
      if (!pushed.ok) return pushed;
      this.#steps.push("stash");
    }
    if (head !== null) {
      const moved = head.commit();
      if (!moved.ok) return moved;
      this.#steps.push("head");
    }
    this.#logHead();
    if (index === null) return value(null);
    await this.#refresh();
    const written = index.commit();
    if (written.ok) this.#steps.push("index");
    return written;
  }

  /** The log of `refs/stash` is the list of stashes: one update for each. */
  async #pushStashes({ oldId, pushes }: NonNullable<GitImportPlan["stash"]>): Promise<GitResult<null>> {
    const { git, writing, bench, plan } = this.#parts;
    let before = oldId ?? nullId(plan.format);
    for (const { id, message } of pushes) {
      const words = [...(bench.hasLogs ? ["--create-reflog"] : []), "--no-deref", "-m", message, STASH, id, before];
      const pushed = await git.run(writing, { words: ["update-ref", ...words] });
      if (!pushed.ok) return pushed;
      if (pushed.value.status !== 0)
        return refuseGit("conflict", `git could not store the stash: ${pushed.value.errors}`);
      before = id;
    }
    return value(null);
  }

  /**
   * Entries whose files are unchanged get the file's times, so that the person's next `git status` reads no file again.
   * No filter is configured, so a file that a filter converts stays unrefreshed and git compares it later. A failed
   * refresh costs only that time.
   */
  async #refresh(): Promise<void> {
    const { git, writing } = this.#parts;
    const refreshed = await git.run(writing, { words: ["update-index", "-q", "--refresh"] });
    if (!refreshed.ok) this.#notes.push(`the index is not refreshed: ${refreshed.refusal.message}`);
  }

  /** HEAD is moved by its lock, so we write its log. A log that cannot be written stops nothing. */
  #logHead(): void {
    const { plan, real, folders, bench } = this.#parts;
    const from = real.head.value;
    const to = plan.head?.to ?? from;
    const [oldId, newId] = [idOf(from, real, null), idOf(to, real, plan)];
    if (!bench.hasLogs || newId === null || (plan.head === null && oldId === newId)) return;
    const message =
      plan.head === null ? this.#parts.message : `checkout: moving from ${shortName(from)} to ${shortName(to)}`;
    const seconds = Math.floor(Date.now() / 1_000);
    const line = `${oldId ?? nullId(plan.format)} ${newId} ambit <ambit@localhost> ${seconds} +0000\t${message}\n`;
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    try {
      const fd = openSync(join(folders.folder, "logs/HEAD"), flags, 0o666);
      try {
        writeSync(fd, line);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      this.#notes.push(`the log of HEAD could not be written (${errorCode(error)})`);
    }
  }

  async #clean(): Promise<void> {
    const { head, index, git, bench, checksEnded } = this.#parts;
    head?.release();
    index?.release();
    await Promise.all([git.end(), checksEnded]);
    bench.remove();
  }
}

/** The commit of HEAD, before the plan or after it. */
function idOf(head: RefValue, real: RepositoryState, plan: GitImportPlan | null): string | null {
  if (head.kind === "id") return head.id;
  const moved = plan?.refs.find(({ name }) => name === head.target);
  if (moved !== undefined) return moved.newId;
  const loose = real.looseRefs.get(head.target)?.value;
  return loose?.kind === "id" ? loose.id : (real.packedRefs.value.get(head.target) ?? null);
}

function shortName(head: RefValue): string {
  return head.kind === "id" ? head.id : head.target.replace(/^refs\/heads\//, "");
}
