// The control messages about tasks and schedules.
import type { Schedule } from "../stores/schedule-store.ts";
import type { Task, TaskState } from "../stores/task-store.ts";

type AboutTask = { readonly asks: { readonly id: string }; readonly answers: { readonly task: Task } };

/** Names a claimed task in `call.run`: the daemon settles the task by how the program ended. */
export interface TaskRun {
  readonly id: string;
  readonly generation: number;
  /** Capabilities that the run has only if a person agrees. */
  readonly capabilities: readonly string[];
  /** Capabilities of its agent that ask, and those that are denied: what its requests are answered by. */
  readonly asks?: readonly string[];
  readonly denies?: readonly string[];
}

/** An agent that was hired: it has no text of its own. */
export interface HiredAgent {
  readonly role: string;
  readonly instructions: string;
  /** The agent of the org file that it was hired below: its client, its folder and its capabilities are those of that agent. */
  readonly member: string;
}

export type TaskMessages = {
  readonly "tasks.add": {
    readonly asks: Pick<
      Task,
      "agent" | "workspace" | "prompt" | "argv" | "timeoutMilliseconds" | "attemptsMax" | "deadline"
    >;
    readonly answers: { readonly task: Task };
  };
  /** Long prompts and command lines are cut; `tasks.show` has them whole. */
  readonly "tasks.list": {
    readonly asks: {
      readonly workspace: string | null;
      readonly states: readonly TaskState[];
      readonly count: number;
      /** Only tasks that are older than this one. */
      readonly before?: string;
    };
    readonly answers: { readonly tasks: readonly Task[] };
  };
  readonly "tasks.show": AboutTask;
  readonly "tasks.cancel": AboutTask;
  readonly "tasks.retry": AboutTask;
  /**
   * The next task that is due, or one by its id. It belongs to the connection that claimed it: if that closes, the program
   * is ended and the task is queued again. `isMore`: one was taken from the queue, even if it could not start.
   */
  readonly "tasks.claim": {
    readonly asks: { readonly workspace: string; readonly id: string | null };
    readonly answers: { readonly task: Task | null; readonly isMore: boolean; readonly hired?: HiredAgent };
  };
  /** The task that waits for an approval. */
  readonly "tasks.waiting": { readonly asks: { readonly approval: string }; readonly answers: { readonly task: Task } };
  /** Hired agents of a workspace, by id. */
  readonly "tasks.hired": {
    readonly asks: { readonly workspace: string };
    readonly answers: {
      readonly hired: readonly (HiredAgent & { readonly id: string; readonly superior: string })[];
    };
  };
  /** Gives up a claimed task whose program has not been started. */
  readonly "tasks.release": {
    readonly asks: {
      readonly id: string;
      readonly generation: number;
      readonly outcome: "stopped" | "failed" | "denied";
      readonly reason: string;
    };
    readonly answers: { readonly task: Task };
  };
  /** Long-running: an event `{task}` for every change; those that are not over come first. */
  /** Every change of one task, or of those of a workspace, or of all; first what is so now. */
  readonly "tasks.watch": {
    readonly asks: { readonly workspace: string | null; readonly id: string | null };
    readonly answers: object;
  };
};

/** One limit of a budget, and what it has spent. */
export interface BudgetView {
  /** `agent engineer`, `team ceo` or `org`. */
  readonly owner: string;
  /** `total`, `daily`, `monthly`, `run` or `task`. */
  readonly period: string;
  readonly unit: "usd" | "calls" | "seconds" | "tokens";
  readonly limit: number;
  /** With what is reserved for requests that run now. */
  readonly spent: number;
  readonly left: number;
  /** When it counts anew; null: never. */
  readonly ends: number | null;
  /** Of `run` and `task`. */
  readonly task: string | null;
}

export type BudgetMessages = {
  /** Budgets of all agents of a workspace; those of single tasks for the newest tasks. */
  readonly "org.budgets": {
    readonly asks: { readonly workspace: string };
    readonly answers: { readonly budgets: readonly BudgetView[] };
  };
};

/** `times`: the next moments of its clock, as far as they are known now. */
export interface ScheduleView {
  readonly schedule: Schedule;
  readonly times: readonly number[];
  /** Of a trigger: where it is written, as `.ambit/org.md:12`. */
  readonly line?: string;
}

/** A trigger of the org file that is not in effect. */
export interface WaitingTrigger {
  readonly name: string;
  readonly line: string;
  /** As a sentence. */
  readonly why: string;
}

export type ScheduleMessages = {
  readonly "schedules.add": {
    readonly asks: Pick<
      Schedule,
      "agent" | "workspace" | "when" | "missed" | "prompt" | "argv" | "timeoutMilliseconds" | "attemptsMax"
    >;
    readonly answers: ScheduleView;
  };
  readonly "schedules.list": {
    readonly asks: { readonly workspace: string | null };
    /** `lines`: where those of the org file are written, by id. `waiting`: what the file has besides. */
    readonly answers: {
      readonly schedules: readonly Schedule[];
      readonly lines: Readonly<Record<string, string>>;
      readonly waiting: readonly WaitingTrigger[];
    };
  };
  readonly "schedules.show": { readonly asks: { readonly id: string }; readonly answers: ScheduleView };
  /** A request of a webhook as a runner received it: `at` in seconds, `signature` in hexadecimal. */
  readonly "schedules.deliver": {
    readonly asks: {
      readonly workspace: string;
      readonly name: string;
      readonly at: number;
      readonly signature: string;
      readonly body: string;
    };
    readonly answers: { readonly schedule?: string };
  };
  readonly "schedules.remove": {
    readonly asks: { readonly id: string };
    readonly answers: { readonly schedule: Schedule };
  };
};
