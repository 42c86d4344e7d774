// One line of an org file in Markdown: a `key: value` line whose key its scope knows, or prose.
import { nearestName } from "../core/notation/nearest.ts";
import type { Range } from "../core/notation/source.ts";

export type OrgScope = "org" | "agent" | "trigger";

/** The keys of each scope, also those of the YAML form. */
export const ORG_KEYS: Readonly<Record<OrgScope, readonly string[]>> = {
  org: ["name", "description", "budget", "defaults", "capabilities"],
  agent: ["id", "name", "reportsTo", "provider", "model", "client", "folder", "budget", "capabilities"],
  trigger: ["kind", "every", "cron", "at", "zone", "missed", "command", "file", "after", "agent"],
};

/** Keys that limit an agent: a line that nearly is one of them must not pass as prose. */
const LIMITING_KEYS: readonly string[] = ["capabilities", "defaults", "budget"];
/** Keys that say when a trigger starts: without them it would wait for a webhook. */
const STARTING_KEYS: readonly string[] = ["every", "cron", "file", "after"];

export type OrgLine =
  | { readonly kind: "prose" }
  /** `value`: where the value stands in the line, without the spaces around it. */
  | { readonly kind: "metadata"; readonly key: string; readonly keyRange: Range; readonly value: Range }
  /** Prose by the rule, but it reads as if it were meant to limit an agent. */
  | { readonly kind: "doubtful"; readonly key: string; readonly keyRange: Range; readonly meant: string };

/** What stands before the first colon. Linear: an untrusted project writes these lines. */
const KEY = /^( {0,3}(?:([-*+])[ \t]+)?)([A-Za-z][A-Za-z _-]*)$/;

/** Never throws. Four spaces or a tab in front make a line of code, which is prose. */
export function readOrgLine(line: string, scope: OrgScope): OrgLine {
  const colon = line.indexOf(":");
  const found = colon < 0 ? null : KEY.exec(withoutBlanksBehind(line.slice(0, colon)));
  if (found === null) return { kind: "prose" };
  const [, before = "", bullet, written = ""] = found;
  const rest = line.slice(colon + 1);
  const keyRange = { start: before.length, end: before.length + written.length };
  const key = knownKey(written, scope);
  if (key !== null && (bullet === undefined || bullet === "-")) {
    const end = line.length - (rest.length - rest.trimEnd().length);
    const start = line.length - rest.trimStart().length;
    return { kind: "metadata", key, keyRange, value: { start: Math.min(start, end), end } };
  }
  const isObject = rest.trimStart().startsWith("{");
  const names = scope === "trigger" && bullet === "-" ? [...LIMITING_KEYS, ...STARTING_KEYS] : LIMITING_KEYS;
  const meant = nearestName(foldName(written), names, bullet === undefined && !isObject ? 1 : undefined);
  return meant === null ? { kind: "prose" } : { kind: "doubtful", key: written, keyRange, meant };
}

/** Keys match loosely: `reports to`, `reports-to` and `reportsTo` are one key. Null for a key the scope does not know. */
function knownKey(written: string, scope: OrgScope): string | null {
  const wanted = foldName(written);
  return ORG_KEYS[scope].find((key) => key.toLowerCase() === wanted) ?? null;
}

/** Without the spaces and tabs at its end. */
export function withoutBlanksBehind(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === " " || text[end - 1] === "\t")) end--;
  return text.slice(0, end);
}

/** Lower case without spaces, hyphens and underscores. */
export function foldName(text: string): string {
  return text.toLowerCase().replace(/[ \t_-]+/g, "");
}

export type TriggerKind = "schedule" | "webhook" | "process" | "file" | "task";

const SCHEDULES: readonly string[] = ["every", "cron", "at"];

/** Where a webhook is called. */
export const TRIGGER_ENDPOINT = "POST /api/trigger/<name>";

/** The kind follows from the keys, unless it is written. A trigger that names nothing waits for a webhook. */
export function triggerKind(keys: readonly string[], written: string | null): TriggerKind | null {
  if (written !== null) return KINDS.find((kind) => kind === foldName(written)) ?? null;
  if (keys.some((key) => SCHEDULES.includes(key))) return "schedule";
  if (keys.includes("command")) return "process";
  if (keys.includes("file")) return "file";
  return keys.includes("after") ? "task" : "webhook";
}

export const KINDS: readonly TriggerKind[] = ["schedule", "webhook", "process", "file", "task"];
