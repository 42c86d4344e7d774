// What an agent client needs to live in a sandbox, as reviewed data. INVARIANT: a profile grants nothing: files, programs and
// hosts of the project come from the agent's record alone.

/** How the client reaches its model. A relay of the broker gives it a base URL and keeps the credential outside. */
export interface ModelAccess {
  /** `anthropic`: Messages. `openai`: Responses and Chat Completions. */
  readonly provider: "anthropic" | "openai" | "gemini";
  /** Exact names of the hosts it sends requests to when no base URL is set. */
  readonly hosts: readonly string[];
  /** The variable that takes a base URL; null: the client has only a setting for it. */
  readonly baseUrlVariable: string | null;
  /** The variable that takes the key; a placeholder inside. */
  readonly keyVariable: string;
}

export interface ClientProfile {
  /** `ambit:claude-code@1`: the number changes with the content. */
  readonly id: string;
  /** Names of its program. */
  readonly programs: readonly string[];
  readonly model: ModelAccess | null;
  /** Below the home folder: settings, history and caches of the client. */
  readonly folders: readonly string[];
  /** Set inside: traffic that the client does not need is off, and so is its own sandbox, which cannot work in ours. */
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** For a person: what they should know before they run it. */
  readonly notes: readonly string[];
}
