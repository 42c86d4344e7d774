// Lands the git part of a draft: finds its repositories, prepares the imports, and classifies the paths they change.
import { dirname, join } from "node:path";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import type { Change, DraftScan } from "../plan/drafts/change.ts";
import type { GitChanges, NameClass } from "../plan/drafts/landing.ts";
import type { Sandboxes } from "../plan/sandboxes.ts";
import { nameKey } from "../plan/triggers/spelling.ts";
import type { DraftRecord } from "./draft-records.ts";
import { pathText } from "./git/byte-text.ts";
import { kindAt } from "./git/git-files.ts";
import { type GitImportOutcome, prepareGitImport } from "./git/import.ts";
import { innerRepositories, repositoryOf } from "./git/inner-repositories.ts";
import { changesSinceSeed } from "./git/linked-draft.ts";
import { linkedGitOf } from "./git/linked-git.ts";
import { type ReadSeed, readLinkedSeed } from "./git/linked-seed.ts";
import { buildRepository } from "./git/new-repository.ts";
import type { Classify, PathChange } from "./git/waiting-paths.ts";
import { GitLockJournal, removeStaleLocks } from "./git-lock-journal.ts";

export interface GitLandingRequest {
  readonly record: DraftRecord;
  /** The git folder, below the root. */
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  /** Every repository of the draft in the same outermost git folder, including this one. */
  readonly family: readonly GitChanges[];
  /** Classifies a changed name below the root, together with the draft and these changes. */
  classifier(more: readonly Change[]): Promise<(change: Change) => NameClass>;
  judge(verb: "fs.write", path: readonly string[]): Decision;
  /** The approval level of the draft; 0 for none. */
  readonly agreed: Level;
}

export type GitLanding =
  | {
      readonly ok: true;
      /** Changed git files that never land, for the report. */
      readonly notCarried: readonly string[];
      /** False where nothing of it lands. */
      readonly isChange: boolean;
      commit(): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>;
      abort(): Promise<void>;
    }
  | {
      readonly ok: false;
      readonly code: DenialCode;
      readonly reason: string;
      /** Whether a change of this path belongs to the git change, and waits with it. */
      holds(path: readonly string[]): boolean;
    };

export interface GitLandingsParts {
  /** A folder of our state for private files of an import. */
  readonly workFolder: string;
  readonly upper: (draft: string) => string;
  sandboxes(): Sandboxes | null;
}

/** Paths of a refused commit that its reason names. */
const pathsNamedMax = 3;
/** The depth limit of drafts: deeper paths of commits wait. */
const foldersDeepMax = 256;

export class GitLandings {
  readonly #parts: GitLandingsParts;

  constructor(parts: GitLandingsParts) {
    this.#parts = parts;
  }

  /** Submodules and linked worktrees have git folders inside that of their repository. */
  families(record: DraftRecord, groups: readonly GitChanges[]): readonly (readonly GitChanges[])[] {
    return groups.map((group) => (this.hasSeed(record) ? [group] : innerRepositories(record.root, group)));
  }

