// The git part of a draft: its repository is found, the import prepared, and what it has to do with other files told.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DenialCode } from "../../authority/decision.ts";
import type { Change } from "../../sandbox/draft/change.ts";
import type { NameClass } from "../../sandbox/draft/landing.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { nameKey } from "../../sandbox/triggers/spelling.ts";
import type { DraftRecord } from "./draft-records.ts";
import { pathText } from "./git/byte-text.ts";
import { type GitImportOutcome, prepareGitImport } from "./git/import.ts";
import type { Classify, PathChange } from "./git/waiting-paths.ts";
import { GitLockJournal, removeStaleLocks } from "./git-lock-journal.ts";

export interface GitLandingRequest {
  readonly record: DraftRecord;
  /** The git folder, below the root. */
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  /** What a changed name below the root is to the person's tools, beside the draft and these changes. */
  classifier(more: readonly Change[]): (change: Change) => NameClass;
  /** A person has seen the draft and agreed. */
  readonly isAgreed: boolean;
}

export type GitLanding =
  | {
      readonly ok: true;
      /** Git files that changed and never land, for telling. */
      readonly notCarried: readonly string[];
      /** False where nothing of it is to land. */
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
  /** A folder of our state for the private files of an import. */
  readonly workFolder: string;
  readonly upper: (draft: string) => string;
  sandboxes(): Sandboxes | null;
}

/** Paths of a refused commit that are named in its reason. */
const pathsNamedMax = 3;
/** As deep as a draft may be: deeper paths of commits wait. */
const foldersDeepMax = 256;

export class GitLandings {
  readonly #parts: GitLandingsParts;

  constructor(parts: GitLandingsParts) {
    this.#parts = parts;
  }

  async prepare({ record, repository, changes, classifier, isAgreed }: GitLandingRequest): Promise<GitLanding> {
    const worktree = worktreeOf(repository);
    const isInside = (path: readonly string[]): boolean => worktree?.every((name, at) => name === path[at]) ?? false;
    // A repository that is new belongs to the agent alone: its files are ordinary files, and its git folder stays a draft.
    if (!existsSync(join(record.root, ...repository)))
      return refuse("self_modification", "a new git repository never lands: its configuration and hooks run programs");
    const sandboxes = this.#parts.sandboxes();
    if (worktree === null) return refuse("not_landed", "a git folder of this layout is not imported", isInside);
    if (sandboxes === null) return refuse("not_landed", "there is no sandbox to import git changes in", isInside);
    if (record.needsReview && !isAgreed) return refuse("approval_required", "waits for review", isInside);
    const journal = new GitLockJournal(dirname(this.#parts.upper(record.draft)), repository);
    const outcome = await prepareGitImport({
      onLocks: (paths) => journal.want(paths),
      onLocked: (paths) => journal.take(paths),
      repository: { root: record.root, gitPath: repository, worktreePath: worktree },
      changes,
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

  /** After a crash: another git of the repository waits for these. */
  async recover(draft: string, note: (line: string) => void): Promise<void> {
    await removeStaleLocks(dirname(this.#parts.upper(draft)), note);
  }
}

/** Paths of commits and of the index, as changes of the worktree that a checkout would make. */
function commitClassifier(
  worktree: readonly string[],
  classifier: GitLandingRequest["classifier"],
  masked: DraftRecord["masked"],
): Classify {
  let known: { readonly together: readonly PathChange[]; classify(change: Change): NameClass } | null = null;
  return (one, together) => {
    // A trigger that goes away runs nothing. What the program did not see only looked deleted to it.
    if (one.change === "deleted") {
      const path = [...worktree, ...one.path.split("/")];
      return masked.some((name) => name.every((part, at) => part === path[at])) ? "never" : "free";
    }
    if (known?.together !== together)
      known = { together, classify: classifier(together.flatMap((each) => checkoutChanges(worktree, each))) };
    const changes = checkoutChanges(worktree, one);
    const change = changes.at(-1);
    if (change === undefined) return "free";
    const found = known.classify(change);
    if (found.class === "git" || found.class === "never") return "never";
    // Other commits may bring the rest of a bare repository later; without a `HEAD` there is none.
    const isHead = nameKey(change.path.at(-1) ?? "") === "head";
    return isHead || changes.length > foldersDeepMax ? "ask" : found.class;
  };
}

/** The folders of a path, the outermost first, and what lies at the path. */
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
      const { code, message } = outcome.stay;
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
          return { ok: false, reason: `${done.stay.message}${partly}` };
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

/** The folder that `.git` lies in; null for a git folder elsewhere: a bare repository, or that of a worktree or submodule. */
function worktreeOf(repository: readonly string[]): readonly string[] | null {
  return repository.at(-1) === ".git" ? repository.slice(0, -1) : null;
}

function refuse(
  code: DenialCode,
  reason: string,
  holds: (path: readonly string[]) => boolean = () => false,
): Extract<GitLanding, { readonly ok: false }> {
  return { ok: false, code, reason, holds };
}
