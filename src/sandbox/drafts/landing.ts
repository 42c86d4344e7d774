// Lands the changes of a sealed draft in the project, and keeps those that may not or cannot land.
import { DENIAL_CODES, type Decision, type DenialCode } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import type { ChangesReport, UnlandedChange } from "../../core/ports/drafts.ts";
import type { Change, DraftScan } from "../plan/drafts/change.ts";
import {
  decideLanding,
  type LandingDecision,
  type LandingRules,
  type NameClass,
  type UnlandedDecision,
  unlandedChange,
} from "../plan/drafts/landing.ts";
import { type DraftRecord, type DraftRecords, keptShownMax, type UnlandedPaths } from "./draft-records.ts";
import type { DraftSize } from "./draft-size.ts";
import {
  abortAll,
  type GitGroup,
  landedGit,
  togetherOrNone,
  unlandedGitChanges,
  waitingGit,
  withoutFolderless,
} from "./git-groups.ts";
import type { GitLandings } from "./git-landing.ts";
import type { GitUndos } from "./git-undo.ts";
import type { LandWorkers } from "./lander/land-workers.ts";
import { unlandable } from "./landing-reasons.ts";
import { inTurns, LandingTransaction } from "./landing-transaction.ts";
import type { RootLock } from "./root-lock.ts";

/** The rules for the names of one draft. */
export interface LandingContext {
  judge(verb: "fs.write" | "fs.delete", path: readonly string[]): Decision;
  /** From the current project and these changes together. */
  classifier(changes: readonly Change[]): Promise<(change: Change) => NameClass>;
  /** The approval level of the draft; 0 for none. */
  readonly agreed: Level;
}

export interface LandingParts {
  readonly records: DraftRecords;
  readonly workers: LandWorkers;
  readonly git: GitLandings;
  readonly gitUndos: GitUndos;
  readonly lock: RootLock;
  /** Removes the draft with everything in it. */
  remove(id: string): Promise<void>;
  /** The disk usage of the draft. */
  measure(id: string): Promise<DraftSize>;
  note(line: string): void;
}

/** A draft that cannot be measured counts as an agent's maximum: no further command writes before it is gone. */
const UNMEASURED: DraftSize = { bytes: Number.MAX_SAFE_INTEGER, inodes: 1 };
const pathsShownMax = 20;
/** As JSON: a report with long names must fit into one answer, or a command that ran would look refused. */
const pathsCharactersMax = 32_768;
const keptCharactersMax = 65_536;

export class Landing {
  readonly #parts: LandingParts;
  readonly #transaction: LandingTransaction;

  constructor(parts: LandingParts) {
    this.#parts = parts;
    this.#transaction = new LandingTransaction(parts);
  }

  /** The changes of a draft that have not landed. */
  async scanUnlanded(record: DraftRecord): Promise<{ readonly ok: true; readonly scan: DraftScan } | Failure> {
    const worker = await this.#parts.workers.at(record);
    if (!worker.ok) return { ok: false, message: worker.message };
    const scanned = await worker.value.scan(record.draft);
    if (scanned.status !== "scanned") return { ok: false, message: scanned.reason };
    const scan = this.#parts.git.withoutSeed(record, scanned.scan);
    // A landing leaves traces in the draft, such as emptied folders: only the changes kept then still count.
    const kept = this.#parts.records.keptPaths(record.draft);
    const changes = kept === null ? scan.changes : scan.changes.filter((change) => kept.has(keyOf(change)));
    return { ok: true, scan: { ...scan, changes } };
  }

  /** Nothing of it lands, for one reason. */
  keepAll(record: DraftRecord, reason: string): Promise<ChangesReport> {
    return this.keepEach(record, [{ path: ".", kind: "write", code: "not_landed", reason }]);
  }

  /** Nothing of it lands, each name for its own reason. */
  async keepEach(record: DraftRecord, kept: readonly UnlandedChange[]): Promise<ChangesReport> {
    const size = await this.#parts.measure(record.draft).catch(() => UNMEASURED);
    const nothing = { landed: [], landing: 0, repositories: [], waiting: null, scan: null };
    return this.#recorded({ ...record, ...size }, { ...nothing, kept });
  }

