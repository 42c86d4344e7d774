import { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jobBytesMax, jobsWaitingMax } from "./commit-loop.ts";
import type { State } from "./state.ts";
import {
  approvalOf,
  chargeOf,
  entryOf,
  linkOf,
  type TemporaryState,
  temporaryState,
  value,
  writeOf,
} from "./testing/state.ts";

let place: TemporaryState;
let state: State;
let elapsed = 0;
beforeEach(() => {
  elapsed = 1_000;
  place = temporaryState();
  state = place.opened({ elapsed: () => elapsed });
});
afterEach(() => place.remove());

/** From now on the file cannot grow, and SQLite reports a full disk. */
const fillDisk = async (): Promise<void> => {
  value(await state.ledger.append([entryOf()]));
  value(state.loop.readNow((connection) => connection.get("PRAGMA max_page_count = 1")));
};
const big = () =>
  writeOf({ entry: entryOf({ more: { text: "x".repeat(15_000) } }), charges: [chargeOf("a", { calls: 9 })] });
const head = async (): Promise<number> => value(await state.chain.head()).place;

describe("a disk that fails", () => {
  it("is reported to every job of the turn, and nothing of it was stored", async () => {
    elapsed += 300;
    await fillDisk();
    const kept = await Promise.all([
      ...Array.from({ length: 20 }, () => state.ledger.decide(big())),
      state.ledger.bump(["agent"], entryOf()),
      state.links.make(linkOf("a"), null, entryOf()),
      state.approvals.ask(approvalOf("x"), entryOf()),
    ]);
    expect(kept.map((one) => (one.ok ? "kept" : one.code))).toEqual(kept.map(() => "audit_unavailable"));
    expect(kept.every((one) => !one.ok && one.message.includes("full"))).toBe(true);
    expect(await head()).toBe(1);
    expect(value(await state.ledger.accounts(null))).toEqual([]);
    expect(state.ledger.generation("agent")).toBe(0);
    expect(state.links.get("a")).toBeNull();
    expect(state.approvals.pending("/w", "scout")).toEqual([]);
    expect(state.ledger.isEmpty(chargeOf("a", { calls: 1 }), 0)).toBe(false);
  });

  it("is reported once while it lasts, and once when it is over", async () => {
    const told: (string | null)[] = [];
    state.loop.onFailure((why) => told.push(why));
    elapsed += 300;
    await fillDisk();
    expect((await state.ledger.decide(big())).ok).toBe(false);
    expect(state.loop.problem).toContain("full");
    expect((await state.ledger.decide(big())).ok).toBe(true);
    expect(state.loop.problem).toBeNull();
    expect(told).toEqual([expect.stringContaining("full"), null]);
  });

  it("is reopened for the next", async () => {
    elapsed += 300;
    await fillDisk();
    expect((await state.ledger.decide(big())).ok).toBe(false);
    expect(value(await state.ledger.decide(big()))).toMatchObject({
      ok: true,
      place: 2,
      left: [{ account: "a", left: 8 }],
    });
  });

  it("is not retried in a loop", async () => {
    await fillDisk();
    const away = `${place.folder}.away`;
    renameSync(place.folder, away);
    symlinkSync(away, place.folder);
    expect((await state.ledger.decide(big())).ok).toBe(false);
    // Meanwhile no state is loaded, and every write is refused with the reason.
    const refused = async (): Promise<string> => {
      const kept = await state.ledger.append([entryOf()]);
      return kept.ok ? "kept" : kept.message;
    };
    elapsed += 250;
    expect(await refused()).toContain("is a symbolic link");
    expect(state.ledger.generation("agent")).toBe(Number.MAX_SAFE_INTEGER);
    expect(state.links.heldBy({ workspace: "/w", agent: "child" })).toEqual([]);
    expect((await state.ledger.log({ count: 1 })).ok).toBe(false);
    unlinkSync(place.folder);
    renameSync(away, place.folder);
    elapsed += 249;
    expect(await refused()).toContain("is a symbolic link");
    elapsed += 1;
    expect(await refused()).toBe("kept");
    expect(state.ledger.generation("agent")).toBe(0);
    expect(await head()).toBe(2);
  });

  it("whose chain was changed meanwhile is not trusted", async () => {
    await fillDisk();
    value(state.loop.readNow((connection) => connection.exec("DROP TRIGGER leaf_kept")));
    value(
      state.loop.readNow((connection) => connection.run("UPDATE leaf SET entries = replace(entries, 'allow', 'deny')")),
    );
    elapsed += 300;
    expect((await state.ledger.decide(big())).ok).toBe(false);
    elapsed += 300;
    expect(await state.ledger.append([entryOf()])).toMatchObject({
      ok: false,
      message: expect.stringContaining("differs from what was written"),
    });
  });
});

