import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DecisionWrite, SecretUse } from "../core/ports/stores/ledger.ts";
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
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

describe("a decision", () => {
  it("is written once, with its cost", async () => {
    const written = value(await state.ledger.decide(writeOf({ charges: [chargeOf("a", { calls: 3 })] })));
    expect(written).toEqual({ ok: true, place: 1, left: [{ account: "a", left: 2 }] });
    expect(value(await state.chain.head()).place).toBe(1);
  });

  it("is in one transaction with the others of its event-loop turn", async () => {
    const before = state.loop.commits;
    await Promise.all(Array.from({ length: 100 }, () => state.ledger.decide(writeOf())));
    expect(state.loop.commits).toBe(before + 1);
    expect(value(await state.chain.head()).place).toBe(100);
  });

  it("never exceeds a budget: 128 callers against 500", async () => {
    let allowed = 0;
    const caller = async (): Promise<void> => {
      for (let call = 0; call < 10; call++) {
        const kept = value(await state.ledger.decide(writeOf({ charges: [chargeOf("a", { calls: 500 })] })));
        if (kept.ok) allowed++;
        else expect(kept).toEqual({ ok: false, code: "budget_exhausted", empty: ["a"] });
      }
    };
    await Promise.all(Array.from({ length: 128 }, caller));
    expect(allowed).toBe(500);
    expect(value(await state.ledger.accounts(null))).toMatchObject([{ account: "a", used: 500 }]);
    expect(value(await state.chain.head()).place).toBe(500);
  });

  it("charges all accounts or none", async () => {
    const charges = [
      chargeOf("wide", { calls: 100 }),
      chargeOf("narrow", { calls: 1 }),
      chargeOf("none", { calls: 0 }),
    ];
    const kept = value(await state.ledger.decide(writeOf({ charges })));
    expect(kept).toEqual({ ok: false, code: "budget_exhausted", empty: ["none"] });
    expect(value(await state.ledger.accounts(null))).toEqual([]);
    expect(value(await state.chain.head()).place).toBe(0);
  });
});

describe("an approval", () => {
  it("is used by one of 32 concurrent callers", async () => {
    value(await state.approvals.ask(approvalOf("x"), entryOf()));
    const to = { ...approvalOf("x"), state: "approved" as const };
    value(await state.approvals.change("x", ["pending"], to, entryOf()));
    const claim = { approval: "x", digest: "digest-x", isExact: true };
    const kept = await Promise.all(Array.from({ length: 32 }, () => state.ledger.decide(writeOf({ claim }))));
    expect(kept.filter((one) => value(one).ok)).toHaveLength(1);
    expect(value(await state.approvals.get("x"))?.state).toBe("executing");
  });
});

describe("links", () => {
  it("are revoked with their parent", async () => {
    value(await state.links.make(linkOf("top"), null, entryOf()));
    value(await state.links.make(linkOf("low", { parent: "top" }), null, entryOf()));
    expect(value(await state.ledger.decide(writeOf({ links: ["low"] }))).ok).toBe(true);
    value(await state.links.revoke("top", 1, entryOf()));
    expect(value(await state.ledger.decide(writeOf({ links: ["low"] })))).toEqual({ ok: false, code: "revoked" });
  });
});

describe("a decision that uses a secret", () => {
  const put = async (uses: number | null, version = 1): Promise<void> => {
    const sealed = {
      name: "key",
      version,
      sealed: "c2VhbGVk",
      keyId: "k1",
      username: null,
      isCanary: false,
      used: 0,
      at: 7,
    };
    const binding = { tools: ["model"], hosts: ["api.example.com"], uses };
    value(await state.secrets.put({ ...sealed, binding }, entryOf({ kind: "secret", outcome: "set" })));
  };
  const useOf = (version = 1): SecretUse => ({
    ...{ name: "key", version },
    entry: entryOf({ kind: "secret", outcome: "used" }),
  });
  const outcomes = async (): Promise<readonly string[]> =>
    value(await state.ledger.log({ count: 100 })).map(({ entry }) => `${entry.kind} ${entry.outcome}`);

  it("is in one commit with the use, each with its entry", async () => {
    await put(3);
    const before = state.loop.commits;
    expect(value(await state.ledger.decide(writeOf({ secret: useOf() })))).toMatchObject({ ok: true, place: 3 });
    expect(state.loop.commits).toBe(before + 1);
    expect((await outcomes()).toSorted()).toEqual(["decision allow", "secret set", "secret used"]);
    expect(state.secrets.get("key")?.used).toBe(1);
  });

  it("counts no use where the budget is empty", async () => {
    await put(3);
    const write = writeOf({ charges: [chargeOf("a", { calls: 0 })], secret: useOf() });
    expect(value(await state.ledger.decide(write))).toMatchObject({ ok: false, code: "budget_exhausted" });
    expect([state.secrets.get("key")?.used, await outcomes()]).toEqual([0, ["secret set"]]);
  });

  it("charges nothing where the secret has no use left, was changed, or is gone", async () => {
    await put(0, 2);
    const gone = { ...useOf(), name: "gone" };
    for (const secret of [useOf(2), useOf(1), gone]) {
      const write = writeOf({ charges: [chargeOf("a", { calls: 9 })], secret });
      expect(value(await state.ledger.decide(write))).toEqual({ ok: false, code: "secret_refused" });
    }
    expect([value(await state.ledger.accounts(null)), await outcomes()]).toEqual([[], ["secret set"]]);
  });

  it("never exceeds either: 60 at once against a budget of 40 and a secret for 25", async () => {
    await put(25);
    const write = (): DecisionWrite => writeOf({ charges: [chargeOf("a", { calls: 40 })], secret: useOf() });
    const kept = await Promise.all(Array.from({ length: 60 }, async () => value(await state.ledger.decide(write()))));
    expect(kept.filter(({ ok }) => ok)).toHaveLength(25);
    expect(state.secrets.get("key")?.used).toBe(25);
    expect(value(await state.ledger.accounts(null))).toMatchObject([{ account: "a", used: 25 }]);
  });

  it("never exceeds either: 60 at once against a budget of 25 and a secret for 40", async () => {
    await put(40);
    const write = (): DecisionWrite => writeOf({ charges: [chargeOf("a", { calls: 25 })], secret: useOf() });
    const kept = await Promise.all(Array.from({ length: 60 }, async () => value(await state.ledger.decide(write()))));
    expect(kept.filter(({ ok }) => ok)).toHaveLength(25);
    expect(state.secrets.get("key")?.used).toBe(25);
    expect((await outcomes()).filter((one) => one === "secret used")).toHaveLength(25);
  });
});
