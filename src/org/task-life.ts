// The life of a task, as pure changes: each returns the changed task, or null where the change does not apply any more.
import { type HeldDirectives, isEnded, type Task } from "../core/ports/stores/task-store.ts";

export const promptCharactersMax = 100_000;
export const taskAttemptsMax = 100;
const backoffFirstMilliseconds = 2000;
const backoffMilliseconds = 3_600_000;
const frozenMilliseconds = 15_000;

/** How a run ended. */
export type RunReport =
  | { readonly kind: "ended"; readonly status: number | null; readonly reason: string }
  /** Denied by the gate: another run would be denied as well. */
  | { readonly kind: "denied"; readonly reason: string }
  /** Withheld until a person answers. */
  | {
      readonly kind: "asked";
      readonly approval: string;
      readonly capabilities: readonly string[];
      /** What the run directed and waits for the same answer: it ended well, and is not repeated for it. */
      readonly held?: HeldDirectives;
    }
  /** A person refused the same request before, of another task: this one works without the capabilities, too. */
  | { readonly kind: "refused"; readonly capabilities: readonly string[]; readonly reason: string }
  /** Withheld until its budget counts anew. */
  | { readonly kind: "unfunded"; readonly until: number; readonly reason: string }
  /** The agent requested capabilities that were refused: its next run asks for them again. */
  | { readonly kind: "requested"; readonly requested: Task["requested"] }
  /** It did not start, or its runner was stopped: the run does not count. */
  | { readonly kind: "released"; readonly reason: string; readonly isFrozen: boolean };

type NewTask = Pick<Task, "id" | "workspace" | "agent" | "prompt" | "argv" | "timeoutMilliseconds" | "attemptsMax"> &
  Partial<Pick<Task, "deadline" | "payers" | "origin" | "isByAgent">>;

/** A task that is due now. */
export function newTask(work: NewTask, now: number): Task {
  return {
    ...{ state: "queued", created: now, due: now, deadline: null, attempts: 0, generation: 0, started: null },
    ...{ payers: [], origin: null, reason: "", status: null, waitsFor: null, refused: [], requested: [], notes: [] },
    ...work,
  };
}

/** The agents that pay for a task, and for what it delegates: those that pay for the task it came from, and its own. */
export function payersBelow({ payers, agent }: Pick<Task, "payers" | "agent">): readonly string[] {
  return [...payers.filter((payer) => payer !== agent), agent];
}

export function claimTask(task: Task, now: number): Task | null {
  if (task.state !== "queued" || task.due > now) return null;
  const { attempts, generation } = task;
  if (task.deadline !== null && now >= task.deadline) return { ...task, state: "failed", reason: PAST_DEADLINE };
  const run = { attempts: attempts + 1, generation: generation + 1, started: now };
  return { ...task, ...run, state: "running", reason: "" };
}

const PAST_DEADLINE = "its deadline passed";

/** How long a run that starts now may take. */
export function runMilliseconds({ timeoutMilliseconds, deadline }: Task, now: number): number {
  return Math.max(1, deadline === null ? timeoutMilliseconds : Math.min(timeoutMilliseconds, deadline - now));
}

/** Null for a run that does not have the task any more. */
export function endRun(task: Task, generation: number, report: RunReport, now: number): Task | null {
  if (!isHeld(task, generation)) return null;
  switch (report.kind) {
    case "ended":
      if (report.status === 0) return { ...withoutHeld(task), state: "done", status: 0, reason: report.reason };
      return repeatLater({ ...task, status: report.status }, report.reason, now);
    case "denied":
      return { ...task, state: "failed", status: null, reason: report.reason };
    case "asked": {
      const { approval, capabilities, held } = report;
      const reason = `waits for ${requestText(capabilities)}: ambit approve ${approval}`;
      const parked = { state: "parked" as const, waitsFor: { approval, capabilities }, reason };
      return { ...withoutHeld(withoutAttempt(task)), ...parked, ...(held === undefined ? {} : { held }) };
    }
    case "refused":
      return withoutCapabilities(withoutAttempt(task), report.capabilities, report.reason, now);
    case "requested": {
      const capabilities = report.requested.map(({ capability }) => capability);
      const refused = task.refused.filter(({ capability }) => !capabilities.includes(capability));
      const requested = [...task.requested, ...report.requested];
      const open = { state: "queued" as const, due: now, status: 0, reason: requestText(capabilities) };
      return { ...withoutHeld(task), ...open, refused, requested };
    }
    case "unfunded":
      if (task.deadline !== null && report.until >= task.deadline)
        return { ...task, state: "failed", reason: `${report.reason}; ${PAST_DEADLINE}` };
      return { ...withoutAttempt(task), state: "queued", due: report.until, reason: report.reason };
    case "released": {
      const due = now + (report.isFrozen ? frozenMilliseconds : 0);
      return { ...withoutAttempt(task), state: "queued", due, reason: report.reason };
    }
    default:
      return report satisfies never;
  }
}

