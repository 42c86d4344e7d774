// The lifecycle of an approval: a table of answers, and laws over random sequences of events.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Approval } from "../core/ports/stores/approval-store.ts";
import {
  agree,
  answersMissing,
  approvalAt,
  begin,
  changeOf,
  end,
  type LifecycleChange,
  newApproval,
  refuse,
} from "./lifecycle.ts";
import { answerMillisecondsMax, answerUsesMax, questionMillisecondsMax, reasonCharactersMax } from "./limits.ts";
import { ASKED_AT, answerOf, approvalOf, LADDER } from "./testing/approval.ts";

function changed(change: LifecycleChange): Approval {
  if (!change.ok) throw new Error(`${change.code}: ${change.message}`);
  return change.approval;
}

function codeOf(change: LifecycleChange): string {
  return change.ok ? change.approval.state : change.code;
}

describe("the approval of one person", () => {
  test("approves what needs one person, as far and as long as that person said", () => {
    const approval = changed(agree(approvalOf(), answerOf({ step: "folder", uses: 3, milliseconds: 60_000 }), LADDER));
    expect(approval).toMatchObject({
      state: "approved",
      scope: { kind: "grants", specs: ["fs.write{in=/work/p,paths=[*]}"] },
      usesLeft: 3,
      expires: ASKED_AT + 61_000,
    });
    expect(answersMissing(approval)).toBe(0);
  });

  const wrong: readonly (readonly [string, Approval, Parameters<typeof answerOf>[0], string])[] = [
    ["after the request has expired", approvalOf(), { at: ASKED_AT + 3_600_000 }, "expired"],
    ["a moment before is in time", approvalOf(), { at: ASKED_AT + 3_599_999 }, "approved"],
    ["of a refused request", changed(refuse(approvalOf(), "no")), {}, "not_pending"],
    ["a plain yes for what needs presence", approvalOf({ level: 2 }), { level: 1 }, "presence_required"],
    ["with presence", approvalOf({ level: 2 }), { level: 2 }, "approved"],
    ["presence where a yes is enough", approvalOf({ level: 1 }), { level: 2 }, "approved"],
    [
      "of a present person where presence is not required",
      approvalOf({ approvers: { need: 1, of: ["bob"] } }),
      { level: 2 },
      "not_an_approver",
    ],
    ["of a present person", approvalOf({ approvers: { need: 1, of: ["ann"] } }), { level: 2 }, "approved"],
    [
      "of a person who only claims to be present",
      approvalOf({ approvers: { need: 1, of: ["ann"] } }),
      {},
      "presence_required",
    ],
    ["as one of several, without a name", approvalOf({ approvers: { need: 2, of: null } }), {}, "presence_required"],
    ["as one of several, with a name", approvalOf({ approvers: { need: 2, of: null } }), { level: 2 }, "pending"],
    [
      "by a name in other letter case",
      approvalOf({ approvers: { need: 1, of: ["ann"] } }),
      { by: "Ann", level: 2 },
      "not_an_approver",
    ],
    ["for a step that was not offered", approvalOf(), { step: "program" }, "unknown_step"],
    ["for no step", approvalOf(), { step: "" }, "unknown_step"],
    ["for zero uses", approvalOf(), { uses: 0 }, "bad_uses"],
    ["for half a use", approvalOf(), { uses: 1.5 }, "bad_uses"],
    ["for more uses than the maximum", approvalOf(), { uses: answerUsesMax + 1 }, "bad_uses"],
    ["for the maximum of uses", approvalOf(), { uses: answerUsesMax }, "approved"],
    ["for ever", approvalOf(), { milliseconds: Number.POSITIVE_INFINITY }, "bad_time"],
    ["for an invalid duration", approvalOf(), { milliseconds: Number.NaN }, "bad_time"],
    ["for longer than the maximum", approvalOf(), { milliseconds: answerMillisecondsMax + 1 }, "bad_time"],
    ["for the maximum duration", approvalOf(), { milliseconds: answerMillisecondsMax }, "approved"],
    ["for no time at all", approvalOf(), { at: Number.NaN }, "expired"],
  ];
  for (const [title, approval, answer, code] of wrong)
    test(title, () => expect(codeOf(agree(approval, answerOf(answer), LADDER))).toBe(code));
});

