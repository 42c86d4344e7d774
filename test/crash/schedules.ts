// Schedules that fire in a real store, as fast as it goes: a line for every task that the store acknowledged.
import type { Schedule } from "../../src/core/ports/stores/schedule-store.ts";
import type { Zone } from "../../src/core/ports/zone.ts";
import { nextStep, startSchedule } from "../../src/org/schedules/schedule-life.ts";
import { parseWhen } from "../../src/org/schedules/when.ts";
import type { State } from "../../src/store/state.ts";
import { agent, entryOf, noon } from "./entries.ts";

const UTC: Zone = { name: "UTC", offsetAt: () => 0 };
const everyMilliseconds = 10_000;

function newSchedule(id: string): Schedule {
  const read = parseWhen("every 10s");
  if (!read.ok) throw new Error(read.message);
  const plain = {
    ...{ id, workspace: agent.workspace, agent: agent.agent, when: read.text, zone: UTC.name },
    missed: "once" as const,
    ...{ prompt: "work", argv: null, timeoutMilliseconds: 1, attemptsMax: 1, created: noon, seen: null },
    ...{ isEnded: false, count: 0, lastTask: null, reason: "" },
  };
  const schedule = startSchedule(plain, read.when, UTC);
  if (schedule === null) throw new Error("it has no time");
  return schedule;
}

/** `isHasty` prints each task before the store has it: for the proof that the test can fail. */
export async function fire(
  state: State,
  id: string,
  count: number,
  isHasty: boolean,
  say: (line: string) => void,
): Promise<void> {
  const added = await state.schedules.add(newSchedule(id), entryOf(`${id}-added`, { kind: "control" }));
  if (!added.ok) throw new Error(added.message);
  say("added");
  for (let number = 1; number <= count; number++) {
    if (isHasty) say(`kept ${id}-${number}`);
    const wall = noon + number * everyMilliseconds;
    const step = await state.schedules.change(
      id,
      (schedule) => nextStep(schedule, { last: null, followed: null }, { wall, now: wall }, UTC, `${id}-${number}`),
      () => [entryOf(`fired-${id}-${number}`, { kind: "control", outcome: "schedule fired" })],
    );
    if (!step.ok || step.value === null) throw new Error("it did not fire");
    if (!isHasty) say(`kept ${id}-${number}`);
  }
}