/** The runner or the daemon was killed: the program ended with it. The run counts, or a task that kills its runner would never end. */
export function loseRun(task: Task, generation: number, now: number): Task | null {
  return isHeld(task, generation) ? repeatLater({ ...task, status: null }, "its runner was lost", now) : null;
}

export type ApprovalAnswer =
  | { readonly kind: "approved" }
  | { readonly kind: "gone" }
  | { readonly kind: "refused"; readonly reason: string };

/** The person answered what a parked task waits for. */
export function answerTask(task: Task, approval: string, answer: ApprovalAnswer, now: number): Task | null {
  const { waitsFor } = task;
  if (task.state !== "parked" || waitsFor?.approval !== approval) return null;
  const open = { ...task, state: "queued" as const, due: now, waitsFor: null };
  if (answer.kind === "approved") return { ...open, reason: "approved" };
  if (answer.kind === "gone") return { ...open, reason: "its request ended without an answer" };
  return withoutCapabilities(task, waitsFor.capabilities, answer.reason, now);
}

/** The next run works without them, and reads the reason. */
function withoutCapabilities(task: Task, capabilities: readonly string[], reason: string, now: number): Task {
  const refused = capabilities.map((capability) => ({ capability, reason }));
  const known = task.refused.filter(({ capability }) => !capabilities.includes(capability));
  const why = reason === "" ? "refused" : `refused: ${reason}`;
  const open = { state: "queued" as const, due: now, waitsFor: null, reason: why };
  return { ...withoutHeld(task), ...open, refused: [...known, ...refused] };
}

function withoutHeld({ held: _held, ...task }: Task): Task {
  return task;
}

export function cancelTask(task: Task): Task | null {
  if (isEnded(task)) return null;
  const { generation } = task;
  return { ...task, state: "cancelled", generation: generation + 1, waitsFor: null, reason: "cancelled" };
}

/** A person's retry begins anew, with all of its attempts; what was refused is asked for again. */
export function retryTask(task: Task, now: number): Task | null {
  if (task.state === "running" || (task.state === "queued" && task.due <= now)) return null;
  const open = { state: "queued" as const, attempts: 0, due: now, waitsFor: null, reason: "retried" };
  return { ...withoutHeld(task), ...open, refused: [], requested: [] };
}

function repeatLater(task: Task, reason: string, now: number): Task {
  if (task.attempts >= task.attemptsMax) return { ...task, state: "failed", reason };
  const wait = Math.min(backoffMilliseconds, backoffFirstMilliseconds * 2 ** Math.min(20, task.attempts - 1));
  const due = now + wait;
  if (task.deadline !== null && due >= task.deadline)
    return { ...task, state: "failed", reason: `${reason}; ${PAST_DEADLINE}` };
  return { ...task, state: "queued", due, reason };
}

/** What did not start is no attempt. */
function withoutAttempt(task: Task): Task {
  return { ...task, attempts: task.attempts - 1 };
}

function isHeld(task: Task, generation: number): boolean {
  return task.state === "running" && task.generation === generation;
}

export function requestText(capabilities: readonly string[]): string {
  return capabilities.length === 0 ? "an approval" : capabilities.map((one) => `REQUEST[capability:${one}]`).join(", ");
}
