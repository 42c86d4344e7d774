// A moment written with its zone, and the milliseconds since 1970 it names. The calendar is computed: this room has
// no clock and no ambient calendar to ask.

const DAY = 86_400_000;
const SHAPE = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z|[+-]\d{2}:\d{2})$/;

/** `2026-12-01T00:00:00Z` or with an offset; null for anything else, such as a day without a time or a 30 February. */
export function parseInstant(text: string): number | null {
  const match = text.length > 40 ? null : SHAPE.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute] = match.slice(1, 6).map(Number) as [number, number, number, number, number];
  const second = Number(match[6] ?? "0");
  const millisecond = Number((match[7] ?? "0").padEnd(3, "0"));
  const offset = offsetMinutes(match[8] as string);
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59 || offset === null) return null;
  const time = ((hour * 60 + minute - offset) * 60 + second) * 1000 + millisecond;
  const instant = daysBefore(year, month, day) * DAY + time;
  return instantText(instant) === null ? null : instant;
}

/** The one spelling of a moment, in UTC; null outside the years 0000 to 9999. */
export function instantText(instant: number): string | null {
  const days = Math.floor(instant / DAY);
  const rest = instant - days * DAY;
  const date = dateOf(days);
  if (!Number.isSafeInteger(instant) || date.year < 0 || date.year > 9999) return null;
  const fraction = rest % 1000 === 0 ? "" : `.${digits(rest % 1000, 3)}`;
  const seconds = Math.floor(rest / 1000);
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) => digits(part, 2));
  return `${digits(date.year, 4)}-${digits(date.month, 2)}-${digits(date.day, 2)}T${time.join(":")}${fraction}Z`;
}

function offsetMinutes(zone: string): number | null {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4));
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Days from 1 January 1970. Years begin in March here, so that the leap day is the last. */
function daysBefore(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function dateOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function digits(number: number, width: number): string {
  return String(number).padStart(width, "0");
}
