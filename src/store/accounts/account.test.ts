import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AccountCharge, Cost, DecisionResult } from "../../core/ports/stores/ledger.ts";
import type { State } from "../state.ts";
import { chargeOf, entryOf, type TemporaryState, temporaryState, value, writeOf } from "../testing/state.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

const reopen = (): void => {
  state.close();
  state = place.opened();
};

async function call(charges: readonly AccountCharge[], at = 1_000_000): Promise<DecisionResult> {
  return value(await state.ledger.decide(writeOf({ entry: entryOf({ at }), charges })));
}

async function allowed(charge: AccountCharge, calls: number, at = 1_000_000): Promise<number> {
  const written = await Promise.all(Array.from({ length: calls }, () => call([charge], at)));
  return written.filter((one) => one.ok).length;
}

describe("an account", () => {
  it("is the same after a restart", async () => {
    expect(await allowed(chargeOf("a", { calls: 5 }), 3)).toBe(3);
    reopen();
    expect(state.ledger.isEmpty(chargeOf("a", { calls: 3 }), 0)).toBe(true);
    expect(state.ledger.isEmpty(chargeOf("a", { calls: 4 }), 0)).toBe(false);
    expect(await allowed(chargeOf("a", { calls: 5 }), 3)).toBe(2);
  });

  it("is charged once for each time it is named", async () => {
    const twice = [chargeOf("a", { calls: 3 }), chargeOf("a", { calls: 3 })];
    expect(await call(twice)).toMatchObject({ ok: true });
    expect(await call(twice)).toEqual({ ok: false, code: "budget_exhausted", empty: ["a"] });
    expect(await call([chargeOf("a", { calls: 3 })])).toMatchObject({ ok: true, left: [{ account: "a", left: 0 }] });
  });

  it.each([Number.NaN, -1, 0, 0.5])("with %s calls has none", async (calls) => {
    expect(await allowed(chargeOf("a", { calls }), 2)).toBe(0);
  });

  it("is one whatever its name is made of", async () => {
    const names = ["a\0b", "a\0c", "a", "\ud800", "\ud801", '\u0001"a"', "\u{1f600}"];
    for (const name of names) expect(await allowed(chargeOf(name, { calls: 1, family: name }), 2), name).toBe(1);
    reopen();
    for (const name of names) expect(await allowed(chargeOf(name, { calls: 1, family: name }), 2), name).toBe(0);
    expect(value(await state.ledger.accounts(null)).map(({ account }) => account)).toEqual(names);
    expect(value(await state.ledger.accounts("a\0b"))).toHaveLength(1);
  });
});

describe("no edit resets a budget", () => {
  const old = chargeOf("old", { calls: 10, written: ["old"] });

  it("a new account begins with the highest spending of its removed siblings", async () => {
    await allowed(old, 7);
    await allowed(chargeOf("older", { calls: 10, written: ["old", "older"] }), 4);
    const edited = chargeOf("new", { calls: 10, written: ["new"] });
    expect(state.ledger.isEmpty({ ...edited, calls: 7 }, 0)).toBe(true);
    expect(await allowed(edited, 10)).toBe(3);
  });

  it("a new account beside others of its family starts at zero, and so does another family", async () => {
    await allowed(old, 7);
    expect(await allowed(chargeOf("beside", { calls: 10, written: ["old", "beside"] }), 20)).toBe(10);
    expect(await allowed(chargeOf("apart", { calls: 10, family: "other", written: ["apart"] }), 20)).toBe(10);
  });

  it("switching back and forth gains nothing either", async () => {
    expect(await allowed(old, 4)).toBe(4);
    const other = chargeOf("other", { calls: 10, written: ["other"] });
    expect(await allowed(other, 4)).toBe(4);
    reopen();
    expect(state.ledger.isEmpty({ ...old, calls: 8 }, 0)).toBe(true);
    expect(await allowed(old, 10)).toBe(2);
    expect(await allowed(other, 10)).toBe(0);
  });

  it("an account that was always written does not pay for removed siblings", async () => {
    await allowed(chargeOf("stays", { calls: 10, written: ["old", "stays"] }), 1);
    await allowed({ ...old, written: ["old", "stays"] }, 9);
    expect(await allowed(chargeOf("stays", { calls: 10, written: ["stays"] }), 20)).toBe(9);
  });

  it("nor does it empty a window", async () => {
    const rate = { calls: 5, seconds: 10 };
    expect(await allowed(chargeOf("old", { rate, written: ["old"] }), 9)).toBe(5);
    expect(await allowed(chargeOf("new", { rate, written: ["new"] }), 9)).toBe(0);
    expect(await allowed(chargeOf("new", { rate, written: ["new"] }), 9, 1_010_000)).toBe(5);
    reopen();
    expect(await allowed(chargeOf("old", { rate, written: ["old"] }), 9, 1_010_001)).toBe(0);
  });
});

