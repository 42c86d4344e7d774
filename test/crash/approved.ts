// Directives that a person approved, in a real store: the approval is used with the decision, and what was directed is stored with
// the end of the task, in a second commit. A line for each of the two that the store acknowledged.
import { endRun } from "../../src/org/task-life.ts";
import type { State } from "../../src/store/state.ts";
import { approvedApproval, claimOf, entryOf, noon } from "./entries.ts";
import { keptValue } from "./inspect.ts";
import { newTask } from "./tasks.ts";

/** `isHasty` prints both steps before the store has the first: for the proof that the test can fail. */
export async function carryOutApproved(
  state: State,
  name: string,
  count: number,
  isHasty: boolean,
  say: (line: string) => void,
): Promise<void> {
  for (let number = 0; number < count; number++) {
    const id = `${name}-${number}`;
    const approval = await approvedApproval(state, `${id}-approval`);
    const held = { directives: [{ name: "DELEGATE", subject: "helper", text: "work" }], reason: "" };
    const task = { ...newTask(id), state: "running" as const, generation: 1, attempts: 1, held };
    keptValue(await state.tasks.add(task, entryOf(`${id}-running`, { kind: "control", outcome: "task running" })));
    if (isHasty) say(`kept ${id} used`);
    const used = keptValue(await state.ledger.decide(claimOf(`${id}-used`, approval)));
    if (!used.ok) throw new Error(`${id} could not be used`);
    say(`kept ${id} ${isHasty ? "done" : "used"}`);
    const made = {
      ...{ task: newTask(`${id}-made`), entry: entryOf(`${id}-made`, { kind: "control", outcome: "task queued" }) },
    };
    const ended = await state.tasks.change(
      id,
      (one) => endRun(one, 1, { kind: "ended", status: 0, reason: "" }, noon),
      () => entryOf(`${id}-done`, { kind: "control", outcome: "task done" }),
      null,
      { tasks: [made], schedules: [], hires: [], notes: [], entries: [] },
    );
    if (keptValue(ended) === null) throw new Error(`${id} did not end`);
    if (!isHasty) say(`kept ${id} done`);
  }
}
