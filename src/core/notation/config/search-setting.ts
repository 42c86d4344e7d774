// Who searches the web for agents: one provider, its address, and the name of the secret that goes with a question. The user's to say.
import type { ToAscii } from "../../authority/axes/destination.ts";
import { parseUrl } from "../../authority/axes/url.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName, reportRefusal, textOf } from "../scope/scope-values.ts";
import { type Entry, entryOf } from "../tree.ts";

export const SEARCH_PROVIDERS = ["searxng", "brave", "tavily"] as const;
export type SearchProvider = (typeof SEARCH_PROVIDERS)[number];

export interface WrittenSearch {
  readonly provider: SearchProvider;
  /** Where it is asked; the provider's own address where it has one. */
  readonly url: string;
  /** The name of a secret, never the secret itself. */
  readonly secret: string | null;
}

/** SearXNG is self-hosted: it has no fixed address. */
const USUAL: ReadonlyMap<SearchProvider, string> = new Map([
  ["brave", "https://api.search.brave.com/res/v1/web/search"],
  ["tavily", "https://api.tavily.com/search"],
]);

const KEYS: readonly string[] = ["provider", "url", "secret"];
const EXAMPLE = "search: { provider: searxng, url: https://search.example.org/search }";

export function readSearch({ value }: Entry, toAscii: ToAscii, diagnostics: Diagnostics): WrittenSearch | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`search\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  for (const { key, keySpan } of value.entries)
    if (!KEYS.includes(key))
      diagnostics.error("unknown_key", keySpan, `\`search\` has no ${quoteText(key)}`, {
        suggestion: nearestName(key, KEYS),
      });
  const text = (key: string): ReturnType<typeof textOf> => {
    const entry = entryOf(value, key);
    return entry === null ? null : textOf(entry, diagnostics);
  };
  const named = text("provider");
  const provider = SEARCH_PROVIDERS.find((one) => one === named?.text);
  if (provider === undefined) {
    const suggestion = named === null ? null : nearestName(named.text, SEARCH_PROVIDERS);
    diagnostics.error("bad_value", named?.span ?? value.span, `\`provider\` is ${SEARCH_PROVIDERS.join(" or ")}`, {
      suggestion,
      fix: EXAMPLE,
    });
    return null;
  }
  const written = text("url");
  const address = written?.text ?? USUAL.get(provider);
  if (address === undefined) {
    diagnostics.error("missing_field", value.span, `${provider} needs the address of your own server: add \`url\``, {
      fix: EXAMPLE,
    });
    return null;
  }
  const url = parseUrl(address, toAscii);
  if (!url.ok) reportRefusal(url, written?.span ?? value.span, diagnostics);
  else if (/[?#]/.test(url.value.rest))
    diagnostics.error("bad_value", written?.span ?? value.span, "`url` must not contain `?` or `#`", {
      fix: address.replace(/[?#].*$/s, ""),
    });
  const secret = text("secret");
  if (secret !== null && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(secret.text))
    diagnostics.error("bad_value", secret.span, `${quoteText(secret.text)} is not the name of a secret`);
  return { provider, url: address, secret: secret?.text ?? null };
}