describe("a rate applies in any window", { timeout: 60_000 }, () => {
  const within = (times: readonly number[], seconds: number): number =>
    Math.max(...times.map((at) => times.filter((other) => other > at - seconds * 1000 && other <= at).length));

  it.each([
    { calls: 1, seconds: 1, step: 90 },
    { calls: 7, seconds: 3, step: 97 },
    { calls: 1_000, seconds: 60, step: 13 },
    { calls: 2_500, seconds: 30, step: 3 },
  ])("$calls in $seconds s", async ({ calls, seconds, step }) => {
    const charge = chargeOf("a", { rate: { calls, seconds } });
    const took: number[] = [];
    let at = 1_000_000;
    for (let turn = 0; turn < 60; turn++) {
      const times = Array.from({ length: 100 }, () => {
        at += step;
        return at;
      });
      const written = await Promise.all(times.map((time) => call([charge], time)));
      took.push(...times.filter((_, index) => written[index]?.ok));
      if (turn === 30) reopen();
    }
    expect(within(took, seconds)).toBeLessThanOrEqual(calls);
    // Exact up to a thousand: every allowed call succeeded; above it a bucket may be missing.
    const wanted = simulated(6_000, calls, seconds, step);
    if (calls <= 1_000) expect(took.length).toBe(wanted);
    else expect(took.length).toBeGreaterThan(wanted * 0.98);
  });

  it("an invalid rate allows nothing", async () => {
    for (const rate of [
      { calls: Number.NaN, seconds: 1 },
      { calls: 1, seconds: Number.NaN },
      { calls: 1, seconds: 0 },
      { calls: 0, seconds: 1 },
    ])
      expect(await allowed(chargeOf("a", { rate }), 1)).toBe(0);
  });

  it("a clock that jumps back opens nothing", async () => {
    const charge = chargeOf("a", { rate: { calls: 2, seconds: 10 } });
    expect(await allowed(charge, 5, 9_000_000)).toBe(2);
    expect(await allowed(charge, 5, 1_000_000)).toBe(0);
    expect(await allowed(charge, 5, 9_010_000)).toBe(2);
  });

  it("a wider window after an edit counts unknown calls as spent", async () => {
    await allowed(chargeOf("a", { rate: { calls: 1_000, seconds: 1 } }), 1_000);
    await allowed(chargeOf("a", { rate: { calls: 1_000, seconds: 1 } }), 1_000, 1_002_000);
    expect(await allowed(chargeOf("a", { rate: { calls: 5_000, seconds: 60 } }), 1, 1_003_000)).toBe(0);
    expect(await allowed(chargeOf("a", { rate: { calls: 5_000, seconds: 60 } }), 1, 1_061_000)).toBe(1);
  });
});

