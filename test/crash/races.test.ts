// Races: a budget is never exceeded, and an approval is used once.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Approval } from "../../src/core/ports/stores/approval-store.ts";
import { openState, type State } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { ownFolder, removeFolder, start, writer } from "./child.ts";
import { approvedApproval, charge, claimOf, decision, digest, entryOf, noon } from "./entries.ts";
import { inspect, keptValue } from "./inspect.ts";

const [callers, budget, rounds] = [128, 500, 8];
/** Far more than the budget, so that an endless loop is noticed. */
const callsMax = 50_000;

let program: string;
let folder = "";
beforeAll(async () => {
  [program, folder] = [await writer(), ownFolder()];
});
afterAll(() => {
  removeFolder(folder);
});

async function inState<T>(name: string, use: (state: State, path: string) => Promise<T>): Promise<T> {
  const path = join(folder, name);
  const state = keptValue(openState(path, { digest, program: root }));
  try {
    return await use(state, path);
  } finally {
    state.close();
  }
}

describe("a budget", () => {
  test(`of ${budget} for ${callers} concurrent callers is ${budget} calls, ${rounds} times`, async () => {
    await inState("budget", async (state) => {
      for (let round = 0; round < rounds; round++) {
        let [allowed, asked] = [0, 0];
        const charges = [charge(`round ${round}`, budget), charge("everything", null)];
        const calls = async (caller: number): Promise<void> => {
          for (; asked < callsMax; ) {
            asked += 1;
            const decided = keptValue(await state.ledger.decide(decision(`${round}-${caller}-${asked}`, charges)));
            if (!decided.ok)
              return expect(decided).toEqual({ ok: false, code: "budget_exhausted", empty: [`round ${round}`] });
            allowed += 1;
          }
        };
        await Promise.all(Array.from({ length: callers }, (_, caller) => calls(caller)));
        expect([round, allowed]).toEqual([round, budget]);
      }
      // A refusal cost nothing, on other accounts either.
      const spent = keptValue(await state.ledger.accounts(null)).map(({ account, used }) => [account, used]);
      expect(Object.fromEntries(spent)["everything"]).toBe(rounds * budget);
    });
    expect(await inspect(join(folder, "budget"), root, [])).toMatchObject({ problems: [], entries: rounds * budget });
  });

  test("is the same for processes that share the file, though only one should have it", async () => {
    const path = join(folder, "shared");
    const orders = { scene: "spend", callers: 32, count: 300 };
    const running = ["a", "b", "c", "d"].map((name) => start(program, path, { ...orders, name }).ended);
    const ran = await Promise.all(running);
    expect(ran.map(({ status, errors }) => [status, errors])).toEqual(ran.map(() => [0, ""]));
    const said = ran.flatMap((each) => each.said);
    expect(said.filter((line) => line.startsWith("kept "))).toHaveLength(300);
    expect(await inspect(path, root, said)).toMatchObject({ problems: [], entries: 300, untold: 0 });
  });
});

describe("an approval", () => {
  const racers = 32;
  /** How many of them got it. */
  const race = async (state: State, approval: Approval, round: string): Promise<number> => {
    const ids = Array.from({ length: racers }, (_, racer) => `${round}-${approval.id}-${racer}`);
    const all = await Promise.all(ids.map(async (id) => keptValue(await state.ledger.decide(claimOf(id, approval)))));
    const codes = all.map((each) => (each.ok ? "allowed" : each.code));
    expect(codes.filter((code) => code !== "allowed" && code !== "approval_required")).toEqual([]);
    return codes.filter((code) => code === "allowed").length;
  };

  test(`for ${racers} racers is used by one of them, 20 times`, async () => {
    await inState("approval", async (state) => {
      for (let round = 0; round < 20; round++)
        expect(await race(state, await approvedApproval(state, `a${round}`), "first")).toBe(1);
    });
  });

  test("in use when its process was killed is neither used again nor retried", async () => {
    const path = join(folder, "claimed");
    const running = start(program, path, { scene: "claim" });
    await running.until(1);
    running.kill();
    const { said, status } = await running.ended;
    expect([said, status]).toEqual([["kept claim"], null]);
    await inState("claimed", async (state) => {
      const found = keptValue(await state.approvals.get("claimed"));
      expect(found?.state).toBe("executing");
      expect(await race(state, found as Approval, "second")).toBe(0);
      const entry = ({ id }: Approval) => entryOf(`${id}-recovered`, { kind: "approval", outcome: "indeterminate" });
      const recovered = keptValue(await state.approvals.recover(noon, entry));
      expect(recovered.map(({ id, state: now }) => [id, now])).toEqual([["claimed", "indeterminate"]]);
      expect(await race(state, found as Approval, "third")).toBe(0);
      expect(keptValue(await state.approvals.recover(noon, entry))).toEqual([]);
    });
  });
});
