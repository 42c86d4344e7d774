// Clocks jump by a month, forward and back: order is by position, nothing spent is returned, and nothing breaks.
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openState, type State } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { ownFolder, removeFolder } from "./child.ts";
import { agent, approvedApproval, charge, claimOf, decision, digest, entryOf, noon } from "./entries.ts";
import { inspect, keptValue } from "./inspect.ts";

const month = 30 * 24 * 60 * 60_000;
const jumps: readonly number[] = [0, month, -month, 1, month + 1, -month - 1, 0, 2];

let [folder, path] = ["", ""];
let state: State;
beforeEach(() => {
  folder = ownFolder();
  path = join(folder, "state");
  state = keptValue(openState(path, { digest, program: root }));
});
afterEach(() => {
  state.close();
  removeFolder(folder);
});

async function decidedAt(id: string, at: number, more: Parameters<typeof decision>[1]): Promise<string> {
  const write = decision(id, more);
  const decided = keptValue(await state.ledger.decide({ ...write, entry: { ...write.entry, at } }));
  return decided.ok ? "allowed" : decided.code;
}

test("entries are in order of arrival, whatever their times say", async () => {
  for (const [step, jump] of jumps.entries()) await decidedAt(`e${step}`, noon + jump, [charge("account", null)]);
  const ids = keptValue(await state.chain.rows(1, 100)).map(({ body }) => (JSON.parse(body) as { id: string }).id);
  expect(ids).toEqual(jumps.map((_, step) => `e${step}`));
  const log = keptValue(await state.ledger.log({ count: 100 })).map(({ entry }) => entry.id);
  expect(log).toEqual([...ids].reverse());
  state.close();
  expect(await inspect(path, root, [])).toMatchObject({ problems: [], entries: jumps.length });
});

test("a budget is the same budget", async () => {
  const answers: string[] = [];
  for (const [step, jump] of jumps.entries())
    answers.push(await decidedAt(`e${step}`, noon + jump, [charge("three", 3)]));
  expect(answers.filter((answer) => answer === "allowed")).toHaveLength(3);
  expect(new Set(answers.slice(3))).toEqual(new Set(["budget_exhausted"]));
});

test("a rate is not regained by setting the clock back", async () => {
  const rate = { calls: 2, seconds: 60 };
  const charges = [{ ...charge("rated", null), rate }];
  const at = [noon, noon, noon, noon - month, noon - 1, noon + 59_999, noon + 60_000];
  const answers: string[] = [];
  for (const [step, each] of at.entries()) answers.push(await decidedAt(`e${step}`, each, charges));
  expect(answers.slice(0, 6)).toEqual(["allowed", "allowed", ...Array.from({ length: 4 }, () => "budget_exhausted")]);
  expect(answers.at(-1)).toBe("allowed");
});

test("an expired approval stays expired after recovery, and is usable in its time only", async () => {
  const first = await approvedApproval(state, "first");
  const late = claimOf("late", first);
  const tooLate = await state.ledger.decide({ ...late, entry: { ...late.entry, at: noon + month } });
  expect(keptValue(tooLate)).toEqual({ ok: false, code: "approval_required" });
  keptValue(
    await state.approvals.recover(noon + month, () => entryOf("over", { kind: "approval", outcome: "expired" })),
  );
  expect(keptValue(await state.ledger.decide(claimOf("back", first)))).toEqual({
    ok: false,
    code: "approval_required",
  });
});

test("memory and observations: expiry follows the clock, the order does not", async () => {
  const write = { namespace: { kind: "agent" as const, name: agent }, isClean: true, writer: agent };
  for (const [step, jump] of jumps.entries()) {
    const at = noon + jump;
    keptValue(
      await state.memory.set({ ...write, key: "key", value: `${step}`, version: null, expires: at + 1_000, at }),
    );
    expect(keptValue(await state.memory.get(write.namespace, "key", at))?.value).toBe(`${step}`);
    expect(keptValue(await state.memory.get(write.namespace, "key", at + month))).toBeNull();
    const observation = { id: `o${step}`, name: agent, session: null, at, text: "seen", tags: [], isClean: true };
    keptValue(await state.observations.append(observation));
  }
  const asked = { of: [agent], text: null, tag: null, since: null, before: null, count: 100 };
  const ids = keptValue(await state.observations.query(asked)).map(({ id }) => id);
  expect(ids).toEqual(jumps.map((_, step) => `o${step}`).reverse());
});
