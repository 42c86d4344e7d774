// The life cycle of drafts: begun with a command, landed or kept at its end, then listed, landed, discarded or undone
// by people, and recovered after a crash.

import type { Level } from "../../core/authority/grant.ts";
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
import type { ChangesReport, DraftSummary, DraftView, UnlandedChange } from "../../core/ports/drafts.ts";
import type { RunRefusal } from "../../core/ports/process.ts";
import { sha256 } from "../../platform/digest.ts";
import type { DraftScan } from "../plan/drafts/change.ts";
import { differencesOf } from "./draft-differences.ts";
import type { DraftRecord } from "./draft-records.ts";
import { DraftUndo, type DraftUndoParts } from "./draft-undo.ts";
import { Landing, type LandingContext } from "./landing.ts";

/** Limits of one agent's kept drafts; a landed draft keeps its originals, for undo, until these are reached. */
const keptDraftsMax = 64;
const keptBytesMax = 2 * 1_073_741_824;
const keptInodesMax = 400_000;
const undoDraftsMax = 100;
const undoBytesMax = 1_073_741_824;

export interface DraftLifecycleParts extends DraftUndoParts {
  /** For an approval: what the agent's record grants now. Null where the agent no longer exists. */
  agreedContext(record: DraftRecord, agreed: Level): LandingContext | null;
}

export class DraftLifecycle {
  readonly #parts: DraftLifecycleParts;
  readonly #landing: Landing;
  readonly #undoing: DraftUndo;
  /** Drafts whose command or landing is in progress. */
  readonly #running = new Set<string>();

  constructor(parts: DraftLifecycleParts) {
    this.#parts = parts;
    this.#landing = new Landing(parts);
    this.#undoing = new DraftUndo(parts, this.#landing);
  }

  /** Why this owner may not start a writable command now; null where it may. */
  refusalFor(owner: string): RunRefusal | null {
    const refused = this.#parts.workers.refusal();
    if (refused !== null) return { code: "not_landed", message: refused.message, fix: refused.fix };
    const kept = this.#parts.records
      .list()
      .filter((one) => one.owner === owner && (one.state === "kept" || one.state === "broken"));
    const sum = (of: (one: DraftRecord) => number): number => kept.reduce((total, one) => total + of(one), 0);
    const isFull =
      kept.length >= keptDraftsMax ||
      sum(({ bytes }) => bytes) >= keptBytesMax ||
      sum(({ inodes }) => inodes) >= keptInodesMax;
    if (!isFull) return null;
    return {
      code: "not_landed",
      message: `${kept.length} drafts of this agent have not landed; land or discard some of them before it runs a command that writes`,
      fix: "ambit changes list",
    };
  }

  begin(record: DraftRecord): void {
    this.#running.add(record.draft);
    this.#parts.records.begin(record);
  }

  /** Like `begin`, for a command that sees the project itself and not a copy of it. */
  beginCommand(record: DraftRecord): void {
    this.begin(record);
    this.#parts.git.witness(record);
  }

  /** Its command changed nothing, and its folder is removed. */
  forget(id: string): void {
    this.#running.delete(id);
    this.#parts.git.endWitness(id);
    this.#parts.records.forget(id);
  }

