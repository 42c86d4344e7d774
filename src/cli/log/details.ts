// What an entry says besides who and what, read without believing that it is there or of the right type.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { timeText } from "../terminal/time.ts";

export function requestsOf({ more }: LogEntry): readonly string[] {
  const requests = textsIn(more, "requests");
  const need = textIn(more, "need");
  return requests.length > 0 || need === null ? requests : [need];
}

export function decidingGrants({ more }: LogEntry): readonly { link: string; grant: string; at: string | null }[] {
  return objectsIn(more, "by").map((one) => ({
    link: textIn(one, "link") ?? "?",
    grant: textIn(one, "grant") ?? "?",
    at: textIn(one, "at"),
  }));
}

export function enforcementTexts({ more }: LogEntry): readonly string[] {
  return objectsIn(more, "enforcement").map((one) => `${textIn(one, "axis") ?? "?"} ${textIn(one, "strength") ?? "?"}`);
}

/** What was denied while running. */
export function runDenialTexts({ more }: LogEntry): readonly string[] {
  return objectsIn(more, "denials").map((one) => {
    const times = numberIn(one, "times") ?? 1;
    const code = textIn(one, "code") ?? "?";
    // What is not there was not refused.
    const what = code === "not_available" ? "not reachable" : "denied while running";
    return `${what}: ${code}  ${textIn(one, "request") ?? ""}${times > 1 ? `  ${times} times` : ""}`;
  });
}

export function budgetsLeft({ more }: LogEntry): readonly string[] {
  return objectsIn(more, "left").map((one) => `${textIn(one, "account") ?? "?"}: ${numberIn(one, "left") ?? "?"} left`);
}

/** How it ended, in words. */
export function endText(entry: LogEntry): string {
  const ended = textIn(entry.more, "ended") ?? entry.outcome;
  const milliseconds = numberIn(entry.more, "milliseconds");
  return milliseconds === null ? ended : `${ended} in ${milliseconds} ms`;
}

/** The remaining members as lines, for kinds with their own text. */
export function otherMembers({ more }: LogEntry, shown: readonly string[]): readonly string[] {
  return Object.keys(more)
    .filter((key) => !shown.includes(key) && !isNothing(more[key]))
    .map((key) => `${key}: ${memberText(key, more[key] as Json)}`);
}

/** Approval levels by their numbers in an entry. */
const LEVELS = ["none", "ask", "presence"] as const;

function memberText(key: string, value: Json): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && key === "expires") return timeText(value);
  if (typeof value === "number" && key === "level") return LEVELS[value] ?? String(value);
  if (isJsonList(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return JSON.stringify(value);
}

export function textIn(more: JsonObject, key: string): string | null {
  const value = member(more, key);
  return typeof value === "string" ? value : null;
}

export function numberIn(more: JsonObject, key: string): number | null {
  const value = member(more, key);
  return typeof value === "number" ? value : null;
}

function textsIn(more: JsonObject, key: string): readonly string[] {
  return listIn(more, key).filter((each) => typeof each === "string");
}

function objectsIn(more: JsonObject, key: string): readonly JsonObject[] {
  return listIn(more, key).filter((each): each is JsonObject => isJsonObject(each));
}

function listIn(more: JsonObject, key: string): readonly Json[] {
  const value = member(more, key);
  return isJsonList(value) ? value : [];
}

function isNothing(value: Json | undefined): boolean {
  return value === null || value === undefined || (isJsonList(value) && value.length === 0);
}
