// Where each client's hook is configured, as data: files, what is written into them, and what that holds.
import type { Json, JsonObject } from "../../core/base/json.ts";
import { HOOK_MARK, hookSeconds } from "./hook-command.ts";
import { opencodePlugin } from "./opencode-plugin.ts";

export type ConnectScope = "project" | "user" | "managed";

/** A change of one settings file. */
export type SettingsChange =
  /** Elements are added to lists, and members set; everything else of the file stays, comments included. */
  | {
      readonly kind: "json";
      readonly elements: readonly { readonly at: readonly string[]; readonly value: Json }[];
      readonly members: readonly SettingsMember[];
    }
  /** A file of our own. */
  | { readonly kind: "whole"; readonly text: string }
  /** Lines between two marks, at the end of the file. */
  | { readonly kind: "lines"; readonly lines: readonly string[] };

export interface SettingsMember {
  readonly at: readonly string[];
  readonly value: Json;
  /** Whether a value that is there by now was written by us; without it our own edit alone knows. */
  isOurs?(value: Json): boolean;
}

export interface SettingsFile {
  /** Below the project, below the home folder, or absolute. */
  readonly path: string;
  readonly change: SettingsChange;
}

export interface ClientConnection {
  readonly client: string;
  readonly title: string;
  /** Names of its program. */
  readonly programs: readonly string[];
  readonly scopes: readonly ConnectScope[];
  files(scope: ConnectScope, command: string): readonly SettingsFile[];
  /** Where the client's own rules are: shown before anything is written. */
  readonly rules: readonly { readonly path: string; readonly at: readonly string[] }[];
  /** Whether it loads none of a settings file that has comments or trailing commas, and so leaves the hook out. */
  readonly isStrictJson: boolean;
  /** Whether every failure of the hook stops the tool. */
  readonly isClosed: boolean;
  /** What a person should know, besides. */
  readonly notes: readonly string[];
  /** The same about our MCP server. */
  readonly serverNotes: readonly string[];
}

const millisecondsPerSecond = 1000;

/** The format that Claude Code, Codex and Gemini share. */
function matched(event: string, matcher: string, hook: JsonObject): SettingsChange {
  return {
    kind: "json",
    elements: [{ at: ["hooks", event], value: { matcher, hooks: [{ type: "command", ...hook }] } }],
    members: [],
  };
}

function member(at: readonly string[], value: Json): SettingsMember {
  return { at, value };
}

/** A file of settings that has this path in a project and in the home folder. */
function both(path: string, change: SettingsChange): readonly SettingsFile[] {
  return [{ path, change }];
}

const CLAUDE: ClientConnection = {
  client: "claude",
  title: "Claude Code",
  programs: ["claude"],
  scopes: ["project", "user", "managed"],
  files: (scope, command) => {
    const change = matched("PreToolUse", "*", { command, timeout: hookSeconds, onFailure: "block" });
    if (scope !== "managed" || change.kind !== "json") return both(".claude/settings.json", change);
    const members = [member(["allowManagedHooksOnly"], true)];
    return [{ path: "/etc/claude-code/managed-settings.json", change: { ...change, members } }];
  },
  rules: [
    { path: ".claude/settings.json", at: ["permissions"] },
    { path: ".claude/settings.local.json", at: ["permissions"] },
  ],
  isStrictJson: true,
  isClosed: true,
  notes: [
    "rules in its settings that allow a tool stay: the hook decides before them",
    "`claude --bare` and `disableAllHooks` leave the hook out, unless it is in the managed settings (--managed)",
    "versions without `onFailure` run the tool if the hook is killed or times out",
  ],
  serverNotes: ["Claude Code asks before it starts a server of a project: accept `ambit`, or connect with --user"],
};

const CODEX: ClientConnection = {
  client: "codex",
  title: "Codex",
  programs: ["codex"],
  scopes: ["project", "user", "managed"],
  files: (scope, command) => {
    if (scope !== "managed")
      return both(".codex/hooks.json", matched("PreToolUse", "*", { command, timeout: hookSeconds }));
    const lines = [
      "[features]",
      "hooks = true",
      "unified_exec_tty = false",
      "[[hooks.PreToolUse]]",
      'matcher = "*"',
      "[[hooks.PreToolUse.hooks]]",
      'type = "command"',
      `command = ${JSON.stringify(command)}`,
      `timeout = ${hookSeconds}`,
    ];
    return [{ path: "/etc/codex/requirements.toml", change: { kind: "lines", lines } }];
  },
  rules: [],
  isStrictJson: true,
  isClosed: false,
  notes: [
    "Codex runs the tool if its hook fails: only `ambit run` prevents tools from running without a decision",
    "open codex once and accept the hook: it skips hooks that are not trusted, silently in `codex exec`",
    "set `unified_exec_tty = false` below `[features]` in ~/.codex/config.toml: the hook does not see input to a terminal",
  ],
  serverNotes: ["Codex reads a project's servers only where its user trusts the project"],
};

