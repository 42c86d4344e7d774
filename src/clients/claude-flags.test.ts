import { expect, test } from "vitest";
import { claudeFlags, claudeTools } from "./claude-flags.ts";

test("allow adds tools, ask and deny withhold them", () => {
  const tools = claudeTools([
    ["code", "deny"],
    ["consult", "allow"],
    ["web", "ask"],
    ["hire", "allow"],
  ]);
  expect(claudeFlags(tools)).toEqual([
    "--allowedTools",
    "Task",
    "--disallowedTools",
    "Bash,Read,Write,Edit,Glob,Grep,WebSearch,WebFetch",
  ]);
});

test("a tool of two capabilities is withheld if one of them withholds it", () => {
  const tools = { a: ["X", "Y"], b: ["Y"] };
  expect(
    claudeTools(
      [
        ["a", "allow"],
        ["b", "deny"],
      ],
      tools,
    ),
  ).toEqual({ allowed: ["X"], disallowed: ["Y"] });
});

test("a capability named like a property of every object has no tools", () => {
  expect(
    claudeTools([
      ["constructor", "allow"],
      ["__proto__", "allow"],
    ]),
  ).toEqual({ allowed: [], disallowed: [] });
});
