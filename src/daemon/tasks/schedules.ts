// Schedules at work: before each claim of a runner, what is due of its workspace is queued. No timer: without a runner no task
// would start, and a time that passes meanwhile is missed.
import type { JsonObject } from "../../core/base/json.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { Schedule, ScheduleStep } from "../../core/ports/stores/schedule-store.ts";
import type { Task } from "../../core/ports/stores/task-store.ts";
import { type Clocks, nextStep } from "../../org/schedules/schedule-life.ts";
import { type Entries, NO_ACTOR } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import { FileSchedules, type FileSchedulesParts } from "./file-schedules.ts";
import { WatchedFiles } from "./watched-files.ts";

export class Schedules {
  readonly file: FileSchedules;
  readonly #parts: Pick<DaemonParts, "stores" | "now" | "wall" | "zones" | "id" | "digest">;
  readonly #entries: Entries;
  readonly #files: WatchedFiles;

  constructor(parts: FileSchedulesParts, entries: Entries) {
    this.#parts = parts;
    this.#entries = entries;
    this.#files = new WatchedFiles(parts);
    this.file = new FileSchedules(parts, (schedule, change) => this.entry(schedule, change, null));
  }

  /** `onTask`: told of each task that was queued. */
  async fire(workspace: string, onTask: (task: Task) => void): Promise<void> {
    const { stores, now, wall, zones, id: newId } = this.#parts;
    await this.file.sync(workspace);
    const clocks: Clocks = { wall: wall(), now: now() };
    const due = await stores.schedules.due(workspace, clocks.wall);
    // Schedules of files are always due.
    if (due.ok) this.#files.retain(workspace, new Set(due.value.map(({ schedule }) => schedule.id)));
    for (const { schedule, facts } of due.ok ? due.value : []) {
      const zone = zones.named(schedule.zone);
      if (zone === null) continue;
      const task = newId("w");
      const files = await this.#files.scan(schedule);
      // Looked at first without a transaction: a schedule that waits for a task is due all the time.
      if (nextStep(schedule, facts, clocks, zone, task, files) === null) continue;
      const changed = await stores.schedules.change(
        schedule.id,
        (one, known) => nextStep(one, known, clocks, zone, task, files),
        (step) => this.#stepEntries(step),
      );
      if (changed.ok && changed.value !== null && changed.value.task !== null) onTask(changed.value.task);
    }
  }

  entry(schedule: Schedule, change: string, by: string | null): LogEntry {
    const { id, agent, workspace, when, zone, reason, lastTask, trigger } = schedule;
    return this.#entries.make("control", { ...NO_ACTOR, agent, workspace }, `schedule ${change}`, {
      more: {
        schedule: id,
        when,
        zone,
        reason,
        ...(change === "fired" ? { task: lastTask } : {}),
        ...triggerOf(trigger),
        ...byOf(by),
      },
    });
  }

  /** `name`: as the sender wrote it, which need not be that of a schedule. */
  refusedRequest(workspace: string, name: string, why: string): LogEntry {
    return this.#entries.make("control", { ...NO_ACTOR, workspace }, "webhook refused", { more: { name, why } });
  }

  #stepEntries({ schedule, task }: ScheduleStep): readonly LogEntry[] {
    const change = task !== null ? "fired" : schedule.isEnded ? "ended" : "moved";
    return [this.entry(schedule, change, null), ...(task === null ? [] : [taskEntry(this.#entries, task, null)])];
  }
}

/** `by`: the person who changed it; null for the daemon itself. */
export function taskEntry(entries: Entries, task: Task, by: string | null, more: JsonObject = {}): LogEntry {
  const { id, agent, workspace, state, attempts, generation, reason } = task;
  return entries.make("control", { ...NO_ACTOR, agent, workspace }, `task ${state}`, {
    more: { task: id, run: attempts, generation, reason, ...byOf(by), ...more },
  });
}

function triggerOf(trigger: Schedule["trigger"]): { readonly trigger?: string } {
  return trigger === undefined ? {} : { trigger: trigger.name };
}

function byOf(by: string | null): { readonly by?: string } {
  return by === null ? {} : { by };
}
