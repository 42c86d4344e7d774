// A tool that the owner of the state carries out itself: what it asks for, and what it does once that is allowed.
import type { Json, JsonObject } from "../authority/json.ts";
import type { Request } from "../authority/request.ts";
import type { Result } from "../authority/result.ts";
import type { Reading } from "../notation/reading.ts";
import type { ToolLookup } from "../tool/known-tool.ts";
import type { Session } from "./session.ts";

export type Carried =
  | { readonly ok: true; readonly value: Json; readonly isUntrusted: boolean }
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface OwnerTool {
  readonly name: string;
  requests(input: JsonObject, reading: Reading, session: Session): Result<readonly Request[]>;
  /** Only after the decision is on disk. */
  carry(input: JsonObject, session: Session, requests: readonly Request[]): Promise<Carried>;
}

export function ownerLookup(tools: readonly OwnerTool[], reading: Reading, session: Session): ToolLookup {
  return (name) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) return null;
    return { name, requirement: null, requests: (input) => tool.requests(input, reading, session) };
  };
}
