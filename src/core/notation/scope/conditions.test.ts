import { expect, test } from "vitest";
import { UNCONDITIONAL } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import { diagnosticLines, mapOf } from "../testing/notation.ts";
import { moneyText, parseMoney, readConditions } from "./conditions.ts";

test.each([
  [{}, {}],
  [{ ask: true }, { ask: 1 }],
  [{ ask: false }, { ask: 0 }],
  [{ ask: "presence" }, { ask: 2 }],
  [{ calls: 1 }, { calls: 1 }],
  [{ tokens: 2_000_000 }, { tokens: 2_000_000 }],
  [{ money: 5 }, { money: 5_000_000 }],
  [{ money: 0.1 }, { money: 100_000 }],
  [{ money: 2.55 }, { money: 2_550_000 }],
  [{ money: 0.000001 }, { money: 1 }],
  [{ money: 9_007_199_254 }, { money: 9_007_199_254_000_000 }],
  [{ rate: "10/min" }, { rate: { calls: 10, seconds: 60 } }],
  [{ rate: "1/s" }, { rate: { calls: 1, seconds: 1 } }],
  [{ rate: "1/sec" }, { rate: { calls: 1, seconds: 1 } }],
  [{ rate: "5/h" }, { rate: { calls: 5, seconds: 3600 } }],
  [{ rate: "5/hour" }, { rate: { calls: 5, seconds: 3600 } }],
  [{ rate: "5/d" }, { rate: { calls: 5, seconds: 86_400 } }],
  [{ rate: "5/day" }, { rate: { calls: 5, seconds: 86_400 } }],
  [{ expires: "2026-12-01T00:00:00Z" }, { expires: 1_796_083_200_000 }],
  [{ pass: "use" }, { pass: "use" }],
  [{ pass: "pass" }, { pass: "pass" }],
  [{ pass: "both" }, { pass: "both" }],
  [{ clean: true }, { clean: true }],
])("%j is a condition", (written, conditions) => {
  const diagnostics = new Diagnostics();
  expect(readConditions(mapOf(written), diagnostics)).toEqual({ ...UNCONDITIONAL, ...conditions });
  expect(diagnosticLines(diagnostics)).toEqual([]);
});

test.each([
  [{ ask: "true" }, "bad_value"],
  [{ ask: 1 }, "bad_value"],
  [{ ask: null }, "bad_value"],
  [{ ask: "Presence" }, "bad_value"],
  [{ calls: 0 }, "bad_value"],
  [{ calls: -1 }, "bad_value"],
  [{ calls: 1.5 }, "bad_value"],
  [{ calls: "5" }, "bad_value"],
  [{ calls: 2 ** 53 }, "bad_value"],
  [{ tokens: 0 }, "bad_value"],
  [{ tokens: 1.5 }, "bad_value"],
  [{ tokens: "2M" }, "bad_value"],
  [{ money: 0 }, "bad_value"],
  [{ money: -1 }, "bad_value"],
  [{ money: "5" }, "bad_value"],
  [{ money: 0.0000001 }, "bad_value"],
  [{ money: 1.0000001 }, "bad_value"],
  [{ money: Number.NaN }, "bad_value"],
  [{ money: Number.POSITIVE_INFINITY }, "bad_value"],
  [{ money: 9_007_199_255 }, "bad_value"],
  [{ rate: "0/min" }, "bad_value"],
  [{ rate: "10/mins" }, "bad_value"],
  [{ rate: "10 /min" }, "bad_value"],
  [{ rate: "10/__proto__" }, "bad_value"],
  [{ rate: 10 }, "bad_value"],
  [{ expires: "2026-12-01" }, "bad_value"],
  [{ expires: 1_796_083_200_000 }, "wrong_type"],
  [{ pass: "none" }, "bad_value"],
  [{ pass: ["use"] }, "bad_value"],
  [{ clean: "yes" }, "wrong_type"],
  [{ clean: null }, "wrong_type"],
])("%j is not a condition, and without it there is no grant", (written, code) => {
  const diagnostics = new Diagnostics();
  expect(readConditions(mapOf(written), diagnostics)).toBeNull();
  expect(diagnosticLines(diagnostics)).toEqual([`error ${code} ${Object.keys(written)[0]}`]);
});

test("a day alone gets that day's first moment as a suggestion", () => {
  const diagnostics = new Diagnostics();
  readConditions(mapOf({ expires: "2026-12-01" }), diagnostics);
  expect(diagnostics.list[0]?.fix).toBe("expires: 2026-12-01T00:00:00Z");
});

test.each([
  [5_000_000, "5"],
  [2_500_000, "2.50"],
  [2_550_000, "2.55"],
  [1, "0.000001"],
  [9_007_199_254_000_000, "9007199254"],
])("%s millionths are printed as %s, and read again", (amount, text) => {
  expect(moneyText(amount)).toBe(text);
  expect(parseMoney(Number(text))).toBe(amount);
});
