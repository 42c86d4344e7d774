// What the arguments of a server's tool mean: a map from requests to the places in the arguments that name their targets,
// such as `fs.read: $.path`. Read once, applied to every call.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../base/json.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName } from "../scope/scope-values.ts";
import type { TreeNode } from "../tree.ts";

/** Verbs whose target is one text in the arguments: a path, or an address. */
export const MAPPED_VERBS = [
  "fs.read",
  "fs.write",
  "fs.delete",
  "net.get",
  "net.post",
  "net.put",
  "net.delete",
] as const;
export type MappedVerb = (typeof MAPPED_VERBS)[number];

export interface MappedArgument {
  readonly verb: MappedVerb;
  /** Names of members; null for every element of a list. */
  readonly steps: readonly (string | null)[];
  /** Absent or null in the arguments means no request; otherwise it refuses the call. */
  readonly isOptional: boolean;
  /** As it is written. */
  readonly text: string;
}

/** An empty map says that no argument names anything outside the server. */
export type ArgumentMap = readonly MappedArgument[];

/** One target that the arguments of a call name. */
export interface MappedTarget {
  readonly verb: MappedVerb;
  readonly target: string;
}

const entriesMax = 32;
const stepsMax = 16;
const targetsMax = 256;
const EXAMPLE = "read_file: { fs.read: $.path }";

/** Null after it has said what is wrong. INVARIANT: a map with a mistake in it is no map. */
export function readArgumentMap(node: TreeNode, diagnostics: Diagnostics): ArgumentMap | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `an argument map is a map from verbs to places, not ${kindName(node)}`, {
      fix: EXAMPLE,
    });
    return null;
  }
  const map: MappedArgument[] = [];
  let isWrong = false;
  for (const { key, keySpan, value } of node.entries) {
    const verb = MAPPED_VERBS.find((one) => one === key);
    if (verb === undefined) {
      const suggestion = nearestName(key, MAPPED_VERBS);
      const message = `${quoteText(key)} cannot be mapped: its target is not a single string; use one of ${MAPPED_VERBS.join(", ")}`;
      diagnostics.error("unknown_verb", keySpan, message, { suggestion, fix: EXAMPLE });
      isWrong = true;
      continue;
    }
    for (const item of value.kind === "list" ? value.items : [value]) {
      const text = item.kind === "scalar" && typeof item.value === "string" ? item.value : null;
      const place = text === null ? null : readPlace(text);
      if (text === null || place === null) {
        const message =
          "a path into the arguments looks like `$.path`, `$.files[*].path` or, if it is optional, `$.path?`";
        diagnostics.error("bad_value", item.span, message, { fix: EXAMPLE });
        isWrong = true;
      } else map.push({ verb, ...place, text });
    }
  }
  if (map.length > entriesMax)
    diagnostics.error("too_large", node.span, `an argument map has at most ${entriesMax} entries`);
  return isWrong || map.length > entriesMax ? null : map;
}

/** `$.a.b`, `$.a[*].b`, `$.a[*]`; a last `?` marks it as optional. */
function readPlace(text: string): Pick<MappedArgument, "steps" | "isOptional"> | null {
  const match = /^\$((?:\.[A-Za-z_][A-Za-z0-9_-]{0,63}|\[\*\]){1,32})(\??)$/.exec(text);
  if (match === null) return null;
  const steps =
    (match[1] ?? "").match(/\.[^.[]+|\[\*\]/g)?.map((step) => (step === "[*]" ? null : step.slice(1))) ?? [];
  return steps.length > stepsMax || steps[0] === null ? null : { steps, isOptional: match[2] === "?" };
}

/** Of a place that is known to be well written. */
export function readPlaceText(text: string): Pick<MappedArgument, "steps" | "isOptional"> {
  const place = readPlace(text);
  if (place === null) throw new Error(`${text} is not a path into the arguments`);
  return place;
}

/** The targets of one call. INVARIANT: what a map names and the arguments do not have as text refuses the call. */
export function mappedTargets(map: ArgumentMap, input: JsonObject): Result<readonly MappedTarget[]> {
  const targets: MappedTarget[] = [];
  for (const { verb, steps, isOptional, text } of map) {
    const found: Json[] = [];
    const fault = collect(input, steps, isOptional, found);
    if (fault !== null) return refuse("bad_value", `${text}: the argument ${fault}`);
    for (const target of found) {
      if (typeof target !== "string") return refuse("bad_value", `${text}: the argument must be text`);
      // A server may resolve a relative path, or `~`, elsewhere than where it was decided.
      if (verb.startsWith("fs.") && !target.startsWith("/"))
        return refuse(
          "not_absolute",
          `${quoteText(target.slice(0, 200))}: name files by absolute paths`,
          "/path/to/file",
        );
      targets.push({ verb, target });
    }
    if (targets.length > targetsMax) return refuse("bad_value", `the arguments name more than ${targetsMax} targets`);
  }
  return done(targets);
}

/** Why a place that must be there is not; null where it is. */
function collect(
  value: Json | undefined,
  steps: readonly (string | null)[],
  isOptional: boolean,
  found: Json[],
): string | null {
  if (value === undefined || value === null) return isOptional ? null : "is missing";
  const [step, ...rest] = steps;
  if (step === undefined) {
    found.push(value);
    return null;
  }
  if (step !== null)
    return isJsonObject(value) ? collect(member(value, step), rest, isOptional, found) : "must be an object";
  if (!isJsonList(value)) return "must be a list";
  if (value.length > targetsMax) return `has more than ${targetsMax} elements`;
  for (const item of value) {
    const fault = item === null ? "must not be null" : collect(item, rest, isOptional, found);
    if (fault !== null) return fault;
  }
  return null;
}

/** As it is written in a file. */
export function argumentMapText(map: ArgumentMap): string {
  const verbs = [...new Set(map.map(({ verb }) => verb))];
  const entries = verbs.map((verb) => {
    const texts = map.filter((one) => one.verb === verb).map(({ text }) => (text.includes("[") ? `"${text}"` : text));
    return `${verb}: ${texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`}`;
  });
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