  /** After its command: lands what may land, and reports every change. Never throws. */
  async finish(record: DraftRecord, context: LandingContext): Promise<ChangesReport> {
    try {
      return await this.#locked(record.root, async () => {
        const report = record.isSealed
          ? await this.#landing.land(record, context)
          : await this.#landing.keepAll(record, UNSEALED);
        await this.#prune(record.owner, record.root);
        return report;
      });
    } catch (error) {
      const reason = `it could not be applied: ${error instanceof Error ? error.message : String(error)}`;
      this.#parts.note(`draft ${record.draft}: ${reason}`);
      try {
        const kept = await this.#parts.workers.during(record.root, () => this.#undoing.recover(record, reason));
        if (kept !== null) return kept;
      } catch (again) {
        this.#parts.note(`draft ${record.draft}: its outcome cannot be recorded: ${String(again)}`);
      }
      return {
        draft: record.draft,
        root: record.root,
        landed: 0,
        paths: [],
        kept: [{ path: ".", kind: "write", code: "not_landed", reason }],
        keptMore: 0,
      };
    } finally {
      this.#running.delete(record.draft);
      this.#parts.git.endWitness(record.draft);
    }
  }

  /** Keeps a sealed draft as it is, each name with its reason: nothing of it lands before a person approves. */
  async keep(record: DraftRecord, kept: readonly UnlandedChange[]): Promise<ChangesReport> {
    try {
      return await this.#locked(record.root, () => this.#landing.keepEach(record, kept));
    } finally {
      this.#running.delete(record.draft);
    }
  }

  /**
   * For a finished draft whose caller handles what did not land: kind, path and code of those changes. Null where
   * nothing landed. What landed can still be undone.
   */
  async dropKept(id: string): Promise<ReadonlyMap<string, string> | null> {
    const { records, lock } = this.#parts;
    const found = records.read(id);
    // A draft without changes is already removed.
    if (found === null) return new Map();
    return lock.run(found.root, async () => {
      const record = records.read(id);
      if (record === null) return new Map();
      if (record.state === "broken") return null;
      const kept = records.keptPaths(id);
      if (!hasLanded(record)) await this.#parts.remove(id);
      else records.write({ ...record, state: "landed", kept: [], keptMore: 0 }, []);
      return kept ?? (record.kept.length === 0 ? new Map() : null);
    });
  }

  list(all: boolean): readonly DraftSummary[] {
    return this.#parts.records
      .list()
      .filter(({ state }) => all || state === "kept" || state === "broken")
      .map(summaryOf)
      .map((summary) => ({ ...summary, ...firstKept(summary) }));
  }

  async show(id: string): Promise<Answer<DraftView>> {
    const record = this.#parts.records.find(id);
    return record === null ? unknown(id) : this.#parts.workers.during(record.root, () => this.#show(record));
  }

  async #show(record: DraftRecord): Promise<Answer<DraftView>> {
    const isWaiting = record.state === "kept" || record.state === "broken";
    const waiting = isWaiting ? await this.#landing.scanUnlanded(record) : null;
    if (waiting !== null && !waiting.ok) return refuse("not_landed", waiting.message);
    const changes = waiting?.scan.changes ?? [];
    const differences = await differencesOf(this.#parts.workers, record, changes);
    const digest = waiting === null ? "" : digestOf(record, waiting.scan);
    const more = changes.length - differences.length;
    return { ok: true, value: { summary: summaryOf(record), differences, digest, more } };
  }

  /** Checks everything again under the lock: two people may answer at once. */
  async land(
    id: string,
    digest: string | null,
    agreed: Level,
  ): Promise<Answer<{ readonly summary: DraftSummary; readonly landed: number }>> {
    const { records } = this.#parts;
    const found = records.find(id);
    if (found === null) return unknown(id);
    return this.#locked(found.root, async () => {
      const record = records.read(found.draft);
      if (record === null) return unknown(id);
      const refused = this.#unlandable(record);
      if (refused !== null) return refused;
      const unlanded = await this.#landing.scanUnlanded(record);
      if (!unlanded.ok) return refuse("not_landed", unlanded.message);
      if (digest !== null && digest !== digestOf(record, unlanded.scan))
        return refuse("draft_conflict", CHANGED_SINCE_SHOWN, `ambit changes show ${id}`);
      const context = this.#parts.agreedContext(record, agreed);
      if (context === null) return refuse("not_landed", `the agent ${record.agent} of this draft no longer exists`);
      try {
        const report = await this.#landing.land({ ...record, needsReview: false }, context);
        const now = records.read(record.draft) ?? { ...record, state: "landed", kept: [], keptMore: 0 };
        return { ok: true, value: { summary: summaryOf(now), landed: report.landed } };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        await this.#undoing.recover(record, `its landing was interrupted: ${reason}`);
        return refuse("not_landed", reason, `ambit changes show ${id}`);
      }
    });
  }

  #unlandable(record: DraftRecord): Refusal | null {
    const { draft, state, isSealed } = record;
    if (state !== "kept") return refuse("not_landed", `${draft} has no changes left to land: it is ${state}`);
    if (isSealed) return null;
    const folder = this.#parts.records.folderOf(draft);
    return refuse("not_landed", `${UNSEALED}, so it never lands; its files are in ${folder}/upper`);
  }

  async discard(id: string): Promise<Answer<{ readonly summary: DraftSummary }>> {
    const { records, lock } = this.#parts;
    const found = records.find(id);
    if (found === null) return unknown(id);
    if (this.#running.has(found.draft))
      return refuse("not_landed", "its command is still running", "ambit stop <agent>");
    return lock.run(found.root, async () => {
      const record = records.read(found.draft);
      if (record === null) return unknown(id);
      if (record.state === "broken")
        return refuse(
          "not_landed",
          `its landing was interrupted, and it may contain original files of the project: inspect ${records.folderOf(record.draft)} and remove it by hand`,
        );
      await this.#parts.remove(record.draft);
      return { ok: true, value: { summary: summaryOf(record) } };
    });
  }

  /** Undoes everything that a call landed, newest part first. Nothing is undone where something was edited since. */
  async undo(id: string): Promise<Answer<{ readonly summary: DraftSummary; readonly notes: readonly string[] }>> {
    const { records } = this.#parts;
    const landed = records.list().filter((one) => hasLanded(one) && (one.draft === id || one.call === id));
    const [first] = landed;
    if (first === undefined)
      return records.find(id) === null ? unknown(id) : refuse("not_landed", `${id} has no landed changes to undo`);
    let count = 0;
    const notes: string[] = [];
    for (const { draft, root } of landed) {
      const undone = await this.#locked(root, async (): Promise<Answer<readonly string[]>> => {
        const record = records.read(draft);
        if (record === null || !hasLanded(record)) return { ok: true, value: [] };
        const answer = await this.#undoing.undo(record);
        if (answer.ok) count += record.landed;
        return answer;
      });
      if (!undone.ok) return undone;
      notes.push(...undone.value);
    }
    return { ok: true, value: { summary: { ...summaryOf(first), state: "undone", landed: count }, notes } };
  }

  /** Before anything runs: takes back what a crash interrupted, and keeps what a command left. */
  async recover(): Promise<void> {
    const { records, note } = this.#parts;
    for (const id of records.ids())
      await this.#recover(id).catch((error: unknown) => note(`draft ${id} cannot be recovered: ${String(error)}`));
  }

  async #recover(id: string): Promise<void> {
    const { records, git, workers, note, remove } = this.#parts;
    const record = records.read(id);
    // A draft with an unreadable record is kept: it may contain originals of the project.
    if (record === null && !records.isUnused(id))
      return note(`draft ${id}: its record cannot be parsed; its files stay in the state folder`);
    // Prepared and never used: nothing ran in it.
    if (record === null) return remove(id);
    if (record.state === "running" || record.state === "broken") {
      const reason = "ambit was interrupted while the command ran";
      await workers.during(record.root, () => this.#undoing.recover(record, reason));
      return;
    }
    // Locks are taken, and the git part is recorded, before the record says that a landing runs.
    await git.recover(id, note);
    git.log(record).settle();
  }

  /** Serializes work on a root; its lander has ended when this returns. */
  #locked<T>(root: string, work: () => Promise<T>): Promise<T> {
    const { lock, workers } = this.#parts;
    return lock.run(root, () => workers.during(root, work));
  }

  /** Landed drafts stay undoable while the limits allow; the oldest is removed first. Only of the locked root. */
  async #prune(owner: string, root: string): Promise<void> {
    const { records, remove, note } = this.#parts;
    let bytes = 0;
    let count = 0;
    for (const record of records.list()) {
      if (record.owner !== owner || (record.state !== "landed" && record.state !== "undone")) continue;
      bytes += record.bytes;
      count++;
      if (record.root !== root || (count <= undoDraftsMax && bytes <= undoBytesMax)) continue;
      await remove(record.draft).catch((error: unknown) =>
        note(`draft ${record.draft} was not deleted: ${String(error)}`),
      );
    }
  }
}

