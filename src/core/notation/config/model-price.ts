// What the user pays for models, by name: for a million tokens, in any one currency. Budgets in `money` are counted by it.
import { parseName, parseNamePattern } from "../../authority/axes/name.ts";
import { type Sequence, sequenceMatches } from "../../authority/patterns/sequence.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { parseMoney } from "../scope/conditions.ts";
import { kindName, reportRefusal } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping } from "../tree.ts";

/** Millionths of the currency for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface WrittenPrice {
  readonly name: string;
  readonly pattern: Sequence;
  readonly price: ModelPrice;
}

const EXAMPLE = "prices: { claude-sonnet-*: { input: 3, output: 15 } }";
const KEYS = ["input", "output", "cache_read", "cache_write"] as const;
/** Of one currency unit for one token. */
const priceMax = 1_000_000_000_000;
const pricesMax = 1_000;

/** A name that is written in full counts before patterns; of patterns the first that matches. */
export function priceIn(prices: readonly WrittenPrice[], model: string): ModelPrice | null {
  const name = parseName(model);
  if (!name.ok) return null;
  const exact = prices.find((one) => one.name === model);
  return (exact ?? prices.find(({ pattern }) => sequenceMatches(pattern, name.value)))?.price ?? null;
}

export function readPrices({ key, value }: Entry, diagnostics: Diagnostics): readonly WrittenPrice[] {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`${key}\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return [];
  }
  if (value.entries.length > pricesMax) {
    diagnostics.error("too_large", value.span, `\`${key}\` has more than ${pricesMax} entries`);
    return [];
  }
  return value.entries.flatMap((entry) => {
    const pattern = parseNamePattern(entry.key);
    if (!pattern.ok) reportRefusal(pattern, entry.keySpan, diagnostics);
    const price = readPrice(entry, diagnostics);
    return pattern.ok && price !== null ? [{ name: entry.key, pattern: pattern.value, price }] : [];
  });
}

function readPrice({ key, value }: Entry, diagnostics: Diagnostics): ModelPrice | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`${key}\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  const names: readonly string[] = KEYS;
  for (const { key: name, keySpan } of value.entries)
    if (!names.includes(name))
      diagnostics.error("unknown_key", keySpan, `a price has no ${quoteText(name)}`, {
        suggestion: nearestName(name, KEYS),
      });
  const [input, output] = [readAmount(value, "input", diagnostics), readAmount(value, "output", diagnostics)];
  for (const name of ["input", "output"] as const)
    if (entryOf(value, name) === null)
      diagnostics.error("missing_field", value.span, `a price has \`${name}\``, { fix: EXAMPLE });
  const cacheRead = readAmount(value, "cache_read", diagnostics);
  const cacheWrite = readAmount(value, "cache_write", diagnostics);
  if (input === null || output === null) return null;
  // Without a price of its own the highest that a provider takes counts, as known when this was written.
  return { input, output, cacheRead: cacheRead ?? input, cacheWrite: cacheWrite ?? 2 * input };
}

/** Null where it is absent or a mistake. */
function readAmount(map: Mapping, key: (typeof KEYS)[number], diagnostics: Diagnostics): number | null {
  const entry = entryOf(map, key);
  if (entry === null) return null;
  const { value } = entry;
  const amount = value.kind === "scalar" ? parseMoney(value.value) : null;
  if (amount !== null && amount <= priceMax) return amount;
  const message = `\`${key}\` is the price of a million tokens: a number with at most six decimals`;
  diagnostics.error("bad_value", value.span, message, { fix: `${key}: 3` });
  return null;
}
