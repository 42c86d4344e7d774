// Rules of Gemini CLI, from its settings and from the policy files of its user and of the machine, read as what they mean in a record.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import {
  command,
  commandText,
  EDITS,
  everyFile,
  FREE,
  fetchMeaning,
  grants,
  type NativeRule,
  ONLY_PROJECT,
  READS,
  type RuleAction,
  type RuleMeaning,
  textsAt,
  unreadable,
} from "./read-rules.ts";

interface ToolRule {
  readonly tool: string;
  readonly meaning: RuleMeaning;
}

/** `tools.allowed` and `tools.exclude` of the settings. */
export function geminiRules(value: Json, file: string): readonly NativeRule[] {
  const of = (action: RuleAction, key: string): readonly NativeRule[] =>
    textsAt(value, "tools", key).map((rule) => ({ action, rule, file, ...geminiMeaning(rule) }));
  // Policies elsewhere may deny anything.
  const elsewhere = ["policyPaths", "adminPolicyPaths"].filter((key) => textsAt(value, key).length > 0);
  return [
    ...elsewhere.map((rule): NativeRule => {
      const meaning = unreadable("policies in other folders are not read");
      return {
        action: "deny",
        rule: `${rule}: policies in other folders, which are not read`,
        file,
        tool: "*",
        meaning,
      };
    }),
    ...of("deny", "exclude"),
    ...of("allow", "allowed"),
  ];
}

const SHELL = "run_shell_command";
const READERS = ["read_file", "read_many_files", "search_file_content", "grep_search"];
const LISTERS = ["list_directory", "glob"];
const INNER_TOOLS = ["ask_user", "enter_plan_mode", "exit_plan_mode", "write_todos"];

