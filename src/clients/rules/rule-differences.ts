// What a client's settings have otherwise than the compiled rules. They may ask and deny more, and allow less.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { CompiledRules } from "./native-rules.ts";

/** One sentence each; none: the settings allow no more than the record. */
export function ruleDifferences({ value }: CompiledRules, found: Json | undefined): readonly string[] {
  if (value === null) return [];
  if (found === undefined || !isJsonObject(found)) return ["there is no such file, or it is no JSON"];
  const lists = member(value, "permissions");
  if (lists !== undefined && isJsonObject(lists)) return listDifferences(lists, member(found, "permissions"));
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
  const more = textsIn(own, "allow").filter((rule) => !textsIn(wanted, "allow").includes(rule));
  const mode = member(own, "defaultMode");
  return [
    ...missing("deny", deny),
    ...missing("ask", [...ask, ...deny]),
    ...more.map((rule) => `\`${rule}\` is allowed, and not by the record`),
    ...(typeof mode === "string" && WIDE_MODES.has(mode) ? [`\`defaultMode\` is ${mode}`] : []),
    ...(textsIn(own, "additionalDirectories").length === 0
      ? []
      : ["`additionalDirectories` opens folders for reading"]),
  ];
}

/** Modes of Claude Code that allow what no rule allows. */
const WIDE_MODES: ReadonlySet<string> = new Set(["acceptEdits", "auto", "bypassPermissions"]);

function textsIn(value: JsonObject, key: string): readonly string[] {
  const list = member(value, key);
  return list !== undefined && isJsonList(list) ? list.filter((one): one is string => typeof one === "string") : [];
}

/** The order of members counts: of opencode's rules the last that matches decides. */
function sameText(left: Json, right: Json | undefined): boolean {
  return right !== undefined && JSON.stringify(left) === JSON.stringify(right);
}
