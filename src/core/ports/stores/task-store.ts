// Storage of tasks: work for an agent that outlives every process. Each change of state is one durable write together with
// its log entry.
import type { Durable } from "./durable.ts";
import type { CreatedAgent, StoredLink } from "./link-store.ts";
import type { LogEntry } from "./log.ts";
import type { Schedule } from "./schedule-store.ts";

export const TASK_STATES = ["queued", "running", "parked", "done", "failed", "cancelled"] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** Nothing of it runs again, unless a person retries it. */
export function isEnded({ state }: Pick<Task, "state">): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}

/** What queued a task, if no person did. */
export type TaskOrigin =
  | { readonly kind: "schedule"; readonly id: string; readonly depth?: number }
  /** An agent delegated it: `id` is the task it ran, null outside of one. In both, `depth` counts the delegations above it. */
  | { readonly kind: "agent"; readonly agent: string; readonly id: string | null; readonly depth: number };

/** What a run that ended well directed, and could not have yet. */
export interface HeldDirectives {
  readonly directives: readonly { readonly name: string; readonly subject: string; readonly text: string }[];
  /** What was to be said about the run itself, such as changes that did not land. */
  readonly reason: string;
}

export interface Task {
  readonly id: string;
  readonly workspace: string;
  readonly agent: string;
  readonly state: TaskState;
  /** What the agent is asked to do. */
  readonly prompt: string;
  /** An agent wrote that, by a delegation or a schedule: what it had read is in it. */
  readonly isByAgent?: boolean;
  /** A part of it comes from outside: the body of a request. */
  readonly isFromOutside?: boolean;
  /** A run of it changed files of the project. */
  readonly hasLanded?: boolean;
  /** A program to run instead of the agent's client; null: the client. */
  readonly argv: readonly string[] | null;
  readonly created: number;
  /** Not started before this time. */
  readonly due: number;
  /** Not started after this time, and ended at it; null: none. */
  readonly deadline: number | null;
  /** How long one run may take. */
  readonly timeoutMilliseconds: number;
  /** When the last run was started; null before the first. */
  readonly started: number | null;
  /** Runs that were started. */
  readonly attempts: number;
  readonly attemptsMax: number;
  /** Changes with every claim and with a cancellation: a run that lost its task cannot settle it any more. */
  readonly generation: number;
  /** Capabilities that a person refused for this task, and the reasons the agent reads. */
  readonly refused: readonly { readonly capability: string; readonly reason: string }[];
  /** The approval that a parked task waits for, and the capabilities it is about. */
  readonly waitsFor: { readonly approval: string; readonly capabilities: readonly string[] } | null;
  /** Agents whose budgets pay for it besides its own: those that delegated it, the first one first. */
  readonly payers: readonly string[];
  /** Why it is in this state, as a sentence. */
  readonly reason: string;
  /** The exit status of the last run; null before the first, and for a run that was ended. */
  readonly status: number | null;
  /** Null: a person. */
  readonly origin: TaskOrigin | null;
  /** Capabilities that the agent itself requested, each once for a task, and why: the person who answers reads it. */
  readonly requested: readonly { readonly capability: string; readonly reason: string }[];
  /** What became of the agent's directives: its next run reads this. */
  readonly notes: readonly string[];
  /** Directives of its last run that wait for a person. The next run carries them out, and starts no client. */
  readonly held?: HeldDirectives;
}

/** An agent that a run hires: at most `most` agents of its hirer exist at the same time. */
export interface Hire {
  readonly link: StoredLink;
  readonly agent: CreatedAgent;
  readonly most: number;
  readonly entry: LogEntry;
}

/** What a run leaves besides the state of its task. */
export interface RunEffects {
  readonly tasks: readonly { readonly task: Task; readonly entry: LogEntry }[];
  readonly schedules: readonly { readonly schedule: Schedule; readonly entry: LogEntry }[];
  readonly hires: readonly Hire[];
  /** For the next run of the agent, whatever its task is. */
  readonly notes: readonly string[];
  readonly entries: readonly LogEntry[];
}

/** How long a run took, and the accounts of budgets that it counts for. */
export interface RunTime {
  readonly accounts: readonly string[];
  readonly milliseconds: number;
}

/** Returns the changed task, or null to leave it as it is. It runs inside the transaction, and may run twice. */
export type TaskChange = (task: Task) => Task | null;

/** A parked task, and the approval it waits for. */
export interface WaitingTask {
  readonly id: string;
  readonly approval: string;
}

export interface TaskStore {
  /** False if there are too many tasks. */
  add(task: Task, entry: LogEntry): Durable<boolean>;
  get(id: string): Durable<Task | null>;
  /** The newest first. `before`: only those older than this task. */
  list(
    workspace: string | null,
    states: readonly TaskState[],
    count: number,
    before?: string | null,
  ): Durable<readonly Task[]>;
  /** All parked tasks that wait for an approval. */
  waiting(): Durable<readonly WaitingTask[]>;
  /** Null if there is no such task, or if it was left as it is; then no time is counted. */
  change(
    id: string,
    change: TaskChange,
    entry: (task: Task) => LogEntry,
    time?: RunTime | null,
    /** INVARIANT: they are in the same commit, so a kill neither loses nor doubles them. */
    effects?: RunEffects | null,
  ): Durable<Task | null>;
  /** Moves the notes for an agent into a task that it runs now, and returns the task; null if there are none. */
  takeNotes(id: string): Durable<Task | null>;
  /** How long the runs took that count for each of these accounts, in milliseconds. */
  timeOf(accounts: readonly string[]): Durable<ReadonlyMap<string, number>>;
  /** The next task of a workspace: of the agent with the fewest runs, then of the one that waited longest. */
  claim(workspace: string, now: number, change: TaskChange, entry: (task: Task) => LogEntry): Durable<Task | null>;
}
