// The assistant's own text, and nothing else, in the structured output of each client.
import { describe, expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { assistantTextReader } from "./assistant-text.ts";
import { PROFILES } from "./profiles.ts";

const read = (client: string, line: Json): readonly string[] => {
  const id = PROFILES.find(({ programs }) => programs.includes(client))?.id ?? "";
  return assistantTextReader(id)?.(line) ?? ["unread"];
};
const parts = [{ type: "text", text: "hello" }];

describe("is read", () => {
  test.each<[string, Json]>([
    ["claude", { type: "assistant", parent_tool_use_id: null, message: { role: "assistant", content: parts } }],
    ["codex", { type: "item.completed", item: { id: "1", type: "agent_message", text: "hello" } }],
    ["opencode", { type: "text", part: { type: "text", text: "hello" } }],
  ])("%s", (client, line) => {
    expect(read(client, line)).toEqual(["hello"]);
  });
});

describe("is not read", () => {
  test.each<[string, string, Json]>([
    [
      "a tool's result",
      "claude",
      { type: "user", message: { role: "user", content: [{ type: "tool_result", content: "hello" }] } },
    ],
    ["a prompt", "claude", { type: "user", message: { role: "user", content: parts } }],
    ["a user's words under another type", "claude", { type: "assistant", message: { role: "user", content: parts } }],
    [
      "a sub-agent",
      "claude",
      { type: "assistant", parent_tool_use_id: "t1", message: { role: "assistant", content: parts } },
    ],
    [
      "the arguments of a tool",
      "claude",
      { type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", input: { text: "hello" } }] } },
    ],
    [
      "a thought",
      "claude",
      {
        type: "assistant",
        message: { role: "assistant", content: [{ type: "thinking", thinking: "hello", text: "hello" }] },
      },
    ],
    ["the result that repeats the last message", "claude", { type: "result", result: "hello" }],
    [
      "a command",
      "codex",
      { type: "item.completed", item: { type: "command_execution", aggregated_output: "hello", text: "hello" } },
    ],
    ["a thought", "codex", { type: "item.completed", item: { type: "reasoning", text: "hello" } }],
    ["an item that is not complete", "codex", { type: "item.started", item: { type: "agent_message", text: "hello" } }],
    ["a tool", "opencode", { type: "tool_use", part: { type: "tool", state: { output: "hello" } } }],
    ["text that is none", "opencode", { type: "text", part: { type: "text", text: ["hello"] } }],
    ["a list", "claude", ["hello"]],
    ["nothing", "codex", null],
  ])("%s of %s", (_, client, line) => {
    expect(read(client, line)).toEqual([]);
  });
  test.each(["gemini", "sh"])("the output of %s: it has no structure that we read", (client) => {
    expect(read(client, { type: "text", text: "hello" })).toEqual(["unread"]);
  });
});
