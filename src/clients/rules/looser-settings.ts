// Settings of a client besides its compiled rules that make it looser than the record: other files, switched-off hooks, hooks and
// plugins of other programs, modes that allow without a rule.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { isOurs } from "../connect/connections.ts";
import { looserLists, textsIn } from "./compile-rules.ts";
import type { CompiledRules } from "./native-rules.ts";

/** Files of a project that the client reads, too; `path` of the rules is looked at as well. */
export const OTHER_FILES: ReadonlyMap<string, readonly string[]> = new Map([
  ["claude", [".claude/settings.local.json"]],
  ["opencode", ["opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]],
]);

/** One sentence each. `found`: a whole settings file; `isRules`: the one that has the compiled rules. */
export function looserSettings(
  { client, value }: Pick<CompiledRules, "client" | "value">,
  found: Json,
  isRules: boolean,
): readonly string[] {
  if (!isJsonObject(found)) return ["it is not an object"];
  switch (client) {
    case "claude":
      return claudeLooser(value ?? {}, found, isRules);
    case "opencode":
      return opencodeLooser(found, isRules);
    default:
      return [];
  }
}

const LISTS = "permissions";
/** Events whose hooks can allow a call. */
const DECIDING = ["PreToolUse", "PermissionRequest"];

function claudeLooser(value: JsonObject, found: JsonObject, isRules: boolean): readonly string[] {
  const [wanted, own] = [objectAt(value, LISTS), objectAt(found, LISTS)];
  const hooks = objectAt(found, "hooks");
  const foreign = DECIDING.filter((event) => listAt(hooks, event).some((one) => !isOurs(one)));
  const sandbox = objectAt(found, "sandbox");
  return [
    ...(isRules ? [] : looserLists(wanted, own)),
    ...(member(found, "disableAllHooks") === true ? ["`disableAllHooks` disables the hook"] : []),
    ...foreign.map((event) => `a hook of another program for ${event} can allow calls`),
    ...(member(sandbox, "autoAllowBashIfSandboxed") === true
      ? ["`sandbox.autoAllowBashIfSandboxed` allows every command in the client's own sandbox"]
      : []),
    ...(textsIn(sandbox, "excludedCommands").length === 0
      ? []
      : ["`sandbox.excludedCommands` run outside of the client's own sandbox"]),
  ];
}

const RULES = "permission";

function opencodeLooser(found: JsonObject, isRules: boolean): readonly string[] {
  const agents = [...Object.entries(objectAt(found, "agent")), ...Object.entries(objectAt(found, "mode"))];
  const plugins = listAt(found, "plugin");
  return [
    ...(isRules || member(found, RULES) === undefined ? [] : [`\`${RULES}\` replaces rules of the other file`]),
    ...agents.flatMap(([name, one]) =>
      isJsonObject(one) && (member(one, RULES) !== undefined || member(one, "tools") !== undefined)
        ? [`the agent ${name} has rules of its own`]
        : [],
    ),
    ...(plugins.length === 0 ? [] : ["`plugin` loads programs that can answer its prompts"]),
  ];
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const found = member(value, key);
  return found !== undefined && isJsonObject(found) ? found : {};
}

function listAt(value: JsonObject, key: string): readonly Json[] {
  const found = member(value, key);
  return found !== undefined && isJsonList(found) ? found : [];
}
