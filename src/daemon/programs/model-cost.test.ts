// Costs of requests to models: reserved as much as fits, and settled by what the answer tells.
import { expect, test } from "vitest";
import type { ModelPrice } from "../../core/notation/config/model-price.ts";
import { type ModelCallFacts, type ModelUsage, NO_USAGE } from "../../sandbox/plan/sandboxes.ts";
import { requestCost } from "./model-cost.ts";

const CALL: ModelCallFacts = {
  ...{ provider: "anthropic", model: "m", digest: "", bytes: 1_000, isCharged: true, isPremium: false },
  ...{ inputTokens: 1_000, outputTokens: 4_000, outputLeast: 1_024 },
};
/** 3 and 15 for a million tokens: 3 and 15 millionths for one. */
const PRICE: ModelPrice = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 6_000_000 };
const PLENTY = Number.POSITIVE_INFINITY;

test.each<[string, Partial<ModelCallFacts>, ModelPrice | null, number, number, number | null]>([
  ["all of it", {}, PRICE, PLENTY, PLENTY, 5_000],
  ["exactly all of it", {}, PRICE, 5_000, PLENTY, 5_000],
  ["less output", {}, PRICE, 4_999, PLENTY, 4_999],
  ["the least", {}, PRICE, 2_024, PLENTY, 2_024],
  ["less than the least", {}, PRICE, 2_023, PLENTY, null],
  ["the price of less output", {}, PRICE, PLENTY, 6_000 + 15 * 3_000, 1_000 + 2_999],
  ["no money for it", {}, PRICE, PLENTY, 6_000 + 15 * 1_000, null],
  ["no price", {}, null, PLENTY, PLENTY, 5_000],
  ["no maximum", { outputTokens: null }, PRICE, 20_000, PLENTY, 20_000],
  ["no maximum and no limit", { outputTokens: null }, PRICE, PLENTY, PLENTY, 33_768],
  ["a request without a charge", { isCharged: false }, PRICE, 5, PLENTY, 0],
])("%s", (_title, call, price, tokens, money, reserved) => {
  const cost = requestCost({ ...CALL, ...call }, price).within({ tokens, money });
  expect(cost?.tokens ?? null).toBe(reserved);
  if (cost !== null) expect(cost.money ?? 0).toBeLessThanOrEqual(money);
});

const ANSWERED: ModelUsage = { ...NO_USAGE, isSent: true, status: 200, isWhole: true };
const RESERVED = { tokens: 5_000, money: 66_000 };

test.each<[string, Partial<ModelUsage>, { tokens: number; money: number } | null]>([
  ["what the answer tells", { input: 100, output: 10 }, { tokens: 110, money: 450 }],
  ["a cache", { input: 100, output: 10, cacheRead: 80, cacheWrite: 10 }, { tokens: 110, money: 30 + 24 + 60 + 150 }],
  ["more from a cache than there is", { input: 100, output: 0, cacheRead: 1_000 }, { tokens: 100, money: 30 }],
  ["more than was reserved", { input: 9_000, output: 10 }, { tokens: 9_010, money: 27_150 }],
  ["a broken answer with its input", { input: 100, isWhole: false }, { tokens: 4_100, money: 60_300 }],
  ["a broken answer", { isWhole: false }, null],
  ["an answer without usage", {}, null],
  ["output alone", { output: 10 }, null],
  ["an error", { status: 429 }, { tokens: 0, money: 0 }],
  ["an error that breaks off", { status: 500, isWhole: false }, null],
  ["a redirect", { status: 302, isWhole: false }, null],
  ["no answer", { status: 0, isWhole: false }, null],
  ["not sent", { isSent: false, status: 0, isWhole: false }, { tokens: 0, money: 0 }],
])("%s", (_title, usage, cost) => {
  expect(requestCost(CALL, PRICE).actual({ ...ANSWERED, ...usage }, RESERVED)).toEqual(cost);
});
