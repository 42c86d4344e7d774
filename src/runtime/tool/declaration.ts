// A tool's declaration of what it touches. The notation reads the same parts from text
// (`core/notation/tools/declaration-readers.ts`); a test keeps the two lists equal.

export interface Capabilities {
  readonly network?: {
    /** `api.example.com`, `*.example.com` for everything below it, `*` for everything the policy allows. */
    readonly allowedHosts: readonly string[];
  };
  /** Names of secrets; a star matches one whole segment. */
  readonly secrets?: readonly string[];
  readonly storage?: { readonly scope: StorageScope; readonly kind: "kv" };
  /** Trees of files; `from-personality` for everything the policy allows. */
  readonly fs_reach?: {
    readonly read?: readonly string[] | "from-personality";
    readonly write?: readonly string[] | "from-personality";
  };
  readonly process?: {
    /** Programs by name or path; `*` for everything the policy allows. */
    readonly allowedBinaries: readonly string[];
  };
}

export type StorageScope = "tool-private" | "session" | "personality";

/** The first segment of every key in that store. */
export type Store = "tool" | "session" | "agent";

export const STORES: Readonly<Record<StorageScope, Store>> = {
  "tool-private": "tool",
  session: "session",
  personality: "agent",
};
