// Moments as people type and read them, in the time zone of the machine. `--json` has milliseconds since 1970.
import { parseDuration } from "./duration.ts";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/** `2h` ago, the beginning of a day, or a moment, local unless it names its zone; null for what is none. */
export function parseMoment(text: string, now: number): number | null {
  const length = parseDuration(text);
  if (length !== null) return now - length;
  if (!DAY.test(text) && !MOMENT.test(text)) return null;
  const at = Date.parse(DAY.test(text) ? `${text}T00:00` : text);
  // A day that the month does not have would become one of the next month.
  return Number.isFinite(at) && isDay(text.slice(0, 10)) && at >= 0 ? at : null;
}

function isDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00Z`);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(day);
}

/** `2026-11-15 10:00:00+01:00`, `2026-11-15 10:00:00Z`; what is no moment of the calendar is shown as the number it is. */
export function timeText(at: number): string {
  return isMoment(at) ? `${dayText(at)} ${clockText(at)}${zoneText(at)}` : String(at);
}

export const timeColumns: number = "2026-11-15 10:00:00+01:00".length;

/** Times without a day stand below a heading with day and zone, one for each day. */
export class DayHeadings {
  #last: string | null = null;

  /** The heading that the next time needs: `2026-11-15 (UTC+01:00)`; null where it stands already. */
  before(at: number): string | null {
    const zone = zoneText(at);
    const day = `${dayText(at)} (UTC${zone === "Z" ? "" : zone})`;
    if (day === this.#last) return null;
    this.#last = day;
    return day;
  }
}

/** `2026-11-15` */
export function dayText(at: number): string {
  if (!isMoment(at)) return String(at);
  const date = new Date(at);
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `10:00:00`; `?` for what is no moment of the calendar. */
export function clockText(at: number): string {
  if (!isMoment(at)) return "?";
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

/** What is added to universal time at that moment: it changes in spring and autumn. */
function zoneText(at: number): string {
  const minutes = isMoment(at) ? -new Date(at).getTimezoneOffset() : 0;
  if (minutes === 0) return "Z";
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? "-" : "+"}${two(hours)}:${two(Math.trunc(rest))}`;
}

function isMoment(at: number): boolean {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