describe("several people", () => {
  const named = (changed: Parameters<typeof answerOf>[0] = {}) => answerOf({ level: 2, ...changed });
  const two = approvalOf({ approvers: { need: 2, of: ["ann", "bob", "eve"] } });

  test("one of two leaves it pending, with nothing to use", () => {
    const half = changed(agree(two, named({ step: "folder", uses: 5 }), LADDER));
    expect(half).toMatchObject({ state: "pending", usesLeft: 0, scope: { kind: "exact" }, expires: two.expires });
    expect(answersMissing(half)).toBe(1);
    expect(codeOf(begin(half, ASKED_AT + 2000))).toBe("not_approved");
  });

  test("the same person is one person", () => {
    const half = changed(agree(two, named(), LADDER));
    expect(codeOf(agree(half, named(), LADDER))).toBe("already_agreed");
  });

  test("the narrowest answer counts, in any order", () => {
    const said = [
      named({ by: "ann", step: "folder", uses: 2, milliseconds: 100_000 }),
      named({ by: "bob", step: "file", uses: 9, milliseconds: 50_000, at: ASKED_AT + 5000 }),
    ];
    for (const answers of [said, said.toReversed()]) {
      let approval = two;
      for (const answer of answers) approval = changed(agree(approval, { ...answer, at: ASKED_AT + 5000 }, LADDER));
      expect(approval).toMatchObject({
        state: "approved",
        scope: { kind: "grants", specs: ["fs.write{in=/work/p,paths=[a.txt]}"] },
        usesLeft: 2,
        expires: ASKED_AT + 55_000,
      });
    }
  });

  test("a step that is missing from the ladder counts as exactly this call", () => {
    const half = changed(agree(two, named({ step: "folder" }), LADDER));
    const whole = changed(agree(half, named({ by: "bob", step: "file" }), LADDER.slice(0, 2)));
    expect(whole.scope).toEqual({ kind: "exact" });
  });
});

describe("after an approval", () => {
  const yes = (uses: number): Approval => changed(agree(approvalOf(), answerOf({ uses }), LADDER));

  test("one use executes and ends once", () => {
    const running = changed(begin(yes(1), ASKED_AT + 2000));
    expect(running).toMatchObject({ state: "executing", usesLeft: 0 });
    expect(codeOf(begin(running, ASKED_AT + 2000))).toBe("not_approved");
    for (const how of ["done", "failed", "indeterminate"] as const) {
      const ended = changed(end(running, how));
      expect(ended.state).toBe(how);
      expect(codeOf(end(ended, "done"))).toBe("not_executing");
      expect(codeOf(begin(ended, ASKED_AT + 2000))).toBe("not_approved");
    }
  });

  test("of several uses only the last makes it executing", () => {
    const once = changed(begin(yes(2), ASKED_AT + 2000));
    expect(once).toMatchObject({ state: "approved", usesLeft: 1 });
    expect(codeOf(end(once, "done"))).toBe("not_executing");
    expect(changed(begin(once, ASKED_AT + 2000))).toMatchObject({ state: "executing", usesLeft: 0 });
  });

  test("nothing begins at the moment it expires", () => {
    expect(codeOf(begin(yes(1), ASKED_AT + 601_000))).toBe("expired");
    expect(codeOf(begin(yes(1), ASKED_AT + 600_999))).toBe("executing");
    expect(approvalAt(yes(3), ASKED_AT + 601_000)).toMatchObject({ state: "expired", usesLeft: 0 });
  });

  test("an approval can be revoked until it is used up", () => {
    const back = changed(refuse(yes(3), "changed my mind"));
    expect(back).toMatchObject({ state: "refused", usesLeft: 0, reason: "changed my mind" });
    expect(codeOf(begin(back, ASKED_AT + 2000))).toBe("not_approved");
    expect(codeOf(refuse(changed(begin(yes(1), ASKED_AT + 2000)), "late"))).toBe("not_pending");
    expect(codeOf(refuse(back, "again"))).toBe("not_pending");
  });

  test("a reason is truncated, a request closes, and only changes are written", () => {
    expect(changed(refuse(approvalOf(), "x".repeat(5000))).reason).toHaveLength(reasonCharactersMax);
    expect(approvalOf({ milliseconds: Number.MAX_VALUE }).expires).toBe(ASKED_AT + questionMillisecondsMax);
    expect(Object.keys(changeOf(approvalOf())).sort()).toEqual(
      ["answers", "expires", "reason", "scope", "state", "usesLeft"].sort(),
    );
  });

  test("fewer than one person are never enough", () => {
    expect(approvalOf({ approvers: { need: 0, of: null } }).need).toBe(1);
    expect(approvalOf({ approvers: { need: -5, of: [] } })).toMatchObject({ need: 1, of: [] });
  });
});

