import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Approval, ApprovalScope, ApprovalState } from "../../core/ports/stores/approval-store.ts";
import type { ApprovalClaim } from "../../core/ports/stores/ledger.ts";
import type { State } from "../state.ts";
import {
  approvalOf,
  chargeOf,
  entryOf,
  type TemporaryState,
  temporaryState,
  value,
  writeOf,
} from "../testing/state.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

const at = 1_700_000_000_000;
const grants: ApprovalScope = { kind: "grants", specs: ["proc.exec git"] };

async function approved(id: string, parts: Partial<Approval> = {}): Promise<void> {
  const asked = approvalOf(id, parts);
  value(await state.approvals.ask({ ...asked, state: "pending" }, entryOf()));
  value(await state.approvals.change(id, ["pending"], { ...asked, state: "approved" }, entryOf()));
}

async function claims(claim: Partial<ApprovalClaim>): Promise<string> {
  const whole = { approval: "x", digest: "digest-x", isExact: true, ...claim };
  const written = value(await state.ledger.decide(writeOf({ entry: entryOf({ at }), claim: whole })));
  return written.ok ? "allow" : written.code;
}

describe("a claim", () => {
  it.each<[string, Partial<Approval>, Partial<ApprovalClaim>, string]>([
    ["is for the requested call", {}, {}, "allow"],
    ["is for no other call", {}, { digest: "digest-y" }, "approval_required"],
    [
      "of an exact answer needs the digest, whatever the claim says",
      {},
      { digest: "y", isExact: false },
      "approval_required",
    ],
    ["of a wider answer does not", { scope: grants }, { digest: "y", isExact: false }, "allow"],
    ["that says exact needs the digest even then", { scope: grants }, { digest: "y" }, "approval_required"],
    ["is for an existing approval", {}, { approval: "z" }, "approval_required"],
    ["comes in time", { expires: at + 1 }, {}, "allow"],
    ["does not come late", { expires: at }, {}, "approval_required"],
    ["needs a use", { usesLeft: 0, scope: grants }, {}, "approval_required"],
    ["is of the same generation", { generation: 3 }, { generation: 3 }, "allow"],
    ["is not of another", { generation: 3 }, { generation: 4 }, "approval_required"],
  ])("%s", async (_, approval, claim, outcome) => {
    await approved("x", approval);
    expect(await claims(claim)).toBe(outcome);
  });

  it("is refused for anything not approved", async () => {
    value(await state.approvals.ask(approvalOf("x"), entryOf()));
    expect(await claims({})).toBe("approval_required");
    const states: readonly ApprovalState[] = ["refused", "expired", "executing", "done", "failed", "indeterminate"];
    for (const next of states) {
      value(await state.approvals.change("x", ["pending", ...states], { ...approvalOf("x"), state: next }, entryOf()));
      expect(await claims({})).toBe("approval_required");
    }
  });

  it("takes one use each, and the last is executing", async () => {
    await approved("x", { scope: grants, usesLeft: 3 });
    const racers = await Promise.all(Array.from({ length: 9 }, () => claims({ isExact: false })));
    expect(racers.filter((one) => one === "allow")).toHaveLength(3);
    expect(value(await state.approvals.get("x"))).toMatchObject({ state: "executing", usesLeft: 0 });
    expect(state.approvals.usable("/w", "scout", at)).toEqual([]);
  });

  it("is not spent if the budget is, and the refusals come in order", async () => {
    await approved("x");
    const claim = { approval: "x", digest: "digest-x", isExact: true };
    const charges = [chargeOf("none", { calls: 0 })];
    const code = async (parts: object): Promise<string> => {
      const written = value(await state.ledger.decide(writeOf({ charges, claim, ...parts })));
      return written.ok ? "allow" : written.code;
    };
    expect(await code({ generations: [["agent", 1]], links: ["gone"], claim: { ...claim, digest: "" } })).toBe(
      "generation_stale",
    );
    expect(await code({ links: ["gone"], claim: { ...claim, digest: "" } })).toBe("revoked");
    expect(await code({ claim: { ...claim, digest: "" } })).toBe("approval_required");
    expect(await code({})).toBe("budget_exhausted");
    expect(state.approvals.usable("/w", "scout", at)).toHaveLength(1);
    expect(await code({ charges: [] })).toBe("allow");
  });
});

describe("approvals", () => {
  it("requested twice are one, without a second entry", async () => {
    const first = value(await state.approvals.ask(approvalOf("x"), entryOf()));
    const second = value(await state.approvals.ask(approvalOf("y", { digest: first.digest }), entryOf()));
    expect(second).toEqual({ ...first, times: 2 });
    expect(value(await state.chain.head()).place).toBe(1);
    expect(value(await state.approvals.get("y"))).toBeNull();
    const later = approvalOf("z", { digest: first.digest, asked: first.expires });
    expect(value(await state.approvals.ask(later, entryOf())).id).toBe("z");
  });

  it("change only from their current state, by one of many", async () => {
    value(await state.approvals.ask(approvalOf("x"), entryOf()));
    const to = { ...approvalOf("x"), state: "refused" as const, reason: "no" };
    const changed = await Promise.all(
      Array.from({ length: 8 }, () => state.approvals.change("x", ["pending"], to, entryOf())),
    );
    expect(changed.filter((one) => value(one) !== null)).toHaveLength(1);
    expect(value(await state.chain.head()).place).toBe(2);
    expect(state.approvals.pending("/w", "scout")).toEqual([]);
  });

  it("are known to their agent alone, also after a restart", async () => {
    await approved("x");
    value(await state.approvals.ask(approvalOf("y"), entryOf()));
    state.close();
    state = place.opened();
    expect(state.approvals.usable("/w", "scout", at).map(({ id }) => id)).toEqual(["x"]);
    expect(state.approvals.pending("/w", "scout").map(({ id }) => id)).toEqual(["y"]);
    for (const [workspace, agent] of [
      ["/other", "scout"],
      ["/w", "other"],
      [null, "scout"],
    ] as const) {
      expect(state.approvals.usable(workspace, agent, at)).toEqual([]);
      expect(state.approvals.pending(workspace, agent)).toEqual([]);
    }
    expect(value(await state.approvals.list(["approved", "pending"], 9)).map(({ id }) => id)).toEqual(["y", "x"]);
  });

  it("that were executing at the crash are shown to a person, late ones have expired", async () => {
    await approved("x");
    await approved("late", { expires: at + 5 });
    await approved("alive", { expires: at + 50 });
    expect(await claims({})).toBe("allow");
    state.close();
    state = place.opened();
    const recovered = value(await state.approvals.recover(at + 10, () => entryOf()));
    expect(recovered.map(({ id, state: now }) => [id, now])).toEqual([
      ["x", "indeterminate"],
      ["late", "expired"],
    ]);
    expect(value(await state.approvals.recover(at + 10, () => entryOf()))).toEqual([]);
  });
});
