// A delegation to an agent that calls no tools: each place where a person looks says what is missing.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();
const READ = "fs.read{in=.}";

beforeAll(() => {
  walk.record("lead", "capabilities: ['fs.read{in=.}', agent.grant, 'tool.invoke{tools=[builtin:**]}']");
  walk.record("scout", "capabilities: []");
  walk.record("reader", "capabilities: ['tool.invoke{tools=[fs_read]}']");
  walk.write({ "f.txt": "larks\n" });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

const grant = (agent: string, ...grants: readonly string[]): unknown =>
  walk.call("lead", "agent_grant", { agent, grants }).result;

test("without `tool.invoke` its answer, the agent's page and `why` say so; with it they do not", () => {
  expect(grant("scout", READ)).toMatchObject({ note: expect.stringContaining("scout has no tool.invoke") });
  expect(walk.ambit("agents", "show", "scout").out).toContain("it has no `tool.invoke`, so it cannot call a tool");
  expect(walk.ambit("agents", "capabilities", "scout").out).toContain(
    "it has no `tool.invoke`, so it cannot call a tool",
  );
  expect(walk.call("scout", "fs_read", { path: "f.txt" }).code).toBe("capability_absent");
  expect(walk.ambit("why").out).toContain("Each call of a tool needs `tool.invoke`");
  expect(grant("scout", "tool.invoke{tools=[builtin:**]}")).not.toHaveProperty("note");
  // It has it by the delegation before.
  expect(grant("scout", READ)).not.toHaveProperty("note");
  expect(walk.ambit("agents", "show", "scout").out).not.toContain("it has no `tool.invoke`");
  expect(walk.call("scout", "fs_read", { path: "f.txt" }).code).toBeNull();
});

test("an agent whose record has it needs no word about it", () => {
  expect(grant("reader", READ)).not.toHaveProperty("note");
  expect(walk.call("reader", "fs_read", { path: "f.txt" }).code).toBeNull();
});
