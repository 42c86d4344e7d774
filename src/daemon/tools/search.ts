// The `web_search` tool in the daemon: one fetch from the user's search provider, on the same path as every other fetch.

import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { done, refuse } from "../../core/base/result.ts";
import type { WrittenSearch } from "../../core/notation/config/search-setting.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import { handlesIn } from "../../sandbox/network/fetch/handles.ts";
import { resultsUsual, WEB_SEARCH_DEFINITION } from "../../tools/search/definition.ts";
import { providerFetch, providerResults } from "../../tools/search/providers.ts";
import { shownResults } from "../../tools/search/results.ts";
import type { RunEnvironment } from "../programs/plan-facts.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, Missing, OwnerTool } from "./owner-tool.ts";

export interface SearchOptions {
  /** A fetch in the name of this tool. */
  readonly fetch: Pick<OwnerTool, "requests" | "execute">;
  /** The provider in the user's current configuration; null for none. */
  provider(session: Session): WrittenSearch | null;
  readingOf(session: Session): Reading;
}

/** An invalid configuration names no provider. */
export function userSearch({ user }: Pick<RunEnvironment, "user">): WrittenSearch | null {
  return user === null || user.broken ? null : user.search;
}

export function searchTool({ fetch, provider, readingOf }: SearchOptions): OwnerTool {
  return {
    ...WEB_SEARCH_DEFINITION,
    verbs: [],
    anyVerb: ["net.get", "net.post"],
    isThere: (session) => provider(session) !== null,
    missing: (session) => (provider(session) === null ? NO_PROVIDER : null),
    requests: (input, reading, session) => {
      const { query, count } = inputOf(input);
      // A handle stands for the user's own secret; in a query it would be an attempt to send one.
      if (holdsHandle(query)) return refuse("bad_value", "a question holds no secret");
      if (/\p{Surrogate}/u.test(query)) return refuse("bad_value", "a question holds no half of a character");
      const written = provider(session);
      if (written === null) return done([]);
      const asks = fetch.requests(providerFetch(written, query, count), reading, session);
      return asks.ok
        ? done(asks.value.map(configured))
        : refuse("bad_value", "the search provider cannot be asked this");
    },
    execute: async (call) => {
      const { session, warrant } = call;
      const written = provider(session);
      if (written === null) return NO_PROVIDER;
      const { query, count } = inputOf(call.input);
      const input = providerFetch(written, query, count);
      // INVARIANT: what is executed is what was decided; the user may have changed the provider since.
      const asks = fetch.requests(input, readingOf(session), session);
      const decided = new Set(warrant.requests.map(requestIdentity));
      if (!asks.ok || !asks.value.every((one) => decided.has(requestIdentity(one)))) return MOVED;
      const carried = await fetch.execute({ ...call, input });
      if (!carried.ok) return withoutProvider(carried);
      const told = answered(written, carried.value, count);
      return carried.met === undefined ? told : { ...told, met: carried.met };
    },
  };
}

/** INVARIANT: the caller does not learn the user's provider, or its secret's name. */
function withoutProvider({ code, denied }: Extract<ExecutionResult, { readonly ok: false }>): ExecutionResult {
  if (denied === undefined) return { ...failed("the search provider could not be asked", FIX), code };
  const request = denied.request === null ? null : configured(denied.request);
  return { ...failed("the search provider is not within reach"), code, denied: { code: denied.code, request } };
}

function configured(request: Request): Request {
  return { ...request, isConfigured: true };
}

function answered({ provider }: WrittenSearch, fetched: Json, count: number): ExecutionResult {
  if (!isJsonObject(fetched)) return failed("the provider gave no answer");
  const [status, text, more] = ["status", "text", "more"].map((key) => member(fetched, key));
  if (typeof status !== "number" || status < 200 || status > 299)
    return failed(`the search provider answered with status ${String(status)}`, FIX);
  if (more === true) return failed("the search provider's answer is longer than an answer may be");
  const answer = typeof text === "string" ? answerOf(text) : null;
  const found = answer === null ? null : providerResults(provider, answer);
  if (found === null) return failed("what answered is not a search provider, or does not answer with JSON", FIX);
  const results = shownResults(found.list, found.snippet, count);
  return { ok: true, value: { results: [...results] }, isUntrusted: true };
}

/** Not by the strict JSON parser: scores of some providers have more digits than a number can hold. */
function answerOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function holdsHandle(query: string): boolean {
  return (["query", "header", "plain"] as const).some((place) => handlesIn(query, place).length > 0);
}

function inputOf(input: JsonObject): { readonly query: string; readonly count: number } {
  const [query, count] = [member(input, "query"), member(input, "count")];
  return { query: typeof query === "string" ? query : "", count: typeof count === "number" ? count : resultsUsual };
}

const FIX = "a person looks at `search:` in the user's own config.yml";

type Failed = Extract<ExecutionResult, { readonly ok: false }> & Missing;

function failed(message: string, fix: string | null = null): Failed {
  return { ok: false, code: "not_available", message, fix };
}

const MOVED: ExecutionResult = failed("the search provider changed meanwhile; ask again");
const NO_PROVIDER: Failed = failed(
  "no search provider is configured",
  "a person writes one in the user's own config.yml: search: { provider: searxng, url: https://search.example.org/search }",
);
