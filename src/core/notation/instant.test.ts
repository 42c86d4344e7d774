import fc from "fast-check";
import { expect, test } from "vitest";
import { instantText, parseInstant } from "./instant.ts";

test.each([
  "2026-12-01T00:00:00Z",
  "1970-01-01T00:00:00Z",
  "1969-12-31T23:59:59Z",
  "2024-02-29T12:34:56.789Z",
  "2026-12-01T00:00:00+02:00",
  "2026-12-01T00:00:00-05:30",
  "2000-02-29T00:00:00Z",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
])("%s is the moment the calendar says", (text) => {
  expect(parseInstant(text)).toBe(Date.parse(text));
});

test.each([
  ["a day alone", "2026-12-01"],
  ["no zone", "2026-12-01T00:00:00"],
  ["30 February", "2024-02-30T00:00:00Z"],
  ["29 February of a plain year", "2023-02-29T00:00:00Z"],
  ["29 February 1900", "1900-02-29T00:00:00Z"],
  ["month 13", "2026-13-01T00:00:00Z"],
  ["hour 24", "2026-12-01T24:00:00Z"],
  ["a leap second", "2026-12-31T23:59:60Z"],
  ["lower case", "2026-12-01t00:00:00z"],
  ["a space", "2026-12-01 00:00:00Z"],
  ["text behind", "2026-12-01T00:00:00Z "],
  ["a year of five digits", "12026-12-01T00:00:00Z"],
  ["a zone that leaves the calendar", "0000-01-01T00:00:00+01:00"],
  ["another script's digits", "２026-12-01T00:00:00Z"],
])("%s is not a moment", (_, text) => {
  expect(parseInstant(text)).toBeNull();
});

test("every moment of the calendar prints as the platform prints it, and parses back", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: Date.parse("0000-01-01T00:00:00Z"), max: Date.parse("9999-12-31T23:59:59.999Z") }),
      (instant) => {
        const text = instantText(instant) as string;
        expect(text).toBe(new Date(instant).toISOString().replace(".000Z", "Z"));
        expect(parseInstant(text)).toBe(instant);
      },
    ),
  );
});