  /** Lands what may land of a sealed draft. INVARIANT: the caller holds the lock of its root. */
  async land(record: DraftRecord, context: LandingContext): Promise<ChangesReport> {
    const waiting = await this.scanUnlanded(record);
    if (!waiting.ok) return this.keepAll(record, waiting.message);
    const { scan } = waiting;
    if (scan.alarm !== null) return this.keepAll(record, `its draft has an unknown overlay mark: ${scan.alarm}`);
    if (scan.changes.length === 0 && scan.unlandable.length === 0) return this.#nothing(record);
    const classes = await inTurns(scan.changes, this.#classes(record, await context.classifier(scan.changes)));
    const judged = await inTurns(scan.changes, ({ kind, path }) =>
      context.judge(kind === "delete" ? "fs.delete" : "fs.write", path),
    );
    const byPath = new Map([...judged].map(([{ path }, decided]) => [path, decided]));
    const refused = this.#refusedBefore(record);
    const rules: LandingRules = {
      judge: (verb, path) => refused(verb, path) ?? byPath.get(path) ?? context.judge(verb, path),
      classify: (change) => classes.get(change) ?? { class: "never", why: "it was not classified" },
      agreed: context.agreed,
      needsReview: record.needsReview,
    };
    const prepared = await this.#prepare(record, decideLanding(scan.changes, rules), context, scan.changes);
    const { land, kept } = decideLanding(scan.changes, {
      ...rules,
      holds: ({ path }) => prepared.some(({ git }) => !git.ok && git.holds(path)),
    });
    const groups = await withoutFolderless(record.root, prepared, land);
    const applied = await this.#transaction.run(record, land, groups, async () =>
      this.#classes(record, await context.classifier([])),
    );
    for (const group of groups)
      if (!applied.committed.includes(group)) this.#parts.git.keepSeen(record, group.repository);
    const allKept: readonly UnlandedDecision[] = [...kept, ...applied.kept];
    const keys = [
      ...allKept.map(({ change, code }) => [keyOf(change), code] as const),
      ...groups.flatMap((group) => {
        const code = group.git.ok ? "not_landed" : group.git.code;
        return waitingGit(group, applied).map((change) => [keyOf(change), code] as const);
      }),
    ];
    return this.#recorded(record, {
      landed: [...applied.landed.map(pathOf), ...groups.flatMap((group) => landedGit(group, applied))],
      landing: applied.landing,
      repositories: groups.flatMap((group) => landedGit(group, applied)),
      kept: [
        ...groups.flatMap((group) => unlandedGitChanges(group, applied)),
        ...allKept.map(unlandedChange),
        ...scan.unlandable.map(unlandable),
      ],
      waiting: keys,
      scan,
    });
  }

  /** The private git folder of a draft is a git folder, whatever the project has at its name. */
  #classes(record: DraftRecord, classify: (change: Change) => NameClass): (change: Change) => NameClass {
    const named = masking(record, classify);
    if (!this.#parts.git.hasSeed(record)) return named;
    return (change) => (change.path[0] === ".git" ? { class: "git", repository: [".git"] } : named(change));
  }

  /**
   * A change that no grant covered when it was made is not covered by a later approval, whatever the agent's record
   * says then.
   */
  #refusedBefore({ draft }: DraftRecord): (verb: string, path: readonly string[]) => Decision | null {
    const kept = this.#parts.records.keptPaths(draft);
    return (verb, path) => {
      const kinds = verb === "fs.delete" ? ["delete"] : ["file", "link", "folder"];
      for (const kind of kinds) {
        const denied = deniedForGood(kept?.get(`${kind} ${path.join("/")}`));
        if (denied !== null) return { outcome: "deny", code: denied, at: null };
      }
      return null;
    };
  }

  /** The same for the changes of a git folder, which wait together. */
  #judgeGit(record: DraftRecord, changes: readonly Change[], judge: LandingContext["judge"]): LandingContext["judge"] {
    const kept = this.#parts.records.keptPaths(record.draft);
    const code = changes.map((change) => deniedForGood(kept?.get(keyOf(change)))).find((one) => one !== null) ?? null;
    return code === null ? judge : () => ({ outcome: "deny", code, at: null });
  }

  /** Prepares each repository's part: checked, objects packed, and nothing visible yet. */
  async #prepare(
    record: DraftRecord,
    { git }: LandingDecision,
    { agreed, classifier, judge }: LandingContext,
    all: readonly Change[],
  ): Promise<readonly GitGroup[]> {
    const groups: GitGroup[] = [];
    try {
      const families = this.#parts.git.families(record, git);
      for (const { repository, changes, family } of families.flatMap((one) =>
        one.map((each) => ({ ...each, family: one })),
      )) {
        const prepared = await this.#parts.git.prepare({
          ...{ record, repository, changes, family, agreed },
          judge: this.#judgeGit(record, changes, judge),
          classifier: async (more) => this.#classes(record, await classifier([...all, ...more])),
        });
        groups.push({ repository, changes, family, git: prepared });
      }
      return await togetherOrNone(groups);
    } catch (error) {
      await abortAll(groups);
      throw error;
    }
  }

  /** Waiting changes must survive a power failure. */
  async #flush(record: DraftRecord): Promise<void> {
    const worker = await this.#parts.workers.at(record);
    const tell = (reason: string): void =>
      this.#parts.note(`draft ${record.draft} may not survive a power failure: ${reason}`);
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
    { landed, landing, repositories, kept, waiting, scan }: LandingResult,
  ): Promise<ChangesReport> {
    if (kept.length > 0) await this.#flush(record);
    const first = withinSize(kept.slice(0, keptShownMax), keptCharactersMax);
    const shown = { kept: first, keptMore: kept.length - first.length };
    const bytes = scan?.changes.reduce((sum, change) => sum + bytesOf(change), 0);
    this.#parts.records.write(
      {
        ...record,
        ...shown,
        state: kept.length > 0 ? "kept" : "landed",
        landed: record.landed + landed.length,
        landings: landing === 0 ? record.landings : [...record.landings, landing],
        repositories: [...new Set([...record.repositories, ...repositories])],
        bytes: bytes ?? record.bytes,
        inodes: scan?.changes.length ?? record.inodes,
      },
      waiting,
    );
    const paths = withinSize(landed.slice(0, pathsShownMax), pathsCharactersMax);
    return { draft: record.draft, root: record.root, landed: landed.length, paths, ...shown };
  }
}

