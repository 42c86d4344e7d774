// The native rules of each client. Claude Code and opencode have matchers that are known well enough for rules that allow; in the
// others only what no grant allows at all is written, and the hook decides the rest.
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import {
  absentKinds,
  type CompiledRules,
  jsonText,
  type RuleOf,
  type RuleSource,
  rowsOf,
  sortedRules,
  type ToolKind,
} from "./native-rules.ts";

/** Where Claude Code and Cursor have their lists of rules, and opencode its map. */
const LISTS = "permissions";
const MAP = "permission";

type Compiler = (source: RuleSource) => CompiledRules;

/** Tools of Claude Code by what they do. Rules for a path are `Read` and `Edit` alone: others are accepted and do nothing. */
export const CLAUDE_KINDS: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ["Glob", "Grep", "NotebookRead", "Read"],
  write: ["Edit", "NotebookEdit", "Write"],
  shell: ["Bash", "Monitor"],
  fetch: ["WebFetch"],
  search: ["WebSearch"],
};

const claude: Compiler = (source) => {
  const { rows, written } = rowsOf(source, claudeRule(source));
  const { base, home } = source.pathSettings;
  // A pattern for a name matches the folder of that name with everything below it.
  const except = written.flatMap(({ part }) => (part.kind === "tree" ? part.except : []));
  const denied = [
    ...absentKinds(source).flatMap((kind) => CLAUDE_KINDS[kind]),
    ...sortedRules(except.map((path) => `Read(${claudePath(path, base, home).slice(0, -1)})`)),
  ];
  const of = (effect: string): string[] => [
    ...sortedRules(written.flatMap((one) => (one.effect === effect ? [one.rule] : []))),
  ];
  const value = { [LISTS]: { allow: of("allow"), ask: of("ask"), deny: [...sortedRules(denied)] } };
  return {
    ...{ client: "claude", path: ".claude/settings.json", text: jsonText(value), value, rows, denied },
    notes: [
      "Claude Code reads files of its working folder, and runs commands of its own read-only list, without asking: there only the hook decides",
    ],
  };
};

/** `/x` is relative to the project of the settings, `~/x` to the home folder, `//x` absolute. */
function claudeRule({ pathSettings: { base, home } }: RuleSource): RuleOf {
  return (part) => {
    switch (part.kind) {
      case "tree": {
        // Only the folder that a pattern is relative to is compared as it is written.
        const isAnchor = [base, home].some((one) => one?.join("/") === part.folder.join("/"));
        return isAnchor
          ? `Read(${claudePath(part.folder, base, home)}**)`
          : { why: "Claude Code compares folder names case-insensitively" };
      }
      case "host":
        return `WebFetch(domain:${part.name})`;
      case "search":
        return "WebSearch";
      case "tool":
        return /^mcp__[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*__[A-Za-z0-9_-]+$/.test(part.name)
          ? part.name
          : { why: "Claude Code has no MCP tool with this name" };
      default:
        return part satisfies never;
    }
  };
}

/** With a slash at its end. */
function claudePath(path: readonly string[], base: PathSettings["base"], home: PathSettings["home"]): string {
  const [below, own] = [belowText(path, base), belowText(path, home)];
  if (below !== null) return `/${below}`;
  return own !== null ? `~/${own}` : `//${path.map((name) => `${name}/`).join("")}`;
}

/** The names below a folder, each with a slash; null if it is not below it. */
function belowText(path: readonly string[], folder: readonly string[] | null): string | null {
  if (folder === null || folder.length === 0 || !folder.every((name, at) => name === path[at])) return null;
  return path
    .slice(folder.length)
    .map((name) => `${name}/`)
    .join("");
}

/** Keys of opencode's own rules: a tool of a server that has such a name is not named in a rule. */
const OPENCODE_KEYS: ReadonlySet<string> = new Set([
  ...["bash", "codesearch", "doom_loop", "edit", "external_directory", "glob", "grep", "list", "lsp", "patch"],
  ...["plan_enter", "plan_exit", "question", "read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch"],
  "write",
]);

const OPENCODE_KINDS: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ["glob", "grep", "list", "read"],
  write: ["edit"],
  shell: ["bash"],
  fetch: ["webfetch"],
  search: ["websearch"],
};

