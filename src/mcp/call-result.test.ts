// Results as a model reads them.
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../core/base/json.ts";
import type { DenialView } from "../core/ports/daemon/daemon-calls.ts";
import { withAliases } from "../tools/shell/argument-aliases.ts";
import { deniedResult, doneResult, refusedResult, unknownTool } from "./call-result.ts";
import { toMcpTools } from "./tool-list.ts";

const ran = (more: JsonObject): JsonObject => ({
  ending: { kind: "exited", status: 0 },
  stdout: "",
  stderr: "",
  dropped: 0,
  denials: [],
  enforcement: [],
  ...more,
});

describe("results", () => {
  test.each<[string, Json, readonly string[]]>([
    ["a text", "as it is", ["as it is"]],
    ["nothing", null, ["done"]],
    ["a list", [1, 2], ["[1,2]"]],
    ["an object", { a: 1 }, ['{"a":1}']],
    ["something read", { path: "a", text: "one\n", more: false }, ["one\n", '{"path":"a","more":false}']],
    ["a program", ran({ stdout: "hi\n" }), ["hi"]],
    ["a silent program", ran({}), ["(no output)"]],
    [
      "a program that failed",
      ran({ stdout: "a\n", stderr: "b\n", ending: { kind: "exited", status: 2 } }),
      ["a\n[stderr]\nb\n[exit status 2]"],
    ],
    ["one that was killed", ran({ ending: { kind: "ended", because: "time" } }), ["[ended: time]"]],
    [
      "one whose draft grew too large",
      ran({ ending: { kind: "ended", because: "draft", reason: "it made more than 2 files" } }),
      ["[ended: draft: it made more than 2 files]"],
    ],
    [
      "one whose changes were kept",
      ran({ notApplied: { message: "Kept as a draft.", changes: [], more: 0, drafts: [] } }),
      ["[Kept as a draft.]"],
    ],
    [
      "one that was denied something",
      ran({ denials: [{ code: "scope_violation", request: "net.connect a.test:443", times: 2 }] }),
      ["[denied while running: net.connect a.test:443 (scope_violation)]"],
    ],
    [
      "one without an approver",
      ran({ denials: [{ code: "not_available", request: "net.connect a.test:443", times: 1 }] }),
      ["[not reachable: net.connect a.test:443 (not_available)]"],
    ],
  ])("%s", (_, result, texts) => {
    const told = doneResult(result);
    expect(told.content.map(({ text }) => text)).toEqual(texts);
    expect(told.structuredContent).toEqual(
      typeof result === "object" && result !== null && !Array.isArray(result) ? result : { result },
    );
    expect(told.isError).toBe(false);
  });
});

const DENIAL: DenialView = {
  outcome: "denied",
  id: "c_1",
  code: "scope_violation",
  need: "fs.read /a",
  hint: "Stay inside.",
  approval: null,
  reason: null,
};

describe("denials and refusals", () => {
  test("a denial says what, why and what to do", () => {
    expect(deniedResult("fs_read", DENIAL)).toEqual({
      content: [{ type: "text", text: "denied: fs.read /a (scope_violation). Stay inside.\nid: c_1" }],
      structuredContent: {
        outcome: "denied",
        code: "scope_violation",
        need: "fs.read /a",
        hint: "Stay inside.",
        id: "c_1",
      },
      isError: true,
    });
  });

  test("a required approval says how to approve", () => {
    const asked = deniedResult("fs_read", { ...DENIAL, code: "approval_required", approval: "a_1" });
    expect(asked.content[0]?.text).toContain("\nTo approve it, a person runs: ambit approve a_1");
    expect(asked.structuredContent).toMatchObject({ outcome: "denied", approval: "a_1" });
  });

  test("a refused approval says why, and not how to approve", () => {
    const denial = { ...DENIAL, code: "approval_refused", approval: "a_1", reason: "not today" } as const;
    const { content, structuredContent } = deniedResult("fs_read", denial);
    expect(content[0]?.text).toContain("reason: not today");
    expect(content[0]?.text).not.toContain("ambit approve");
    expect(structuredContent).not.toHaveProperty("approval");
  });

  test("an unknown tool keeps the instruction to stop, and no details of what it would have needed", () => {
    const hint = "You have no grant for this. You have made this exact request before. Stop repeating it.";
    const told = unknownTool("web_fetch", { id: "c_1", hint });
    expect(told.structuredContent["hint"]).toBe(
      "No tool of this name is available to you. Use one from the list of tools. You have made this exact request before. Stop repeating it.",
    );
  });

  test("a failure has its code and its fix", () => {
    const told = refusedResult("fs_read", { code: "not_found", message: "it is not there", fix: "fs_list" });
    expect(told.content[0]?.text).toBe("failed: fs_read (not_found): it is not there\nfix: fs_list");
    expect(told.structuredContent).toMatchObject({ code: "not_found", need: null, hint: "it is not there" });
  });
});

describe("the list", () => {
  test("is sorted, and every schema is an object schema", () => {
    const tools = toMcpTools([
      { name: "b", origin: "tool", description: "B", input: { anyOf: [] } },
      { name: "a", origin: "builtin", description: "A", input: { type: "object", required: ["x"] } },
    ]);
    expect(tools).toEqual([
      expect.objectContaining({ name: "a", inputSchema: { type: "object", required: ["x"] } }),
      { name: "b", description: "B", inputSchema: { type: "object" } },
    ]);
  });

  test.each<[string, object]>([
    ["fs_read", { readOnlyHint: true, openWorldHint: false }],
    ["fs_write", { readOnlyHint: false, destructiveHint: true, openWorldHint: false }],
    ["web_fetch", { readOnlyHint: false, destructiveHint: true, openWorldHint: true }],
    ["obs_append", { readOnlyHint: false, destructiveHint: false, openWorldHint: false }],
  ])("hints of %s", (name, hints) => {
    const [tool] = toMcpTools([{ name, origin: "builtin", description: "", input: { type: "object" } }]);
    expect(tool?.annotations).toEqual(hints);
  });
});

describe("other spellings of a command", () => {
  test.each<[JsonObject, JsonObject]>([
    [{ program: "echo", args: ["hi"] }, { argv: ["echo", "hi"] }],
    [
      { program: "ls", in: "a" },
      { argv: ["ls"], in: "a" },
    ],
    [{ cmd: "ls | wc" }, { script: "ls | wc" }],
    [
      { program: "a", cmd: "b" },
      { program: "a", cmd: "b" },
    ],
    [
      { cmd: "a", args: ["b"] },
      { cmd: "a", args: ["b"] },
    ],
    [
      { argv: ["a"], program: "b" },
      { argv: ["a"], program: "b" },
    ],
    [
      { program: "a", args: "b" },
      { program: "a", args: "b" },
    ],
    [{ script: "a" }, { script: "a" }],
  ])("%j is %j", (input, ours) => expect(withAliases("shell", input)).toEqual(ours));

  test("of other tools are none", () => {
    expect(withAliases("proc_exec", { program: "echo" })).toEqual({ program: "echo" });
  });
});