describe("the account table is the only copy", () => {
  const counted = chargeOf("a", { calls: 100, family: "a", written: ["a"] });
  const rated = chargeOf("b", { calls: 100, rate: { calls: 90, seconds: 60 }, family: "b", written: ["b"] });
  const used = async (): Promise<unknown> =>
    value(await state.ledger.accounts(null)).map(({ account, used: many }) => [account, many]);

  it("and has every charge of an acknowledged commit", async () => {
    for (let turn = 0; turn < 3; turn++) await call([counted, rated]);
    const both = [
      ["a", 3],
      ["b", 3],
    ];
    expect(await used()).toEqual(both);
    const rows = value(state.loop.readNow((connection) => connection.all("SELECT name, used FROM account")));
    expect(rows.map(({ name, used: many }) => [name, many])).toEqual(both);
    reopen();
    expect(await used()).toEqual(both);
    expect(await allowed(counted, 200)).toBe(97);
    expect(await allowed(rated, 200)).toBe(87);
  });

  it("also of an account whose grant was removed and written again", async () => {
    await call([counted]);
    const other = chargeOf("c", { calls: 100, family: "a", written: ["c"] });
    for (let turn = 0; turn < 4; turn++) await call([other]);
    reopen();
    // When its grant is written again, it takes over what was spent since.
    expect(await call([{ ...counted, written: ["a"] }])).toMatchObject({ left: [{ account: "a", left: 94 }] });
  });

  it("and needs no entry that retention removes", async () => {
    for (let turn = 0; turn < 5; turn++) await call([counted]);
    value(await state.chain.keepCheckpoint({ place: 5, text: "note" }));
    value(await state.chain.prune(6, entryOf()));
    expect(value(await state.chain.rows(1, 99))).toHaveLength(1);
    reopen();
    expect(await used()).toEqual([["a", 5]]);
    expect(await allowed(counted, 200)).toBe(95);
  });

  it("and a charge that is rolled back with its transaction is not there", async () => {
    await call([counted]);
    const bad = state.loop.write(() => {
      throw new Error("a mistake");
    });
    const both = await Promise.all([call([counted, rated]), bad, call([counted])]);
    expect(both.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(await used()).toEqual([
      ["a", 3],
      ["b", 1],
    ]);
  });
});

/** The simplest sliding window: stores the time of every call. */
function simulated(count: number, calls: number, seconds: number, step: number): number {
  const took: number[] = [];
  for (let turn = 1; turn <= count; turn++) {
    const at = 1_000_000 + turn * step;
    const last = took[took.length - calls];
    if (last === undefined || last <= at - seconds * 1000) took.push(at);
  }
  return took.length;
}

describe("a cost", () => {
  let decisions = 0;
  async function reserve(charge: AccountCharge, reserved: Cost, id = `d-${++decisions}`): Promise<string | null> {
    const entry = entryOf({ id, at: 1_000_000 });
    const written = value(await state.ledger.decide(writeOf({ entry, charges: [charge], reserved })));
    return written.ok ? id : null;
  }
  async function settle(decision: string, cost: Cost | null): Promise<void> {
    value(await state.ledger.settle(entryOf({ id: `o-${++decisions}`, of: decision }), decision, cost));
  }
  const tokens = (count: number): Cost => ({ tokens: count, money: null });
  const limit = chargeOf("a", { tokens: 100 });

  it("is reserved before and replaced after", async () => {
    const first = await reserve(limit, tokens(80));
    expect(await reserve(limit, tokens(21))).toBeNull();
    expect(state.ledger.costLeft(limit)).toEqual({ tokens: 20, money: Number.POSITIVE_INFINITY });
    await settle(first as string, tokens(30));
    expect(state.ledger.costLeft(limit).tokens).toBe(70);
    await settle(first as string, tokens(30));
    expect(state.ledger.costLeft(limit).tokens).toBe(70);
  });

  it("stays reserved where it is never settled, also after a restart", async () => {
    await reserve(limit, tokens(80));
    reopen();
    expect(state.ledger.costLeft(limit).tokens).toBe(20);
    expect(await reserve(limit, tokens(21))).toBeNull();
    expect(await reserve(limit, tokens(20))).not.toBeNull();
  });

  it("that is not known is the whole reservation", async () => {
    await settle((await reserve(limit, tokens(80))) as string, null);
    expect(state.ledger.costLeft(limit).tokens).toBe(20);
  });

  it("above the reservation counts, and leaves nothing", async () => {
    await settle((await reserve(limit, tokens(10))) as string, tokens(500));
    expect(state.ledger.costLeft(limit).tokens).toBe(0);
    expect(await reserve(limit, tokens(0))).toBeNull();
    expect(await reserve(chargeOf("a", { tokens: 501 }), tokens(1))).not.toBeNull();
  });

  it("of many calls at once is never reserved beyond the limit", async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => reserve(limit, tokens(9))));
    expect(all.filter((one) => one !== null)).toHaveLength(11);
  });

  it("without a price does not fit a limit of money", async () => {
    const money = chargeOf("a", { money: 100 });
    expect(await reserve(money, tokens(1))).toBeNull();
    expect(await reserve(money, { tokens: 1, money: 101 })).toBeNull();
    expect(await reserve(money, { tokens: 1, money: 100 })).not.toBeNull();
  });

  it("has to be given where one is limited", async () => {
    expect(await call([limit])).toMatchObject({ ok: false, code: "budget_exhausted" });
    expect(await call([chargeOf("b", { money: 1 })])).toMatchObject({ ok: false, code: "budget_exhausted" });
  });

  it("is charged to all accounts or to none", async () => {
    const both = [chargeOf("a", { tokens: 100 }), chargeOf("b", { tokens: 10, family: "other" })];
    const write = writeOf({ entry: entryOf({ id: "both" }), charges: both, reserved: tokens(50) });
    expect(value(await state.ledger.decide(write)).ok).toBe(false);
    expect(state.ledger.costLeft(limit).tokens).toBe(100);
  });

  it("is counted where nothing limits it, for a limit that comes later", async () => {
    await settle((await reserve(chargeOf("a", { calls: 9 }), tokens(60))) as string, tokens(60));
    await reserve(chargeOf("a", { calls: 9 }), tokens(30));
    expect(state.ledger.costLeft(limit).tokens).toBe(10);
  });

  it("goes with the family to a grant that is written anew, with what is reserved", async () => {
    await settle((await reserve(limit, tokens(50))) as string, tokens(50));
    const open = await reserve(limit, tokens(30));
    const other = chargeOf("b", { tokens: 100 });
    expect(state.ledger.costLeft(other).tokens).toBe(20);
    expect(await reserve(other, tokens(21))).toBeNull();
    expect(await reserve(other, tokens(5))).not.toBeNull();
    await settle(open as string, tokens(1));
    expect(state.ledger.costLeft(other).tokens).toBe(15);
    // Written again, it has what the other spent.
    expect(state.ledger.costLeft(chargeOf("a", { tokens: 100 })).tokens).toBe(15);
  });

  it.each([Number.NaN, -1])("has no room in a limit of %s", async (count) => {
    expect(await reserve(chargeOf("a", { tokens: count }), tokens(0))).toBeNull();
  });
});
