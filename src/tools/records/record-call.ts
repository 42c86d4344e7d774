// One call of a records tool: its requests, which depend on the record, and its execution once they are allowed.

import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { RecordAccess } from "./find-record.ts";

export type RecordAnswer =
  | { readonly ok: true; readonly value: JsonObject; readonly isUntrusted: boolean }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly fix?: string };

export interface RecordCall {
  readonly requests: readonly Request[];
  carry(): Promise<RecordAnswer>;
}

export type StoreResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** What a call may use: the records of its session's workspace, and the session's authority. */
export interface RecordCallContext {
  readonly place: RecordAccess;
  readonly digest: Digest;
  /** Whether the session has read nothing untrusted. */
  readonly isClean: boolean;
  /** Whether any record may be read. */
  readsAny(): boolean;
  mayRead(request: Request): boolean;
  /** Whether this version of it is known to contain nothing untrusted. */
  isKnownClean(id: string, version: string): Promise<boolean>;
  noteClean(id: string, version: string, isClean: boolean): Promise<void>;
  /** Writes a file that does not exist yet. */
  create(segments: readonly string[], text: string): StoreResult;
  /** Replaces one text by another, null removes it; only if the file still has the first. */
  change(path: string, before: string, after: string | null): StoreResult | "changed";
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
