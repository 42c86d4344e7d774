// Carries what a program wrote from its sealed draft into the project, and keeps what may not or cannot go there.
import { constants } from "node:os";
import type { Decision } from "../../authority/decision.ts";
import type { ChangesReport, KeptChange } from "../../ports/drafts.ts";
import type { Change, DraftScan } from "../../sandbox/draft/change.ts";
import type { LandProblem } from "../../sandbox/draft/land-answer.ts";
import { stepOf } from "../../sandbox/draft/land-request.ts";
import {
  decideLanding,
  type KeptDecision,
  keptChange,
  type LandingDecision,
  type NameClass,
} from "../../sandbox/draft/landing.ts";
import { type DraftRecord, type DraftRecords, keptShownMax } from "./draft-records.ts";
import type { GitLanding, GitLandings } from "./git-landing.ts";
import type { LandConflict, LandRefusal } from "./land-result.ts";
import type { LandWorker } from "./land-worker.ts";
import type { LandWorkers } from "./land-workers.ts";
import type { RootLock } from "./root-lock.ts";

/** What decides about the names of one draft. */
export interface LandingContext {
  judge(verb: "fs.write" | "fs.delete", path: readonly string[]): Decision;
  /** By the project as it is now and these changes together. */
  classifier(changes: readonly Change[]): (change: Change) => NameClass;
  /** A person has seen the draft and agreed. */
  readonly isAgreed: boolean;
}

export interface LandingParts {
  readonly records: DraftRecords;
  readonly workers: LandWorkers;
  readonly git: GitLandings;
  readonly lock: RootLock;
  /** Removes the draft with everything in it. */
  remove(id: string): Promise<void>;
  note(line: string): void;
}

const pathsShownMax = 20;

export class Landing {
  readonly #parts: LandingParts;

  constructor(parts: LandingParts) {
    this.#parts = parts;
  }

  /** Lands what may land of a sealed draft; one landing at a time in a root. */
  land(record: DraftRecord, context: LandingContext): Promise<ChangesReport> {
    return this.#parts.lock.run(record.root, () => this.#land(record, context));
  }

  /** What of a draft has not landed. */
  async waiting(record: DraftRecord): Promise<{ readonly ok: true; readonly scan: DraftScan } | Failure> {
    const worker = await this.#parts.workers.at(record);
    if (!worker.ok) return { ok: false, message: worker.message };
    const scanned = await worker.value.scan(record.draft);
    if (scanned.status !== "scanned") return { ok: false, message: scanned.reason };
    const { scan } = scanned;
    // What landed left marks in the draft, such as emptied folders: only what was kept then still counts.
    const kept = this.#parts.records.keptPaths(record.draft);
    const changes = kept === null ? scan.changes : scan.changes.filter((change) => kept.has(keyOf(change)));
    return { ok: true, scan: { ...scan, changes } };
  }

  /** Nothing of it lands, for one reason. */
  keepAll(record: DraftRecord, reason: string): Promise<ChangesReport> {
    const kept: KeptChange = { path: ".", kind: "write", code: "not_landed", reason };
    return this.#recorded(record, { landed: [], landing: 0, kept: [kept], waiting: null, scan: null });
  }

