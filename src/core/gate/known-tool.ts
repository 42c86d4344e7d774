// What the gate needs to know of a tool: its name, the most it may ever need, and what one call of it asks for.
import type { CompiledLink } from "../authority/compiled.ts";
import type { Request } from "../authority/request.ts";
import type { JsonObject } from "../base/json.ts";
import type { Result } from "../base/result.ts";

export interface KnownTool {
  readonly name: string;
  /** One more link of every chain while this tool runs; null for a tool of ours that asks for everything it does. */
  readonly requirement: CompiledLink | null;
  /** The concrete requests of one call. All must be covered. */
  readonly requests: (input: JsonObject) => RequestsResult;
}

/** What a call asks for; or why its arguments are refused. */
export type RequestsResult = Result<readonly Request[]> | UnsupportedInput;

/** Understood, and never carried out. */
export interface UnsupportedInput {
  readonly ok: false;
  readonly code: "unsupported";
  readonly message: string;
}

export type ToolLookup = (name: string) => KnownTool | null;
