// Hooks of Claude Code, and of the clients that took over its format: Codex and VS Code.
//
// Claude Code blocks on status 2 alone, and on `onFailure: "block"` after any other failure; JSON that is cut off counts as no
// answer. A denial is therefore always status 2. Its `PermissionRequest` does not obey status 2, and is answered with JSON.
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import {
  blockAnswer,
  CANARY_TOOL,
  DECISION,
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  type HookVerdict,
  PASSED,
  REASON,
  said,
  type ToolMeaning,
} from "./hook-call.ts";
import {
  absolute,
  contentSearch,
  fetchMeaning,
  file,
  files,
  INNER,
  type MeaningOf,
  nameMeaning,
  search,
  shell,
  trimUnicode,
  unreadable,
  webSearch,
} from "./meanings.ts";

/** Modes in which a person answers a prompt; in the others a classifier does, or there is none. */
const PROMPTING: ReadonlySet<string> = new Set(["default", "acceptEdits", "plan"]);

const EDIT = ["fs.read", "fs.write"];

const CLAUDE_TOOLS: ReadonlyMap<string, MeaningOf> = new Map<string, MeaningOf>([
  ["Bash", shell("command")],
  ["Monitor", shell("command")],
  ["Read", file("fs_read", ["fs.read"], "file_path")],
  ["NotebookRead", file("fs_read", ["fs.read"], "notebook_path")],
  ["Write", file("fs_write", ["fs.write"], "file_path")],
  ["Edit", file("fs_edit", EDIT, "file_path")],
  ["MultiEdit", file("fs_edit", EDIT, "file_path")],
  ["NotebookEdit", file("fs_edit", EDIT, "notebook_path")],
  ["LS", search("fs_list", ["path"], null)],
  ["Glob", search("fs_glob", ["path"], "pattern")],
  ["Grep", contentSearch("fs_grep", ["path"], "glob")],
  ["WebFetch", fetchMeaning("web_fetch", "url")],
  ["WebSearch", webSearch("allowed_domains")],
  // Their own calls come to the hook, in the same conversation: they have the same grants, or those of their own record.
  ["Task", INNER],
  ["Agent", INNER],
  ["Skill", INNER],
  ["SlashCommand", INNER],
  ["ToolSearch", INNER],
  // The output and the end of a command that was decided when it began.
  ["BashOutput", INNER],
  ["KillShell", INNER],
  ["KillBash", INNER],
  ["TaskOutput", INNER],
  ["TaskStop", INNER],
  ["TodoWrite", INNER],
  ["TodoRead", INNER],
  ["TaskCreate", INNER],
  ["TaskGet", INNER],
  ["TaskList", INNER],
  ["TaskUpdate", INNER],
  ["AskUserQuestion", INNER],
  ["EnterPlanMode", INNER],
  ["ExitPlanMode", INNER],
  ["StructuredOutput", INNER],
]);

/** Field names and tools of one client that speaks this format. */
interface ClaudeFormat {
  readonly client: string;
  readonly tools: ReadonlyMap<string, MeaningOf>;
  readonly rewrites: string | null;
  readonly serverTools: string;
  readonly isManyProcesses?: boolean;
  canPrompt(payload: JsonObject): boolean;
  /** What is printed for an allowed call. */
  allow(input: JsonObject | null): HookAnswer;
}

function dialect(format: ClaudeFormat): HookDialect {
  return {
    client: format.client,
    rewrites: format.rewrites,
    serverTools: format.serverTools,
    isManyProcesses: format.isManyProcesses ?? false,
    read: (payload) => read(payload, format),
    canary: (cwd) => ({
      ...{ session_id: CANARY_TOOL, cwd, hook_event_name: "PreToolUse", tool_name: CANARY_TOOL, tool_input: {} },
    }),
    answer: (event, verdict) => answer(event, verdict, format),
  };
}

function read(payload: JsonObject, { tools, canPrompt }: ClaudeFormat): Result<HookEvent> {
  const event = member(payload, "hook_event_name") ?? member(payload, "hookEventName");
  const session = member(payload, "session_id") ?? member(payload, "sessionId");
  if (typeof event !== "string" || typeof session !== "string")
    return refuse("bad_value", "the hook's input has no event or no session");
  if (event !== "PreToolUse" && event !== "PermissionRequest") return done({ kind: "other" });
  const [cwd, tool, input] = [member(payload, "cwd"), member(payload, "tool_name"), member(payload, "tool_input")];
  if (typeof cwd !== "string" || !cwd.startsWith("/") || typeof tool !== "string" || !isJsonObject(input))
    return refuse("bad_value", "the hook's input has no working folder, no tool or no arguments");
  const meaning = tools.get(tool)?.(input, cwd) ?? nameMeaning(tool);
  const isPrompting = event === "PermissionRequest";
  const kind = member(payload, "agent_type");
  const subagent = typeof kind === "string" && kind !== "" ? kind : null;
  return done({
    kind: "call",
    session,
    subagent,
    cwd,
    tool,
    input,
    meaning,
    canPrompt: canPrompt(payload),
    isPrompting,
  });
}