  async #land(record: DraftRecord, context: LandingContext): Promise<ChangesReport> {
    const waiting = await this.waiting(record);
    if (!waiting.ok) return this.keepAll(record, waiting.message);
    const { scan } = waiting;
    if (scan.alarm !== null) return this.keepAll(record, `its draft has a mark that is not understood: ${scan.alarm}`);
    if (scan.changes.length === 0 && scan.unlandable.length === 0) return this.#nothing(record);
    const classify = masking(record, context.classifier(scan.changes));
    const rules = { ...context, classify, isReviewed: record.isReviewed };
    const decision = decideLanding(scan.changes, rules);
    const groups = await this.#prepare(record, decision, context, classify);
    const isHeld = (change: Change): boolean => groups.some(({ git }) => !git.ok && git.holds(change.path));
    const land = decision.land.filter((change) => !isHeld(change));
    const applied = await this.#apply(record, land, groups, context);
    const kept: readonly KeptDecision[] = [
      ...decision.kept,
      ...decision.land.filter(isHeld).map(waitsForGit),
      ...(applied.ok ? [] : applied.kept),
    ];
    return this.#recorded(record, {
      landed: applied.ok ? [...land.map(pathOf), ...groups.flatMap(landedGit)] : [],
      landing: applied.ok ? applied.landing : 0,
      kept: [
        ...groups.flatMap((group) => gitKept(group, applied.ok)),
        ...kept.map(keptChange),
        ...scan.unlandable.map(unlandable),
      ],
      waiting: [...kept.map(({ change }) => change), ...groups.flatMap((one) => waitingGit(one, applied.ok))].map(
        keyOf,
      ),
      scan,
    });
  }

  /** Each repository's part: checked, with its objects put together, and nothing of it visible yet. */
  async #prepare(
    record: DraftRecord,
    { git }: LandingDecision,
    { isAgreed }: LandingContext,
    classify: (change: Change) => NameClass,
  ): Promise<readonly GitGroup[]> {
    const groups: GitGroup[] = [];
    for (const { repository, changes } of git)
      groups.push({
        repository,
        changes,
        git: await this.#parts.git.prepare({ record, repository, changes, classify, isAgreed }),
      });
    return groups;
  }

  /** Everything, or nothing and why: then the project is as it was. */
  async #apply(
    record: DraftRecord,
    land: readonly Change[],
    groups: readonly GitGroup[],
    context: LandingContext,
  ): Promise<Applied> {
    const ready = groups.flatMap(({ git }) => (git.ok ? [git] : []));
    const failed = async (from: number, reasonFor: (change: Change) => KeptDecision): Promise<Applied> => {
      for (const git of ready.slice(from)) await git.abort();
      return { ok: false, kept: land.map(reasonFor) };
    };
    const worker = await this.#parts.workers.at(record);
    if (!worker.ok) return failed(0, (change) => ({ change, code: "not_landed", reason: worker.message }));
    let landing = 0;
    if (land.length > 0) {
      const unflushed = await this.#recordFlushed(record);
      if (unflushed !== null) return failed(0, (change) => ({ change, code: "not_landed", reason: unflushed }));
      const result = await worker.value.land(record.draft, land.map(stepOf), BigInt(record.start));
      if (result.status !== "landed") return failed(0, (change) => notLanded(change, result));
      ({ landing } = result);
    }
    const takeBack = (code: KeptDecision["code"], reason: string, from: number): Promise<Applied> =>
      this.#undo(worker.value, record, landing).then((rest) =>
        failed(from, (change) => ({ change, code, reason: `${reason}${rest}` })),
      );
    // Again, with what the project has now: two drafts that are harmless alone can complete a trigger together.
    const after = masking(record, context.classifier([]));
    const trigger = land.find((change) => change.kind !== "delete" && isTrigger(after(change)));
    if (trigger !== undefined)
      return takeBack("self_modification", `${pathOf(trigger)} would run code on this machine`, 0);
    for (const [at, git] of ready.entries()) {
      const done = await git.commit();
      if (!done.ok) return takeBack("not_landed", done.reason, at + 1);
    }
    return { ok: true, landing };
  }

  /** Null once a power cut cannot take away the record of what is about to change the project; else why not. */
  async #recordFlushed({ draft }: DraftRecord): Promise<string | null> {
    try {
      await this.#parts.records.flush(draft);
      return null;
    } catch (error) {
      return `the record of its draft cannot be flushed: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Empty where the files are as before; else what is wrong with that. */
  async #undo(worker: LandWorker, { draft }: DraftRecord, landing: number): Promise<string> {
    if (landing === 0) return "";
    const undone = await worker.undo(draft, landing);
    return undone.status === "undone" ? "" : `; taking the files back failed: ${problemText(undone)}`;
  }

  /** What is said to wait has to be there after a power cut. */
  async #flush(record: DraftRecord): Promise<void> {
    const worker = await this.#parts.workers.at(record);
    const tell = (reason: string): void =>
      this.#parts.note(`draft ${record.draft} may not survive a power cut: ${reason}`);
    if (!worker.ok) return tell(worker.message);
    const flushed = await worker.value.flush(record.draft);
    if (flushed.status !== "flushed") tell(flushed.reason);
  }

  async #nothing(record: DraftRecord): Promise<ChangesReport> {
    if (record.landings.length === 0) await this.#parts.remove(record.draft);
    else this.#parts.records.write({ ...record, state: "landed", kept: [], keptMore: 0 });
    return { draft: null, root: record.root, landed: 0, paths: [], kept: [], keptMore: 0 };
  }

  async #recorded(
    record: DraftRecord,
    { landed, landing, kept, waiting, scan }: LandingResult,
  ): Promise<ChangesReport> {
    if (kept.length > 0) await this.#flush(record);
    const shown = { kept: kept.slice(0, keptShownMax), keptMore: Math.max(0, kept.length - keptShownMax) };
    const bytes = scan?.changes.reduce((sum, change) => sum + (change.kind === "file" ? change.bytes : 0), 0);
    this.#parts.records.write(
      {
        ...record,
        ...shown,
        state: kept.length > 0 ? "kept" : "landed",
        landed: record.landed + landed.length,
        landings: landing === 0 ? record.landings : [...record.landings, landing],
        bytes: bytes ?? record.bytes,
        inodes: scan?.changes.length ?? record.inodes,
      },
      waiting,
    );
    const paths = landed.slice(0, pathsShownMax);
    return { draft: record.draft, root: record.root, landed: landed.length, paths, ...shown };
  }
}

interface Failure {
  readonly ok: false;
  readonly message: string;
}

type Applied =
  | { readonly ok: true; readonly landing: number }
  | { readonly ok: false; readonly kept: readonly KeptDecision[] };

interface GitGroup {
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  readonly git: GitLanding;
}

interface LandingResult {
  readonly landed: readonly string[];
  /** 0 where no file changed. */
  readonly landing: number;
  readonly kept: readonly KeptChange[];
  /** Keys of everything that waits; null where that is all of the draft. */
  readonly waiting: readonly string[] | null;
  readonly scan: DraftScan | null;
}

function pathOf({ path }: Change): string {
  return path.join("/");
}

function keyOf(change: Change): string {
  return `${change.kind} ${pathOf(change)}`;
}

/** The command did not see these names: what it made there, or deleted around them, is not what it seems. */
function masking({ masked }: DraftRecord, classify: (change: Change) => NameClass): (change: Change) => NameClass {
  if (masked.length === 0) return classify;
  return (change) =>
    masked.some((name) => name.every((part, at) => part === change.path[at]))
      ? { class: "never", why: "programs do not see what the project has at this name" }
      : classify(change);
}

function isTrigger({ class: found }: NameClass): boolean {
  return found === "never" || found === "git";
}

function waitsForGit(change: Change): KeptDecision {
  return { change, code: "not_landed", reason: "belongs to a git change that did not land" };
}

function landedGit({ repository, git }: GitGroup): readonly string[] {
  return git.ok && git.isChange ? [repository.join("/")] : [];
}

function gitKept({ repository, git }: GitGroup, isApplied: boolean): readonly KeptChange[] {
  const base = { path: repository.join("/"), kind: "git" } as const;
  if (!git.ok) return [{ ...base, code: git.code, reason: git.reason }];
  if (!isApplied && git.isChange) return [{ ...base, code: "not_landed", reason: "its files did not land" }];
  return git.notCarried.map((name) => ({
    ...{ path: [...repository, name].join("/"), kind: "git", code: "self_modification" },
    reason: "git configuration, hooks and private state never land",
  }));
}

function waitingGit({ changes, git }: GitGroup, isApplied: boolean): readonly Change[] {
  return git.ok && isApplied ? [] : changes;
}

function problemText(result: LandConflict | LandRefusal): string {
  if (result.status === "refused" || result.status === "lost") return result.reason;
  const [first] = result.conflicts.listed;
  const stuck = result.status === "stuck" ? "; some files could not be put back: see `ambit changes list`" : "";
  return first === undefined ? `the project changed${stuck}` : `${first.path}: ${reasonText(first)}${stuck}`;
}

const REASONS: Readonly<Record<LandProblem["reason"], string>> = {
  changed: "it was changed in the project while the program ran",
  gone: "it was deleted in the project while the program ran",
  parent: "its folder was deleted or replaced in the project while the program ran",
  other_kind: "the project has another kind of file there by now",
  not_empty: "the project has files in that folder that do not go with it",
  kept: "a file appeared there while it landed, and is kept beside the draft",
  system_error: "the file system refused it",
};

function reasonText({ reason, errno }: LandProblem): string {
  const name =
    errno === 0 ? "" : ` (${Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? errno})`;
  return `${REASONS[reason]}${name}`;
}

function notLanded(change: Change, result: LandConflict | LandRefusal): KeptDecision {
  if (result.status === "refused" || result.status === "lost")
    return { change, code: "not_landed", reason: result.reason };
  const own = result.conflicts.listed.find(({ path }) => path === pathOf(change));
  if (own !== undefined)
    return { change, code: own.reason === "system_error" ? "not_landed" : "draft_conflict", reason: reasonText(own) };
  return { change, code: "not_landed", reason: `waits with a change that conflicts: ${problemText(result)}` };
}

const UNLANDABLE: Readonly<Record<DraftScan["unlandable"][number]["reason"], string>> = {
  name_not_text: "its name is not valid UTF-8",
  target_not_text: "the target of the link is not valid UTF-8",
  special_file: "devices, sockets and pipes never land",
  base_unreadable: "what the project has at this name cannot be read",
  other_file_system: "it lies on another file system that is mounted in the project",
};

function unlandable({ path, reason }: DraftScan["unlandable"][number]): KeptChange {
  return { path, kind: "write", code: "not_landed", reason: UNLANDABLE[reason] };
}
