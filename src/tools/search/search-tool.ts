// web_search: one fetch from the user's search provider, on the same path as every other fetch.
import { handlesIn } from "../../core/authority/axes/http-request.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { done, refuse } from "../../core/base/result.ts";
import type { WrittenSearch } from "../../core/notation/config/search-setting.ts";
import { type UseDenial, type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import type { WebResult } from "../web/result.ts";
import { fetchText, webRequests } from "../web/web-fetch.ts";
import { resultsUsual, WEB_SEARCH_DEFINITION } from "./definition.ts";
import { providerFetch, providerResults } from "./providers.ts";
import { shownResults } from "./results.ts";

interface SearchInput {
  readonly query: string;
  readonly count?: number;
}

/** `provider`: the one in the user's current configuration; null for none. */
export function searchTool(provider: () => WrittenSearch | null): BuiltinTool {
  return {
    ...WEB_SEARCH_DEFINITION,
    verbs: [],
    anyVerb: ["net.get", "net.post"],
    isConfigured: true,
    missing: () => (provider() === null ? NO_PROVIDER : null),
    requests: (input, reading) => {
      const { query, count } = inputOf(input);
      // A handle stands for the user's own secret; in a query it would be an attempt to send one.
      if ((["query", "header", "plain"] as const).some((place) => handlesIn(query, place).length > 0))
        return refuse("bad_value", "a query must not contain a secret");
      if (/\p{Surrogate}/u.test(query)) return refuse("bad_value", "a query must not contain an unpaired surrogate");
      const written = provider();
      if (written === null) return done([]);
      const asks = webRequests(providerFetch(written, query, count), reading);
      return asks.ok
        ? done(asks.value.map((one): Request => ({ ...one, isConfigured: true })))
        : refuse("bad_value", "the query cannot be sent to the search provider");
    },
    execute: async (input, context) => {
      const written = provider();
      if (written === null) return useDenial("not_available", null, NO_PROVIDER.message, NO_PROVIDER.fix);
      const { query, count } = inputOf(input);
      const fetched = await fetchText(providerFetch(written, query, count), context);
      return fetched.ok ? answered(written, fetched.value, count) : withoutProvider(fetched);
    },
  };
}

/** INVARIANT: the caller does not learn the user's provider, or its secret's name. */
function withoutProvider({ code }: UseDenial): UseDenial {
  return code === "not_available" || code === "invalid_input"
    ? useDenial(code, null, "the search provider could not be reached", FIX)
    : useDenial(code, null, "the address of the search provider is not allowed");
}

function answered({ provider }: WrittenSearch, { status, text, more }: WebResult, count: number): UseResult<Json> {
  if (status < 200 || status > 299) return failed(`the search provider responded with status ${status}`);
  if (more) return failed("the search provider's response is too long", null);
  const found = providerResults(provider, parsed(text));
  if (found === null) return failed("the configured address is not a search provider, or does not respond with JSON");
  return useResult({ results: [...shownResults(found.list, found.snippet, count)] });
}

/** Not by the strict JSON parser: scores of some providers have more digits than a number can hold. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function inputOf(input: JsonObject): { readonly query: string; readonly count: number } {
  const { query, count = resultsUsual } = input as unknown as SearchInput;
  return { query, count };
}

const FIX = "tell the user to check `search:` in their own config.yml";

function failed(message: string, fix: string | null = FIX): UseDenial {
  return useDenial("not_available", null, message, fix);
}

const NO_PROVIDER = {
  message: "no search provider is configured",
  fix: "tell the user to add one to their own config.yml: search: { provider: searxng, url: https://search.example.org/search }",
} as const;
