// Rules of Codex (its rule files and settings) and of VS Code (its settings), read as what they mean in a record.
import { isJsonObject, type Json, member } from "../../core/base/json.ts";
import {
  command,
  EDITS,
  everyFile,
  type NativeRule,
  paths,
  READS,
  type RuleAction,
  type RuleMeaning,
  unreadable,
} from "./read-rules.ts";

const CODEX_ACTIONS: Readonly<Record<string, RuleAction>> = { allow: "allow", prompt: "ask", forbidden: "deny" };

/** `prefix_rule(pattern=["git", ["status", "log"]], decision="allow")`: an inner list is a choice of words. */
export function codexRules(text: string, file: string): readonly NativeRule[] {
  const rules: NativeRule[] = [];
  const plain = text.replaceAll(/^\s*#.*$/gm, "");
  const found = [...plain.matchAll(/\bprefix_rule\s*\(([^()]*)\)/g)];
  // What cannot be read may forbid anything.
  if ((plain.match(/\bprefix_rule\b/g)?.length ?? 0) !== found.length) {
    const meaning = unreadable("a rule of the file has parentheses inside, so none of them can be relied on");
    rules.push({ action: "deny", rule: "prefix_rule(...)", file, tool: "Bash", meaning });
  }
  for (const [, inside = ""] of found) {
    const list = /\bpattern\s*=\s*(\[(?:[^[\]]|\[[^[\]]*\])*\])/.exec(inside)?.[1] ?? "";
    const action = CODEX_ACTIONS[/\bdecision\s*=\s*"(\w+)"/.exec(inside)?.[1] ?? "allow"];
    const choices = action === undefined ? null : wordChoices(list);
    const rule = `prefix_rule(${inside.replaceAll(/\s+/g, " ").trim()})`;
    if (action === undefined || choices === null)
      rules.push({
        action: action ?? "deny",
        rule,
        file,
        tool: "Bash",
        meaning: unreadable("its words cannot be parsed"),
      });
    else
      for (const words of choices)
        rules.push({ action, rule: words.join(" "), file, tool: "Bash", meaning: command(words, true) });
  }
  return rules;
}

const choicesMax = 64;

function wordChoices(list: string): readonly (readonly string[])[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(list.replaceAll(/,\s*\]/g, "]").replaceAll(/'([^'"\\]*)'/g, '"$1"'));
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length === 0) return null;
  let all: readonly (readonly string[])[] = [[]];
  for (const item of parsed as readonly unknown[]) {
    const words = Array.isArray(item) ? item : [item];
    if (!words.every((word): word is string => typeof word === "string")) return null;
    all = all.flatMap((before) => words.map((word) => [...before, word]));
    if (all.length > choicesMax) return null;
  }
  return all;
}

const APPROVALS = unreadable("a record decides what needs approval: add `ask` to a grant");

/** `sandbox_mode`, `approval_policy` and the network of its sandbox, from Codex's `config.toml`. */
export function codexSettings(text: string, file: string): readonly NativeRule[] {
  // Keys of the file itself stand before its first table. Texts of several lines could hold anything.
  const head = text.split(/^\s*\[/m, 1)[0] ?? "";
  const settingOf = (key: string): string | null =>
    /"""|'''/.test(head) ? null : (new RegExp(`^\\s*${key}\\s*=\\s*["']([\\w-]+)["']`, "m").exec(head)?.[1] ?? null);
  const [mode, approval] = [settingOf("sandbox_mode"), settingOf("approval_policy")];
  const sandbox = mode === null ? null : sandboxMeaning(mode);
  const rules: NativeRule[] = [];
  const add = (rule: string, tool: string, meaning: RuleMeaning): void => {
    rules.push({ action: "allow", rule, file, tool, meaning });
  };
  if (sandbox !== null) add(`sandbox_mode = "${mode}"`, sandbox.tool, sandbox.meaning);
  if (approval !== null) add(`approval_policy = "${approval}"`, "approval_policy", APPROVALS);
  if (/^\s*\[sandbox_workspace_write\][^[]*^\s*network_access\s*=\s*true\b/m.test(text))
    add("network_access = true", "WebFetch", { kind: "broad", why: "it allows every host: name the hosts" });
  return rules;
}

const READS_ALL = "Codex reads every file; the record covers only the project";

function sandboxMeaning(mode: string): { readonly tool: string; readonly meaning: RuleMeaning } {
  switch (mode) {
    case "read-only":
      return { tool: "Read", meaning: everyFile(READS, READS_ALL) };
    case "workspace-write":
      return { tool: "Edit", meaning: everyFile(EDITS, READS_ALL) };
    case "danger-full-access":
      return { tool: "sandbox_mode", meaning: { kind: "broad", why: "it allows every file, command and host" } };
    default:
      return { tool: "sandbox_mode", meaning: unreadable("this mode of Codex is unknown") };
  }
}

/** VS Code asks for what is false, and denies nothing. */
const SWITCH: ReadonlyMap<Json, RuleAction> = new Map<Json, RuleAction>([
  [true, "allow"],
  [false, "ask"],
  [null, "ask"],
]);

/** What VS Code approves by itself, from its settings. */
export function vscodeRules(value: Json, file: string): readonly NativeRule[] {
  const switches = (key: string): readonly (readonly [string, Json])[] => {
    const map = isJsonObject(value) ? member(value, key) : undefined;
    return map !== undefined && isJsonObject(map) ? Object.entries(map) : [];
  };
  const everything = ["chat.tools.autoApprove", "chat.tools.global.autoApprove"].filter(
    (key) => isJsonObject(value) && member(value, key) === true,
  );
  return [
    ...everything.map((rule): NativeRule => {
      const meaning: RuleMeaning = { kind: "broad", why: "it allows every tool" };
      return { action: "allow", rule, file, tool: "*", meaning };
    }),
    ...switches("chat.tools.terminal.autoApprove").map(([rule, one]): NativeRule => {
      const action = SWITCH.get(one);
      const isPlain = action !== undefined && !rule.startsWith("/");
      const meaning = isPlain
        ? command(rule.trim().split(/\s+/), true)
        : unreadable("a regular expression is not a command");
      return { action: action ?? "ask", rule, file, tool: "Bash", meaning };
    }),
    ...switches("chat.tools.edits.autoApprove").map(([rule, one]): NativeRule => {
      const action = SWITCH.get(one) ?? "ask";
      return { action, rule, file, tool: "Edit", meaning: paths(EDITS, rule) };
    }),
  ];
}
