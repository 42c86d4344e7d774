// Tools that run at a model's provider and not here: how each is requested, the verb it needs, and whether it can be
// limited to hosts.
import type { Json, JsonObject } from "../../core/base/json.ts";

export type Provider = "anthropic" | "openai";

/** The application's settings; an omitted one is the provider's default. */
export interface ProviderSettings {
  /** Only these. Without it all provider tools that need nothing from the application. */
  readonly names?: readonly string[];
  /** What `file_search` searches. */
  readonly vectorStores?: readonly string[];
}

export interface ProviderEntry {
  readonly name: string;
  readonly verb: string;
  /** Whether the provider accepts a list of domains. Otherwise only the verb itself allows it. */
  readonly isScoped: boolean;
  /** Offered only if the application names it. */
  readonly isByName: boolean;
  /** The request, or a text that says why it is impossible. `domains`: null means all. */
  request(domains: readonly string[] | null, settings: ProviderSettings): JsonObject | string;
}

function entry(
  name: string,
  verb: string,
  isScoped: boolean,
  request: ProviderEntry["request"],
  isByName = false,
): ProviderEntry {
  return { name, verb, isScoped, isByName, request };
}

function allowed(domains: readonly string[] | null): JsonObject {
  return domains === null ? {} : { allowed_domains: domains as readonly Json[] };
}

// Later versions of Anthropic's two web tools also run code there, to filter results: that needs a verb of its own.
const ANTHROPIC: readonly ProviderEntry[] = [
  entry("web_search", "provider.web_search", true, (domains) => ({
    type: "web_search_20250305",
    name: "web_search",
    ...allowed(domains),
  })),
  entry("web_fetch", "provider.web_fetch", true, (domains) => ({
    type: "web_fetch_20250910",
    name: "web_fetch",
    ...allowed(domains),
  })),
  entry("code_execution", "provider.code_execution", false, () => ({
    type: "code_execution_20250825",
    name: "code_execution",
  })),
  entry("computer", "provider.computer_use", false, () => ({ type: "computer_toolset_20260801" }), true),
];

const OPENAI: readonly ProviderEntry[] = [
  entry("web_search", "provider.web_search", true, (domains) => ({
    type: "web_search",
    ...(domains === null ? {} : { filters: allowed(domains) }),
  })),
  entry("web_search_preview", "provider.web_search", false, () => ({ type: "web_search_preview" }), true),
  // Code that runs there has no network: no verb of ours would apply.
  entry("code_interpreter", "provider.code_execution", false, () => ({
    type: "code_interpreter",
    container: { type: "auto", network_policy: { type: "disabled" } },
  })),
  entry("file_search", "provider.file_search", false, (_, { vectorStores = [] }) =>
    vectorStores.length === 0
      ? "the application names no vector stores"
      : { type: "file_search", vector_store_ids: vectorStores },
  ),
  entry("image_generation", "provider.image_generation", false, () => ({ type: "image_generation" })),
  entry("computer", "provider.computer_use", false, () => ({ type: "computer" }), true),
];

export const PROVIDER_CATALOG: Readonly<Record<Provider, readonly ProviderEntry[]>> = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
};

export function isProvider(name: unknown): name is Provider {
  return name === "anthropic" || name === "openai";
}
