// Each client's input, written by its documentation, what it means, and what the hook answers: one character decides whether a
// client takes an answer for a denial.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/base/json.ts";
import { DIALECTS, dialectOf } from "./dialects.ts";
import type { HookCall, HookEvent, HookVerdict } from "./hook-call.ts";

const MODE = "permission_mode";

const CLAUDE: JsonObject = {
  session_id: "0198c3f2-5e3f-7d31-a8b1-0c1c6f2f7b60",
  transcript_path: "/home/ann/.claude/projects/-project/0198c3f2.jsonl",
  cwd: "/project",
  [MODE]: "default",
  hook_event_name: "PreToolUse",
  tool_use_id: "toolu_01AbC",
};

function eventOf(client: string, payload: JsonObject): HookEvent {
  const read = dialectOf(client)?.read(payload);
  if (read?.ok !== true) throw new Error(read?.message ?? "no such client");
  return read.value;
}

function callOf(client: string, payload: JsonObject): HookCall {
  const event = eventOf(client, payload);
  if (event.kind !== "call") throw new Error(`a ${event.kind}`);
  return event;
}

/** In one line: `shell /project: ls`, `fs_edit: fs.read /a; fs.write /a`, `named x`. */
function meaning(client: string, tool: string, input: JsonObject): string {
  const { meaning: found } = callOf(client, payloadOf(client, tool, input));
  if (found.kind === "shell") return `shell ${found.in}: ${found.script}`;
  if (found.kind === "requests")
    return `${found.tool}: ${found.requests.map((words) => words.join(" ").replace(/(\/\*\*)+$/, "/**")).join("; ")}`;
  return found.kind === "named" ? `named ${found.tool}` : found.kind;
}

function payloadOf(client: string, tool: string, input: JsonObject): JsonObject {
  switch (client) {
    case "gemini":
      return { session_id: "g", cwd: "/project", hook_event_name: "BeforeTool", tool_name: tool, tool_input: input };
    case "cursor":
      return {
        ...{ conversation_id: "c", hook_event_name: "preToolUse", workspace_roots: ["/project"] },
        ...{ tool_name: tool, tool_input: input },
      };
    case "copilot":
      return { timestamp: 1, cwd: "/project", toolName: tool, toolArgs: JSON.stringify(input) };
    case "opencode":
      return { session: "ses_1", cwd: "/project", tool, input };
    case "vscode":
      return {
        ...{ timestamp: "t", cwd: "/project", sessionId: "v", hookEventName: "PreToolUse" },
        ...{ tool_name: tool, tool_input: input, tool_use_id: "1" },
      };
    default:
      return { ...CLAUDE, tool_name: tool, tool_input: input };
  }
}

const PATCH = "*** Begin Patch\n*** Update File: a.ts\n*** Move to: ../b.ts\n@@\n+x\n*** Delete File: c\n*** End Patch";
const MOVED = "fs_edit: fs.read /project/a.ts; fs.write /project/a.ts; fs.write /b.ts; fs.delete /project/c";
const LISTED = "fs_list: fs.read /project; fs.read /project/**; fs.read /root; fs.read /root/**";
const FETCHED = "web_fetch: net.get https://a.example; net.get https://b.example";
const WHOLE = "fs_grep: fs.read /project; fs.read /project/**";

