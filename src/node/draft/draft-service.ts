// Drafts over their whole life: begun with a command, landed or kept at its end, shown to people, landed, discarded or
// undone by them, and brought to an end after a crash.
import type { ChangesReport, DraftDifference, DraftShown, DraftSummary } from "../../ports/drafts.ts";
import type { Answer, Refusal } from "../../ports/exchange.ts";
import type { RunRefused } from "../../ports/process.ts";
import type { Change, DraftScan } from "../../sandbox/draft/change.ts";
import { sha256 } from "../digest.ts";
import type { DraftRecord } from "./draft-records.ts";
import { Landing, type LandingContext, type LandingParts } from "./landing.ts";

/** Bounds of what waits for one agent; a landed draft keeps what it replaced, for undo, until these are reached. */
const keptDraftsMax = 64;
const keptBytesMax = 2 * 1_073_741_824;
const keptInodesMax = 400_000;
const undoDraftsMax = 100;
const undoBytesMax = 1_073_741_824;

const shownFilesMax = 200;
const shownFileBytesMax = 131_072;
const shownBytesMax = 3 * 1_048_576;

export interface DraftServiceParts extends LandingParts {
  /** For a person who agreed: what the agent's record grants now. Null where the agent is gone. */
  agreedContext(record: DraftRecord): LandingContext | null;
}

export class DraftService {
  readonly #parts: DraftServiceParts;
  readonly #landing: Landing;

  constructor(parts: DraftServiceParts) {
    this.#parts = parts;
    this.#landing = new Landing(parts);
  }

  /** Why no writable command of this owner runs now; null where one may. */
  refusalFor(owner: string): RunRefused | null {
    const kept = this.#parts.records.list().filter((one) => one.owner === owner && one.state === "kept");
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
    this.#parts.records.begin(record);
  }

  /** Its command changed nothing, and its folder is gone. */
  forget(id: string): void {
    this.#parts.records.forget(id);
  }

  /** After its command: lands what may land, and says what became of everything. Never throws. */
  async finish(record: DraftRecord, isSealed: boolean, context: LandingContext): Promise<ChangesReport> {
    try {
      const report = isSealed
        ? await this.#landing.land(record, context)
        : await this.#landing.keepAll(record, "its sandbox could not be ended for certain");
      this.#prune(record.owner);
      return report;
    } catch (error) {
      const reason = `it could not be carried over: ${error instanceof Error ? error.message : String(error)}`;
      this.#parts.note(`draft ${record.draft}: ${reason}`);
      return {
        draft: record.draft,
        root: record.root,
        landed: 0,
        paths: [],
        kept: [{ path: ".", kind: "write", code: "not_landed", reason }],
        keptMore: 0,
      };
    }
  }

  list(all: boolean): readonly DraftSummary[] {
    return this.#parts.records
      .list()
      .filter(({ state }) => all || state === "kept" || state === "broken")
      .map(summaryOf);
  }

  async show(id: string): Promise<Answer<DraftShown>> {
    const record = this.#parts.records.find(id);
    if (record === null) return unknown(id);
    const isWaiting = record.state === "kept" || record.state === "broken";
    const waiting = isWaiting ? await this.#landing.waiting(record) : null;
    if (waiting !== null && !waiting.ok) return refuse("not_landed", waiting.message);
    const changes = waiting?.scan.changes ?? [];
    const differences: DraftDifference[] = [];
    let bytes = 0;
    for (const change of changes.slice(0, shownFilesMax)) {
      const one = await this.#difference(record, change);
      bytes += (one.before?.length ?? 0) + (one.after?.length ?? 0);
      if (bytes > shownBytesMax) break;
      differences.push(one);
    }
    const digest = waiting === null ? "" : digestOf(record, waiting.scan);
    const more = changes.length - differences.length;
    return { ok: true, value: { summary: summaryOf(record), differences, digest, more } };
  }

  async land(
    id: string,
    digest: string | null,
  ): Promise<Answer<{ readonly summary: DraftSummary; readonly landed: number }>> {
    const record = this.#parts.records.find(id);
    if (record === null) return unknown(id);
    if (record.state !== "kept") return refuse("not_landed", `nothing of ${id} waits: it is ${record.state}`);
    const waiting = await this.#landing.waiting(record);
    if (!waiting.ok) return refuse("not_landed", waiting.message);
    if (digest !== null && digest !== digestOf(record, waiting.scan))
      return refuse(
        "draft_conflict",
        "the draft or the project changed since it was shown",
        `ambit changes show ${id}`,
      );
    const context = this.#parts.agreedContext(record);
    if (context === null)
      return refuse("not_landed", `there is no agent ${record.agent} any more that it could land for`);
    const report = await this.#landing.land({ ...record, isReviewed: false }, context);
    const now = this.#parts.records.read(record.draft) ?? record;
    return { ok: true, value: { summary: summaryOf(now), landed: report.landed } };
  }

