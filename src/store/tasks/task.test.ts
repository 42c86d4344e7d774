// Lists of tasks, page by page.
import { afterEach, expect, test } from "vitest";
import { TASK_STATES } from "../../core/ports/stores/task-store.ts";
import { newTask } from "../../org/task-life.ts";
import { entryOf, temporaryState, value } from "../testing/state.ts";

const place = temporaryState();
afterEach(() => place.remove());

test("a page begins behind the last task of the one before, also among tasks of one moment", async () => {
  const { tasks } = place.opened();
  const work = { agent: "dev", prompt: "x", argv: null, timeoutMilliseconds: 1000, attemptsMax: 1 };
  for (const [at, id] of ["w_a", "w_b", "w_c", "w_d", "w_e"].entries())
    await tasks.add(newTask({ ...work, id, workspace: "/w" }, at < 3 ? 1 : 2), entryOf());
  await tasks.add(newTask({ ...work, id: "w_bb", workspace: "/other" }, 1), entryOf());
  const found: string[][] = [];
  for (let before: string | null = null; found.length < 4; before = found.at(-1)?.at(-1) ?? null) {
    const page = value(await tasks.list("/w", TASK_STATES, 2, before)).map(({ id }) => id);
    if (page.length === 0) break;
    found.push(page);
  }
  expect(found).toEqual([["w_e", "w_d"], ["w_c", "w_b"], ["w_a"]]);
});
