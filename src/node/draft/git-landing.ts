// The git part of a draft: its repository is found, the import prepared, and what it has to do with other files told.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DenialCode } from "../../authority/decision.ts";
import type { Change } from "../../sandbox/draft/change.ts";
import type { NameClass } from "../../sandbox/draft/landing.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { DraftRecord } from "./draft-records.ts";
import { pathText } from "./git/byte-text.ts";
import { type GitImportOutcome, prepareGitImport } from "./git/import.ts";

export interface GitLandingRequest {
  readonly record: DraftRecord;
  /** The git folder, below the root. */
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  /** What a changed name below the root is to the person's tools. */
  classify(change: Change): NameClass;
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

export class GitLandings {
  readonly #parts: GitLandingsParts;

  constructor(parts: GitLandingsParts) {
    this.#parts = parts;
  }

  async prepare({ record, repository, changes, classify, isAgreed }: GitLandingRequest): Promise<GitLanding> {
    const worktree = worktreeOf(repository);
    const isInside = (path: readonly string[]): boolean => worktree?.every((name, at) => name === path[at]) ?? false;
    // A repository that is new belongs to the agent alone: its files are ordinary files, and its git folder stays a draft.
    if (!existsSync(join(record.root, ...repository)))
      return refuse("self_modification", "a new git repository never lands: its configuration and hooks run programs");
    const sandboxes = this.#parts.sandboxes();
    if (worktree === null) return refuse("not_landed", "a git folder of this layout is not imported", isInside);
    if (sandboxes === null) return refuse("not_landed", "there is no sandbox to import git changes in", isInside);
    if (record.isReviewed && !isAgreed) return refuse("approval_required", "waits for review", isInside);
    const outcome = await prepareGitImport({
      repository: { root: record.root, gitPath: repository, worktreePath: worktree },
      changes,
      upper: this.#parts.upper(record.draft),
      workFolder: this.#parts.workFolder,
      sandboxes,
      classify: ({ path, change, target }) => {
        const below = [...worktree, ...path.split("/")];
        const found = classify(
          target === null
            ? { kind: "file", path: below, bytes: 0, isExecutable: false, base: null }
            : { kind: "link", path: below, target, base: null },
        );
        // A trigger that goes away runs nothing; a rule about agents that goes away may widen.
        if (found.class === "ask" && change === "deleted") return "free";
        return found.class === "git" ? "never" : found.class;
      },
      isApproved: isAgreed,
      startedNanoseconds: BigInt(record.start),
    });
    return landingOf(outcome, worktree, isInside);
  }
}

function landingOf(
  outcome: GitImportOutcome,
  worktree: readonly string[],
  isInside: (path: readonly string[]) => boolean,
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
      const held = new Set(outcome.plan.index.map(({ path }) => [...worktree, pathText(path)].join("/")));
      return refuse(
        "approval_required",
        `it brings files that run code on this machine: ${named.join(", ")}${more}`,
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
          if (done.ok) return { ok: true };
          const partly = done.steps.length === 0 ? "" : ` (done before: ${done.steps.join(", ")})`;
          return { ok: false, reason: `${done.stay.message}${partly}` };
        },
        abort: () => prepared.abort(),
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