/** One event, and its delay after the previous one. */
const event = fc.record({
  after: fc.constantFrom(0, 0, 1, 1000, 30_000, 400_000),
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom("agree", "begin") },
    { weight: 2, arbitrary: fc.constantFrom("end", "interrupt") },
    { weight: 1, arbitrary: fc.constant("refuse") },
  ),
  by: fc.constantFrom("ann", "bob", "eve", "mallory"),
  level: fc.constantFrom(1 as const, 2 as const, 2 as const),
  step: fc.constantFrom("exact", "file", "folder", "folder", "nowhere"),
  uses: fc.constantFrom(1, 2, 3, 3, 0, answerUsesMax + 1),
  milliseconds: fc.constantFrom(1000, 60_000, 600_000, 600_000, -1),
});

test("whatever happens: no use too many, none too late, none after a refusal, none by fewer people than needed", () => {
  let executions = 0;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.option(fc.constant<readonly string[]>(["ann", "bob", "eve"]), { nil: null }),
      fc.constantFrom(1 as const, 2 as const),
      fc.array(event, { minLength: 1, maxLength: 40, size: "max" }),
      (need, of, level, events) => {
        let approval = newApproval({
          ...approvalOf({ approvers: { need, of }, level }),
          approvers: { need, of },
          milliseconds: 3_600_000,
        });
        let now = ASKED_AT;
        let used = 0;
        let isRefused = false;
        const agreed = new Map<
          string,
          { level: number; uses: number; milliseconds: number; at: number; step: string }
        >();
        for (const one of events) {
          now += one.after;
          const before = approval;
          const answer = { ...one, at: now, terminal: true };
          const change =
            one.kind === "agree"
              ? agree(approval, answer, LADDER)
              : one.kind === "refuse"
                ? refuse(approval, "no")
                : one.kind === "begin"
                  ? begin(approval, now)
                  : end(approval, one.kind === "end" ? "done" : "indeterminate");
          if (!change.ok) continue;
          approval = change.approval;
          if (one.kind === "agree") agreed.set(one.by, answer);
          if (one.kind === "refuse") isRefused = true;
          if (one.kind !== "begin") continue;
          used++;
          executions++;
          const people = [...agreed.values()];
          expect(isRefused).toBe(false);
          expect(people.length).toBeGreaterThanOrEqual(need);
          const least = need > 1 || of !== null ? 2 : level;
          expect(people.every((person) => person.level >= least)).toBe(true);
          if (of !== null) expect([...agreed.keys()].every((name) => of.includes(name))).toBe(true);
          expect(used).toBeLessThanOrEqual(Math.min(...people.map(({ uses }) => uses)));
          const last = Math.max(...people.map(({ at }) => at));
          expect(now).toBeLessThan(last + Math.min(...people.map(({ milliseconds }) => milliseconds)));
          const narrowest =
            LADDER[Math.min(...people.map(({ step }) => LADDER.findIndex(({ name }) => name === step)))];
          expect(before.scope.kind === "exact" ? null : before.scope.specs).toEqual(narrowest?.specs);
        }
      },
    ),
    { numRuns: 3000 },
  );
  // The law is vacuous if nothing was ever executed.
  expect(executions).toBeGreaterThan(300);
});
