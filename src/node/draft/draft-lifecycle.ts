// Drafts over their whole life: begun with a command, landed or kept at its end, shown to people, landed, discarded or
// undone by them, and brought to an end after a crash.

import type { Level } from "../../authority/grant.ts";
import type { ChangesReport, DraftShown, DraftSummary, KeptChange } from "../../ports/drafts.ts";
import type { Answer, Refusal } from "../../ports/exchange.ts";
import type { RunRefused } from "../../ports/process.ts";
import type { Change, DraftScan } from "../../sandbox/draft/change.ts";
import { sha256 } from "../digest.ts";
import { differencesOf } from "./draft-differences.ts";
import type { DraftRecord } from "./draft-records.ts";
import { Landing, type LandingContext, type LandingParts } from "./landing.ts";

/** Bounds of what waits for one agent; a landed draft keeps what it replaced, for undo, until these are reached. */
const keptDraftsMax = 64;
const keptBytesMax = 2 * 1_073_741_824;
const keptInodesMax = 400_000;
const undoDraftsMax = 100;
const undoBytesMax = 1_073_741_824;

export interface DraftLifecycleParts extends LandingParts {
  /** For a person who agreed: what the agent's record grants now. Null where the agent is gone. */
  agreedContext(record: DraftRecord, agreed: Level): LandingContext | null;
  /** What names are to the person's tools, for an undo, which restores names. */
  classifier(record: DraftRecord): LandingContext["classifier"];
  note(line: string): void;
}

export class DraftLifecycle {
  readonly #parts: DraftLifecycleParts;
  readonly #landing: Landing;
  /** Drafts whose command, or whose landing after it, is not over. */
  readonly #running = new Set<string>();

  constructor(parts: DraftLifecycleParts) {
    this.#parts = parts;
    this.#landing = new Landing(parts);
  }

