// What an agent client needs to live in a sandbox, as reviewed data. INVARIANT: a profile grants nothing: files, programs and
// hosts of the project come from the agent's record alone.
import type { JsonObject } from "../core/base/json.ts";

/**
 * How the client reaches its model through the relay of the broker, which keeps the credential outside. Set only where the
 * agent's record grants `model.use`. `{relay}` is the relay's address, `{key}` a placeholder that is no credential.
 */
export interface ModelAccess {
  /** `anthropic`: Messages. `openai`: Responses and Chat Completions. */
  readonly providers: readonly ("anthropic" | "openai" | "gemini")[];
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** Merged over the setting of the same path. */
  readonly settings: readonly { readonly path: string; readonly set: JsonObject }[];
}

/**
 * A file or folder of settings, by its path below the home folder. The person's own is copied in at every start without
 * credentials; what the client changes in it is gone at the next start, and never reaches the person's home.
 */
export type ClientSetting =
  | {
      readonly kind: "json" | "toml";
      readonly path: string;
      /** Top-level keys that are copied; null: all but those of `without`. */
      readonly only: readonly string[] | null;
      /** Top-level keys that are left out: programs of the person's home, and what cannot work in a sandbox. */
      readonly without: readonly string[];
      /** Merged over the copy: answers to first-run questions. `{root}` and `{home}` in keys and texts are replaced. */
      readonly set: JsonObject;
    }
  | { readonly kind: "text"; readonly path: string }
  /**
   * `key = value` lines, copied without those that hold a credential or name one. The file of certificates that `authorities`
   * names is copied, too.
   */
  | { readonly kind: "lines"; readonly path: string; readonly authorities?: string }
  /** Its files with one of these endings, at most four levels deep. */
  | { readonly kind: "folder"; readonly path: string; readonly endings: readonly string[] };

/** Structured output of a client, by the client that has it. */
export type OutputForm = "claude" | "codex" | "opencode";

export interface ClientProfile {
  /** `ambit:claude-code@1`: the number changes with the content. */
  readonly id: string;
  /** Names of its program. */
  readonly programs: readonly string[];
  /** The least version that is known to work, and the packages whose version is the client's. */
  readonly least?: { readonly version: string; readonly packages: readonly string[] };
  readonly model: ModelAccess | null;
  /** What its headless runs print, if we read it: the assistant's text in it may hold directives. */
  readonly output?: OutputForm;
  readonly settings: readonly ClientSetting[];
  /** Below the home folder: history and caches, which stay from one run to the next. For people. */
  readonly folders: readonly string[];
  /**
   * Set inside: traffic that the client does not need is off, and so is its own sandbox, which cannot work in ours. `{home}`
   * is replaced.
   */
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** For a person: what they should know before they run it. */
  readonly notes: readonly string[];
}