const GEMINI: ClientConnection = {
  client: "gemini",
  title: "Gemini CLI",
  programs: ["gemini"],
  scopes: ["project", "user", "managed"],
  files: (scope, command) => {
    const timeout = hookSeconds * millisecondsPerSecond;
    const change = matched("BeforeTool", ".*", { name: "ambit", command, timeout });
    return both(scope === "managed" ? "/etc/gemini-cli/settings.json" : ".gemini/settings.json", change);
  },
  rules: [{ path: ".gemini/settings.json", at: ["tools"] }],
  isStrictJson: false,
  isClosed: false,
  notes: [
    "Gemini runs the tool if the hook is killed or times out: only `ambit run` prevents tools from running without a decision",
    'a user\'s `hooksConfig.disabled: ["ambit"]` leaves the hook out',
  ],
  serverNotes: ["Gemini starts no servers of a project in a folder that is not trusted"],
};

const OPENCODE: ClientConnection = {
  client: "opencode",
  title: "opencode",
  programs: ["opencode"],
  scopes: ["project", "user"],
  files: (scope, command) => {
    const folder = scope === "project" ? "" : ".config/opencode/";
    const plugin = scope === "project" ? ".opencode/plugin/ambit.js" : ".config/opencode/plugin/ambit.js";
    return [
      { path: plugin, change: { kind: "whole", text: opencodePlugin(command) } },
      {
        path: `${folder}opencode.json`,
        change: { kind: "json", elements: [], members: [member([RULES], { "*": "ask" })] },
      },
    ];
  },
  rules: [{ path: "opencode.json", at: ["permission"] }],
  isStrictJson: false,
  isClosed: true,
  notes: ["`--pure` leaves the plugin out: every tool then asks, and `opencode run` rejects what asks"],
  serverNotes: [],
};

const RULES = "permission";

/** The hook of Cursor names a server's tool without the server. */
const NAMED =
  "tools of the server also need `tool.invoke` in the record: the hook cannot see which server they belong to";

const CURSOR: ClientConnection = {
  client: "cursor",
  title: "Cursor",
  programs: ["cursor-agent", "cursor"],
  scopes: ["project", "user"],
  files: (_, command) =>
    both(".cursor/hooks.json", {
      kind: "json",
      elements: [member(["hooks", "preToolUse"], { command, failClosed: true, timeout: hookSeconds })],
      members: [member(["version"], 1)],
    }),
  rules: [{ path: ".cursor/cli.json", at: ["permissions"] }],
  isStrictJson: false,
  isClosed: true,
  notes: ["shell commands are checked, but Cursor runs them itself: its hook cannot replace them"],
  serverNotes: ["Cursor asks before it starts a server of a project", NAMED],
};

function copilotFile(command: string): SettingsChange {
  const hook = { type: "command", bash: command, timeoutSec: hookSeconds };
  return { kind: "whole", text: `${JSON.stringify({ version: 1, hooks: { preToolUse: [hook] } }, null, 2)}\n` };
}

const COPILOT: ClientConnection = {
  client: "copilot",
  title: "Copilot CLI",
  programs: ["copilot"],
  scopes: ["project", "user"],
  files: (scope, command) =>
    both(scope === "project" ? ".github/hooks/ambit.json" : ".copilot/hooks/ambit.json", copilotFile(command)),
  rules: [],
  isStrictJson: false,
  isClosed: false,
  notes: [
    "a project's hooks run only in a folder that is trusted; use --user, or `copilot -p ... --trust-folder`",
    "Copilot runs the tool if the hook times out, where the tool is allowed already",
  ],
  serverNotes: ["Copilot starts a project's servers only in a folder that is trusted; use --user, or --trust-folder"],
};

const VSCODE: ClientConnection = {
  client: "vscode",
  title: "VS Code",
  programs: ["code"],
  scopes: ["project"],
  files: (_, command) =>
    both(".github/hooks/ambit-vscode.json", {
      kind: "whole",
      text: `${JSON.stringify({ hooks: { PreToolUse: [{ type: "command", command, timeout: hookSeconds }] } }, null, 2)}\n`,
    }),
  rules: [],
  isStrictJson: false,
  isClosed: false,
  notes: ["hooks of VS Code are a preview, and its tools change; an unknown tool needs `tool.invoke`"],
  serverNotes: ["VS Code asks before it starts a server of a project"],
};

export const CONNECTIONS: readonly ClientConnection[] = [CLAUDE, CODEX, OPENCODE, GEMINI, CURSOR, COPILOT, VSCODE];

export function connectionOf(client: string): ClientConnection | null {
  return CONNECTIONS.find((one) => one.client === client) ?? null;
}

/** Whether an element of a list, or a text, is a hook of ours. */
export function isOurs(value: Json): boolean {
  return JSON.stringify(value).includes(HOOK_MARK);
}
