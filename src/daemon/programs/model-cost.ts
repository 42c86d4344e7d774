// What a request to a model can cost at most, what of that fits into the accounts, and what it cost in the end.
import type { ModelPrice } from "../../core/notation/config/model-price.ts";
import { type ModelProvider, modelPrice, type WrittenModel } from "../../core/notation/config/model-setting.ts";
import type { Cost } from "../../core/ports/stores/ledger.ts";
import type { ModelCallFacts, ModelUsage } from "../../sandbox/plan/sandboxes.ts";
import type { CostRange } from "../calls/program-use.ts";

/** Reserved where a request names no maximum and the account has a limit. */
const outputTokensDefault = 32_768;
const priceTokens = 1_000_000;

export interface RequestCost extends CostRange {
  /** The output that fits into a reservation. */
  outputOf(reserved: Cost): number;
  /** Null: the whole reservation. */
  actual(usage: ModelUsage, reserved: Cost): Cost | null;
}

/** Null: the user's configuration has no price for it, or the request asks for more than the listed price covers. */
export function priceFor(
  models: readonly WrittenModel[],
  provider: ModelProvider,
  { model, isPremium }: Pick<ModelCallFacts, "model" | "isPremium">,
): ModelPrice | null {
  return isPremium ? null : modelPrice(models, provider, model);
}

export function requestCost(call: ModelCallFacts, price: ModelPrice | null): RequestCost {
  const { inputTokens, outputTokens, outputLeast } = call;
  // What is read from a cache or written to one is known only afterwards: the higher price counts.
  const inputPrice = price === null ? null : Math.max(price.input, price.cacheWrite);
  const costAt = (output: number): Cost => ({
    tokens: inputTokens + output,
    money: price === null || inputPrice === null ? null : moneyOf([inputTokens, inputPrice], [output, price.output]),
  });
  const most = outputTokens ?? outputTokensDefault;
  const least = Math.min(outputLeast, most);
  if (!call.isCharged) {
    const free: Cost = { tokens: 0, money: 0 };
    return { least: free, within: () => free, outputOf: () => 0, actual: () => free };
  }
  return {
    least: costAt(least),
    within: ({ tokens, money }) => {
      const byTokens = tokens - inputTokens;
      const spare = money - (costAt(0).money ?? 0);
      const perToken = price === null ? 0 : price.output / priceTokens;
      // One less than the quotient where rounding up would exceed the rest.
      const byMoney = perToken === 0 ? (spare >= 0 ? most : -1) : Math.floor(spare / perToken) - 1;
      const output = Math.min(most, byTokens, byMoney);
      return output < least ? null : costAt(output);
    },
    outputOf: ({ tokens }) => tokens - inputTokens,
    actual: (usage, reserved) => actualCost(usage, reserved, { price, inputTokens }),
  };
}

interface Estimate {
  readonly price: ModelPrice | null;
  readonly inputTokens: number;
}

/**
 * By the usage of the answer. INVARIANT: a part that the answer does not tell costs what was reserved for it; only a request
 * that was not sent, or that the provider answered with an error, costs nothing.
 */
function actualCost(usage: ModelUsage, reserved: Cost, { price, inputTokens }: Estimate): Cost | null {
  const { isSent, isWhole, status, input, output } = usage;
  if (!isSent) return { tokens: 0, money: 0 };
  if (input === null && output === null) return isWhole && status >= 400 ? { tokens: 0, money: 0 } : null;
  if (input === null) return null;
  const made = output ?? Math.max(0, reserved.tokens - inputTokens);
  const cacheWrite = Math.min(usage.cacheWrite, input);
  const cacheRead = Math.min(usage.cacheRead, input - cacheWrite);
  const money =
    price === null
      ? null
      : moneyOf(
          [input - cacheRead - cacheWrite, price.input],
          ...([[cacheRead, price.cacheRead] as const, [cacheWrite, price.cacheWrite] as const] as const),
          [made, price.output],
        );
  return { tokens: input + made, money };
}

/** Rounded up to a millionth. */
function moneyOf(...parts: readonly (readonly [tokens: number, price: number])[]): number {
  return Math.ceil(parts.reduce((sum, [tokens, price]) => sum + tokens * price, 0) / priceTokens);
}