test.each<[string, string, JsonObject, string]>([
  ["claude", "Bash", { command: "ls -l" }, "shell /project: ls -l"],
  ["claude", "Bash", { command: ["ls"] }, "unreadable"],
  ["claude", "Bash", {}, "unreadable"],
  ["claude", "Monitor", { command: "tail -f x" }, "shell /project: tail -f x"],
  ["claude", "Read", { file_path: "/project/a.ts" }, "fs_read: fs.read /project/a.ts"],
  ["claude", "Read", { file_path: "../a.ts" }, "fs_read: fs.read /a.ts"],
  ["claude", "Read", { file_path: "" }, "unreadable"],
  ["claude", "Write", { file_path: "/project/a.ts", content: "" }, "fs_write: fs.write /project/a.ts"],
  ["claude", "Edit", { file_path: "a.ts" }, "fs_edit: fs.read /project/a.ts; fs.write /project/a.ts"],
  ["claude", "NotebookEdit", { notebook_path: "/n" }, "fs_edit: fs.read /n; fs.write /n"],
  ["claude", "Grep", { pattern: "x" }, "fs_grep: fs.read /project; fs.read /project/**"],
  ["claude", "Grep", { pattern: "x", path: "/" }, "fs_grep: fs.read /; fs.read /**"],
  ["claude", "Glob", { pattern: "**/*.ts" }, "fs_glob: fs.read /project; fs.read /project/**"],
  ["claude", "Glob", { pattern: "/etc/*.conf" }, "fs_glob: fs.read /etc; fs.read /etc/**"],
  ["claude", "Glob", { pattern: "../x/*" }, "fs_glob: fs.read /x; fs.read /x/**"],
  ["claude", "Glob", { pattern: "*/../../x" }, "fs_glob: fs.read /; fs.read /**"],
  ["claude", "Glob", { pattern: "a{b,c}/*" }, "fs_glob: fs.read /project; fs.read /project/**"],
  ["claude", "Glob", { pattern: "{/etc,a}/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["claude", "Glob", { pattern: "{a,../b}/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["claude", "Read", { file_path: " /etc/passwd" }, "unreadable"],
  ["claude", "Read", { file_path: "/etc/passwd\u0085" }, "unreadable"],
  ["claude", "Grep", { pattern: "x", path: ["/etc"] }, "fs_grep: fs.read /etc; fs.read /etc/**"],
  ["claude", "Grep", { pattern: "x", path: 7 }, "unreadable"],
  ["claude", "Grep", { pattern: "x", glob: "/etc/*" }, `${WHOLE}; fs.read /etc; fs.read /etc/**`],
  ["claude", "Glob", { pattern: "src/**/*.{ts,tsx}" }, "fs_glob: fs.read /project/src; fs.read /project/src/**"],
  ["claude", "WebFetch", { url: "https://a.example/x" }, "web_fetch: net.get https://a.example/x"],
  ["claude", "WebFetch", { url: "http://a.example" }, "web_fetch: net.get http://a.example; net.get https://a.example"],
  ["claude", "WebSearch", { query: "q" }, "web_search: provider.web_search any-host.invalid"],
  ["claude", "WebSearch", { allowed_domains: ["a.example"] }, "web_search: provider.web_search a.example"],
  ["claude", "TodoWrite", {}, "inner"],
  ["claude", "Task", { subagent_type: "Explore" }, "inner"],
  ["claude", "mcp__github__create_issue", {}, "named mcp__github__create_issue"],
  ["claude", "bash", { command: "ls" }, "named bash"],
  ["codex", "Bash", { command: "ls" }, "shell /project: ls"],
  ["codex", "apply_patch", { command: PATCH }, MOVED],
  ["codex", "apply_patch", { command: "no patch" }, "unreadable"],
  ["codex", "apply_patch", { command: PATCH.replace("*** Move", "\u0085*** Move") }, MOVED],
  ["codex", "apply_patch", { command: PATCH.replace("*** Move", "\u200b*** Move") }, "unreadable"],
  ["codex", "apply_patch", { command: PATCH.replace("+x", "+x *** Add File: y") }, MOVED],
  ["codex", "apply_patch", { command: PATCH, input: "*** Add File: /etc/x" }, `${MOVED}; fs.write /etc/x`],
  ["codex", "web_search", { query: "x" }, "named web_search"],
  ["gemini", "run_shell_command", { command: "ls", dir_path: "sub" }, "shell /project/sub: ls"],
  ["gemini", "write_file", { file_path: "a" }, "fs_write: fs.write /project/a"],
  ["gemini", "web_fetch", { prompt: "read https://a.example/x" }, "web_fetch: net.get https://a.example/x"],
  ["gemini", "web_fetch", { prompt: "read it" }, "unreadable"],
  ["gemini", "glob", { pattern: ".{.,x}/etc/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "{.,x}{.,x}/etc/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "[.][.]/etc/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "{x,}/etc/passwd" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "{A..z}/etc/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "\\../etc/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "@(..)/etc/*" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "{a,{.,b}.}/x" }, "fs_glob: fs.read /; fs.read /**"],
  ["gemini", "glob", { pattern: "**/*.{ts,tsx}" }, "fs_glob: fs.read /project; fs.read /project/**"],
  ["gemini", "read_file", { file_path: "a", absolute_path: "/b" }, "fs_read: fs.read /project/a; fs.read /b"],
  ["gemini", "list_directory", { dir_path: ".", path: "/root" }, LISTED],
  ["gemini", "run_shell_command", { command: "ls", dir_path: "a", directory: "b" }, "unreadable"],
  [
    "gemini",
    "web_fetch",
    { prompt: "https://a.example'@b.example/x" },
    "web_fetch: net.get https://a.example'@b.example/x",
  ],
  ["gemini", "web_fetch", { prompt: "https:b.example/?a://" }, "web_fetch: net.get https:b.example/?a://"],
  ["gemini", "web_fetch", { prompt: "https://a.example", url: "https://b.example" }, FETCHED],
  ["gemini", "read_many_files", { include: [".{.,x}/a/*"] }, "fs_read: fs.read /; fs.read /**"],
  ["gemini", "read_many_files", { include: ["**/*.{md,txt}"] }, "fs_read: fs.read /project; fs.read /project/**"],
  ["gemini", "read_many_files", { include: ["/etc/*"] }, "fs_read: fs.read /; fs.read /**"],
  ["cursor", "Shell", { command: "ls", working_directory: "/x" }, "shell /x: ls"],
  ["cursor", "Write", { file_path: "a", path: "/b" }, "fs_write: fs.write /project/a; fs.write /b"],
  ["cursor", "Delete", { path: "a" }, "fs_delete: fs.delete /project/a"],
  ["copilot", "bash", { command: "ls" }, "shell /project: ls"],
  ["copilot", "view", { path: ["/etc/shadow"] }, "fs_read: fs.read /etc/shadow; fs.read /etc/shadow/**"],
  ["copilot", "create", { path: "/project/a" }, "fs_write: fs.write /project/a"],
  ["opencode", "bash", { command: "ls", workdir: "sub" }, "shell /project/sub: ls"],
  ["opencode", "edit", { filePath: "/a" }, "fs_edit: fs.read /a; fs.write /a"],
  ["vscode", "run_in_terminal", { command: "ls" }, "shell /project: ls"],
  [
    "vscode",
    "editFiles",
    { files: ["a", "/b"] },
    "fs_edit: fs.read /project/a; fs.write /project/a; fs.read /b; fs.write /b",
  ],
  ["vscode", "editFiles", { files: [] }, "unreadable"],
])("%s %s %j is %s", (client, tool, input, expected) => {
  expect(meaning(client, tool, input)).toBe(expected);
});

test.each<[string, string, JsonObject]>([
  ["gemini", "write_todos", { mcp_context: { server_name: "evil", tool_name: "write_todos" } }],
  ["gemini", "read_file", { mcp_context: { server_name: "evil", tool_name: "read_file" } }],
  ["cursor", "TodoWrite", { hook_event_name: "beforeMCPExecution" }],
  ["cursor", "Grep", { hook_event_name: "beforeMCPExecution" }],
])("%s: a server's tool called %s is decided by its name", (client, tool, more) => {
  const { meaning: found } = callOf(client, { ...payloadOf(client, tool, { file_path: "a" }), ...more });
  expect(found).toEqual({ kind: "named", tool });
});

describe("an answer", () => {
  const REWRITTEN: HookVerdict = { outcome: "allow", input: { command: "x" } };
  const SHELLS: Readonly<Record<string, string>> = {
    claude: "Bash",
    codex: "Bash",
    gemini: "run_shell_command",
    cursor: "Shell",
    copilot: "bash",
    opencode: "bash",
    vscode: "run_in_terminal",
  };

  const said = (client: string, verdict: HookVerdict): string => {
    const event = callOf(client, payloadOf(client, SHELLS[client] ?? "", { command: "ls" }));
    const { status, stdout, stderr } = dialectOf(client)?.answer(event, verdict) ?? {
      status: 1,
      stdout: "",
      stderr: "",
    };
    return `${status} ${stdout}${stderr}`;
  };

  test.each(DIALECTS.map(({ client }) => client))("of %s: a denial is status 2 with a text", (client) => {
    // The model of Copilot reads the reason from JSON alone; a part of it with status 2 blocks as well.
    const json = (text: string): string =>
      client === "copilot" ? `{"permissionDecision":"deny","permissionDecisionReason":"${text}"}` : "";
    expect(said(client, { outcome: "deny", reason: "no" })).toBe(`2 ${json("no")}no`);
    const blocked = "ambit: the call is blocked";
    expect(said(client, { outcome: "deny", reason: "" })).toBe(`2 ${json(blocked)}${blocked}`);
  });

  test.each<[string, string, string]>([
    [
      "claude",
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}',
    ],
    // Without a new input `allow` would count as a failure.
    [
      "codex",
      "",
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}',
    ],
    ["gemini", "", '{"hookSpecificOutput":{"tool_input":{"command":"x"}}}'],
    ["copilot", '{"permissionDecision":"allow"}', '{"permissionDecision":"allow","modifiedArgs":{"command":"x"}}'],
    ["opencode", '{"allow":true}', '{"allow":true,"input":{"command":"x"}}'],
    ["cursor", '{"permission":"allow"}', '{"permission":"allow"}'],
  ])("of %s allows", (client, plain, rewritten) => {
    expect(said(client, { outcome: "allow", input: null })).toBe(`0 ${plain}`);
    expect(said(client, REWRITTEN)).toBe(`0 ${rewritten}`);
    expect(said(client, { outcome: "none" })).toBe("0 ");
  });

  test("to a question of a client without one is a denial", () => {
    expect(said("gemini", { outcome: "ask", reason: "r" })).toBe("2 r");
    expect(said("opencode", { outcome: "ask", reason: "r" })).toBe("2 r");
    expect(said("claude", { outcome: "ask", reason: "r" })).toContain('"permissionDecision":"ask"');
  });

  test("to Claude's PermissionRequest is JSON, and only ever a denial", () => {
    const claude = dialectOf("claude");
    const payload = {
      ...CLAUDE,
      hook_event_name: "PermissionRequest",
      tool_name: "Bash",
      tool_input: { command: "ls" },
    };
    const event = callOf("claude", payload);
    expect(claude?.answer(event, { outcome: "deny", reason: "no" })).toEqual({
      status: 0,
      stderr: "",
      stdout:
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}',
    });
    expect(claude?.answer(event, REWRITTEN).stdout).toBe("");
  });
});

test.each<[string, boolean]>([
  ["default", true],
  ["acceptEdits", true],
  ["plan", true],
  ["auto", false],
  ["dontAsk", false],
  ["bypassPermissions", false],
  ["new", false],
])("Claude Code in mode %s has a person at its prompt: %s", (mode, expected) => {
  const payload = { ...CLAUDE, [MODE]: mode, tool_name: "Bash", tool_input: { command: "ls" } };
  expect(callOf("claude", payload).canPrompt).toBe(expected);
});

test("other events decide nothing", () => {
  expect(eventOf("claude", { ...CLAUDE, hook_event_name: "UserPromptSubmit", prompt: "x" }).kind).toBe("other");
  expect(eventOf("claude", { ...CLAUDE, hook_event_name: "SessionEnd" }).kind).toBe("other");
});

test.each<[string, JsonObject]>([
  ["claude", {}],
  ["claude", { ...CLAUDE, tool_name: "Bash" }],
  ["claude", { ...CLAUDE, cwd: "project", tool_name: "Bash", tool_input: {} }],
  ["claude", { ...CLAUDE, tool_name: "Bash", tool_input: "ls" }],
  ["copilot", { cwd: "/project", toolName: "bash", toolArgs: "{" }],
  ["gemini", { hook_event_name: "BeforeTool" }],
  ["cursor", { hook_event_name: "preToolUse", tool_name: "Shell" }],
  ["copilot", { cwd: "/project", toolName: "view", toolArgs: '{"path":"a"}', tool_input: { path: "/etc" } }],
  ["copilot", { cwd: "/project", toolName: "view", tool_name: "bash", toolArgs: "{}" }],
  ["opencode", {}],
])("%s: %j is refused", (client, payload) => {
  expect(dialectOf(client)?.read(payload).ok).toBe(false);
});
