import { describe, expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { diagnosticLines, treeOf } from "../core/notation/testing/notation.ts";
import { accountLimits, type Budget, isBudgetWithin, readBudget, readTeamBudget } from "./budget.ts";

function read(value: Json): { readonly budget: Budget | null; readonly team: Budget | null; readonly said: string[] } {
  const diagnostics = new Diagnostics();
  const tree = treeOf(value);
  const entry = { key: "budget", keySpan: tree.span, value: tree };
  const budget = readBudget(entry, diagnostics);
  return { budget, team: readTeamBudget(entry, diagnostics), said: diagnosticLines(diagnostics) };
}

describe("a budget in an org file", () => {
  test.each<[string, Json, Readonly<Record<string, number>>]>([
    ["a number is dollars over its life", 2.5, { totalUsd: 2.5 }],
    ["each unit over each time", { dailyCalls: 100, monthlyUsd: 3 }, { dailyCalls: 100, monthlyUsd: 3 }],
    ["zero is a limit", { perTaskSeconds: 0 }, { perTaskSeconds: 0 }],
  ])("%s", (_, value, amounts) => {
    expect(Object.fromEntries(read(value).budget ?? [])).toEqual(amounts);
    expect(read(value).said).toEqual([]);
  });

  test.each<[string, Json]>([
    ["an unknown key", { dailyCals: 1 }],
    ["less than nothing", { dailyCalls: -1 }],
    ["half a call", { dailyCalls: 0.5 }],
    ["words", { dailyCalls: "many" }],
    ["a list", [1]],
    ["a team of a team", { team: { team: { dailyCalls: 1 } } }],
  ])("%s is refused", (_, value) => {
    const { said, team, budget } = read(value);
    expect(said.length).toBeGreaterThan(0);
    expect(budget === null || team === null).toBe(true);
  });

  test("of a team stands beside the manager's own", () => {
    const { budget, team } = read({ dailyCalls: 1, team: { dailyCalls: 9 } });
    expect([budget?.get("dailyCalls"), team?.get("dailyCalls")]).toEqual([1, 9]);
  });
});

describe("accounts", () => {
  const at = (text: string): Parameters<typeof accountLimits>[1] => ({
    ...{ workspace: "/w", run: "w-1 3", task: "w-1", now: Date.parse(text) },
  });
  const account = (key: string, text: string): string | undefined =>
    accountLimits([{ owner: "agent a", budget: new Map([[key as "dailyCalls", 5]]) }], at(text))[0]?.account;
  const ends = (key: string, text: string): number | null | undefined =>
    accountLimits([{ owner: "agent a", budget: new Map([[key as "dailyCalls", 5]]) }], at(text))[0]?.ends;

  test("a day ends at midnight UTC, a month with its last day", () => {
    expect(ends("dailyCalls", "2026-11-18T23:59:59.999Z")).toBe(Date.parse("2026-11-19T00:00:00Z"));
    expect(account("dailyCalls", "2026-11-18T00:00:00Z")).toBe(account("dailyCalls", "2026-11-18T23:59:59.999Z"));
    expect(account("dailyCalls", "2026-11-18T23:59:59.999Z")).not.toBe(account("dailyCalls", "2026-11-19T00:00:00Z"));
    for (const [day, next] of [
      ["2026-12-31", "2027-01-01"],
      ["2028-02-29", "2028-03-01"],
      ["2027-02-28", "2027-03-01"],
      ["2100-02-28", "2100-03-01"],
      ["2400-02-29", "2400-03-01"],
    ]) {
      expect(ends("monthlyUsd", `${day}T12:00:00Z`), day).toBe(Date.parse(`${next}T00:00:00Z`));
      expect(account("monthlyUsd", `${day}T12:00:00Z`)).not.toBe(account("monthlyUsd", `${next}T00:00:00Z`));
    }
  });

  test("a total never ends; a run and a task have accounts of their own", () => {
    expect(ends("totalCalls", "2026-11-18T00:00:00Z")).toBe(null);
    expect(account("perCycleCalls", "2026-11-18T00:00:00Z")).toContain("run w-1 3");
    expect(account("perTaskCalls", "2026-11-18T00:00:00Z")).toContain("task w-1");
  });
});

test("a budget is within another only if it limits as much", () => {
  const own = (amounts: Readonly<Record<string, number>>): Parameters<typeof isBudgetWithin>[0] => [
    { owner: "agent a", budget: new Map(Object.entries(amounts)) as Budget },
  ];
  expect(isBudgetWithin(own({ dailyCalls: 5 }), own({ dailyCalls: 5 }))).toBe(true);
  expect(isBudgetWithin(own({ dailyCalls: 6 }), own({ dailyCalls: 5 }))).toBe(false);
  expect(isBudgetWithin(own({ monthlyCalls: 1 }), own({ dailyCalls: 5 }))).toBe(false);
  expect(isBudgetWithin([], own({ dailyCalls: 5 }))).toBe(false);
  expect(isBudgetWithin(own({ dailyCalls: 5 }), [])).toBe(true);
});
