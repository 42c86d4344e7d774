// Carries what a program wrote from its sealed draft into the project, and keeps what may not or cannot go there.
// INVARIANT: a draft lands at most once. What does not land with the rest becomes a draft of its own.
import type { Decision } from "../../authority/decision.ts";
import type { ChangesReport, KeptChange } from "../../ports/drafts.ts";
import type { Change, DraftScan } from "../../sandbox/draft/change.ts";
import {
  decideLanding,
  type KeptDecision,
  keptChange,
  type LandingDecision,
  type NameClass,
} from "../../sandbox/draft/landing.ts";
import type { DraftFolders } from "./draft-folders.ts";
import { type DraftRecord, type DraftRecords, keptShownMax } from "./draft-records.ts";
import type { GitLandings, GitPrepared } from "./git-landing.ts";
import type { LandWorkers } from "./land-workers.ts";
import type { RootLock } from "./root-lock.ts";

/** What decides about the names of one draft. */
export interface LandingContext {
  judge(verb: "fs.write" | "fs.delete", path: readonly string[]): Decision;
  /** From the project as it is now and this draft together. */
  classifier(scan: DraftScan): (change: Change) => NameClass;
  /** A person has seen the draft and agreed. */
  readonly isAgreed: boolean;
}

export interface LandingParts {
  readonly records: DraftRecords;
  readonly folders: DraftFolders;
  readonly workers: LandWorkers;
  readonly git: GitLandings;
  readonly lock: RootLock;
}

const pathsShownMax = 20;

export class Landing {
  readonly #parts: LandingParts;

  constructor(parts: LandingParts) {
    this.#parts = parts;
  }

  /** Lands what may land of a sealed draft. `record` is its record so far. */
  land(record: DraftRecord, context: LandingContext): Promise<ChangesReport> {
    return this.#parts.lock.run(record.root, () => this.#land(record, context));
  }

  async #land(record: DraftRecord, context: LandingContext): Promise<ChangesReport> {
    const { workers, records } = this.#parts;
    const worker = await workers.at(record);
    if (!worker.ok) return this.keepAll(record, worker.message);
    const scanned = await worker.value.scan(record.draft);
    if (!scanned.ok) return this.keepAll(record, scanned.message);
    const waiting = records.keptPaths(record.draft);
    const scan = waiting === null ? scanned.value : onlyWaiting(scanned.value, waiting);
    if (scan.alarm !== null) return this.keepAll(record, `its draft has a mark that is not understood: ${scan.alarm}`);
    if (scan.changes.length === 0 && scan.unlandable.length === 0) return this.#nothing(record);
    const classify = context.classifier(scan);
    const decision = decideLanding(scan.changes, { ...context, classify, isReviewed: record.isReviewed });
    const groups = await this.#prepared(record, decision, context);
    const held = groups.filter((one) => !one.prepared.ok);
    const isHeld = (change: Change): boolean => held.some(({ prepared }) => prepared.isTracked(change.path));
    const land = decision.land.filter((change) => !isHeld(change));
    const kept: KeptDecision[] = [...decision.kept, ...decision.land.filter(isHeld).map(waitsForGit)];
    const failed = await this.#apply(record, land, groups, classify, scan);
    const keptNow = failed === null ? kept : [...kept, ...failed];
    const landed = failed === null ? land : [];
    const gitKept = held.flatMap(({ repository, prepared }) => (prepared.ok ? [] : [gitChange(repository, prepared)]));
    const gitLanded = failed === null ? groups.filter(({ prepared }) => prepared.ok) : [];
    const gitWaiting = failed === null ? held : groups;
    return this.#recorded(record, {
      landed: [...landed.map(({ path }) => path.join("/")), ...gitLanded.map(({ repository }) => repository.join("/"))],
      kept: [
        ...gitKept,
        ...(failed === null
          ? []
          : groups.filter(({ prepared }) => prepared.ok).map(({ repository }) => gitHeld(repository))),
        ...keptNow.map(keptChange),
        ...scan.unlandable.map(({ path, reason }) => unlandable(path, reason)),
      ],
      keptPaths: [...keptNow.map(({ change }) => change), ...gitWaiting.flatMap(({ changes }) => changes)].map(
        ({ kind, path }) => `${kind} ${path.join("/")}`,
      ),
      bytes: scan.changes.reduce((sum, change) => sum + (change.kind === "file" ? change.bytes : 0), 0),
      inodes: scan.changes.length,
    });
  }

  /** Each repository's part: checked, with its objects put together, and nothing of it visible yet. */
  async #prepared(
    record: DraftRecord,
    decision: LandingDecision,
    context: LandingContext,
  ): Promise<readonly PreparedGroup[]> {
    const groups: PreparedGroup[] = [];
    for (const { repository, changes } of decision.git) {
      const worktree = decision.land;
      const prepared = await this.#parts.git.prepare({
        ...{ record, repository, changes, worktree, isAgreed: context.isAgreed || false },
        isReviewed: record.isReviewed && !context.isAgreed,
        judge: context.judge,
      });
      groups.push({ repository, changes, prepared });
    }
    return groups;
  }

  /** Null once everything landed; else why each change did not, and the project is as it was. */
  async #apply(
    record: DraftRecord,
    land: readonly Change[],
    groups: readonly PreparedGroup[],
    classify: (change: Change) => NameClass,
    scan: DraftScan,
  ): Promise<readonly KeptDecision[] | null> {
    const ready = groups.flatMap(({ prepared }) => (prepared.ok ? [prepared] : []));
    const abort = async (): Promise<void> => {
      for (const one of ready) await one.abort();
    };
    const worker = await this.#parts.workers.at(record);
    if (!worker.ok) {
      await abort();
      return land.map((change) => ({ change, code: "not_landed", reason: worker.message }));
    }
    if (land.length > 0) {
      const result = await worker.value.land(record.draft, land, BigInt(record.start));
      if (!result.ok) {
        await abort();
        return land.map((change) => notLanded(change, result));
      }
    }
    const undo = async (code: KeptDecision["code"], reason: string): Promise<readonly KeptDecision[]> => {
      const undone = land.length === 0 ? null : await worker.value.undo(record.draft);
      const rest = undone === null || undone.ok ? "" : `; taking the files back failed: ${undone.message}`;
      return land.map((change) => ({ change, code, reason: `${reason}${rest}` }));
    };
    for (const [at, one] of ready.entries()) {
      const done = await one.commit();
      if (done.ok) continue;
      for (const rest of ready.slice(at)) await rest.abort();
      return undo("not_landed", done.reason);
    }
    // Again, with what the project has now: two drafts that are harmless alone can complete a trigger together.
    const trigger = land.find((change) => classify(change).class === "never");
    return trigger === undefined || scan.changes.length === 0
      ? null
      : undo("self_modification", `${trigger.path.join("/")} would run code on this machine`);
  }

  /** Nothing of it lands, for one reason. */
  async keepAll(record: DraftRecord, reason: string): Promise<ChangesReport> {
    return this.#recorded(record, {
      landed: [],
      kept: [{ path: ".", kind: "write", code: "not_landed", reason }],
      keptPaths: null,
      bytes: record.bytes,
      inodes: record.inodes,
    });
  }

  #nothing(record: DraftRecord): ChangesReport {
    this.#parts.folders.remove(record.draft);
    return { draft: null, root: record.root, landed: 0, paths: [], kept: [], keptMore: 0 };
  }

  #recorded(record: DraftRecord, result: LandingResult): ChangesReport {
    const { records, folders } = this.#parts;
    const { landed, kept, keptPaths, bytes, inodes } = result;
    const shown = { kept: kept.slice(0, keptShownMax), keptMore: Math.max(0, kept.length - keptShownMax) };
    const base: DraftRecord = { ...record, bytes, inodes };
    let draft = record.draft;
    if (landed.length > 0) {
      records.write({ ...base, state: "landed", landed: landed.length, kept: [], keptMore: 0 });
      if (kept.length > 0) {
        draft = folders.split(record.draft);
        records.write({ ...base, draft, state: "kept", landed: 0, ...shown }, keptPaths);
      }
    } else records.write({ ...base, state: "kept", landed: 0, ...shown }, keptPaths);
    return { draft, root: record.root, landed: landed.length, paths: landed.slice(0, pathsShownMax), ...shown };
  }
}

