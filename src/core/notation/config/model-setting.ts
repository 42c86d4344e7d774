// Where model providers are asked on behalf of agents' clients, if not at their own address, and what their models cost.
// Only the user's own configuration has these settings.
import type { ToAscii } from "../../authority/axes/destination.ts";
import { parseUrl } from "../../authority/axes/url.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName, reportRefusal, textOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping } from "../tree.ts";
import { type ModelPrice, priceIn, readPrices, type WrittenPrice } from "./model-price.ts";

export const MODEL_PROVIDERS = ["anthropic", "openai", "gemini"] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

export interface WrittenModel {
  readonly provider: ModelProvider;
  /** Null: the provider's own address. */
  readonly url: string | null;
  readonly prices: readonly WrittenPrice[];
}

/** Null where no price is written for it. */
export function modelPrice(models: readonly WrittenModel[], provider: ModelProvider, model: string): ModelPrice | null {
  return priceIn(models.find((one) => one.provider === provider)?.prices ?? [], model);
}

const EXAMPLE = "models: { anthropic: { url: https://gateway.example.com/anthropic } }";

export function readModels(
  { value }: Entry,
  toAscii: ToAscii,
  diagnostics: Diagnostics,
): readonly WrittenModel[] | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`models\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  return value.entries.flatMap((entry) => {
    const provider = MODEL_PROVIDERS.find((one) => one === entry.key);
    if (provider === undefined) {
      diagnostics.error("unknown_key", entry.keySpan, `there is no provider called ${quoteText(entry.key)}`, {
        suggestion: nearestName(entry.key, MODEL_PROVIDERS),
        fix: EXAMPLE,
      });
      return [];
    }
    if (entry.value.kind !== "map") {
      const message = `\`${entry.key}\` is a map, not ${kindName(entry.value)}`;
      diagnostics.error("wrong_type", entry.value.span, message, { fix: EXAMPLE });
      return [];
    }
    const setting = readSetting(entry.value, toAscii, diagnostics);
    return setting === null ? [] : [{ provider, ...setting }];
  });
}

const KEYS: readonly string[] = ["url", "prices"];

function readSetting(map: Mapping, toAscii: ToAscii, diagnostics: Diagnostics): Omit<WrittenModel, "provider"> | null {
  for (const { key, keySpan } of map.entries)
    if (!KEYS.includes(key))
      diagnostics.error("unknown_key", keySpan, `a provider has no ${quoteText(key)}`, {
        suggestion: nearestName(key, KEYS),
      });
  const [url, prices] = [entryOf(map, "url"), entryOf(map, "prices")];
  if (url === null && prices === null) {
    diagnostics.error("missing_field", map.span, "a provider has a `url` or `prices`", { fix: EXAMPLE });
    return null;
  }
  return {
    url: url === null ? null : readUrl(url, toAscii, diagnostics),
    prices: prices === null ? [] : readPrices(prices, diagnostics),
  };
}

/** Null after a mistake, which makes the whole configuration count for nothing. */
function readUrl(entry: Entry, toAscii: ToAscii, diagnostics: Diagnostics): string | null {
  const written = textOf(entry, diagnostics);
  if (written === null) return null;
  const url = parseUrl(written.text, toAscii);
  if (!url.ok) {
    reportRefusal(url, written.span, diagnostics);
    return null;
  }
  const { scheme, rest } = url.value;
  const isLocal = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/i.test(written.text);
  if (scheme === "http" && !isLocal) {
    diagnostics.error(
      "bad_value",
      written.span,
      "a credential goes over TLS: write `https`, or an address of this machine",
      {
        fix: written.text.replace(/^http:/i, "https:"),
      },
    );
    return null;
  }
  if (/[?#]/.test(rest)) {
    diagnostics.error("bad_value", written.span, "`url` has no `?` and no `#`", {
      fix: written.text.replace(/[?#].*$/s, ""),
    });
    return null;
  }
  return written.text.replace(/\/+$/, "");
}
