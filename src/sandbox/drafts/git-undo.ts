// Takes back the git part of a landing, in every repository it changed: all are locked and compared before one moves.
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { DraftRecord } from "./draft-records.ts";
import { draftRepository } from "./draft-repository.ts";
import { kindAt } from "./git/git-files.ts";
import { newRepositoryFolder } from "./git/new-repository.ts";
import { gitFoldersOf, readSeenState } from "./git/repository.ts";
import { prepareGitUndo } from "./git/undo-import.ts";
import { endingOf, type GitLandingsParts, type GitTransaction } from "./git-landing.ts";
import type { GitLandingLog, RepositoryChange } from "./git-landing-log.ts";
import { GitLockJournal } from "./git-lock-journal.ts";

export type GitUndo =
  /** `notes`: what stays although the rest is undone. */
  | ({ readonly ok: true; readonly notes: readonly string[] } & GitTransaction)
  | { readonly ok: false; readonly code: DenialCode; readonly reason: string };

export class GitUndos {
  readonly #parts: GitLandingsParts;

  constructor(parts: GitLandingsParts) {
    this.#parts = parts;
  }

  /** Locks the repositories of one landing and compares their values; nothing is taken back before `commit`. */
  async prepare(record: DraftRecord, repositories: readonly RepositoryChange[]): Promise<GitUndo> {
    const prepared: GitTransaction[] = [];
    const notes: string[] = [];
    for (const each of repositories) {
      const one = await this.#prepare(record, each, repositories);
      if (!one.ok) {
        for (const { abort } of prepared) await abort();
        return { ...one, reason: `${each.repository.join("/")}: ${one.reason}` };
      }
      prepared.push(one);
      const stashes = each.change?.stashes ?? 0;
      if (stashes > 0) notes.push(`${stashes} stashes it pushed were not removed: see \`git stash list\``);
    }
    return {
      ...{ ok: true, notes },
      commit: async () => {
        for (let one = prepared.shift(); one !== undefined; one = prepared.shift()) {
          const done = await one.commit();
          if (done.ok) continue;
          for (const { abort } of prepared) await abort();
          return done;
        }
        return { ok: true };
      },
      abort: async () => {
        for (const { abort } of prepared) await abort();
      },
    };
  }

  async #prepare(
    record: DraftRecord,
    { repository, change }: RepositoryChange,
    family: readonly RepositoryChange[],
  ): Promise<GitUndo> {
    if (change === null) return refuse("it is a new repository, which you can delete yourself");
    const found = draftRepository(record, this.#folder(record), repository, family);
    if (!found.ok) return refuse(found.reason, found.code);
    const sandboxes = this.#parts.sandboxes();
    if (sandboxes === null) return refuse("there is no sandbox to run git in");
    const journal = new GitLockJournal(this.#folder(record), repository);
    const outcome = await prepareGitUndo({
      ...{ change, sandboxes, workFolder: this.#parts.workFolder },
      repository: found.repository,
      onLocks: (paths) => journal.want(paths),
      onLocked: (paths) => journal.take(paths),
    });
    if (outcome.kind !== "prepared") journal.clear();
    if (outcome.kind === "stays") {
      const { code, message } = outcome.refusal;
      return refuse(message, code === "conflict" ? "draft_conflict" : "not_landed");
    }
    if (outcome.kind === "nothing")
      return { ok: true, notes: [], commit: async () => ({ ok: true }), abort: async () => undefined };
    return { ok: true, notes: [], ...endingOf(outcome.prepared, () => journal.clear()) };
  }

  /** HEAD and index as they are now. */
  stateOf(record: DraftRecord, repositories: readonly RepositoryChange[]): Parameters<GitLandingLog["drop"]>[0] {
    return repositories.flatMap(({ repository }) => {
      const found = draftRepository(record, this.#folder(record), repository, []);
      if (!found.ok) return [];
      const state = readSeenState(gitFoldersOf(found.repository));
      return state === null ? [] : [[repository, state] as const];
    });
  }

  /**
   * Of an interrupted landing, the repositories that can be taken back. A new repository that was not placed leaves only
   * a folder of ours, which is removed.
   */
  async begun(record: DraftRecord, repositories: readonly RepositoryChange[]): Promise<readonly RepositoryChange[]> {
    const left: RepositoryChange[] = [];
    for (const one of repositories) {
      const target = join(record.root, ...one.repository);
      if (one.change === null) await rm(newRepositoryFolder(target, record.draft), { recursive: true, force: true });
      if (one.change !== null || kindAt(join(target, "HEAD")) !== null) left.push(one);
    }
    return left;
  }

  #folder({ draft }: DraftRecord): string {
    return dirname(this.#parts.upper(draft));
  }
}

function refuse(reason: string, code: DenialCode = "not_landed"): Extract<GitUndo, { readonly ok: false }> {
  return { ok: false, code, reason };
}
