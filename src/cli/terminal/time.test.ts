// Times in the zone of the machine: written, and read again.
import { afterEach, describe, expect, test } from "vitest";
import { dayText, parseMoment, timeText } from "./time.ts";

const zone = process.env["TZ"];
afterEach(() => {
  process.env["TZ"] = zone;
});

describe.each([
  ["UTC", "2026-07-01T12:00:00Z", "2026-07-01 12:00:00Z"],
  ["Europe/Berlin", "2026-07-01T12:00:00Z", "2026-07-01 14:00:00+02:00"],
  ["Europe/Berlin", "2026-12-01T12:00:00Z", "2026-12-01 13:00:00+01:00"],
  ["America/St_Johns", "2026-12-01T02:00:00Z", "2026-11-30 22:30:00-03:30"],
  ["Asia/Kathmandu", "2026-12-01T20:00:00Z", "2026-12-02 01:45:00+05:45"],
])("in %s", (name, moment, text) => {
  test(`${moment} is ${text}, and is read as the same moment`, () => {
    process.env["TZ"] = name;
    const at = Date.parse(moment);
    expect(timeText(at)).toBe(text);
    expect(parseMoment(text.replace(" ", "T"), 0)).toBe(at);
    expect(parseMoment(text.slice(0, 19).replace(" ", "T"), 0)).toBe(at);
    const midnight = parseMoment(dayText(at), 0);
    expect(timeText(midnight ?? -1)).toContain(`${dayText(at)} 00:00:00`);
  });
});

test("what is no moment of the calendar is shown as the number it is", () => {
  expect([Number.NaN, Number.POSITIVE_INFINITY, 9e15].map(timeText)).toEqual(["NaN", "Infinity", "9000000000000000"]);
});