function answer(event: HookEvent, verdict: HookVerdict, format: ClaudeFormat): HookAnswer {
  if (event.kind !== "call") return PASSED;
  if (event.isPrompting) return promptAnswer(verdict);
  switch (verdict.outcome) {
    case "none":
      return PASSED;
    case "allow":
      return format.allow(verdict.input);
    case "ask":
      return decision({ [DECISION]: "ask", [REASON]: verdict.reason });
    case "deny":
      return blockAnswer(verdict.reason);
    default:
      return verdict satisfies never;
  }
}

/** The person's prompt is on its way: only a denial takes their place. */
function promptAnswer(verdict: HookVerdict): HookAnswer {
  if (verdict.outcome !== "deny") return PASSED;
  const hookEventName = "PermissionRequest";
  return said({ hookSpecificOutput: { hookEventName, decision: { behavior: "deny", message: verdict.reason } } });
}

function decision(members: JsonObject): HookAnswer {
  return said({ hookSpecificOutput: { hookEventName: "PreToolUse", ...members } });
}

function allowed(input: JsonObject | null): HookAnswer {
  return decision({ [DECISION]: "allow", ...(input === null ? {} : { updatedInput: input }) });
}

export const CLAUDE: HookDialect = dialect({
  client: "claude",
  serverTools: "mcp__ambit__",
  tools: CLAUDE_TOOLS,
  rewrites: "command",
  canPrompt: (payload) => PROMPTING.has(String(member(payload, "permission_mode"))),
  allow: allowed,
});

/**
 * Codex takes `ask`, and `allow` without a new input, for a failure of the hook, and runs the tool after a failure. Its commands
 * are shown without their working folder.
 */
export const CODEX: HookDialect = dialect({
  client: "codex",
  serverTools: "mcp__ambit__",
  tools: new Map<string, MeaningOf>([
    ["Bash", shell("command")],
    ["apply_patch", patch],
    ["view_image", file("fs_read", ["fs.read"], "path")],
    ["update_plan", INNER],
    ["request_user_input", INNER],
  ]),
  rewrites: "command",
  canPrompt: () => false,
  allow: (input) => (input === null ? PASSED : allowed(input)),
});

const HEADER = /\*\*\* (Add File|Update File|Delete File|Move to):/;

/** Every file of a patch, by the lines that name one. */
function patch(input: JsonObject, cwd: string): ToolMeaning {
  const texts = ["command", "input"].flatMap((key) => member(input, key) ?? []);
  if (!texts.every((text): text is string => typeof text === "string")) return unreadable("the patch must be a text");
  const requests: (readonly string[])[] = [];
  for (const written of texts.flatMap((text) => text.split(/\r?\n/))) {
    const line = trimUnicode(written);
    const header = HEADER.exec(line);
    if (header === null) continue;
    // What is read as contents here, the client must not read as a header.
    if (header.index > 0) {
      if (/^[+-]/.test(written)) continue;
      return unreadable("a line of the patch has other characters before a file name");
    }
    const [start, what] = header as unknown as [string, string];
    const path = trimUnicode(line.slice(start.length));
    if (path === "") return unreadable("a line of the patch names no file");
    const verbs = what === "Delete File" ? ["fs.delete"] : what === "Update File" ? EDIT : ["fs.write"];
    for (const verb of verbs) requests.push([verb, absolute(path, cwd)]);
  }
  if (requests.length === 0) return unreadable("the patch names no file");
  return { kind: "requests", tool: "fs_edit", requests };
}

/** Tools of VS Code's own agent. */
export const VSCODE: HookDialect = dialect({
  client: "vscode",
  serverTools: "mcp_ambit_",
  tools: new Map<string, MeaningOf>([
    ["run_in_terminal", shell("command")],
    ["read_file", file("fs_read", ["fs.read"], "filePath")],
    ["create_file", file("fs_write", ["fs.write"], "filePath")],
    ["replace_string_in_file", file("fs_edit", EDIT, "filePath")],
    ["insert_edit_into_file", file("fs_edit", EDIT, "filePath")],
    ["multi_replace_string_in_file", files("fs_edit", EDIT, "replacements", "filePath")],
    ["editFiles", files("fs_edit", EDIT, "files")],
    ["create_directory", file("fs_write", ["fs.write"], "dirPath")],
    ["list_dir", search("fs_list", ["path"], null)],
    ["file_search", search("fs_glob", [], "query")],
    ["grep_search", contentSearch("fs_grep", [], "includePattern")],
    ["semantic_search", contentSearch("fs_grep", [])],
    ["apply_patch", patch],
    ["get_terminal_output", INNER],
    ["manage_todo_list", INNER],
    ["runSubagent", INNER],
  ]),
  rewrites: "command",
  isManyProcesses: true,
  canPrompt: () => true,
  allow: allowed,
});
