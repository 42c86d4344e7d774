// Fewer or other approvers are a widening, and until it is trusted the stricter of both texts applies.
import { expect, test } from "vitest";
import type { Json } from "../../core/base/json.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import { READING, treeOf } from "../../core/notation/testing/notation.ts";
import { type Agent, agentFromRecord } from "./agent.ts";
import { differenceOf } from "./difference.ts";
import { changedAgent } from "./trust.ts";

function agent(approvers: Json | undefined, capabilities: Json = ["memory.write{keys=[a],ask}"]): Agent {
  const written = approvers === undefined ? { capabilities } : { capabilities, approvers };
  const moment = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null };
  return agentFromRecord(readRecord(treeOf(written), READING), "scout", READING, moment);
}

const TWO = { need: 2, of: ["ann", "bob", "eve"] };

test.each([
  [TWO, { need: 1, of: ["ann", "bob", "eve"] }, true, false],
  [TWO, undefined, true, false],
  [TWO, 2, true, false],
  [TWO, { need: 2, of: ["ann", "bob", "eve", "mallory"] }, true, false],
  [TWO, { need: 2, of: ["ann", "bob"] }, false, true],
  [TWO, { need: 2, of: ["ann", "bob", "mallory"] }, true, true],
  [undefined, 1, false, false],
  [undefined, 2, false, true],
] as const)("from %j to %j: widened %j, narrowed %j", (before, after, isWidened, isNarrowed) => {
  const { widened, narrowed } = differenceOf(agent(before as Json), agent(after as Json), []);
  expect(widened.map(({ because }) => because)).toEqual(isWidened ? ["approvers"] : []);
  expect(narrowed.map(({ because }) => because)).toEqual(isNarrowed ? ["approvers"] : []);
});

test("a change waits for trust, and the stricter of both applies meanwhile", () => {
  const trust = changedAgent(agent(1), agent(TWO), []);
  expect(trust.status.kind).toBe("waiting");
  expect(trust.agent.approvers).toEqual(TWO);
  expect(changedAgent(agent(TWO), agent(1), []).status.kind).toBe("narrowed");
});

test("approvers of an agent that holds nothing allow nothing", () => {
  expect(differenceOf(agent(TWO, []), agent(1, []), []).widened).toEqual([]);
});
