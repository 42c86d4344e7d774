// Times of schedules: what is no time, and the moments of times where clocks are put forward and back.
import { describe, expect, test } from "vitest";
import { parseInstant } from "../../core/notation/instant.ts";
import { machineZones } from "../../daemon/clock.ts";
import { nextTime, parseWhen } from "./when.ts";

const zones = machineZones();

function instant(text: string): number {
  const found = parseInstant(text);
  if (found === null) throw new Error(text);
  return found;
}

/** The moments after `from`, as UTC. */
function times(when: string, from: string, count: number, anchor = from): readonly string[] {
  const read = parseWhen(when);
  if (!read.ok) throw new Error(read.message);
  const zone = zones.named("zone" in read.when ? (read.when.zone ?? "UTC") : "UTC");
  if (zone === null) throw new Error(when);
  const found: string[] = [];
  for (let at: number | null = instant(from); found.length < count; ) {
    at = nextTime(read.when, at, instant(anchor), zone);
    if (at === null) break;
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

describe("a time is", () => {
  test.each([
    ["every 10s"],
    ["every 2w"],
    ["cron */5 8-17 1,15 jan-mar MON-fri"],
    ["cron 0 9 * * 7 in Europe/Berlin"],
    ["cron 0 0 29 2 *"],
    ["at 2030-01-31T09:00"],
    ["at 2030-01-31T09:00:30+01:00"],
    ["after w_abc"],
    ["  every\t30m "],
  ])("%s", (text) => {
    expect(parseWhen(text).ok).toBe(true);
  });
  test.each([
    [""],
    ["every"],
    ["every 9s"],
    ["every 0m"],
    ["on"],
    ["on file"],
    ["on file ../x"],
    ["on file /etc/passwd"],
    ["on file a//b"],
    ["on file a**/b"],
    ["on file [a]"],
    ["on file .git/**"],
    ["on file .ambit/org.yml"],
    ["on webhook"],
    ["on webhook A"],
    ["on webhook a/b"],
    ["on fire x"],
    ["every -5m"],
    ["every 30"],
    ["every 1.5h"],
    ["every 30m in Europe/Berlin"],
    ["every 9999999w"],
    ["30m"],
    ["Every 30m"],
    ["cron"],
    ["cron * * * *"],
    ["cron * * * * * *"],
    ["cron 60 * * * *"],
    ["cron * 24 * * *"],
    ["cron * * 0 * *"],
    ["cron * * 32 * *"],
    ["cron * * * 13 *"],
    ["cron * * * * 8"],
    ["cron 5-1 * * * *"],
    ["cron */0 * * * *"],
    ["cron 1,,2 * * * *"],
    ["cron mon * * * *"],
    ["cron 0 0 30 2 *"],
    ["cron 0 0 31 4,6,9,11 *"],
    ["cron @daily"],
    ["at 2030-02-30T09:00"],
    ["at 2030-01-31"],
    ["at 2030-01-31T09:00Z in Europe/Berlin"],
    ["after"],
    ["after a b"],
    ["every 30m\nevery 10s"],
    ["on fire"],
  ])("not %j", (text) => {
    expect(parseWhen(text).ok).toBe(false);
  });
});

describe("every", () => {
  test("keeps its own grid, however late it is looked at", () => {
    expect(times("every 30m", "2026-01-01T10:07Z", 2, "2026-01-01T09:00Z")).toEqual([
      "2026-01-01T10:30Z",
      "2026-01-01T11:00Z",
    ]);
  });
});

describe("a cron line", () => {
  test.each([
    ["cron 0 9 * * 1-5", "2026-01-02T09:00Z", ["2026-01-05T09:00Z", "2026-01-06T09:00Z"]],
    ["cron 0 0 13 * 5", "2026-02-01T00:00Z", ["2026-02-06T00:00Z", "2026-02-13T00:00Z", "2026-02-20T00:00Z"]],
    ["cron 0 0 */10 * 5", "2026-02-01T00:00Z", ["2026-05-01T00:00Z", "2026-07-31T00:00Z"]],
    ["cron 0 0 29 2 *", "2097-01-01T00:00Z", ["2104-02-29T00:00Z"]],
    ["cron 0 0 * * 7", "2026-01-01T00:00Z", ["2026-01-04T00:00Z"]],
    ["cron 50/5 23 31 12 *", "2026-01-01T00:00Z", ["2026-12-31T23:50Z", "2026-12-31T23:55Z", "2027-12-31T23:50Z"]],
  ])("%s after %s", (when, from, expected) => {
    expect(times(when, from, expected.length)).toEqual(expected);
  });
});

describe("when clocks are put forward", () => {
  // Berlin, 2026-03-29: 02:00 becomes 03:00 at 01:00 UTC.
  test("a time that is left out is the moment of the change", () => {
    expect(times("cron 30 2 * * * in Europe/Berlin", "2026-03-27T12:00Z", 3)).toEqual([
      "2026-03-28T01:30Z",
      "2026-03-29T01:00Z",
      "2026-03-30T00:30Z",
    ]);
  });
  test("several that are left out are one", () => {
    expect(times("cron 0,20,40 2 29 3 * in Europe/Berlin", "2026-03-28T00:00Z", 2)).toEqual([
      "2026-03-29T01:00Z",
      "2027-03-29T00:00Z",
    ]);
  });
  test("a line for every hour follows elapsed time", () => {
    expect(times("cron 5,35 * * * * in Europe/Berlin", "2026-03-29T00:00Z", 4)).toEqual([
      "2026-03-29T00:05Z",
      "2026-03-29T00:35Z",
      "2026-03-29T01:05Z",
      "2026-03-29T01:35Z",
    ]);
  });
  test("`at` a time that is left out is the moment of the change", () => {
    expect(times("at 2026-03-29T02:30 in Europe/Berlin", "2026-01-01T00:00Z", 2)).toEqual(["2026-03-29T01:00Z"]);
  });
  test("a whole day that a zone left out is its next moment", () => {
    // Samoa had no 2011-12-30.
    expect(times("cron 0 12 * * * in Pacific/Apia", "2011-12-29T00:00Z", 3)).toEqual([
      "2011-12-29T22:00Z",
      "2011-12-30T10:00Z",
      "2011-12-30T22:00Z",
    ]);
  });
});

describe("when clocks are put back", () => {
  // Berlin, 2026-10-25: 03:00 becomes 02:00 at 01:00 UTC.
  test("a time that comes twice counts once", () => {
    expect(times("cron 30 2 * * * in Europe/Berlin", "2026-10-24T12:00Z", 2)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
  });
  test("a line for every hour follows elapsed time", () => {
    expect(times("cron 30 * * * * in Europe/Berlin", "2026-10-24T23:45Z", 3)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-25T01:30Z",
      "2026-10-25T02:30Z",
    ]);
  });
  test("also where the day before comes again", () => {
    // Sao Paulo, 2018-02-18: 00:00 became 23:00 of the day before, at 02:00 UTC.
    expect(times("cron 30 23 * * * in America/Sao_Paulo", "2018-02-17T12:00Z", 2)).toEqual([
      "2018-02-18T01:30Z",
      "2018-02-19T02:30Z",
    ]);
  });
  test("also where half an hour comes again", () => {
    // Lord Howe, 2026-04-05: 02:00 becomes 01:30 at 2026-04-04T15:00 UTC.
    expect(times("cron 45 1 * * * in Australia/Lord_Howe", "2026-04-04T00:00Z", 2)).toEqual([
      "2026-04-04T14:45Z",
      "2026-04-05T15:15Z",
    ]);
  });
});

test("`every 0m` is told the least length", () => {
  expect(parseWhen("every 0m")).toMatchObject({ ok: false, message: "`every` is at least 10s and at most ten years" });
});
test.each([
  ["on file docs/**/*.md", { kind: "file", pattern: ["docs", "**", "*.md"] }],
  ["on  file a b.txt", { kind: "file", pattern: ["a b.txt"] }],
  ["on webhook deploy-2", { kind: "webhook", name: "deploy-2" }],
])("%s", (text, when) => {
  expect(parseWhen(text)).toMatchObject({ ok: true, when });
});
test.each([
  ["cron 61 * * * *", /^cron /],
  ["at tomorrow", /^at /],
  ["after", /^after /],
  ["on file ../x", /^on file /],
  ["on webhook X", /^on webhook /],
  ["on moon", /^every /],
  ["daily", /^every /],
])("%s: the example is of the same kind", (text, expected) => {
  const read = parseWhen(text);
  expect(read.ok ? "" : read.example).toMatch(expected);
  expect(parseWhen(read.ok ? "" : read.example)).toMatchObject({ ok: true });
});