  /** Why no writable command of this owner runs now; null where one may. */
  refusalFor(owner: string): RunRefused | null {
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
      message: `${kept.length} drafts of this agent wait for a person; no command that writes runs before some are landed or discarded`,
      fix: "ambit changes list",
    };
  }

  begin(record: DraftRecord): void {
    this.#running.add(record.draft);
    this.#parts.records.begin(record);
  }

  /** Its command changed nothing, and its folder is gone. */
  forget(id: string): void {
    this.#running.delete(id);
    this.#parts.records.forget(id);
  }

  /** After its command: lands what may land, and says what became of everything. Never throws. */
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
      const reason = `it could not be carried over: ${error instanceof Error ? error.message : String(error)}`;
      this.#parts.note(`draft ${record.draft}: ${reason}`);
      try {
        const kept = await this.#parts.workers.during(record.root, () => this.#recover(record, reason));
        if (kept !== null) return kept;
      } catch (again) {
        this.#parts.note(`draft ${record.draft}: its end cannot be recorded: ${String(again)}`);
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
    }
  }

  /** Keeps a sealed draft as it is, each name for its reason: nothing of it lands before a person says so. */
  async keep(record: DraftRecord, kept: readonly KeptChange[]): Promise<ChangesReport> {
    try {
      return await this.#locked(record.root, () => this.#landing.keepEach(record, kept));
    } finally {
      this.#running.delete(record.draft);
    }
  }

  /**
   * Of a draft that is over and whose maker keeps what did not land: kind and path of that, with its code. Null where nothing
   * of it landed. What landed can still be undone.
   */
  async dropKept(id: string): Promise<ReadonlyMap<string, string> | null> {
    const { records, lock } = this.#parts;
    const found = records.read(id);
    // A draft without changes is gone by now.
    if (found === null) return new Map();
    return lock.run(found.root, async () => {
      const record = records.read(id);
      if (record === null) return new Map();
      if (record.state === "broken") return null;
      const kept = records.keptPaths(id);
      if (record.landings.length === 0 && record.repositories.length === 0) await this.#parts.remove(id);
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

  async show(id: string): Promise<Answer<DraftShown>> {
    const record = this.#parts.records.find(id);
    return record === null ? unknown(id) : this.#parts.workers.during(record.root, () => this.#show(record));
  }

  async #show(record: DraftRecord): Promise<Answer<DraftShown>> {
    const isWaiting = record.state === "kept" || record.state === "broken";
    const waiting = isWaiting ? await this.#landing.scanUnlanded(record) : null;
    if (waiting !== null && !waiting.ok) return refuse("not_landed", waiting.message);
    const changes = waiting?.scan.changes ?? [];
    const differences = await differencesOf(this.#parts.workers, record, changes);
    const digest = waiting === null ? "" : digestOf(record, waiting.scan);
    const more = changes.length - differences.length;
    return { ok: true, value: { summary: summaryOf(record), differences, digest, more } };
  }

  /** Under the lock everything is looked at again: two people may answer at once. */
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
      if (context === null)
        return refuse("not_landed", `there is no agent ${record.agent} any more that it could land for`);
      try {
        const report = await this.#landing.land({ ...record, needsReview: false }, context);
        const now = records.read(record.draft) ?? { ...record, state: "landed", kept: [], keptMore: 0 };
        return { ok: true, value: { summary: summaryOf(now), landed: report.landed } };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        await this.#recover(record, `its landing was interrupted: ${reason}`);
        return refuse("not_landed", reason, `ambit changes show ${id}`);
      }
    });
  }

  #unlandable(record: DraftRecord): Refusal | null {
    const { draft, state, isSealed } = record;
    if (state !== "kept") return refuse("not_landed", `nothing of ${draft} waits: it is ${state}`);
    if (isSealed) return null;
    const folder = this.#parts.records.folderOf(draft);
    return refuse("not_landed", `${UNSEALED}, so it never lands; its files are in ${folder}/upper`);
  }

  async discard(id: string): Promise<Answer<{ readonly summary: DraftSummary }>> {
    const { records, lock } = this.#parts;
    const found = records.find(id);
    if (found === null) return unknown(id);
    if (this.#running.has(found.draft)) return refuse("not_landed", "its command still runs", "ambit stop <agent>");
    return lock.run(found.root, async () => {
      const record = records.read(found.draft);
      if (record === null) return unknown(id);
      if (record.state === "broken")
        return refuse(
          "not_landed",
          `its landing was interrupted and it may hold originals of the project: look into ${records.folderOf(record.draft)} and remove it by hand`,
        );
      await this.#parts.remove(record.draft);
      return { ok: true, value: { summary: summaryOf(record) } };
    });
  }

  /** Everything that a call landed, the newest part first. Nothing is taken back where something was edited since. */
  async undo(id: string): Promise<Answer<{ readonly summary: DraftSummary }>> {
    const { records } = this.#parts;
    const landed = records
      .list()
      .filter(({ draft, call, landings }) => landings.length > 0 && (draft === id || call === id));
    const [first] = landed;
    if (first === undefined)
      return records.find(id) === null
        ? unknown(id)
        : refuse("not_landed", `nothing of ${id} landed that could be undone`);
    let count = 0;
    for (const { draft, root } of landed) {
      const undone = await this.#locked(root, async (): Promise<Answer<{ readonly landed: number }>> => {
        const record = records.read(draft);
        if (record === null || record.landings.length === 0) return { ok: true, value: { landed: 0 } };
        const answer = await this.#undo(record);
        return answer.ok ? { ok: true, value: { landed: record.landed } } : answer;
      });
      if (!undone.ok) return undone;
      count += undone.value.landed;
    }
    return { ok: true, value: { summary: { ...summaryOf(first), state: "undone", landed: count } } };
  }

  async #undo(record: DraftRecord): Promise<Answer<object>> {
    const { records, workers } = this.#parts;
    const worker = await workers.at(record);
    if (!worker.ok) return worker;
    if (record.repositories.length > 0)
      return refuse(
        "not_landed",
        `commits or refs of it landed in ${record.repositories.join(", ")}, and an undo takes back files alone; nothing was undone`,
        "git revert, or git reset with the old value from git reflog",
      );
    const trigger = await this.#restoredTrigger(record);
    if (trigger !== null) return refuse("self_modification", `${trigger}; nothing was undone`);
    const landings = [...record.landings];
    // Until its end is recorded an undo counts as interrupted.
    records.write({ ...record, state: "running" });
    for (let landing = landings.pop(); landing !== undefined; landing = landings.pop()) {
      const result = await worker.value.undo(record.draft, landing);
      if (result.status === "lost" || result.status === "stuck") {
        await this.#recover({ ...record, landings: [...landings, landing] }, "its undo was interrupted");
        return refuse("not_landed", "the undo was interrupted", `ambit changes show ${record.draft}`);
      }
      if (result.status !== "undone") {
        records.write({ ...record, landings: [...landings, landing] });
        if (result.status === "refused") return refuse("not_landed", result.reason);
        const names = result.conflicts.listed.slice(0, 5).map(({ path }) => path);
        return refuse("draft_conflict", `changed since: ${names.join(", ")}; nothing of that landing was undone`);
      }
      const state = record.kept.length > 0 ? "kept" : landings.length > 0 ? "landed" : "undone";
      records.write({ ...record, state, landings: [...landings], landed: landings.length === 0 ? 0 : record.landed });
    }
    return { ok: true, value: {} };
  }

  /** What came back by an undo is a name like any other: it may complete a trigger that was harmless without it. */
  async #restoredTrigger(record: DraftRecord): Promise<string | null> {
    const steps = this.#parts.records.steps(record.draft);
    if (steps === null) return "what it would restore is not known";
    const restored = steps.flatMap(({ path, base }): Change[] =>
      base === null || base === "other"
        ? []
        : base === "folder"
          ? [{ kind: "folder", path, base: null }]
          : [{ kind: "file", path, bytes: 0, isExecutable: false, base: null }],
    );
    const classify = await this.#parts.classifier(record)(restored);
    for (const change of restored) {
      const found = classify(change);
      if (found.class === "never") return `it would restore ${change.path.join("/")}: ${found.why}`;
      if (found.class === "git") return `it would restore ${change.path.join("/")}, which is in a git folder`;
    }
    return null;
  }

  /** Before anything runs: what a crash interrupted is rolled back or finished, and what a command left is kept. */
  async recover(): Promise<void> {
    const { records, note } = this.#parts;
    for (const id of records.ids()) {
      const record = records.read(id);
      // A record that cannot be read is no reason to lose what the draft holds, which may be originals of the project.
      if (record === null && !records.isUnused(id)) {
        note(`draft ${id}: its record cannot be read; what it holds stays in the state folder`);
        continue;
      }
      // Prepared and never used: nothing ran in it.
      if (record === null) {
        await this.#parts.remove(id).catch((error: unknown) => note(`draft ${id} cannot be removed: ${String(error)}`));
        continue;
      }
      if (record.state !== "running" && record.state !== "broken") continue;
      await this.#parts.workers
        .during(record.root, () => this.#recover(record, "ambit was interrupted while the command ran"))
        .catch((error: unknown) => note(`draft ${id} cannot be recovered: ${String(error)}`));
    }
  }

  /** One work at a time on a root; its lander has ended when this returns. */
  #locked<T>(root: string, work: () => Promise<T>): Promise<T> {
    const { lock, workers } = this.#parts;
    return lock.run(root, () => workers.during(root, work));
  }

  /** Rolls back or finishes what was interrupted, and keeps the rest. Null where a person has to look. */
  async #recover(record: DraftRecord, reason: string): Promise<ChangesReport | null> {
    const { records, workers, git, note } = this.#parts;
    await git.recover(record.draft, note);
    const worker = await workers.at(record);
    const recovered = worker.ok ? await worker.value.recover(record.draft) : null;
    if (recovered?.status !== "recovered") {
      records.write({ ...record, state: "broken" });
      note(
        `draft ${record.draft}: an interrupted landing could not be recovered; see ambit changes show ${record.draft}`,
      );
      return null;
    }
    const landings = recovered.landings.filter(({ state }) => state === "done").map(({ number }) => number);
    const isLanded = landings.length > record.landings.length;
    const told = isLanded ? `${reason}; its files had landed by then, what else it changed did not` : reason;
    return this.#landing.keepAll({ ...record, landings }, told);
  }

  /** What landed can be undone as long as there is room for it; the oldest goes first. Of the root that is locked alone. */
  async #prune(owner: string, root: string): Promise<void> {
    const { records, remove, note } = this.#parts;
    let bytes = 0;
    let count = 0;
    for (const record of records.list()) {
      if (record.owner !== owner || (record.state !== "landed" && record.state !== "undone")) continue;
      bytes += record.bytes;
      count++;
      if (record.root !== root || (count <= undoDraftsMax && bytes <= undoBytesMax)) continue;
      await remove(record.draft).catch((error: unknown) => note(`draft ${record.draft} stays: ${String(error)}`));
    }
  }
}

const UNSEALED = "it is not certain that its sandbox has ended";
const CHANGED_SINCE_SHOWN = "the draft or the project changed since it was shown";

const listedCharactersMax = 8_192;

/** In a list each draft shows some of what it keeps, so that many drafts fit into one answer. */
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

/** Of every name that would change, its size and what the project has there. The contents of a sealed draft do not change. */
function digestOf({ draft, start }: DraftRecord, { changes }: DraftScan): string {
  const text = JSON.stringify([draft, start, changes], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return sha256(text);
}

function unknown(id: string): Refusal {
  return refuse(
    "unknown_draft",
    `there is no draft ${id}, and no call of that id that made one`,
    "ambit changes list --all",
  );
}

function refuse(code: string, message: string, fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}