interface Failure {
  readonly ok: false;
  readonly message: string;
}

/** The denial that a later approval cannot lift; null for a reason that can go away. */
function deniedForGood(code: string | undefined): DenialCode | null {
  return DENIAL_CODES.find((one) => one === code && !LANDS_LATER.has(one)) ?? null;
}

const LANDS_LATER: ReadonlySet<string> = new Set([
  "approval_required",
  "draft_conflict",
  "not_landed",
  // The class of the name is looked up again.
  "self_modification",
]);

interface LandingResult {
  readonly landed: readonly string[];
  /** 0 where no file changed. */
  readonly landing: number;
  /** Git folders that something landed in. */
  readonly repositories: readonly string[];
  readonly kept: readonly UnlandedChange[];
  /** Keys of all waiting changes; null where that is the whole draft. */
  readonly waiting: UnlandedPaths | null;
  readonly scan: DraftScan | null;
}

/** The first that fit; at least one. */
function withinSize<T>(all: readonly T[], charactersMax: number): readonly T[] {
  let left = charactersMax;
  const end = all.findIndex((one) => {
    left -= JSON.stringify(one).length;
    return left < 0;
  });
  return end < 0 ? all : all.slice(0, Math.max(1, end));
}

function pathOf({ path }: Change): string {
  return path.join("/");
}

/** Of the draft, and of the original that is stored for undo. */
function bytesOf(change: Change): number {
  return (change.kind === "file" ? change.bytes : 0) + Number(change.base?.bytes ?? 0n);
}

function keyOf(change: Change): string {
  return `${change.kind} ${pathOf(change)}`;
}

/** The command did not see these names: what it created there, or deleted around them, is not what it seems. */
function masking({ masked }: DraftRecord, classify: (change: Change) => NameClass): (change: Change) => NameClass {
  if (masked.length === 0) return classify;
  return (change) =>
    masked.some((name) => name.every((part, at) => part === change.path[at]))
      ? { class: "never", why: "this name is masked in the sandbox" }
      : classify(change);
}