  async prepare(request: GitLandingRequest): Promise<GitLanding> {
    const { record, repository, changes, classifier, agreed, family } = request;
    const isAgreed = agreed > 0;
    const found = repositoryOf(record.root, repository);
    const worktree = found.ok ? found.value.worktreePath : null;
    const isInside = (path: readonly string[]): boolean => worktree?.every((name, at) => name === path[at]) ?? false;
    const sandboxes = this.#parts.sandboxes();
    if (kindAt(join(record.root, ...repository)) === null) return this.#prepareNew(request, sandboxes);
    if (!found.ok || worktree === null) return refuse("not_landed", found.ok ? "" : found.refusal.message, isInside);
    if (sandboxes === null) return refuse("not_landed", "there is no sandbox to import git changes in", isInside);
    if (record.needsReview && !isAgreed) return refuse("approval_required", "waits for review", isInside);
    const seed = this.#seed(record);
    const moved = seed === null ? null : movedReason(record.root, seed);
    if (moved !== null) return refuse("draft_conflict", moved, isInside);
    const journal = new GitLockJournal(dirname(this.#parts.upper(record.draft)), repository);
    const outcome = await prepareGitImport({
      onLocks: (paths) => journal.want(paths),
      onLocked: (paths) => journal.take(paths),
      repository: {
        ...found.value,
        ...(seed === null ? {} : { folders: { folder: seed.folder, common: seed.common } }),
        together: family.map((one) => join(record.root, ...one.repository)),
      },
      seed,
      changes: found.value.commonPath === undefined ? changes : family.flatMap((one) => one.changes),
      upper: this.#parts.upper(record.draft),
      workFolder: this.#parts.workFolder,
      sandboxes,
      classify: commitClassifier(worktree, classifier, record.masked),
      isApproved: isAgreed,
      startedNanoseconds: BigInt(record.start),
    });
    if (outcome.kind !== "prepared") journal.clear();
    return landingOf(outcome, worktree, isInside, () => journal.clear());
  }

  /**
   * Of a new repository everything but config and hooks lands, in a git folder we create. Its worktree files are
   * ordinary files.
   */
  async #prepareNew(
    { record, repository, changes, classifier, judge, agreed }: GitLandingRequest,
    sandboxes: Sandboxes | null,
  ): Promise<GitLanding> {
    if (repository.at(-1) !== ".git" || repository.slice(0, -1).includes(".git"))
      return refuse("self_modification", "a new git folder of this layout never lands");
    if (sandboxes === null) return refuse("not_landed", "there is no sandbox to import git changes in");
    const isAgreed = agreed > 0;
    const worktree = repository.slice(0, -1);
    const decision = judge("fs.write", worktree);
    if (decision.outcome === "deny") return refuse(decision.code, "no grant covers fs.write of its folder");
    const { class: found } =
      worktree.length === 0 ? FREE : (await classifier([]))({ kind: "folder", path: worktree, base: null });
    if (found === "never" || found === "git") return refuse("self_modification", "its folder never lands");
    const asksMore = decision.outcome === "ask" && decision.level > agreed;
    if (asksMore || (!isAgreed && (found === "ask" || record.needsReview)))
      return refuse("approval_required", "a new git repository here waits for a person");
    if (!isAgreed && isCovering(record.root, worktree))
      return refuse("approval_required", "a repository in this folder hides its files from the repository around it");
    const outcome = await buildRepository({
      ...{ root: record.root, gitPath: repository, changes, sandboxes, isApproved: isAgreed },
      upper: this.#parts.upper(record.draft),
      workFolder: this.#parts.workFolder,
      classify: commitClassifier(worktree, classifier, record.masked),
    });
    if (outcome.kind !== "built")
      return landingOf(
        outcome,
        worktree,
        () => false,
        () => undefined,
      );
    const { notCarried } = outcome;
    return {
      ...{ ok: true, notCarried, isChange: true },
      commit: async () => {
        const placed = await outcome.repository.place();
        return placed.ok ? { ok: true } : { ok: false, reason: placed.refusal.message };
      },
      abort: async () => outcome.repository.discard(),
    };
  }

  /** Whether the draft has a private git folder. */
  hasSeed(record: DraftRecord): boolean {
    return this.#seed(record) !== null;
  }

  /** Without the initial content of a private git folder, which is no change. */
  withoutSeed(record: DraftRecord, scan: DraftScan): DraftScan {
    const seed = this.#seed(record);
    if (seed === null) return scan;
    return { ...scan, changes: changesSinceSeed(scan.changes, this.#parts.upper(record.draft), seed) };
  }

  /** Throws where there is one that cannot be read. */
  #seed({ draft }: DraftRecord): ReadSeed | null {
    return readLinkedSeed(dirname(this.#parts.upper(draft)));
  }

  /** After a crash: removes our locks, for which every git in the repository would wait. */
  async recover(draft: string, note: (line: string) => void): Promise<void> {
    await removeStaleLocks(dirname(this.#parts.upper(draft)), note);
  }
}

const FREE: NameClass = { class: "free" };

/** Whether the folder exists and lies in a repository, which would no longer list its new files. */
function isCovering(root: string, worktree: readonly string[]): boolean {
  const folder = join(root, ...worktree);
  if (kindAt(folder) === null) return false;
  for (let around = dirname(folder); around !== dirname(around); around = dirname(around))
    if (kindAt(join(around, ".git")) !== null) return true;
  return false;
}

/** Why the private git folder of a draft no longer matches its root; null where it does. */
function movedReason(root: string, { folder, common }: ReadSeed): string | null {
  const linked = linkedGitOf(root);
  if (!linked.ok) return linked.refusal.message;
  return linked.value?.folder === folder && linked.value.common === common
    ? null
    : "the `.git` file of the project leads to another git folder than when the program started";
}

/** Paths of commits and of the index, as the worktree changes that a checkout would make. */
function commitClassifier(
  worktree: readonly string[],
  classifier: GitLandingRequest["classifier"],
  masked: DraftRecord["masked"],
): Classify {
  let known: { readonly together: readonly PathChange[]; classify(change: Change): NameClass } | null = null;
  return async (one, together) => {
    // A deleted trigger runs nothing. Names the program did not see only looked deleted to it.
    if (one.change === "deleted") {
      const path = [...worktree, ...one.path.split("/")];
      return masked.some((name) => name.every((part, at) => part === path[at])) ? "never" : "free";
    }
    if (known?.together !== together)
      known = { together, classify: await classifier(together.flatMap((each) => checkoutChanges(worktree, each))) };
    const changes = checkoutChanges(worktree, one);
    const change = changes.at(-1);
    if (change === undefined) return "free";
    const found = known.classify(change);
    if (found.class === "git" || found.class === "never") return "never";
    // Other commits may add the rest of a bare repository later; without a `HEAD` there is none.
    const isHead = nameKey(change.path.at(-1) ?? "") === "head";
    return isHead || changes.length > foldersDeepMax ? "ask" : found.class;
  };
}

/** The parent folders of a path, outermost first, and the path itself. */
function checkoutChanges(worktree: readonly string[], { path, change, target }: PathChange): readonly Change[] {
  if (change === "deleted") return [];
  const names = path.split("/");
  const folders = names.slice(1).map((_, at): Change => {
    return { kind: "folder", path: [...worktree, ...names.slice(0, at + 1)], base: null };
  });
  const below = [...worktree, ...names];
  return [
    ...folders,
    target === null
      ? { kind: "file", path: below, bytes: 0, isExecutable: false, base: null }
      : { kind: "link", path: below, target, base: null },
  ];
}

function landingOf(
  outcome: GitImportOutcome,
  worktree: readonly string[],
  isInside: (path: readonly string[]) => boolean,
  onUnlocked: () => void,
): GitLanding {
  switch (outcome.kind) {
    case "nothing":
      return {
        ok: true,
        notCarried: outcome.notCarried,
        isChange: false,
        commit: async () => ({ ok: true }),
        abort: async () => undefined,
      };
    case "stays": {
      const { code, message } = outcome.refusal;
      return refuse(code === "conflict" ? "draft_conflict" : "not_landed", message, isInside);
    }
    case "waits": {
      const named = outcome.paths.slice(0, pathsNamedMax).map(({ path }) => path);
      const more = outcome.count > named.length ? ` and ${outcome.count - named.length} more` : "";
      const lost = outcome.lost.slice(0, pathsNamedMax).join(", ");
      const held = new Set(outcome.plan.index.map(({ path }) => [...worktree, pathText(path)].join("/")));
      return refuse(
        "approval_required",
        [
          ...(named.length === 0 ? [] : [`it brings files that run code on this machine: ${named.join(", ")}${more}`]),
          ...(lost === "" ? [] : [`it deletes or moves refs that nothing else keeps: ${lost}`]),
        ].join("; "),
        (path) => held.has(path.join("/")),
      );
    }
    case "prepared": {
      const { prepared } = outcome;
      return {
        ok: true,
        notCarried: prepared.plan.notCarried,
        isChange: true,
        commit: async () => {
          const done = await prepared.commit();
          onUnlocked();
          if (done.ok) return { ok: true };
          const partly = done.steps.length === 0 ? "" : ` (done before: ${done.steps.join(", ")})`;
          return { ok: false, reason: `${done.refusal.message}${partly}` };
        },
        abort: async () => {
          await prepared.abort();
          onUnlocked();
        },
      };
    }
    default:
      return outcome satisfies never;
  }
}

function refuse(
  code: DenialCode,
  reason: string,
  holds: (path: readonly string[]) => boolean = () => false,
): Extract<GitLanding, { readonly ok: false }> {
  return { ok: false, code, reason, holds };
}
