// Rows of tasks and schedules.
import type { Schedule } from "../../core/ports/stores/schedule-store.ts";
import type { Task } from "../../core/ports/stores/task-store.ts";
import type { Connection } from "../connection.ts";
import { jsonOf } from "../memory/memory-text.ts";

const openMax = 20_000;

/** No further task is queued. */
export function isFull(connection: Connection): boolean {
  const [row] = connection.all("SELECT count(*) AS count FROM task WHERE state IN ('queued', 'running', 'parked')");
  return Number(row?.["count"]) >= openMax;
}

const activeMax = 1000;

/** No further schedule is added. */
export function isScheduleFull(connection: Connection): boolean {
  const [row] = connection.all("SELECT count(*) AS count FROM schedule WHERE is_ended = 0");
  return Number(row?.["count"]) >= activeMax;
}

export function readTask(connection: Connection, id: string): Task | null {
  const [row] = connection.all("SELECT body FROM task WHERE id = ?", jsonOf(id));
  return row === undefined ? null : taskOf(row);
}

export function writeTask(connection: Connection, task: Task): void {
  const { id, workspace, agent, state, created, due, waitsFor } = task;
  connection.run(
    "INSERT OR REPLACE INTO task (id, workspace, agent, state, created, due, approval, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ...[jsonOf(id), jsonOf(workspace), jsonOf(agent), state, created, due, waitsFor?.approval ?? null],
    JSON.stringify(task),
  );
}

export function taskOf(row: Readonly<Record<string, unknown>>): Task {
  // Rows of earlier versions have none of these.
  const { payers = [], started = null, origin = null, ...task } = JSON.parse(String(row["body"])) as Task;
  return { ...task, payers, started, origin, requested: task.requested ?? [], notes: task.notes ?? [] };
}

export function readSchedule(connection: Connection, id: string): Schedule | null {
  const [row] = connection.all("SELECT body FROM schedule WHERE id = ?", jsonOf(id));
  return row === undefined ? null : scheduleOf(row);
}

export function writeSchedule(connection: Connection, schedule: Schedule): void {
  const { id, workspace, created, isEnded, isPaused, floor, after, pending, when } = schedule;
  // Files are looked at all the time, and requests that wait are due.
  const next = when.startsWith("on file ") || pending !== undefined ? 0 : schedule.next;
  connection.run(
    "INSERT OR REPLACE INTO schedule (id, workspace, created, is_ended, due, floor, follows, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ...[jsonOf(id), jsonOf(workspace), created, isEnded || isPaused === true ? 1 : 0, next, floor],
    ...[after === null ? null : jsonOf(after), JSON.stringify(schedule)],
  );
}

export function scheduleOf(row: Readonly<Record<string, unknown>>): Schedule {
  return JSON.parse(String(row["body"])) as Schedule;
}
