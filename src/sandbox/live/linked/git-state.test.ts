// What one step does with git of a linked worktree: every combination of changes on both sides.
import { describe, expect, test } from "vitest";
import { type GitState, type GitStepPlan, hasProgramChange, planGitStep } from "./git-state.ts";

const HEAD = "ref: refs/heads/main\n";
const START: GitState = {
  head: HEAD,
  refs: new Map([
    ["refs/heads/main", "a"],
    ["refs/heads/side", "a"],
    ["refs/stash", "s"],
  ]),
  stashLog: "0 s P\tone\n",
  index: "i",
};

interface Change {
  readonly head?: string;
  readonly index?: string;
  readonly stashLog?: string;
  readonly refs?: Readonly<Record<string, string | null>>;
}

function changed({ refs = {}, ...rest }: Change): GitState {
  const now = new Map(START.refs);
  for (const [name, ref] of Object.entries(refs))
    if (ref === null) now.delete(name);
    else now.set(name, ref);
  return { ...START, ...rest, refs: now };
}

function step(program: Change, person: Change, isBusy = false): Omit<GitStepPlan, "base"> {
  const sides = { base: { program: START, person: START }, program: changed(program), person: changed(person) };
  const { base: _, ...plan } = planGitStep(sides, isBusy);
  return plan;
}

const NOTHING: Omit<GitStepPlan, "base"> = { refs: [], isStashCarried: false, checkout: null, conflicts: [] };
const COMMIT = { refs: { "refs/heads/main": "b" }, index: "j" };

describe("a step carries in", () => {
  test.each<[string, Change, Change, Partial<typeof NOTHING>]>([
    ["nothing, where nothing changed", {}, {}, {}],
    ["nothing, where the program changed something", COMMIT, {}, {}],
    [
      "a commit of the person: branch and index",
      {},
      COMMIT,
      { checkout: { head: false, index: true, branch: "refs/heads/main" } },
    ],
    [
      "a switch of the person",
      {},
      { head: "ref: refs/heads/side\n", index: "j" },
      { checkout: { head: true, index: true, branch: null } },
    ],
    ["a branch that is not checked out", {}, { refs: { "refs/heads/side": "b" } }, { refs: ["refs/heads/side"] }],
    [
      "a new branch, beside a commit of the program",
      COMMIT,
      { refs: { "refs/heads/new": "a" } },
      { refs: ["refs/heads/new"] },
    ],
    ["a deleted branch", {}, { refs: { "refs/heads/side": null } }, { refs: ["refs/heads/side"] }],
    ["a stash", {}, { refs: { "refs/stash": "t" }, stashLog: "0 s P\tone\ns t P\ttwo\n" }, { isStashCarried: true }],
    ["a stash that was dropped in the middle", {}, { stashLog: "" }, { isStashCarried: true }],
    ["nothing, where both have the same commit", COMMIT, COMMIT, {}],
    [
      "the branch that the program left",
      { head: "ref: refs/heads/side\n" },
      { refs: { "refs/heads/main": "b" } },
      { refs: ["refs/heads/main"] },
    ],
  ])("%s", (_, program, person, want) => expect(step(program, person)).toEqual({ ...NOTHING, ...want }));
});

describe("a conflict", () => {
  test.each<[string, Change, Change, readonly string[]]>([
    ["commits of both", COMMIT, { refs: { "refs/heads/main": "c" }, index: "k" }, ["index", "refs/heads/main"]],
    ["the program stages, the person commits", { index: "k" }, COMMIT, ["index", "refs/heads/main"]],
    // With the person's branch and its own index, its next commit would take back the person's.
    [
      "the program stages, the person moves the branch alone",
      { index: "k" },
      { refs: { "refs/heads/main": "b" } },
      ["index", "refs/heads/main"],
    ],
    [
      "another branch moves on both sides",
      { refs: { "refs/heads/side": "b" } },
      { refs: { "refs/heads/side": "c" } },
      ["refs/heads/side"],
    ],
  ])("%s: nothing of it is carried in", (_, program, person, want) => {
    const { conflicts, ...rest } = step(program, person);
    expect([[...conflicts].sort(), rest]).toEqual([want, { refs: [], isStashCarried: false, checkout: null }]);
  });
});

test("an operation in progress keeps HEAD and index as they are, and not other branches", () => {
  const person = { ...COMMIT, refs: { ...COMMIT.refs, "refs/heads/side": "b" } };
  expect(step({}, person, true)).toEqual({ ...NOTHING, refs: ["refs/heads/side"] });
});

test("values that both sides have are in step, whatever they were", () => {
  const sides = { base: { program: START, person: START }, program: changed(COMMIT), person: changed(COMMIT) };
  const { base } = planGitStep(sides, false);
  expect([base.program.refs.get("refs/heads/main"), base.person.index]).toEqual(["b", "j"]);
  expect(hasProgramChange({ ...sides, base })).toBe(false);
});

test("the program has something to land where it differs from the base and from the person", () => {
  const base = { program: START, person: START };
  const has = (program: Change, person: Change): boolean =>
    hasProgramChange({ base, program: changed(program), person: changed(person) });
  expect([has({}, {}), has({}, COMMIT), has(COMMIT, {}), has(COMMIT, COMMIT)]).toEqual([false, false, true, false]);
  // Not carried over, and not landed again and again.
  const dropped = { ...START, refs: new Map([...START.refs].slice(0, 2)), stashLog: "" };
  expect(hasProgramChange({ base: { program: dropped, person: START }, program: dropped, person: START })).toBe(false);
});