interface PreparedGroup {
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  readonly prepared: GitPrepared;
}

interface LandingResult {
  readonly landed: readonly string[];
  readonly kept: readonly KeptChange[];
  /** Kind and path of everything that waits; null where that is all of the draft. */
  readonly keptPaths: readonly string[] | null;
  readonly bytes: number;
  readonly inodes: number;
}

/** Of a draft whose other part landed before: only what was kept then. */
function onlyWaiting(scan: DraftScan, waiting: ReadonlySet<string>): DraftScan {
  return { ...scan, changes: scan.changes.filter(({ kind, path }) => waiting.has(`${kind} ${path.join("/")}`)) };
}

function waitsForGit(change: Change): KeptDecision {
  return { change, code: "not_landed", reason: "belongs to a git change that did not land" };
}

function gitChange(
  repository: readonly string[],
  { code, reason }: Extract<GitPrepared, { readonly ok: false }>,
): KeptChange {
  return { path: repository.join("/"), kind: "git", code, reason };
}

function gitHeld(repository: readonly string[]): KeptChange {
  return { path: repository.join("/"), kind: "git", code: "not_landed", reason: "its files did not land" };
}

function notLanded(
  change: Change,
  result: { readonly conflicts: readonly string[]; readonly message: string },
): KeptDecision {
  if (result.conflicts.includes(change.path.join("/")))
    return { change, code: "draft_conflict", reason: "it was changed in the project while the program ran" };
  if (result.conflicts.length > 0)
    return { change, code: "not_landed", reason: `waits with a change that conflicts: ${result.conflicts[0]}` };
  return { change, code: "not_landed", reason: result.message };
}

const UNLANDABLE: Readonly<Record<DraftScan["unlandable"][number]["reason"], string>> = {
  name_not_text: "its name is not valid UTF-8",
  target_not_text: "the target of the link is not valid UTF-8",
  special_file: "devices, sockets and pipes never land",
  base_unreadable: "what the project has at this name cannot be read",
  other_file_system: "it lies on another file system that is mounted in the project",
};

function unlandable(path: string, reason: keyof typeof UNLANDABLE): KeptChange {
  return { path, kind: "write", code: "not_landed", reason: UNLANDABLE[reason] };
}
