// Lands the git part of a draft: finds its repositories, prepares the imports, and classifies the paths they change.
import { dirname, join } from "node:path";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import type { Change, DraftScan } from "../plan/drafts/change.ts";
import { deniedReason, type GitChanges, type NameClass } from "../plan/drafts/landing.ts";
import type { Sandboxes } from "../plan/sandboxes.ts";
import { commitClassifier } from "./commit-classes.ts";
import type { DraftRecord } from "./draft-records.ts";
import { draftRepository } from "./draft-repository.ts";
import { pathText } from "./git/byte-text.ts";
import { kindAt } from "./git/git-files.ts";
import { type GitImportOutcome, prepareGitImport } from "./git/import.ts";
import { innerRepositories } from "./git/inner-repositories.ts";
import { changesSinceSeed } from "./git/linked-draft.ts";
import { type ReadSeed, readLinkedSeed } from "./git/linked-seed.ts";
import { buildRepository } from "./git/new-repository.ts";
import type { PreparedGitImport } from "./git/prepared-import.ts";
import type { RepositorySnapshot } from "./git/repository.ts";
import { StartWitness } from "./git/start-witness.ts";
import { GitLandingLog, type RepositoryChange } from "./git-landing-log.ts";
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

export type GitEndResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** What was prepared is committed or aborted once. */
export interface GitTransaction {
  commit(): Promise<GitEndResult>;
  abort(): Promise<void>;
}

export type GitLanding =
  | ({
      readonly ok: true;
      /** Changed git files that never land, for the report. */
      readonly notCarried: readonly string[];
      /** What lands, for the log; null where nothing of it does. */
      readonly change: RepositoryChange | null;
    } & GitTransaction)
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

export class GitLandings {
  readonly #parts: GitLandingsParts;
  /** Of commands that run, by their draft. */
  readonly #witnesses = new Map<string, StartWitness>();

  constructor(parts: GitLandingsParts) {
    this.#parts = parts;
  }

  /** Submodules and linked worktrees have git folders inside that of their repository. */
  families(record: DraftRecord, groups: readonly GitChanges[]): readonly (readonly GitChanges[])[] {
    return groups.map((group) => (this.hasSeed(record) ? [group] : innerRepositories(record.root, group)));
  }

