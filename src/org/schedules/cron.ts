// A cron line of five fields: minute, hour, day of month, month, day of week. Which minutes of a calendar it names; no zone.
import type { Failure } from "../../core/base/result.ts";
import { dateOf } from "../../core/notation/instant.ts";

export interface CronLine {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Both day fields restrict: a day that one of them names is enough, as in every cron. */
  readonly isEitherDay: boolean;
}

export type CronResult = { readonly ok: true; readonly line: CronLine } | Failure;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** The names of numbers, from `least` on. */
  readonly names: readonly string[];
}

const FIELDS: readonly [Field, Field, Field, Field, Field] = [
  { name: "minute", least: 0, most: 59, names: [] },
  { name: "hour", least: 0, most: 23, names: [] },
  { name: "day of the month", least: 1, most: 31, names: [] },
  { name: "month", least: 1, most: 12, names: MONTHS },
  // 7 is Sunday, too.
  { name: "day of the week", least: 0, most: 7, names: WEEKDAYS },
];

const lineCharactersMax = 200;

/** `text`: the five fields. */
export function parseCron(text: string): CronResult {
  const words = text.trim().split(/[ \t]+/);
  if (text.length > lineCharactersMax || words.length !== FIELDS.length)
    return { ok: false, message: "a cron line has five fields: minute, hour, day of month, month, day of week" };
  const sets: ReadonlySet<number>[] = [];
  for (const [at, field] of FIELDS.entries()) {
    const numbers = numbersOf(words[at] ?? "", field);
    if (numbers === null)
      return {
        ok: false,
        message: `\`${words[at]}\` is not a valid ${field.name} of a cron line: ${field.least} to ${field.most}`,
      };
    sets.push(numbers);
  }
  const [minutes, hours, days, months, written] = sets as [Numbers, Numbers, Numbers, Numbers, Numbers];
  const isEitherDay = !words[2]?.startsWith("*") && !words[4]?.startsWith("*");
  const line: CronLine = {
    ...{ minutes: sorted(minutes), hours: sorted(hours), days, months, isEitherDay },
    weekdays: new Set([...written].map((day) => day % 7)),
  };
  return hasDay(line) ? { ok: true, line } : { ok: false, message: "no year has this day" };
}

type Numbers = ReadonlySet<number>;

/** Lists, ranges and steps; null for anything else. */
function numbersOf(word: string, field: Field): Numbers | null {
  const numbers = new Set<number>();
  for (const part of word.split(",")) {
    const match = /^(?:(\*)|([0-9]{1,2}|[A-Za-z]{3})(?:-([0-9]{1,2}|[A-Za-z]{3}))?)(?:\/([0-9]{1,2}))?$/.exec(part);
    if (match === null) return null;
    const [, star, first, last, every] = match;
    const step = every === undefined ? 1 : Number(every);
    const from = star === undefined ? numberOf(first ?? "", field) : field.least;
    // `5/10` begins at 5; a single number is itself.
    const open = every === undefined ? from : mostOf(field);
    const to = star !== undefined ? mostOf(field) : last === undefined ? open : numberOf(last, field);
    if (from === null || to === null || from > to || step < 1) return null;
    for (let number = from; number <= to; number += step) numbers.add(number);
  }
  return numbers;
}

/** The week has seven days, though 7 is a name of the first. */
function mostOf({ most, names }: Field): number {
  return names === WEEKDAYS ? 6 : most;
}

function numberOf(word: string, { least, most, names }: Field): number | null {
  const named = names.indexOf(word.toLowerCase());
  const number = named < 0 ? (/^[0-9]+$/.test(word) ? Number(word) : null) : least + named;
  return number !== null && number >= least && number <= most ? number : null;
}

function sorted(numbers: Numbers): readonly number[] {
  return [...numbers].sort((one, other) => one - other);
}

/** 29 February counts: a leap year has it. */
function hasDay({ days, months, weekdays, isEitherDay }: CronLine): boolean {
  if (isEitherDay && weekdays.size > 0) return true;
  return [...months].some((month) => [...days].some((day) => day <= (LENGTHS[month - 1] ?? 0)));
}

const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `day`: days since 1970-01-01. */
export function isCronDay(line: CronLine, day: number): boolean {
  const { month, day: ofMonth } = dateOf(day);
  if (!line.months.has(month)) return false;
  // 1970-01-01 was a Thursday.
  const weekday = (((day + 4) % 7) + 7) % 7;
  const [byDay, byWeekday] = [line.days.has(ofMonth), line.weekdays.has(weekday)];
  return line.isEitherDay ? byDay || byWeekday : byDay && byWeekday;
}
