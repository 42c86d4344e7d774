// Ways around a hook that is in place: other settings of the client, its version, and what the client does by itself.
import { isJsonList, isJsonObject, isPlainJson, type Json, member } from "../../core/base/json.ts";
import { type ConnectScope, connectionOf } from "./connections.ts";

export interface HookGapFacts {
  readonly client: string;
  readonly scope: ConnectScope;
  /** The file that has the hook. */
  readonly path: string;
  /** As the client prints it; null where it is not known. */
  readonly version: string | null;
  /** A settings file of the client as JSON; undefined where there is none. */
  value(scope: ConnectScope, path: string): Json | undefined;
  text(scope: ConnectScope, path: string): string | null;
}

/** The version whose failures were tried: older ones may know less of hooks. */
const CHECKED: ReadonlyMap<string, string> = new Map([
  ["claude", "2.1.325"],
  ["codex", "0.166.0"],
  ["gemini", "0.61.0"],
  ["opencode", "1.18.33"],
  ["copilot", "1.0.102"],
]);

/** One sentence each. */
export function hookGaps(facts: HookGapFacts): readonly string[] {
  return [...versionGaps(facts), ...syntaxGaps(facts), ...(GAPS.get(facts.client)?.(facts) ?? [])];
}

function syntaxGaps({ client, scope, path, text }: HookGapFacts): readonly string[] {
  const written = connectionOf(client)?.isStrictJson === true && path.endsWith(".json") ? text(scope, path) : null;
  return written === null || isPlainJson(written)
    ? []
    : [
        "the file is no plain JSON, without comments and trailing commas: the client loads nothing of it, the hook included",
      ];
}

function versionGaps({ client, version }: HookGapFacts): readonly string[] {
  const checked = CHECKED.get(client);
  if (checked === undefined) return [];
  if (version === null) return ["its version is not known"];
  return isOlder(version, checked)
    ? [`version ${version} is older than ${checked}, the oldest tested version: it may run tools after a failed hook`]
    : [];
}

export function isOlder(version: string, than: string): boolean {
  const [left, right] = [numbers(version), numbers(than)];
  const at = left.findIndex((number, index) => number !== (right[index] ?? 0));
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}

function numbers(version: string): readonly number[] {
  const [, text = "0"] = /(\d+(?:\.\d+){0,3})/.exec(version) ?? [];
  const parts = text.split(".").map(Number);
  return [0, 1, 2].map((at) => parts[at] ?? 0);
}

const MANAGED = "/etc/claude-code/managed-settings.json";

function claudeGaps({ scope, value }: HookGapFacts): readonly string[] {
  if (scope === "managed") return [];
  const files = [
    ["user", ".claude/settings.json"],
    ["project", ".claude/settings.json"],
    ["project", ".claude/settings.local.json"],
    ["managed", MANAGED],
  ] as const;
  const off = files.filter(([where, path]) => isSet(value(where, path), "disableAllHooks", true));
  return [
    ...off.map(
      ([where, path]) => `\`disableAllHooks\` in ${where === "user" ? "~/" : ""}${path}: the hook does not run`,
    ),
    ...(isSet(value("managed", MANAGED), "allowManagedHooksOnly", true)
      ? ["the managed settings allow their own hooks only: this one does not run; use --managed"]
      : []),
    "`claude --bare` skips the hook; `ambit connect claude --managed` prevents that",
  ];
}

function codexGaps({ scope, path, text }: HookGapFacts): readonly string[] {
  const config = text("user", ".codex/config.toml") ?? "";
  const isManaged = scope === "managed";
  // `[hooks.state."FILE:EVENT:GROUP:INDEX"]`, which Codex writes when its user accepts the hook.
  const isTrusted = isManaged || config.includes(`[hooks.state."${path}:`);
  return [
    ...(isTrusted ? [] : ["Codex does not trust the hook yet and skips it silently: open codex and accept the hook"]),
    ...(!isManaged && /^\s*hooks\s*=\s*false\b/m.test(config)
      ? ["`hooks = false` in ~/.codex/config.toml: it does not run"]
      : []),
    ...(isManaged || /^\s*unified_exec_tty\s*=\s*false\b/m.test(config)
      ? []
      : [
          "the hook does not see input to a terminal: set `unified_exec_tty = false` below `[features]` in ~/.codex/config.toml",
        ]),
    AFTER_FAILURE,
  ];
}

const AFTER_FAILURE =
  "the client runs the tool if the hook's own line times out, is killed or fails; only `ambit run` prevents that";

function geminiGaps({ value }: HookGapFacts): readonly string[] {
  const gaps: string[] = [AFTER_FAILURE];
  for (const where of ["user", "project"] as const) {
    const settings = value(where, ".gemini/settings.json");
    const hooks = settings !== undefined && isJsonObject(settings) ? member(settings, "hooksConfig") : undefined;
    const disabled = hooks !== undefined && isJsonObject(hooks) ? member(hooks, "disabled") : undefined;
    if (disabled !== undefined && isJsonList(disabled) && disabled.includes("ambit"))
      gaps.push(`\`hooksConfig.disabled\` in the ${where}'s settings: it does not run`);
  }
  return gaps;
}

function opencodeGaps({ scope, value }: HookGapFacts): readonly string[] {
  const file = scope === "project" ? "opencode.json" : ".config/opencode/opencode.json";
  const settings = value(scope, file);
  const rules = settings !== undefined && isJsonObject(settings) ? member(settings, "permission") : undefined;
  const first = rules !== undefined && isJsonObject(rules) ? member(rules, "*") : rules;
  return first === "ask" || first === "deny"
    ? []
    : [`\`"*": "ask"\` is missing in ${file}: without the plugin every tool runs`];
}

/** A project that is trusted also switches off hooks of the user; settings of the user switch off none. */
function copilotGaps({ value }: HookGapFacts): readonly string[] {
  const files = [".github/copilot/settings.json", ".github/copilot/settings.local.json"];
  const off = files.filter((path) => isSet(value("project", path), "disableAllHooks", true));
  return [
    ...off.map((path) => `\`disableAllHooks\` in ${path}: the hook does not run where the folder is trusted`),
    "the client runs the tool if the hook times out, where the tool is allowed already",
  ];
}

const GAPS: ReadonlyMap<string, (facts: HookGapFacts) => readonly string[]> = new Map([
  ["claude", claudeGaps],
  ["codex", codexGaps],
  ["gemini", geminiGaps],
  ["opencode", opencodeGaps],
  ["copilot", copilotGaps],
]);

function isSet(settings: Json | undefined, key: string, wanted: Json): boolean {
  return settings !== undefined && isJsonObject(settings) && member(settings, key) === wanted;
}
