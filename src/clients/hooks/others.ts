// Hooks of Gemini CLI, Cursor and Copilot CLI, and of our plugin for opencode: each with field names of its own.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
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
  type ServerTool,
  said,
  type ToolMeaning,
} from "./hook-call.ts";
import {
  addresses,
  contentSearch,
  everythingBelow,
  fetchMeaning,
  file,
  INNER,
  type MeaningOf,
  mayLeave,
  nameMeaning,
  search,
  shell,
  unreadable,
  webSearch,
} from "./meanings.ts";

const EDIT = ["fs.read", "fs.write"];

interface CallFields {
  readonly session: Json | undefined;
  readonly cwd: Json | undefined;
  readonly tool: Json | undefined;
  readonly input: Json | undefined;
  /** Its kind of agent, where the client says it. */
  readonly agent?: Json | undefined;
  readonly server?: ServerTool | null;
}

function callOf(
  { session, cwd, tool, input, agent, server = null }: CallFields,
  tools: ReadonlyMap<string, MeaningOf>,
  canPrompt: boolean,
): Result<HookEvent> {
  if (typeof cwd !== "string" || !cwd.startsWith("/") || typeof tool !== "string" || !isJsonObject(input))
    return refuse("bad_value", "the hook's input has no working folder, no tool or no arguments");
  // INVARIANT: a tool of a server is decided by its name, also if it has the name of a tool of the client.
  const meaning = (server === null ? tools.get(tool)?.(input, cwd) : undefined) ?? nameMeaning(tool);
  const conversation = typeof session === "string" ? session : "";
  const subagent = typeof agent === "string" && agent !== "" ? agent : null;
  return done({
    kind: "call",
    session: conversation,
    subagent,
    cwd,
    tool,
    input,
    meaning,
    canPrompt,
    isPrompting: false,
    ...(server === null ? {} : { server }),
  });
}

/** Arguments that some versions send as text. */
function objectOf(value: Json | undefined): Json | undefined {
  if (typeof value !== "string") return value;
  const parsed = parseJson(value);
  return parsed.ok ? parsed.value : undefined;
}

/** Two spellings of one field: if both are there, they must say the same. */
function either(payload: JsonObject, one: string, other: string): Json | undefined {
  const [left, right] = [member(payload, one), member(payload, other)];
  if (left === undefined || right === undefined) return left ?? right;
  return JSON.stringify(objectOf(left) ?? left) === JSON.stringify(objectOf(right) ?? right) ? left : undefined;
}

type Allow = (input: JsonObject | null) => HookAnswer;

/** `ask`: null where the client has no such answer; the caller never asks through it then. */
function answers(
  allow: Allow,
  ask: ((reason: string) => HookAnswer) | null,
  deny: (reason: string) => HookAnswer = blockAnswer,
): HookDialect["answer"] {
  return (event: HookEvent, verdict: HookVerdict) => {
    if (event.kind !== "call" || verdict.outcome === "none") return PASSED;
    if (verdict.outcome === "allow") return allow(verdict.input);
    return verdict.outcome === "ask" && ask !== null ? ask(verdict.reason) : deny(verdict.reason);
  };
}

const GEMINI_FOLDER = ["dir_path", "path"];

/** Gemini CLI has no `ask`; it runs the tool after status 1, after a signal, after its timeout, and after a silent status 2. */
export const GEMINI: HookDialect = {
  client: "gemini",
  rewrites: "command",
  serverTools: "mcp_ambit_",
  canary: (cwd) => ({
    ...{ session_id: CANARY_TOOL, cwd, hook_event_name: "BeforeTool", tool_name: CANARY_TOOL, tool_input: {} },
  }),
  read: (payload) => {
    const event = member(payload, "hook_event_name");
    if (typeof event !== "string") return refuse("bad_value", "the hook's input has no event");
    if (event !== "BeforeTool") return done({ kind: "other" });
    return callOf(
      {
        session: member(payload, "session_id"),
        cwd: member(payload, "cwd"),
        tool: member(payload, "tool_name"),
        input: member(payload, "tool_input"),
        server: geminiServer(member(payload, "mcp_context")),
      },
      GEMINI_TOOLS,
      false,
    );
  },
  answer: answers((input) => (input === null ? PASSED : said({ hookSpecificOutput: { tool_input: input } })), null),
};

const GEMINI_TOOLS: ReadonlyMap<string, MeaningOf> = new Map<string, MeaningOf>([
  ["run_shell_command", shell("command", "dir_path", "directory")],
  ["read_file", file("fs_read", ["fs.read"], "file_path", "absolute_path")],
  ["write_file", file("fs_write", ["fs.write"], "file_path")],
  ["replace", file("fs_edit", EDIT, "file_path")],
  ["list_directory", search("fs_list", GEMINI_FOLDER, null)],
  ["glob", search("fs_glob", GEMINI_FOLDER, "pattern")],
  ["grep_search", contentSearch("fs_grep", GEMINI_FOLDER, "include_pattern", "include")],
  ["search_file_content", contentSearch("fs_grep", GEMINI_FOLDER, "include_pattern", "include")],
  ["read_many_files", wholeFolder],
  ["web_fetch", addressesInPrompt],
  ["google_web_search", webSearch(null)],
  ["write_todos", INNER],
  ["ask_user", INNER],
  ["enter_plan_mode", INNER],
  ["exit_plan_mode", INNER],
]);