/** The last rule that matches decides, so the widest comes first; a star matches slashes too. */
const opencode: Compiler = (source) => {
  const { rows, written } = rowsOf(source, opencodeRule);
  const hosts = written.filter(({ part }) => part.kind === "host");
  // A rule that asks comes after one that allows: the last one that matches decides.
  const urls = (["allow", "ask"] as const).flatMap((effect) =>
    sortedRules(hosts.flatMap((one) => (one.effect === effect ? [one.rule] : []))).map(
      (rule) => [rule, effect] as const,
    ),
  );
  const members: [string, JsonObject | string][] = written
    .filter(({ part }) => part.kind !== "host")
    .map(({ rule, effect }) => [rule, effect]);
  if (urls.length > 0) members.push(["webfetch", { "*": "ask", ...Object.fromEntries(urls) }]);
  const denied = absentKinds(source).flatMap((kind) => OPENCODE_KINDS[kind]);
  for (const key of denied) members.push([key, "deny"]);
  // Asked by one grant and allowed by another: it asks, for the last of two equal names counts.
  members.sort(([left, one], [right, other]) => (left === right ? (one < other ? -1 : 1) : left < right ? -1 : 1));
  const value = { [MAP]: { "*": "ask", ...Object.fromEntries(members) } };
  return {
    ...{ client: "opencode", path: "opencode.json", text: jsonText(value), value, rows, denied },
    notes: ["`OPENCODE_PERMISSION` in its environment replaces these rules"],
  };
};

const opencodeRule: RuleOf = (part) => {
  switch (part.kind) {
    case "tree":
      return { why: "opencode compares the path as written, and does not resolve links" };
    case "host":
      return `https://${part.name}/*`;
    case "search":
      return "websearch";
    case "tool":
      return OPENCODE_KEYS.has(part.name) || !part.name.includes("_") || part.name.startsWith("mcp__")
        ? { why: "opencode has no MCP tool with this name" }
        : part.name;
    default:
      return part satisfies never;
  }
};

/** A client whose matcher allows more than it says, or is not known. */
function onlyDenials(
  client: string,
  path: string | null,
  why: string,
  print: (absent: readonly ToolKind[]) => {
    readonly denied: readonly string[];
    readonly text: string;
    readonly value?: JsonObject;
  },
  notes: readonly string[],
): Compiler {
  return (source) => {
    const { rows } = rowsOf(source, () => ({ why }));
    const { denied, text, value = null } = print(absentKinds(source));
    return { client, path, text, value, rows, denied, notes };
  };
}

const codex = onlyDenials(
  "codex",
  null,
  "Codex has no rule that corresponds to it",
  (absent) => {
    const lines = [
      'approval_policy = "untrusted"',
      ...(absent.includes("write") ? ['sandbox_mode = "read-only"'] : []),
      ...(absent.includes("search") ? ['web_search = "disabled"'] : []),
      ...["[features]", "hooks = true", ...(absent.includes("shell") ? ["shell_tool = false"] : [])],
      // Input to a terminal passes no hook.
      "unified_exec_tty = false",
    ];
    const denied = lines.filter((line) => /read-only|disabled|false/.test(line));
    return { denied, text: `${lines.join("\n")}\n` };
  },
  [
    "belongs in ~/.codex/config.toml, with its first lines before every table: Codex does not read these settings from a project",
    "a rule of Codex that allows a command runs it outside of its sandbox, so none is written",
  ],
);

const GEMINI_KINDS: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ["glob", "grep_search", "list_directory", "read_file", "read_many_files", "search_file_content"],
  write: ["replace", "write_file"],
  shell: ["run_shell_command"],
  fetch: ["web_fetch"],
  search: ["google_web_search"],
};

const gemini = onlyDenials(
  "gemini",
  null,
  "Gemini compares a pattern with the text of the arguments: `..` and links lead out of it",
  (absent) => {
    const denied = absent.flatMap((kind) => GEMINI_KINDS[kind]);
    const rule = (tool: string): string =>
      `[[rule]]\ntoolName = "${tool}"\ndecision = "deny"\npriority = 999\ndenyMessage = "no grant of the record allows this"\n`;
    return { denied, text: denied.map(rule).join("\n") || "# every kind of tool has a grant: the hook decides\n" };
  },
  ["belongs in ~/.gemini/policies/ambit.toml: Gemini ignores policies of a project"],
);

const CURSOR_KINDS: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ["Read(**)"],
  write: ["Write(**)"],
  shell: ["Shell(*)"],
  fetch: ["WebFetch(*)"],
  search: [],
};

