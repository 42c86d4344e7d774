// A tool that the owner of the state carries out itself: what it asks for, and what it does once that is allowed.
import type { DenialCode } from "../authority/decision.ts";
import type { Json, JsonObject } from "../authority/json.ts";
import type { Request } from "../authority/request.ts";
import type { Result } from "../authority/result.ts";
import type { Reading } from "../notation/reading.ts";
import type { ToolLookup } from "../tool/known-tool.ts";
import type { Session } from "./session.ts";

export type Carried =
  | { readonly ok: true; readonly value: Json; readonly isUntrusted: boolean }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      /** It was refused on the way, as the gate refuses: told as a denial. */
      readonly denied?: { readonly code: DenialCode; readonly request: Request | null };
    };

export interface OwnerTool {
  readonly name: string;
  requests(input: JsonObject, reading: Reading, session: Session): Result<readonly Request[]>;
  /** Only after the decision is on disk. */
  carry(input: JsonObject, session: Session, requests: readonly Request[]): Promise<Carried>;
  /** The gate refused a call of it, and that is written down. */
  denied?(input: JsonObject, session: Session): void;
}

export function ownerLookup(tools: readonly OwnerTool[], reading: Reading, session: Session): ToolLookup {
  return (name) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) return null;
    return { name, requirement: null, requests: (input) => tool.requests(input, reading, session) };
  };
}