function geminiServer(context: Json | undefined): ServerTool | null {
  if (context === undefined || !isJsonObject(context)) return null;
  const [server, tool] = [member(context, "server_name"), member(context, "tool_name")];
  return typeof server === "string" && typeof tool === "string" ? { server, tool } : null;
}

/** Several patterns, which may begin with any path. */
function wholeFolder(input: JsonObject, cwd: string): ToolMeaning {
  const texts = Object.values(input).flatMap((value) => (isJsonList(value) ? [...value] : [value]));
  const leaves = texts.some((text) => typeof text === "string" && (text.includes("..") || mayLeave(text, true)));
  const from = leaves ? "/" : cwd;
  return {
    kind: "requests",
    tool: "fs_read",
    requests: [
      ["fs.read", from],
      ["fs.read", everythingBelow(from)],
    ],
  };
}

const urlsMax = 32;

/** The client fetches the words of the prompt that contain `://`, or the one of `url`. INVARIANT: a word is not read in another way than there. */
function addressesInPrompt(input: JsonObject): ToolMeaning {
  const [prompt, url] = [member(input, "prompt") ?? "", member(input, "url") ?? ""];
  if (typeof prompt !== "string" || typeof url !== "string") return unreadable("`prompt` and `url` must be texts");
  const words = prompt.split(/\s+/).filter((word) => word.includes("://"));
  const urls = url === "" ? words : [...words, url];
  if (urls.length === 0 || urls.length > urlsMax) return unreadable(`the prompt must have 1 to ${urlsMax} addresses`);
  return addresses("web_fetch", urls);
}

const CURSOR_DECISION = "permission";

/** Cursor: `failClosed` in its settings makes every failure a denial. */
export const CURSOR: HookDialect = {
  client: "cursor",
  rewrites: null,
  serverTools: null,
  canary: (cwd) => ({
    ...{ conversation_id: CANARY_TOOL, cwd, hook_event_name: "preToolUse", tool_name: CANARY_TOOL, tool_input: {} },
  }),
  read: (payload) => {
    const event = member(payload, "hook_event_name");
    if (typeof event !== "string") return refuse("bad_value", "the hook's input has no event");
    const session = member(payload, "conversation_id");
    const roots = member(payload, "workspace_roots");
    const cwd = member(payload, "cwd") || (Array.isArray(roots) ? roots[0] : undefined);
    const command = member(payload, "command");
    const path = member(payload, "file_path");
    switch (event) {
      case "beforeShellExecution":
        return callOf({ session, cwd, tool: "Shell", input: { command: command ?? null } }, CURSOR_TOOLS, true);
      case "beforeReadFile":
        return callOf({ session, cwd, tool: "Read", input: { file_path: path ?? null } }, CURSOR_TOOLS, true);
      case "beforeMCPExecution":
      case "preToolUse": {
        const input = objectOf(member(payload, "tool_input"));
        const tools: typeof CURSOR_TOOLS = event === "preToolUse" ? CURSOR_TOOLS : new Map();
        return callOf({ session, cwd, tool: member(payload, "tool_name"), input }, tools, true);
      }
      default:
        return done({ kind: "other" });
    }
  },
  answer: answers(
    () => said({ [CURSOR_DECISION]: "allow" }),
    (reason) => said({ [CURSOR_DECISION]: "ask", user_message: reason, agent_message: reason }),
  ),
};

const CURSOR_TOOLS: ReadonlyMap<string, MeaningOf> = new Map<string, MeaningOf>([
  ["Shell", shell("command", "working_directory")],
  ["Read", file("fs_read", ["fs.read"], "file_path", "path")],
  ["Write", file("fs_write", ["fs.write"], "file_path", "path")],
  ["StrReplace", file("fs_edit", EDIT, "file_path", "path")],
  ["Edit", file("fs_edit", EDIT, "file_path", "path")],
  ["Delete", file("fs_delete", ["fs.delete"], "file_path", "path")],
  ["LS", search("fs_list", ["path", "target_directory"], null)],
  ["Glob", search("fs_glob", ["path", "target_directory"], "glob_pattern")],
  ["Grep", contentSearch("fs_grep", ["path"], "glob")],
  ["SemanticSearch", contentSearch("fs_grep", ["target_directories"])],
  ["WebFetch", fetchMeaning("web_fetch", "url")],
  ["WebSearch", webSearch(null)],
  ["TodoWrite", INNER],
  ["Task", INNER],
  ["AskQuestion", INNER],
]);