  async prepare(request: GitLandingRequest): Promise<GitLanding> {
    const { record, repository, changes, classifier, agreed, family, judge } = request;
    const isAgreed = agreed > 0;
    const found = draftRepository(record, this.#folder(record), repository, family);
    const worktree = found.ok ? found.repository.worktreePath : found.worktree;
    const isInside = (path: readonly string[]): boolean => worktree?.every((name, at) => name === path[at]) ?? false;
    const sandboxes = this.#parts.sandboxes();
    if (kindAt(join(record.root, ...repository)) === null) return this.#prepareNew(request, sandboxes);
    if (!found.ok) return refuse(found.code, found.reason, isInside);
    if (sandboxes === null) return refuse("not_landed", "there is no sandbox to import git changes in", isInside);
    if (record.needsReview && !isAgreed) return refuse("approval_required", "waits for review", isInside);
    const refused = refusedWhole(judge("fs.write", found.repository.worktreePath));
    if (refused !== null) return refuse(refused, deniedReason("fs.write", refused), isInside);
    const journal = new GitLockJournal(this.#folder(record), repository);
    const outcome = await prepareGitImport({
      onLocks: (paths) => journal.want(paths),
      onLocked: (paths) => journal.take(paths),
      repository: found.repository,
      seen: () => this.#seen(record, repository),
      seed: found.seed,
      changes: found.repository.commonPath === undefined ? changes : family.flatMap((one) => one.changes),
      upper: this.#parts.upper(record.draft),
      workFolder: this.#parts.workFolder,
      sandboxes,
      classify: commitClassifier({
        ...{ worktree: found.repository.worktreePath, classifier, masked: record.masked, judge, agreed },
      }),
      isApproved: isAgreed,
      startedNanoseconds: BigInt(record.start),
    });
    if (outcome.kind !== "prepared") journal.clear();
    return landingOf(outcome, { repository, worktree: worktree ?? [], isInside, onUnlocked: () => journal.clear() });
  }

  /** Before a command starts: what it sees of its root's repository is known later, whatever git rewrites meanwhile. */
  witness({ draft, root }: Pick<DraftRecord, "draft" | "root">): void {
    const witness = StartWitness.open(root);
    if (witness !== null) this.#witnesses.set(draft, witness);
  }

  endWitness(draft: string): void {
    this.#witnesses.get(draft)?.close();
    this.#witnesses.delete(draft);
  }

  /** For a change that waits: stores what its program saw. */
  keepSeen(record: DraftRecord, repository: readonly string[]): void {
    const log = this.log(record);
    const state = log.seen(repository) === null ? this.#seen(record, repository) : null;
    if (state !== null) log.see(repository, state);
  }

  #seen(record: DraftRecord, repository: readonly string[]): RepositorySnapshot | null {
    const stored = this.log(record).seen(repository);
    if (stored !== null || repository.length !== 1 || repository[0] !== ".git") return stored;
    return this.#witnesses.get(record.draft)?.read() ?? null;
  }

  /** The git parts of the draft's landings. */
  log({ draft }: Pick<DraftRecord, "draft">): GitLandingLog {
    return new GitLandingLog(dirname(this.#parts.upper(draft)));
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
      return refuse("approval_required", "a new git repository here needs approval");
    if (!isAgreed && isCovering(record.root, worktree))
      return refuse("approval_required", "a repository in this folder hides its files from the repository around it");
    const outcome = await buildRepository({
      ...{ root: record.root, draft: record.draft, gitPath: repository, changes, sandboxes, isApproved: isAgreed },
      upper: this.#parts.upper(record.draft),
      workFolder: this.#parts.workFolder,
      classify: commitClassifier({ worktree, classifier, masked: record.masked, judge, agreed }),
    });
    if (outcome.kind !== "built")
      return landingOf(outcome, { repository, worktree, isInside: () => false, onUnlocked: () => undefined });
    const { notCarried } = outcome;
    return {
      ...{ ok: true, notCarried, change: { repository, change: null } },
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
  #seed(record: DraftRecord): ReadSeed | null {
    return readLinkedSeed(this.#folder(record));
  }

  #folder({ draft }: DraftRecord): string {
    return dirname(this.#parts.upper(draft));
  }

  /** After a crash: removes our locks, for which every git in the repository would wait. */
  async recover(draft: string, note: (line: string) => void): Promise<void> {
    await removeStaleLocks(dirname(this.#parts.upper(draft)), note);
  }
}

const FREE: NameClass = { class: "free" };

/** Codes that depend on the path: each path of a git change is decided by itself. */
const BY_PATH: readonly DenialCode[] = ["scope_violation", "self_modification"];

/** Also refs without a path, such as tags, need an authority to write. */
function refusedWhole(decision: Decision): DenialCode | null {
  return decision.outcome === "deny" && !BY_PATH.includes(decision.code) ? decision.code : null;
}

/** Whether the folder exists and lies in a repository, which would no longer list its new files. */
function isCovering(root: string, worktree: readonly string[]): boolean {
  const folder = join(root, ...worktree);
  if (kindAt(folder) === null) return false;
  for (let around = dirname(folder); around !== dirname(around); around = dirname(around))
    if (kindAt(join(around, ".git")) !== null) return true;
  return false;
}

interface LandedRepository {
  readonly repository: readonly string[];
  readonly worktree: readonly string[];
  readonly isInside: (path: readonly string[]) => boolean;
  readonly onUnlocked: () => void;
}

function landingOf(
  outcome: GitImportOutcome,
  { repository, worktree, isInside, onUnlocked }: LandedRepository,
): GitLanding {
  switch (outcome.kind) {
    case "nothing":
      return {
        ok: true,
        notCarried: outcome.notCarried,
        change: null,
        commit: async () => ({ ok: true }),
        abort: async () => undefined,
      };
    case "stays": {
      const { code, message } = outcome.refusal;
      return refuse(code === "conflict" ? "draft_conflict" : "not_landed", message, isInside);
    }
    case "denied": {
      const verb = outcome.change === "deleted" ? "fs.delete" : "fs.write";
      return refuse(outcome.code, `${deniedReason(verb, outcome.code)}: ${outcome.path}`, isInside);
    }
    case "waits": {
      const named = outcome.paths.slice(0, pathsNamedMax).map(({ path }) => path);
      const more = outcome.count > named.length ? ` and ${outcome.count - named.length} more` : "";
      const lost = outcome.lost.slice(0, pathsNamedMax).join(", ");
      const held = new Set(outcome.plan.index.map(({ path }) => [...worktree, pathText(path)].join("/")));
      return refuse(
        "approval_required",
        [
          ...(named.length === 0
            ? []
            : [`it contains files that run code on this machine: ${named.join(", ")}${more}`]),
          ...(lost === "" ? [] : [`it deletes or moves refs whose commits no other ref has: ${lost}`]),
        ].join("; "),
        (path) => held.has(path.join("/")),
      );
    }
    case "prepared": {
      const { prepared } = outcome;
      return {
        ok: true,
        notCarried: prepared.plan.notCarried,
        change: { repository, change: prepared.change },
        ...endingOf(prepared, onUnlocked),
      };
    }
    default:
      return outcome satisfies never;
  }
}

/** `onUnlocked`: every lock is removed. */
export function endingOf(prepared: PreparedGitImport, onUnlocked: () => void): GitTransaction {
  return {
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

function refuse(
  code: DenialCode,
  reason: string,
  holds: (path: readonly string[]) => boolean = () => false,
): Extract<GitLanding, { readonly ok: false }> {
  return { ok: false, code, reason, holds };
}
