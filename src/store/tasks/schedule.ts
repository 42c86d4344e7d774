// Schedules in the database. INVARIANT: a schedule that fires, its task and the entries about both are in one commit.
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type {
  DueSchedule,
  FollowedTask,
  Schedule,
  ScheduleChange,
  ScheduleFacts,
  ScheduleStep,
  ScheduleStore,
} from "../../core/ports/stores/schedule-store.ts";
import type { CommitLoop } from "../commit-loop.ts";
import type { Connection } from "../connection.ts";
import { appendEntry } from "../log/append.ts";
import { jsonOf } from "../memory/memory-text.ts";
import { isFull, isScheduleFull, readSchedule, readTask, scheduleOf, writeSchedule, writeTask } from "./task-rows.ts";

/** `due`: the earliest wall-clock time with something to do; `floor`: the latest one below which there is. */
export const scheduleTables: string = `
CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  workspace TEXT NOT NULL,
  created INTEGER NOT NULL,
  is_ended INTEGER NOT NULL,
  due INTEGER,
  floor INTEGER,
  follows TEXT,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schedule_workspace ON schedule (workspace, is_ended);
`;

/** Schedules that have ended and are the oldest make room for new ones. */
const endedKeptMax = 1000;

export class SqliteScheduleStore implements ScheduleStore {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  add(schedule: Schedule, entry: LogEntry): Durable<boolean> {
    return this.#loop.write(
      (connection) => {
        if (isScheduleFull(connection)) return false;
        appendEntry(connection, entry);
        writeSchedule(connection, schedule);
        return true;
      },
      Buffer.byteLength(JSON.stringify(schedule)),
    );
  }

  get(id: string): Durable<Schedule | null> {
    return this.#loop.read((connection) => readSchedule(connection, id));
  }

  list(workspace: string | null): Durable<readonly Schedule[]> {
    return this.#loop.read((connection) =>
      connection
        .all(
          "SELECT body FROM schedule WHERE ?1 IS NULL OR workspace = ?1 ORDER BY created DESC, id DESC",
          workspace === null ? null : jsonOf(workspace),
        )
        .map(scheduleOf),
    );
  }

  due(workspace: string, wall: number): Durable<readonly DueSchedule[]> {
    return this.#loop.read((connection) =>
      connection
        .all(
          `SELECT body FROM schedule WHERE workspace = ?1 AND is_ended = 0 AND (follows IS NOT NULL OR due <= ?2 OR floor > ?2)
           ORDER BY follows IS NULL, due, id`,
          jsonOf(workspace),
          wall,
        )
        .map(scheduleOf)
        .map((schedule) => ({ schedule, facts: factsOf(connection, schedule) })),
    );
  }

  change(
    id: string,
    change: ScheduleChange,
    entries: (step: ScheduleStep) => readonly LogEntry[],
  ): Durable<ScheduleStep | null> {
    return this.#loop.write((connection) => {
      const before = readSchedule(connection, id);
      const step = before === null ? null : change(before, factsOf(connection, before));
      if (step === null || (step.task !== null && isFull(connection))) return null;
      for (const entry of entries(step)) appendEntry(connection, entry);
      writeSchedule(connection, step.schedule);
      if (step.task !== null) writeTask(connection, step.task);
      if (step.schedule.isEnded) prune(connection);
      return step;
    });
  }

  remove(id: string, entry: (schedule: Schedule) => LogEntry): Durable<Schedule | null> {
    return this.#loop.write((connection) => {
      const before = readSchedule(connection, id);
      if (before === null) return null;
      appendEntry(connection, entry(before));
      connection.run("DELETE FROM schedule WHERE id = ?", jsonOf(id));
      return before;
    });
  }
}

function factsOf(connection: Connection, { lastTask, after }: Schedule): ScheduleFacts {
  return {
    last: lastTask === null ? null : readTask(connection, lastTask),
    followed: after === null ? null : followedIn(connection, after),
  };
}

function followedIn(connection: Connection, id: string): FollowedTask | null {
  const task = readTask(connection, id);
  if (task !== null) return { task, isLast: true };
  const schedule = readSchedule(connection, id);
  if (schedule === null) return null;
  const { lastTask, isEnded } = schedule;
  return { task: lastTask === null ? null : readTask(connection, lastTask), isLast: isEnded };
}

function prune(connection: Connection): void {
  connection.run(
    `DELETE FROM schedule WHERE is_ended = 1 AND created < (
      SELECT created FROM schedule WHERE is_ended = 1 ORDER BY created DESC LIMIT 1 OFFSET ?)`,
    endedKeptMax,
  );
}