const cursor = onlyDenials(
  "cursor",
  ".cursor/cli.json",
  "Cursor has no prompt in its rules, and its patterns are not specified",
  (absent) => {
    const denied = absent.flatMap((kind) => CURSOR_KINDS[kind]);
    const value = { [LISTS]: { allow: [], deny: [...sortedRules(denied)] } };
    return { denied, text: jsonText(value), value };
  },
  ["these rules are for its command line; the editor has its own file"],
);

const COPILOT_KINDS: Readonly<Record<ToolKind, readonly string[]>> = {
  read: [],
  write: ["write"],
  shell: ["shell"],
  fetch: ["url"],
  search: [],
};

const copilot = onlyDenials(
  "copilot",
  null,
  "Copilot has command-line options for it, but no file",
  (absent) => {
    const denied = absent.flatMap((kind) => COPILOT_KINDS[kind]);
    return { denied, text: `${["copilot", ...denied.map((tool) => `--deny-tool '${tool}'`)].join(" ")}\n` };
  },
  [
    "Copilot does not read rules from a file: start it with this command",
    "it reads files of its working folder without asking",
  ],
);

const vscode = onlyDenials(
  "vscode",
  ".vscode/settings.json",
  "VS Code has rules only for what it approves automatically",
  (absent) => {
    const value = {
      "chat.tools.edits.autoApprove": { "**/*": false },
      "chat.tools.global.autoApprove": false,
      "chat.tools.terminal.enableAutoApprove": false,
    };
    const denied = absent.includes("shell") ? ["chat.tools.terminal.enableAutoApprove"] : [];
    return { denied, text: jsonText(value), value };
  },
  ["VS Code asks before each of these tools; it has no rule that denies one"],
);

const COMPILERS: ReadonlyMap<string, Compiler> = new Map(
  Object.entries({ claude, codex, opencode, gemini, cursor, copilot, vscode }),
);

export const RULE_CLIENTS: readonly string[] = [...COMPILERS.keys()];

export function compileRules(client: string, source: RuleSource): CompiledRules | null {
  return COMPILERS.get(client)?.(source) ?? null;
}

/** One sentence each; none: the settings allow no more than the record. */
export function ruleDifferences({ value }: CompiledRules, found: Json | undefined): readonly string[] {
  if (value === null) return [];
  if (found === undefined || !isJsonObject(found)) return ["the file does not exist, or is not valid JSON"];
  const lists = member(value, LISTS);
  if (lists !== undefined && isJsonObject(lists)) return listDifferences(lists, member(found, LISTS));
  return Object.entries(value).flatMap(([key, wanted]) =>
    sameText(wanted, member(found, key)) ? [] : [`\`${key}\` must be ${JSON.stringify(wanted)}`],
  );
}

/** Settings of clients whose rules are lists: deny before ask before allow. */
function listDifferences(wanted: JsonObject, found: Json | undefined): readonly string[] {
  const own = found !== undefined && isJsonObject(found) ? found : {};
  const [deny, ask] = [textsIn(own, "deny"), textsIn(own, "ask")];
  const missing = (key: string, among: readonly string[]): readonly string[] =>
    textsIn(wanted, key)
      .filter((rule) => !among.includes(rule))
      .map((rule) => `\`${rule}\` is missing in ${key}`);
  return [...missing("deny", deny), ...missing("ask", [...ask, ...deny]), ...looserLists(wanted, own)];
}

/** What lists of rules allow beyond the wanted ones. */
export function looserLists(wanted: JsonObject, own: JsonObject): readonly string[] {
  const more = textsIn(own, "allow").filter((rule) => !textsIn(wanted, "allow").includes(rule));
  const mode = member(own, "defaultMode");
  return [
    ...more.map((rule) => `\`${rule}\` is allowed, but not by the record`),
    ...(typeof mode === "string" && WIDE_MODES.has(mode) ? [`\`defaultMode\` is ${mode}`] : []),
    ...(textsIn(own, "additionalDirectories").length === 0
      ? []
      : ["`additionalDirectories` opens folders for reading"]),
  ];
}

/** Modes of Claude Code that allow what no rule allows. */
const WIDE_MODES: ReadonlySet<string> = new Set(["acceptEdits", "auto", "bypassPermissions"]);

export function textsIn(value: JsonObject, key: string): readonly string[] {
  const list = member(value, key);
  return list !== undefined && isJsonList(list) ? list.filter((one): one is string => typeof one === "string") : [];
}

/** The order of members counts: of opencode's rules the last that matches decides. */
function sameText(left: Json, right: Json | undefined): boolean {
  return right !== undefined && JSON.stringify(left) === JSON.stringify(right);
}