function geminiMeaning(rule: string): ToolRule {
  const [, tool = "", inside] = /^(\w+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  if (tool === SHELL || tool === "ShellTool")
    return {
      tool: "Bash",
      meaning: inside === undefined ? commandText("*") : command(inside.trim().split(/\s+/), true),
    };
  if (READERS.includes(tool)) return { tool: "Read", meaning: everyFile(READS, "the record covers only the project") };
  if (LISTERS.includes(tool))
    return {
      tool: "Read",
      meaning: unreadable("in a record, listing files needs the right to read them: allow read_file"),
    };
  if (tool === "write_file") return { tool: "Edit", meaning: everyFile(["fs.write"], ONLY_PROJECT) };
  if (tool === "replace") return { tool: "Edit", meaning: everyFile(EDITS, ONLY_PROJECT) };
  if (tool === "web_fetch") return { tool: "WebFetch", meaning: fetchMeaning(null) };
  if (tool === "google_web_search") return { tool, meaning: grants(["provider.web_search{hosts=[*]}"]) };
  if (INNER_TOOLS.includes(tool)) return { tool, meaning: FREE };
  return { tool: rule, meaning: unreadable("no known tool has this name") };
}

const ACTIONS: Readonly<Record<string, RuleAction>> = { allow: "allow", ask_user: "ask", deny: "deny" };
const priorityMax = 999;
const MODES = ["autoEdit", "default", "plan", "yolo"];

/** What belongs to a higher tier comes before every priority of a lower one. */
const TIERS = { project: 3, user: 4, managed: 5 } as const;

export function geminiPolicy(tier: keyof typeof TIERS): (value: Json, file: string) => readonly NativeRule[] {
  const ignored = "Gemini ignores the policies of a project: move it to ~/.gemini/policies";
  return (value, file) => policyRules(value, file, tier, tier === "project" ? ignored : fileProblem(value));
}

/** INVARIANT: a rule that denies or asks counts, also in a file that Gemini ignores. One that allows does not. */
function policyRules(
  value: Json,
  file: string,
  tier: keyof typeof TIERS,
  ignored: string | null,
): readonly NativeRule[] {
  const rules = objectsAt(value, "rule").flatMap((rule) => ruleOf(rule, file, tier));
  const checkers = objectsAt(value, "safety_checker").flatMap((checker): readonly NativeRule[] =>
    toolsOf(checker).map((name) => ({
      ...{ action: "ask", rule: `safety_checker ${name}`, file, tool: kindOf(name) },
      meaning: unreadable("a record has no programs that check a call"),
    })),
  );
  if (ignored === null) return [...rules, ...checkers];
  const dead: RuleMeaning = { kind: "dead", why: ignored, fix: null };
  const asking = [...rules, ...checkers].filter(({ action }) => action === "ask");
  return [
    ...rules.map((one) => ({ ...one, meaning: dead })),
    ...rules.filter(({ action }) => action === "deny"),
    // A question of such a file gives nothing by itself.
    ...asking.map((one) => ({ ...one, meaning: unreadable("it asks in a file that Gemini ignores") })),
  ];
}

/** Why Gemini leaves the whole file out; null if it does not. */
function fileProblem(value: Json): string | null {
  const list = isJsonObject(value) ? member(value, "rule") : undefined;
  if (list !== undefined && (!isJsonList(list) || !list.every(isJsonObject)))
    return "Gemini ignores the whole file: `rule` is not a list of tables";
  for (const [at, rule] of objectsAt(value, "rule").entries()) {
    const wrong = (what: string): string => `Gemini ignores the whole file: rule ${at + 1} has ${what}`;
    const [priority, decision] = [member(rule, "priority"), member(rule, "decision")];
    if (!isTextOrTexts(member(rule, "toolName"))) return wrong("no `toolName`");
    if (typeof decision !== "string" || !Object.hasOwn(ACTIONS, decision))
      return wrong("no `decision` of allow, deny or ask_user");
    if (!Number.isInteger(priority) || Number(priority) < 0 || Number(priority) > priorityMax)
      return wrong(`no \`priority\` from 0 to ${priorityMax}`);
    const [prefix, modes] = [member(rule, "commandPrefix"), member(rule, "modes")];
    if (prefix !== undefined && !isTextOrTexts(prefix)) return wrong("a `commandPrefix` that is not text");
    const isModes = modes === undefined || (isJsonList(modes) && modes.every((one) => MODES.includes(String(one))));
    if (!isModes) return wrong("a mode that Gemini does not know");
    for (const key of ["argsPattern", "commandRegex", "mcpName", "subagent"]) {
      const text = member(rule, key);
      if (text !== undefined && typeof text !== "string") return wrong(`a \`${key}\` that is not text`);
    }
  }
  return null;
}

function ruleOf(rule: JsonObject, file: string, tier: keyof typeof TIERS): readonly NativeRule[] {
  const decision = member(rule, "decision");
  const action =
    (typeof decision === "string" && Object.hasOwn(ACTIONS, decision) ? ACTIONS[decision] : null) ?? "deny";
  const server = textAt(rule, "mcpName");
  const limit = limitOf(rule);
  // Where it holds only sometimes a person decides.
  const ownAction = action === "allow" && limit.isSometimes ? "ask" : action;
  const priority = TIERS[tier] * (priorityMax + 1) + Number(member(rule, "priority") ?? 0);
  return toolsOf(rule).flatMap((name) =>
    prefixesOf(rule).map((prefix): NativeRule => {
      const { tool, meaning } = server === null ? nameMeaning(name, prefix) : serverMeaning(server, name);
      const isWhole = limit.why === null && !limit.isSometimes && prefix === null && server === null;
      return {
        ...{ action: ownAction, file, tool, rule: ruleText(rule, server, name, prefix) },
        meaning: limit.why !== null ? unreadable(limit.why) : sometimes(meaning, action, ownAction),
        rank: { priority, tool: name, isWhole },
      };
    }),
  );
}

function sometimes(meaning: RuleMeaning, before: RuleAction, after: RuleAction): RuleMeaning {
  const isLess = meaning.kind === "grants" && before !== after;
  return isLess ? { ...meaning, note: "the client allows it only in some modes, so the record asks" } : meaning;
}

/** Conditions of a rule that a grant cannot say; `isSometimes`: it depends on how Gemini was started. */
function limitOf(rule: JsonObject): { readonly why: string | null; readonly isSometimes: boolean } {
  const has = (key: string): boolean => member(rule, key) !== undefined;
  const modes = member(rule, "modes");
  const isSometimes =
    has("interactive") ||
    (modes !== undefined && isJsonList(modes) && modes.length > 0 && !MODES.every((mode) => modes.includes(mode)));
  const isShell = member(rule, "toolName") === SHELL;
  const why = has("subagent")
    ? "it is for one sub-agent: grant it in the record of that name"
    : has("argsPattern") || has("commandRegex")
      ? "a regular expression over the arguments cannot be written as a grant"
      : has("toolAnnotations")
        ? "annotations of a server about its tool cannot be written as a grant"
        : has("commandPrefix") && !isShell
          ? `\`commandPrefix\` works only with \`toolName = "${SHELL}"\``
          : null;
  return { why, isSometimes };
}

function nameMeaning(name: string, prefix: string | null): ToolRule {
  if (name === "*") return { tool: "*", meaning: { kind: "broad", why: "it allows every tool" } };
  if (prefix !== null) {
    const words = prefix.split(" ");
    const isPlain = prefix !== "" && words.every((word) => word !== "");
    return { tool: "Bash", meaning: isPlain ? command(words, true) : unreadable("its prefix is not a command") };
  }
  if (!name.startsWith("mcp_")) return geminiMeaning(name);
  if (name.includes("*")) return serverTool(name, true);
  return serverTool(name, false);
}

function serverMeaning(server: string, name: string): ToolRule {
  if (server === "*") return { tool: "*", meaning: { kind: "broad", why: "it allows tools of every server" } };
  // The name of a tool has no mark where that of its server ends.
  return serverTool(`mcp_${server}_${name}`, /[_*]/.test(server) || /[_*]/.test(name));
}

function serverTool(name: string, isShared: boolean): ToolRule {
  if (!/^mcp_[\w.-]+[*]?$/.test(name) || name === "mcp_*")
    return { tool: name, meaning: unreadable("a pattern of a record can have `*` only at the end, after a server") };
  const spec = `tool.invoke{tools=[${JSON.stringify(name.endsWith("*") ? `tool:${name}` : name)}]}`;
  const note = "a tool of another server can have the same name, so the record asks";
  return { tool: name, meaning: isShared ? grants([spec], note, true) : grants([spec]) };
}

/** Rules that deny meet only those of their own kind. */
function kindOf(name: string): string {
  return nameMeaning(name, null).tool;
}

function ruleText(rule: JsonObject, server: string | null, name: string, prefix: string | null): string {
  const about = prefix === null ? name : `${name}(${prefix})`;
  const more = ["argsPattern", "commandRegex", "subagent"].flatMap((key) => {
    const text = textAt(rule, key);
    return text === null ? [] : [`${key}=${text}`];
  });
  const priority = member(rule, "priority");
  return [
    `${server === null ? "" : `${server}: `}${about}`,
    ...more,
    ...(priority === undefined ? [] : [`priority ${JSON.stringify(priority)}`]),
  ].join(" ");
}

function toolsOf(rule: JsonObject): readonly string[] {
  const names = member(rule, "toolName");
  // Without a name it would be about anything.
  return typeof names === "string" ? [names] : names !== undefined && isJsonList(names) ? names.map(String) : ["*"];
}

/** Null: every command. An empty text is none; an empty list matches nothing. */
function prefixesOf(rule: JsonObject): readonly (string | null)[] {
  const prefix = member(rule, "commandPrefix");
  if (prefix === undefined || prefix === "") return [null];
  return isJsonList(prefix) ? prefix.map(String) : [String(prefix)];
}

function isTextOrTexts(value: Json | undefined): boolean {
  return (
    typeof value === "string" ||
    (value !== undefined && isJsonList(value) && value.every((one) => typeof one === "string"))
  );
}

function textAt(rule: JsonObject, key: string): string | null {
  const value = member(rule, key);
  return typeof value === "string" ? value : null;
}

function objectsAt(value: Json, key: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? member(value, key) : undefined;
  return list !== undefined && isJsonList(list) ? list.filter(isJsonObject) : [];
}