  async discard(id: string): Promise<Answer<{ readonly summary: DraftSummary }>> {
    const { records, lock } = this.#parts;
    const record = records.find(id);
    if (record === null) return unknown(id);
    if (record.state === "running") return refuse("not_landed", "its command still runs", "ambit stop <agent>");
    await lock.run(record.root, () => this.#parts.remove(record.draft));
    return { ok: true, value: { summary: summaryOf(record) } };
  }

  /** Everything that a call landed, the newest part first. Nothing is taken back where something was edited since. */
  async undo(id: string): Promise<Answer<{ readonly summary: DraftSummary }>> {
    const { records, lock } = this.#parts;
    const landed = records
      .list()
      .filter(({ draft, call, landings }) => landings.length > 0 && (draft === id || call === id));
    const [first] = landed;
    if (first === undefined)
      return records.find(id) === null
        ? unknown(id)
        : refuse("not_landed", `nothing of ${id} landed that could be undone`);
    let count = 0;
    for (const record of landed) {
      const undone = await lock.run(record.root, () => this.#undo(record));
      if (!undone.ok) return undone;
      count += record.landed;
    }
    return { ok: true, value: { summary: { ...summaryOf(first), state: "undone", landed: count } } };
  }

  async #undo(record: DraftRecord): Promise<Answer<object>> {
    const { records, workers } = this.#parts;
    const worker = await workers.at(record);
    if (!worker.ok) return worker;
    const landings = [...record.landings];
    for (let landing = landings.pop(); landing !== undefined; landing = landings.pop()) {
      const result = await worker.value.undo(record.draft, landing);
      if (result.status === "refused" || result.status === "lost") return refuse("not_landed", result.reason);
      if (result.status !== "undone") {
        const names = result.conflicts.listed.slice(0, 5).map(({ path }) => path);
        return refuse("draft_conflict", `changed since: ${names.join(", ")}; nothing of that landing was undone`);
      }
      const state = record.kept.length > 0 ? "kept" : landings.length > 0 ? "landed" : "undone";
      records.write({ ...record, state, landings: [...landings], landed: landings.length === 0 ? 0 : record.landed });
    }
    return { ok: true, value: {} };
  }

  /** Before anything runs: what a crash interrupted is rolled back or finished, and what a command left is kept. */
  async recover(): Promise<void> {
    const { records, workers, note } = this.#parts;
    for (const id of records.ids()) {
      const record = records.read(id);
      // Prepared and never used: nothing ran in it.
      if (record === null) {
        await this.#parts.remove(id).catch((error: unknown) => note(`draft ${id} cannot be removed: ${String(error)}`));
        continue;
      }
      if (record.state !== "running" && record.state !== "broken") continue;
      const worker = await workers.at(record);
      const recovered = worker.ok ? await worker.value.recover(id) : null;
      if (recovered?.status !== "recovered") {
        records.write({ ...record, state: "broken" });
        note(`draft ${id}: an interrupted landing could not be recovered; see ambit changes show ${id}`);
        continue;
      }
      const landings = recovered.landings.filter(({ state }) => state === "done").map(({ number }) => number);
      await this.#landing.keepAll({ ...record, landings }, "ambit was interrupted while the command ran");
    }
  }

  async #difference(record: DraftRecord, change: Change): Promise<DraftDifference> {
    const path = change.path.join("/");
    const base = { path, isLanded: false, before: null, after: null };
    switch (change.kind) {
      case "folder":
        return { ...base, kind: "folder", note: null };
      case "link":
        return { ...base, kind: "link", note: `-> ${change.target}` };
      case "delete": {
        const before = change.base.kind === "file" ? await this.#text(record, "root", change.path) : NO_TEXT;
        return { ...base, kind: "delete", before: before.text, note: before.note };
      }
      case "file": {
        const after = await this.#text(record, "draft", change.path);
        const before = change.base?.kind === "file" ? await this.#text(record, "root", change.path) : NO_TEXT;
        const note = after.note ?? before.note ?? (change.isExecutable ? "executable" : null);
        const isText = after.note === null && before.note === null;
        return { ...base, kind: "write", before: isText ? before.text : null, after: isText ? after.text : null, note };
      }
      default:
        return change satisfies never;
    }
  }

  async #text(record: DraftRecord, side: "draft" | "root", path: readonly string[]): Promise<Text> {
    const worker = await this.#parts.workers.at(record);
    if (!worker.ok) return { text: null, note: worker.message };
    const read = await worker.value.read(record.draft, { side, path, offset: 0, bytesMax: shownFileBytesMax });
    if (read.status !== "read") return { text: null, note: read.reason };
    if (read.size > read.bytes.length) return { text: null, note: "too large to show" };
    try {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read.bytes);
      return text.includes("\0") ? { text: null, note: "binary" } : { text, note: null };
    } catch {
      return { text: null, note: "binary" };
    }
  }

  /** What landed can be undone as long as there is room for it; the oldest goes first. */
  #prune(owner: string): void {
    const { records, remove } = this.#parts;
    let bytes = 0;
    let count = 0;
    for (const record of records.list()) {
      if (record.owner !== owner || (record.state !== "landed" && record.state !== "undone")) continue;
      bytes += record.bytes;
      count++;
      if (count > undoDraftsMax || bytes > undoBytesMax) void remove(record.draft).catch(() => undefined);
    }
  }
}

interface Text {
  readonly text: string | null;
  readonly note: string | null;
}

const NO_TEXT: Text = { text: null, note: null };

function summaryOf(record: DraftRecord): DraftSummary {
  const { draft, state, agent, workspace, root, call, command, at, bytes, landed, kept, keptMore } = record;
  return { draft, state, agent, workspace, root, call, command, at, bytes, landed, kept, keptMore };
}

/** Of every name that would change and of what the project has there: a yes covers exactly this. */
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