const UNSEALED = "its sandbox may still be running";
const CHANGED_SINCE_SHOWN = "the draft or the project changed since it was shown";

function hasLanded({ landings, repositories }: DraftRecord): boolean {
  return landings.length > 0 || repositories.length > 0;
}

const listedCharactersMax = 8_192;

/** A list shows only some of each draft's changes, so that many drafts fit into one answer. */
function firstKept({ kept, keptMore }: DraftSummary): Pick<DraftSummary, "kept" | "keptMore"> {
  let left = listedCharactersMax;
  const end = kept.findIndex((one) => {
    left -= JSON.stringify(one).length;
    return left < 0;
  });
  return end < 0 ? { kept, keptMore } : { kept: kept.slice(0, end), keptMore: keptMore + kept.length - end };
}

function summaryOf(record: DraftRecord): DraftSummary {
  const { draft, state, agent, workspace, root, call, command, at, bytes, landed, kept, keptMore } = record;
  return { draft, state, agent, workspace, root, call, command, at, bytes, landed, kept, keptMore };
}

/** For every changed name, its size and the project's current state. The content of a sealed draft does not change. */
function digestOf({ draft, start }: DraftRecord, { changes }: DraftScan): string {
  const text = JSON.stringify([draft, start, changes], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return sha256(text);
}

function unknown(id: string): Refusal {
  return refuse(
    "unknown_draft",
    `there is no draft ${id}, and no call with that id created one`,
    "ambit changes list --all",
  );
}

function refuse(code: string, message: string, fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}