/** Copilot CLI denies after every failure of a hook but its timeout and text that is no JSON. */
export const COPILOT: HookDialect = {
  client: "copilot",
  rewrites: "command",
  serverTools: "ambit-",
  canary: (cwd) => ({ sessionId: CANARY_TOOL, cwd, toolName: CANARY_TOOL, toolArgs: "{}" }),
  read: (payload) =>
    callOf(
      {
        session: either(payload, "sessionId", "session_id"),
        cwd: member(payload, "cwd"),
        tool: either(payload, "toolName", "tool_name"),
        input: objectOf(either(payload, "toolArgs", "tool_input")),
      },
      COPILOT_TOOLS,
      true,
    ),
  answer: answers(
    (input) => said({ [DECISION]: "allow", ...(input === null ? {} : { modifiedArgs: input }) }),
    (reason) => said({ [DECISION]: "ask", [REASON]: reason }),
    // Its model reads the reason from the JSON alone. Status 2 blocks besides, also where the JSON is cut off.
    (reason) => {
      const blocked = blockAnswer(reason);
      return { ...blocked, stdout: JSON.stringify({ [DECISION]: "deny", [REASON]: blocked.stderr.trim() }) };
    },
  ),
};

const COPILOT_TOOLS: ReadonlyMap<string, MeaningOf> = new Map<string, MeaningOf>([
  ["bash", shell("command")],
  ["view", search("fs_read", ["path"], null)],
  ["create", file("fs_write", ["fs.write"], "path")],
  ["edit", file("fs_edit", EDIT, "path")],
  ["str_replace", file("fs_edit", EDIT, "path")],
  ["insert", file("fs_edit", EDIT, "path")],
  ["glob", search("fs_glob", ["path"], "pattern")],
  ["grep", contentSearch("fs_grep", ["path", "paths"], "glob")],
  ["rg", contentSearch("fs_grep", ["path", "paths"], "glob")],
  ["web_fetch", fetchMeaning("web_fetch", "url")],
  ["report_intent", INNER],
  ["update_todo", INNER],
  ["ask_user", INNER],
  ["task", INNER],
  ["read_bash", INNER],
  ["stop_bash", INNER],
  ["list_bash", INNER],
  ["skill", INNER],
  ["read_agent", INNER],
  ["list_agents", INNER],
  ["write_agent", INNER],
]);

/** Our plugin sends what opencode tells it, and obeys status and output. */
export const OPENCODE: HookDialect = {
  client: "opencode",
  rewrites: "command",
  serverTools: "ambit_",
  canary: (cwd) => ({ session: CANARY_TOOL, cwd, tool: CANARY_TOOL, input: {} }),
  read: (payload) =>
    callOf(
      {
        session: member(payload, "session"),
        cwd: member(payload, "cwd"),
        tool: member(payload, "tool"),
        input: member(payload, "input"),
        agent: member(payload, "agent"),
        server: opencodeServer(member(payload, "tool"), member(payload, "servers")),
      },
      OPENCODE_TOOLS,
      false,
    ),
  answer: (event, verdict) =>
    event.kind === "call" && event.meaning.kind === "inner" ? OPENCODE_ALLOWS(null) : OPENCODE_ANSWERS(event, verdict),
};

/**
 * From the names of all servers that the client has. Null where they are not known, or where more than one of them could have this tool.
 */
function opencodeServer(tool: Json | undefined, servers: Json | undefined): ServerTool | null {
  if (typeof tool !== "string" || servers === undefined || !isJsonList(servers)) return null;
  const fitting = servers.flatMap((server) => {
    const prefix = typeof server === "string" ? `${server.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}_` : null;
    return prefix !== null && tool.startsWith(prefix)
      ? [{ server: String(server), tool: tool.slice(prefix.length) }]
      : [];
  });
  // Two that fit: it is not certain, and so it is not ours.
  return fitting.length > 1 ? { server: "", tool } : (fitting[0] ?? null);
}

/** Said in words: without an opinion of the hook (shadow mode) the person is asked, and the plugin must not answer for them. */
const OPENCODE_ALLOWS: Allow = (input) => said({ allow: true, ...(input === null ? {} : { input }) });
const OPENCODE_ANSWERS = answers(OPENCODE_ALLOWS, null);

const OPENCODE_TOOLS: ReadonlyMap<string, MeaningOf> = new Map<string, MeaningOf>([
  ["bash", shell("command", "workdir")],
  ["read", file("fs_read", ["fs.read"], "filePath")],
  ["write", file("fs_write", ["fs.write"], "filePath")],
  ["edit", file("fs_edit", EDIT, "filePath")],
  ["list", search("fs_list", ["path"], null)],
  ["glob", search("fs_glob", ["path"], "pattern")],
  ["grep", contentSearch("fs_grep", ["path"], "include")],
  ["webfetch", fetchMeaning("web_fetch", "url")],
  ["websearch", webSearch(null)],
  ["todowrite", INNER],
  ["todoread", INNER],
  ["question", INNER],
  ["task", INNER],
  ["skill", INNER],
]);
