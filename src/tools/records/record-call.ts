// One call of a records tool: what it asks for, found by looking at the record, and what it does once that is allowed.

import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { RecordPlace } from "./found.ts";

export type RecordAnswer =
  | { readonly ok: true; readonly value: JsonObject; readonly isUntrusted: boolean }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly fix?: string };

export interface RecordCall {
  readonly requests: readonly Request[];
  carry(): Promise<RecordAnswer>;
}

export type Stored = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** What a call may use: the records of its session's workspace, and what the session holds. */
export interface RecordDesk {
  readonly place: RecordPlace;
  readonly digest: Digest;
  /** Whether the session has read nothing untrusted. */
  readonly isClean: boolean;
  /** Whether some records may be read at all. */
  readsAny(): boolean;
  mayRead(request: Request): boolean;
  /** Whether this version of it is known to hold nothing untrusted. */
  isKnownClean(id: string, version: string): Promise<boolean>;
  noteClean(id: string, version: string, isClean: boolean): Promise<void>;
  /** A file that is not there yet. */
  create(segments: readonly string[], text: string): Stored;
  /** From one text to another, null is to nothing; only if it still has the first. */
  change(path: string, before: string, after: string | null): Stored | "changed";
}

export function failed(code: string, message: string, fix?: string): RecordAnswer {
  return fix === undefined ? { ok: false, code, message } : { ok: false, code, message, fix };
}

export function missing(id: string): RecordAnswer {
  return failed("not_available", `no record ${JSON.stringify(id)}`, "find records with records_search");
}

export const UNREADABLE: RecordAnswer = failed(
  "not_available",
  "the file exists, but its frontmatter is not a valid record",
  "a person can see the errors with: ambit records list",
);
