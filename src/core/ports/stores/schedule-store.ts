// Storage of schedules: what queues tasks at a time, or after an event. INVARIANT: a schedule that fires and its task are in one
// commit, so no kill doubles or loses a task.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";
import type { Task } from "./task-store.ts";

export const MISSED = ["once", "skip"] as const;
/** What becomes of times that passed while no runner was there: one task for all of them, or none. */
export type Missed = (typeof MISSED)[number];

/** Many requests are one task, which is given the last body. */
export interface PendingRequests {
  readonly count: number;
  readonly body: string;
}

/** What the files of an `on file` schedule look like now. */
export interface FileState {
  /** Null: there are too many to look at. */
  readonly state: string | null;
  /** They were the same at the look before. */
  readonly isSettled: boolean;
  /** Nothing looked at them for longer than a moment. */
  readonly isMissed: boolean;
}

/** A trigger that a schedule comes from. */
export interface FileTrigger {
  readonly name: string;
  /** Of what it says: with another one the schedule is changed. */
  readonly digest: string;
}

export interface Schedule {
  readonly id: string;
  readonly workspace: string;
  readonly agent: string;
  /** `every 30m`, `cron 0 9 * * 1-5`, `at 2030-01-31T09:00`, `after ID`, `on file docs/**`, `on webhook deploy`. */
  readonly when: string;
  /** The zone of its times: the one that `when` names, or the machine's when it was added. */
  readonly zone: string;
  readonly missed: Missed;
  readonly prompt: string;
  /** An agent made it: what it had read is in its words. */
  readonly isByAgent?: boolean;
  /** Of an agent's schedule: who pays for its tasks besides the agent, and how deep in delegations they are. */
  readonly payers?: readonly string[];
  readonly depth?: number;
  /** Of a trigger of the org file, which alone changes and removes it. */
  readonly trigger?: FileTrigger;
  /** Its trigger is not in effect at the moment: it starts nothing. */
  readonly isPaused?: boolean;
  readonly argv: readonly string[] | null;
  readonly timeoutMilliseconds: number;
  readonly attemptsMax: number;
  readonly created: number;
  /** The wall-clock time of the next task; null if no clock decides, and after the last one. */
  readonly next: number | null;
  /** A wall clock that shows less than this was put back: `next` is computed again. Null: never. */
  readonly floor: number | null;
  /** The id of the task or of the schedule that it follows. */
  readonly after: string | null;
  /** The last task of the followed schedule that it has seen; of `on file` the state of the files. */
  readonly seen: string | null;
  /** Of `on file`: its last task whose own changes are part of `seen`. */
  readonly absorbed?: string;
  /** Of `on webhook`: requests that no task was queued for yet. */
  readonly pending?: PendingRequests;
  /** Of `on webhook`: signatures that were accepted lately, with their times in seconds. None of them is accepted again. */
  readonly accepted?: readonly (readonly [at: number, signature: string])[];
  readonly isEnded: boolean;
  /** Tasks that it queued. */
  readonly count: number;
  readonly lastTask: string | null;
  /** Why it is as it is, as a sentence. */
  readonly reason: string;
}

/** What it follows: the task, or the last one of the schedule. */
export interface FollowedTask {
  /** Null before the first one. */
  readonly task: Task | null;
  /** There will be no other one. */
  readonly isLast: boolean;
}

/** Inside the transaction: the schedule's own last task, and what it follows; null for what is gone. */
export interface ScheduleFacts {
  readonly last: Task | null;
  readonly followed: FollowedTask | null;
}

export interface DueSchedule {
  readonly schedule: Schedule;
  readonly facts: ScheduleFacts;
}

export interface ScheduleStep {
  readonly schedule: Schedule;
  readonly task: Task | null;
}

/** Null: leave it as it is. It runs inside the transaction, and may run twice. */
export type ScheduleChange = (schedule: Schedule, facts: ScheduleFacts) => ScheduleStep | null;

export interface ScheduleStore {
  /** False if there are too many. */
  add(schedule: Schedule, entry: LogEntry): Durable<boolean>;
  get(id: string): Durable<Schedule | null>;
  /** The newest first. */
  list(workspace: string | null): Durable<readonly Schedule[]>;
  /** Schedules of a workspace that may have something to do: first those that follow others. */
  due(workspace: string, wall: number): Durable<readonly DueSchedule[]>;
  /** Null if there is no such schedule, or if it was left as it is. With too many open tasks nothing is changed. */
  change(
    id: string,
    change: ScheduleChange,
    entries: (step: ScheduleStep) => readonly LogEntry[],
  ): Durable<ScheduleStep | null>;
  /** Its tasks stay. Null if there is no such schedule. */
  remove(id: string, entry: (schedule: Schedule) => LogEntry): Durable<Schedule | null>;
}
