// When a schedule starts a task: its text, and the next moment it names.
import type { Failure } from "../../core/base/result.ts";
import { parseInstant } from "../../core/notation/instant.ts";
import type { Zone } from "../../core/ports/zone.ts";
import { type CronLine, isCronDay, parseCron } from "./cron.ts";
import { momentsOf } from "./zone-times.ts";

export type When =
  | { readonly kind: "every"; readonly milliseconds: number }
  | { readonly kind: "cron"; readonly line: CronLine; readonly zone: string | null }
  /** `local`: as a clock of the zone shows it, or a moment if `isMoment`. */
  | { readonly kind: "at"; readonly local: number; readonly isMoment: boolean; readonly zone: string | null }
  /** After a task is done, or each task of a schedule. */
  | { readonly kind: "after"; readonly id: string }
  /** When files of the workspace change. `pattern`: inside the workspace, with `*` and `**`. */
  | { readonly kind: "file"; readonly pattern: readonly string[] }
  /** When a signed request comes to a runner. */
  | { readonly kind: "webhook"; readonly name: string };

/** `example`: one of the kind that was meant. */
export type WhenResult =
  | { readonly ok: true; readonly when: When; readonly text: string }
  | (Failure & { readonly example: string });

const EXAMPLES: Readonly<Record<When["kind"], string>> = {
  every: "every 30m",
  cron: "cron 0 9 * * 1-5 in Europe/Berlin",
  at: "at 2030-01-31T09:00",
  after: "after ID",
  file: "on file docs/**/*.md",
  webhook: "on webhook deploy",
};

const whenCharactersMax = 400;
export const everyMillisecondsMin = 10_000;
const everyMillisecondsMax: number = 3660 * 86_400_000;

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const FORMS =
  "a schedule is `every 30m`, `cron 0 9 * * 1-5 in Europe/Berlin`, `at 2030-01-31T09:00 in Europe/Berlin`, `after ID`, `on file docs/**` or `on webhook NAME`";

/** `text` of the result has one space between words. Whether there is such a zone is for the caller to say. */
export function parseWhen(written: string): WhenResult {
  const text = written.trim().replace(/[ \t]+/g, " ");
  const space = text.indexOf(" ");
  const [word, rest] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  const bad = (message: string): WhenResult => ({ ok: false, message, example: exampleOf(word, rest) });
  if (text.length > whenCharactersMax || /\p{Cc}/u.test(text)) return bad(FORMS);
  switch (word) {
    case "every": {
      const match = /^([0-9]{1,7})([smhdw])$/.exec(rest);
      const milliseconds = match === null ? null : Number(match[1]) * (UNITS[match[2] ?? ""] ?? 0);
      if (milliseconds === null) return bad("`every` needs a number and one of s, m, h, d, w: every 30m");
      if (milliseconds < everyMillisecondsMin || milliseconds > everyMillisecondsMax)
        return bad("`every` is at least 10s and at most ten years");
      return { ok: true, when: { kind: "every", milliseconds }, text };
    }
    case "cron": {
      const { before, zone } = withoutZone(rest);
      const read = parseCron(before);
      return read.ok ? { ok: true, when: { kind: "cron", line: read.line, zone }, text } : bad(read.message);
    }
    case "at": {
      const { before, zone } = withoutZone(rest);
      const moment = parseInstant(before);
      if (moment !== null && zone !== null) return bad("the time already has a zone: omit `in`");
      const local = moment ?? parseInstant(`${before}Z`);
      if (local === null) return bad("`at` needs a time: at 2030-01-31T09:00, or at 2030-01-31T09:00+01:00");
      return { ok: true, when: { kind: "at", local, isMoment: moment !== null, zone }, text };
    }
    case "after":
      return /^[A-Za-z0-9_.:-]{1,128}$/.test(rest)
        ? { ok: true, when: { kind: "after", id: rest }, text }
        : bad("`after` needs the id of a task or a schedule: ambit tasks list, ambit schedules list");
    case "on":
      return parseOn(rest, text, bad);
    default:
      return bad(FORMS);
  }
}

const HOOK_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

function exampleOf(word: string, rest: string): string {
  const kind = (Object.keys(EXAMPLES) as When["kind"][]).find(
    (one) => one === (word === "on" ? rest.split(" ")[0] : word),
  );
  return EXAMPLES[kind ?? "every"];
}

function parseOn(rest: string, text: string, bad: (message: string) => WhenResult): WhenResult {
  const [, kind = "", what = ""] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
  if (kind === "webhook")
    return HOOK_NAME.test(what)
      ? { ok: true, when: { kind: "webhook", name: what }, text }
      : bad("`on webhook` needs a name of lower case letters, digits, - and _: on webhook deploy");
  if (kind !== "file") return bad(FORMS);
  const pattern = what.split("/");
  const isInside = pattern.every((part) => part !== "" && part !== "." && part !== ".." && !/[\\{}[\]?]/.test(part));
  // `a**` would read as `a*`.
  const isPlain = pattern.every((part) => part === "**" || !part.includes("**"));
  const isOurs = pattern[0] === ".ambit" || pattern[0] === ".git";
  return isInside && isPlain && !isOurs
    ? { ok: true, when: { kind: "file", pattern }, text }
    : bad("`on file` needs a path inside the workspace, with * and **: on file docs/**/*.md");
}

/** `... in Europe/Berlin` */
function withoutZone(text: string): { readonly before: string; readonly zone: string | null } {
  const match = /^(.*) in ([A-Za-z0-9_+/-]{1,64})$/.exec(text);
  return match === null ? { before: text, zone: null } : { before: match[1] ?? "", zone: match[2] ?? "" };
}

/** A leap day may be eight years away. */
const daysMax: number = 366 * 9;
const DAY = 86_400_000;

/**
 * The first moment after `after`; null if there is none, or if no clock decides. `anchor`: `every` counts from it.
 */
export function nextTime(when: When, after: number, anchor: number, zone: Zone): number | null {
  switch (when.kind) {
    case "every": {
      const { milliseconds } = when;
      return anchor + Math.max(1, Math.floor((after - anchor) / milliseconds) + 1) * milliseconds;
    }
    case "at": {
      const moment = when.isMoment ? when.local : (momentsOf([when.local], zone, false)[0] ?? null);
      return moment !== null && moment > after ? moment : null;
    }
    case "cron":
      return nextCron(when.line, after, zone);
    case "after":
    case "file":
    case "webhook":
      return null;
    default:
      return when satisfies never;
  }
}

/** A line for every hour follows elapsed time; others name times of the day, each of which comes once. */
function nextCron(line: CronLine, after: number, zone: Zone): number | null {
  const isHourly = line.hours.length === 24;
  // A time that was left out two days ago may be a moment of today: a zone once left out a day.
  const first = Math.floor((after + zone.offsetAt(after)) / DAY) - 2;
  for (let day = first; day < first + daysMax; day++) {
    if (!isCronDay(line, day)) continue;
    const locals = line.hours.flatMap((hour) =>
      line.minutes.map((minute) => day * DAY + (hour * 60 + minute) * 60_000),
    );
    const later = momentsOf(locals, zone, isHourly).filter((moment) => moment > after);
    if (later.length > 0) return Math.min(...later);
  }
  return null;
}
