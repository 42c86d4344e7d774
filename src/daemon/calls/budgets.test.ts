import { expect, test } from "vitest";
import type { CreatedAgent } from "../../core/ports/stores/link-store.ts";
import type { Budget } from "../../org/budget.ts";
import type { RecordResult } from "../parts.ts";
import { Budgets, budgetCharges } from "./budgets.ts";

const BUDGETS: Readonly<Record<string, readonly { owner: string; budget: Budget }[]>> = {
  worker: [
    { owner: "agent worker", budget: new Map([["dailyCalls", 5]]) },
    { owner: "team boss", budget: new Map([["totalUsd", 2]]) },
  ],
  boss: [
    { owner: "agent boss", budget: new Map([["dailyTokens", 7]]) },
    { owner: "team boss", budget: new Map([["totalUsd", 1]]) },
  ],
};

const task = { id: "w-1", workspace: "/w", agent: "worker", generation: 1 };
const hired = { name: { workspace: "/w", agent: "boss/hand" }, creator: { workspace: "/w", agent: "boss" } };
const made: CreatedAgent = { ...hired, link: "l-1", body: "", made: 0, ended: null, role: "Hand" };

const budgets = new Budgets({
  now: () => 0,
  records: {
    record: (_: string, id: string) =>
      (id === "boss/hand"
        ? { ok: false, message: "", fix: null }
        : { ok: true, value: { budgets: BUDGETS[id] ?? [] } }) as unknown as RecordResult,
  } as never,
  stores: { links: { made: ({ agent }) => (agent === "boss/hand" ? made : null), allMade: () => [made] } },
});

test("an agent that was hired spends the budgets of its hirer, in tasks and in sessions of its own", () => {
  const names = ["daily budget of agent boss", "total budget of team boss"];
  expect(budgets.ofTask({ ...task, agent: "boss/hand", payers: [] }, 0).map(({ name }) => name)).toEqual(names);
  const facts = { id: "s-1", name: made.name } as never;
  expect(budgets.of({ facts, task: null }, null).map(({ name }) => name)).toEqual(names);
});

test("a task is paid by its own agent; a delegated one by those that delegated it, too", () => {
  const names = (payers: readonly string[]): readonly string[] =>
    budgets.ofTask({ ...task, payers }, 0).map(({ name }) => name);
  expect(names([])).toEqual(["daily budget of agent worker", "total budget of team boss"]);
  expect(names(["boss"])).toContain("daily budget of agent boss");
});

test("an account has one charge, with the smallest of its limits", () => {
  const limits = budgets.ofTask({ ...task, payers: ["boss"] }, 0);
  const team = limits.filter(({ name }) => name === "total budget of team boss");
  expect(team.map(({ money }) => money)).toEqual([1_000_000]);
});

test("tokens and money are charged with requests to models alone", () => {
  const limits = budgets.ofTask({ ...task, payers: ["boss"] }, 0);
  expect(budgetCharges(limits, undefined).map(({ calls, tokens, money }) => [calls, tokens, money])).toEqual([
    [5, null, null],
  ]);
  expect(budgetCharges(limits, { tokens: 1, money: 1 })).toHaveLength(3);
});