describe("the queue", () => {
  it("is limited in number and in size, and nothing hangs", async () => {
    const kept = await Promise.all(Array.from({ length: jobsWaitingMax + 5 }, () => state.loop.write(() => 1, 1)));
    expect(kept.filter((one) => one.ok)).toHaveLength(jobsWaitingMax);
    expect((await state.loop.write(() => 1, jobBytesMax + 1)).ok).toBe(false);
    const large = await Promise.all(Array.from({ length: 20 }, () => state.loop.write(() => 1, jobBytesMax)));
    expect(large.filter((one) => one.ok)).toHaveLength(16);
    expect((await state.loop.write(() => 1)).ok).toBe(true);
  });

  it("is written when we close, and later writes are refused", async () => {
    const waiting = state.ledger.append([entryOf()]);
    state.close();
    expect((await waiting).ok).toBe(true);
    expect(await state.ledger.append([entryOf()])).toMatchObject({ ok: false, message: "the state is closed" });
    state = place.opened();
    expect(await head()).toBe(1);
  });

  it("is not affected by a job that throws", async () => {
    const jobs = [1, 2, 3].map((one) =>
      state.loop.write((connection) => {
        connection.run("INSERT INTO generation (scope, number) VALUES (?, 1)", `scope${one}`);
        if (one === 2) throw new Error("a mistake");
        return one;
      }),
    );
    expect((await Promise.all(jobs)).map((kept) => (kept.ok ? kept.value : kept.message))).toEqual([1, "a mistake", 3]);
    const rows = state.loop.readNow((connection) =>
      connection.all("SELECT scope FROM generation").map((row) => row["scope"]),
    );
    expect(value(rows)).toEqual(["scope1", "scope3"]);
  });

  it("refuses a job that no entry can be made of", async () => {
    const broken = entryOf({ more: { number: Number.NaN } });
    expect((await state.ledger.decide(writeOf({ entry: broken }))).ok).toBe(false);
    expect((await state.ledger.append([entryOf(), broken])).ok).toBe(false);
    expect((await state.ledger.append([entryOf({ at: 1.5 })])).ok).toBe(false);
    expect(await head()).toBe(0);
  });
});

describe("delayed jobs", () => {
  it("are written with the next job, before it", async () => {
    const before = state.loop.commits;
    const patient = state.ledger.append([entryOf({ id: "patient" })], 60_000);
    const next = state.ledger.append([entryOf({ id: "next" })]);
    expect([value(await patient).place, value(await next).place]).toEqual([1, 2]);
    expect(state.loop.commits - before).toBe(1);
  });

  it("are written alone if no job follows", async () => {
    const patient = await Promise.all([5, 60_000].map((wait) => state.ledger.append([entryOf()], wait)));
    expect(patient.map((one) => value(one).place)).toEqual([1, 2]);
  });

  it("are written before the state is closed, and refused after it", async () => {
    const patient = state.ledger.append([entryOf({ id: "patient" })], 60_000);
    await Promise.resolve();
    state.close();
    expect(value(await patient).place).toBe(1);
    expect((await state.ledger.append([entryOf()], 60_000)).ok).toBe(false);
    state = place.opened();
    expect(value(await state.ledger.entry("patient"))?.entry.place).toBe(1);
  });
});
