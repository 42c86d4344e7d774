// Moments as people type them and as the log shows them. Everything is in UTC: a log is read by more than one person.
import { parseDuration } from "../terminal/duration.ts";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?$/;

/** `2h` ago, the beginning of a day, or a moment; null for what is none. */
export function parseMoment(text: string, now: number): number | null {
  const length = parseDuration(text);
  if (length !== null) return now - length;
  const match = DAY.test(text) ? [text, `${text}T00:00`, "Z"] : MOMENT.exec(text);
  if (match === null) return null;
  const at = Date.parse(`${match[1]}${match[2] ?? "Z"}`);
  // A day that the month does not have would become one of the next month.
  const isDay = Number.isFinite(at) && isSameDay(text.slice(0, 10));
  return isDay && at >= 0 ? at : null;
}

function isSameDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00Z`);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(day);
}

/** `2026-11-15 10:00:00`; what is no moment of the calendar is shown as the number it is. */
export function timeText(at: number): string {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return String(at);
  return new Date(at).toISOString().replace("T", " ").slice(0, -5);
}
