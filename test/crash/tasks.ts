// The whole life of tasks in a real store, as fast as it goes: a line for every step that the store acknowledged.
import type { DurableResult } from "../../src/core/ports/stores/durable.ts";
import type { Task, TaskChange } from "../../src/core/ports/stores/task-store.ts";
import {
  answerTask,
  cancelTask,
  claimTask,
  endRun,
  loseRun,
  type RunReport,
  retryTask,
} from "../../src/org/task-life.ts";
import type { State } from "../../src/store/state.ts";
import { agent, entryOf, noon } from "./entries.ts";

const APPROVAL = "a1";

/** One task goes through every state; each step is one durable change. */
const LIFE: readonly (readonly [name: string, change: TaskChange])[] = [
  ["claim", (task) => claimTask(task, noon + 1)],
  ["lose", (task) => loseRun(task, task.generation, noon - 10_000)],
  ["claim again", (task) => claimTask(task, noon + 2)],
  ["park", ending({ kind: "asked", approval: APPROVAL, capabilities: ["code"] })],
  ["refuse", (task) => answerTask(task, APPROVAL, { kind: "refused", reason: "no" }, noon)],
  ["cancel", cancelTask],
  ["retry", (task) => retryTask(task, noon)],
  ["claim once more", (task) => claimTask(task, noon + 3)],
  ["end", ending({ kind: "ended", status: 0, reason: "" })],
];

function ending(report: RunReport): TaskChange {
  return (task) => endRun(task, task.generation, report, noon);
}

export function newTask(id: string): Task {
  return {
    ...{ id, workspace: agent.workspace, agent: agent.agent, state: "queued", prompt: "work", argv: null },
    ...{ created: noon, due: noon, deadline: null, timeoutMilliseconds: 1000, attempts: 0, attemptsMax: 5 },
    ...{ generation: 0, refused: [], waitsFor: null, payers: [], started: null, reason: "", status: null },
    ...{ origin: null, requested: [], notes: [] },
  };
}

/** `isHasty` prints all steps before the store has the first: for the proof that the test can fail. */
export async function lives(
  state: State,
  name: string,
  count: number,
  isHasty: boolean,
  say: (line: string) => void,
): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => `${name}-${at}`);
  if (isHasty) for (const id of ids) for (const { line } of stepsOf(id)) say(line);
  for (const id of ids)
    for (const { task, change, line, number } of stepsOf(id)) {
      const entry = entryOf(`${id}-${number}`, { kind: "control", outcome: `task ${task.state}` });
      const kept: DurableResult<unknown> =
        change === null ? await state.tasks.add(task, entry) : await state.tasks.change(id, change, () => entry);
      if (!kept.ok) throw new Error(kept.message);
      if (!isHasty) say(line);
    }
}

function* stepsOf(id: string): Generator<{ task: Task; change: TaskChange | null; line: string; number: number }> {
  let task = newTask(id);
  for (const [number, [name, change]] of [["add", null] as const, ...LIFE].entries()) {
    task = change === null ? task : (change(task) ?? unable(name));
    yield { task, change, number, line: `kept ${id} ${number} ${JSON.stringify(task)}` };
  }
}

function unable(step: string): never {
  throw new Error(`${step} does not apply`);
}
