// `land: ask`: how it is parsed, that a mistake in it never lands changes automatically, and that omitting it is a
// widening.
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/base/json.ts";
import { readConfig } from "../../core/notation/config/config.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import { READING, treeOf } from "../../core/notation/testing/notation.ts";
import { type Agent, agentFromRecord } from "./agent.ts";
import { differenceOf } from "./difference.ts";
import { changedAgent } from "./trust.ts";

function agent(keys: Readonly<Record<string, Json>>, capabilities: Json = ["memory.write{keys=[a]}"]): Agent {
  const moment = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null };
  return agentFromRecord(readRecord(treeOf({ capabilities, ...keys }), READING), "scout", READING, moment);
}

describe("in a record", () => {
  test.each([
    [{}, false, []],
    [{ land: "auto" }, false, []],
    [{ land: "ask" }, true, []],
    [{ land: "never" }, true, ["bad_value"]],
    [{ land: null }, true, ["bad_value"]],
    [{ land: ["ask"] }, true, ["bad_value"]],
    [{ Land: "ask" }, true, ["unknown_key"]],
  ] as const)("%j", (keys, needsReview, codes) => {
    const record = readRecord(treeOf({ capabilities: [], ...keys } as Json), READING);
    expect(record.needsReview).toBe(needsReview);
    expect(record.diagnostics.map(({ code }) => code)).toEqual(codes);
  });
});

describe("in a configuration", () => {
  test.each([
    ["ask", "ask", false],
    ["auto", "auto", false],
    ["later", "ask", true],
  ] as const)("%j", (written, land, broken) => {
    const config = readConfig(treeOf({ land: written }), "project", READING);
    expect([config.land, config.broken]).toEqual([land, broken]);
  });
});

test.each([
  [{ land: "ask" }, {}, ["land"], []],
  [{ land: "ask" }, { land: "auto" }, ["land"], []],
  [{}, { land: "ask" }, [], ["land"]],
  [{ land: "ask" }, { land: "ask" }, [], []],
] as const)("from %j to %j", (before, after, widened, narrowed) => {
  const difference = differenceOf(agent(before), agent(after), []);
  expect(difference.widened.map(({ because }) => because)).toEqual(widened);
  expect(difference.narrowed.map(({ because }) => because)).toEqual(narrowed);
});

test("a trusted review requirement applies until its removal is trusted", () => {
  const trust = changedAgent(agent({}), agent({ land: "ask" }), []);
  expect(trust.status.kind).toBe("waiting");
  expect(trust.agent.needsReview).toBe(true);
  const stricter = changedAgent(agent({ land: "ask" }), agent({}), []);
  expect(stricter.status.kind).toBe("narrowed");
  expect(stricter.agent.needsReview).toBe(true);
});

test("an agent without grants writes nothing, reviewed or not", () => {
  expect(differenceOf(agent({ land: "ask" }, []), agent({}, []), []).widened).toEqual([]);
});
