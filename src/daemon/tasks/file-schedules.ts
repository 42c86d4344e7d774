// Schedules that are triggers of an org file: stored as the file has them, before a runner claims and before they are shown.
// INVARIANT: a trigger is one schedule, with an id made of its workspace and its name: no kill and no second runner doubles it.
import { SerialQueue } from "../../core/base/serial-queue.ts";
import type { WaitingTrigger } from "../../core/ports/daemon/task-messages.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { Schedule } from "../../core/ports/stores/schedule-store.ts";
import {
  changedSchedule,
  NO_TRIGGERS,
  type OrgTriggers,
  pausedSchedule,
  removedSchedules,
  type WrittenTrigger,
} from "../../org/schedules/file-schedule.ts";
import type { DaemonParts } from "../parts.ts";
import { newSchedule } from "./new-schedule.ts";

const timeoutMilliseconds = 3_600_000;
const attemptsMax = 3;
/** What hinders a trigger besides the file, a secret for example, is looked at again after this. */
const againMilliseconds = 2000;
const idCharacters = 20;
const workspacesMax = 256;

type EntryOf = (schedule: Schedule, change: string) => LogEntry;
type Waiting = readonly WaitingTrigger[];

interface SyncResult {
  /** The texts of the triggers that were stored. */
  readonly text: string;
  readonly at: number;
  readonly lines: Readonly<Record<string, string>>;
  readonly waiting: Waiting;
}

const NOTHING: SyncResult = { text: "", at: 0, lines: {}, waiting: [] };

export type FileSchedulesParts = Parameters<typeof newSchedule>[0] & Pick<DaemonParts, "records" | "redacting">;

export class FileSchedules {
  readonly #parts: FileSchedulesParts;
  readonly #entry: EntryOf;
  readonly #results = new Map<string, SyncResult>();
  readonly #queue = new SerialQueue();

  constructor(parts: FileSchedulesParts, entry: EntryOf) {
    this.#parts = parts;
    this.#entry = entry;
  }

  /** Of one workspace, or of all that have schedules of an org file. */
  async read(workspace: string | null): Promise<Pick<SyncResult, "lines" | "waiting">> {
    if (workspace !== null) return this.sync(workspace);
    const found = await this.#parts.stores.schedules.list(null);
    const ours = (found.ok ? found.value : []).filter(({ trigger }) => trigger !== undefined);
    const all: Pick<SyncResult, "lines" | "waiting">[] = [];
    for (const one of new Set(ours.map((schedule) => schedule.workspace))) all.push(await this.sync(one));
    return {
      lines: Object.assign({}, ...all.map(({ lines }) => lines)) as SyncResult["lines"],
      waiting: all.flatMap(({ waiting }) => waiting),
    };
  }

  /** One after the other: two that run at once would store a change twice. */
  sync(workspace: string): Promise<Pick<SyncResult, "lines" | "waiting">> {
    return this.#queue.run(() => this.#sync(workspace));
  }

  async #sync(workspace: string): Promise<SyncResult> {
    const { records, stores, wall } = this.#parts;
    const written = records.orgTriggers?.(workspace) ?? NO_TRIGGERS;
    const text = JSON.stringify(written);
    const before = this.#results.get(workspace);
    const isDone = before?.waiting.length === 0 || Math.abs(wall() - (before?.at ?? 0)) < againMilliseconds;
    if (before?.text === text && isDone) return before;
    const listed = await stores.schedules.list(workspace);
    if (!listed.ok) return NOTHING;
    const stored = listed.value.filter(({ trigger }) => trigger !== undefined);
    for (const one of removedSchedules(stored, written))
      await stores.schedules.remove(one.id, (schedule) => this.#entry(schedule, "removed"));
    const byName = new Map(stored.map((one) => [one.trigger?.name ?? "", one]));
    const waiting: WaitingTrigger[] = [];
    // A trigger that follows another one needs its id, and that it is stored.
    for (const trigger of inOrder(written)) {
      const schedule = byName.get(trigger.name) ?? null;
      const why = written.problem ?? trigger.hindrance ?? (await this.#store(workspace, trigger, schedule));
      if (why === null) continue;
      waiting.push({ name: trigger.name, line: trigger.line, why });
      if (schedule !== null) await this.#change(schedule, "paused", (one) => pausedSchedule(one, why));
    }
    // Which of them the file still has cannot be read from it.
    const named = new Set(written.triggers.map(({ name }) => name));
    for (const one of written.problem === null ? [] : stored.filter(({ trigger }) => !named.has(trigger?.name ?? "")))
      await this.#change(one, "paused", (known) => pausedSchedule(known, written.problem ?? ""));
    const lines = Object.fromEntries(written.triggers.map(({ name, line }) => [this.#idOf(workspace, name), line]));
    const result: SyncResult = { text, at: wall(), lines, waiting };
    if (this.#results.size >= workspacesMax) this.#results.clear();
    this.#results.set(workspace, result);
    return result;
  }

  /** Adds it, or changes it to what is written. Why it cannot be, as a sentence; null if it is stored. */
  async #store(workspace: string, trigger: WrittenTrigger, stored: Schedule | null): Promise<string | null> {
    const { stores, redacting } = this.#parts;
    const { name, agent, missed, prompt, after } = trigger;
    const when = trigger.when ?? `after ${this.#idOf(workspace, after ?? "")}`;
    if (redacting.known !== null && redacting.text(prompt) !== prompt)
      return "its text contains the value of a secret: write the secret's name instead";
    const digest = this.#parts.digest(JSON.stringify([agent, when, missed, prompt]));
    if (stored?.trigger?.digest === digest) {
      if (stored.isPaused !== true) return null;
      return this.#change(stored, "resumed", ({ isPaused, ...one }) => (isPaused ? { ...one, reason: "" } : null));
    }
    const id = this.#idOf(workspace, name);
    const made = await newSchedule(
      this.#parts,
      {
        ...{ agent: agent ?? "", workspace, when, missed, prompt, argv: null, timeoutMilliseconds, attemptsMax },
        trigger: { name, digest },
      },
      id,
    );
    if (!made.ok) return made.fix === null ? made.message : `${made.message}: ${made.fix}`;
    if (stored !== null) return this.#change(stored, "changed", (one) => changedSchedule(one, made.value));
    const kept = await stores.schedules.add(made.value, this.#entry(made.value, "added"));
    if (!kept.ok) return kept.message;
    return kept.value ? null : "there are too many schedules: ambit schedules remove";
  }

  async #change(
    { id }: Schedule,
    word: string,
    change: (schedule: Schedule) => Schedule | null,
  ): Promise<string | null> {
    const changed = await this.#parts.stores.schedules.change(
      id,
      (one) => {
        const schedule = change(one);
        return schedule === null ? null : { schedule, task: null };
      },
      ({ schedule }) => [this.#entry(schedule, word)],
    );
    return changed.ok ? null : changed.message;
  }

  #idOf(workspace: string, name: string): string {
    return `h_${this.#parts.digest(JSON.stringify([workspace, name])).slice(0, idCharacters)}`;
  }
}

function inOrder({ triggers }: OrgTriggers): readonly WrittenTrigger[] {
  const depths = new Map<string, number>();
  const byName = new Map(triggers.map((one) => [one.name, one]));
  for (const { name } of triggers) {
    let depth = 0;
    for (let next = byName.get(name)?.after ?? null; next !== null && depth <= triggers.length; depth++)
      next = byName.get(next)?.after ?? null;
    depths.set(name, depth);
  }
  return [...triggers].sort((left, right) => (depths.get(left.name) ?? 0) - (depths.get(right.name) ?? 0));
}
