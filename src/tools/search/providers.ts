// How each search provider is called: one fetch in the form of web_fetch, and where the results are in its response.
import { handleOf } from "../../core/authority/axes/http-request.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { SearchProvider, WrittenSearch } from "../../core/notation/config/search-setting.ts";
import type { WebRequest } from "../web/web-fetch.ts";
import { answerBytesMax, searchMillisecondsMax } from "./definition.ts";

interface Provider {
  ask(written: WrittenSearch, query: string, count: number): WebRequest;
  /** The list of results, and the name of the snippet member; null if it is not a response of this provider. */
  results(answer: JsonObject): { readonly list: Json | undefined; readonly snippet: string };
}

const PROVIDERS: Readonly<Record<SearchProvider, Provider>> = {
  searxng: {
    ask: (written, query) => ({
      url: withQuery(withSearchPath(written.url), { q: query, format: "json" }),
      headers: { Accept: "application/json", ...bearer(written) },
    }),
    results: (answer) => ({ list: member(answer, "results"), snippet: "content" }),
  },
  brave: {
    ask: (written, query, count) => ({
      url: withQuery(written.url, { q: query, count: String(count) }),
      headers: {
        Accept: "application/json",
        ...(written.secret === null ? {} : { "X-Subscription-Token": handleOf(written.secret) }),
      },
    }),
    results: (answer) => {
      const web = member(answer, "web");
      // A query without results has no such member.
      const list = isJsonObject(web) ? member(web, "results") : web === undefined ? [] : undefined;
      return { list, snippet: "description" };
    },
  },
  tavily: {
    ask: (written, query, count) => ({
      url: written.url,
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json", ...bearer(written) },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: (answer) => ({ list: member(answer, "results"), snippet: "content" }),
  },
};

/** Secrets are referenced by their handles. */
export function providerFetch(written: WrittenSearch, query: string, count: number): WebRequest {
  const asked = PROVIDERS[written.provider].ask(written, query, count);
  return { ...asked, format: "raw", bytesMax: answerBytesMax, milliseconds: searchMillisecondsMax };
}

/** Null if it is not a response of this provider. */
export function providerResults(
  provider: SearchProvider,
  answer: Json,
): { readonly list: readonly Json[]; readonly snippet: string } | null {
  if (!isJsonObject(answer)) return null;
  const { list, snippet } = PROVIDERS[provider].results(answer);
  return isJsonList(list) ? { list, snippet } : null;
}

function bearer({ secret }: WrittenSearch): { readonly [name: string]: string } {
  return secret === null ? {} : { Authorization: `Bearer ${handleOf(secret)}` };
}

/** The start page is not the search endpoint. */
function withSearchPath(url: string): string {
  return /^https?:\/\/[^/]*\/?$/i.test(url) ? `${url.replace(/\/$/, "")}/search` : url;
}

function withQuery(url: string, words: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(words).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${url}?${pairs.join("&")}`;
}
