// One call of a records tool: its requests, which depend on the record, and its execution once they are allowed.

import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Failure } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Digest } from "../../core/ports/digest.ts";
import { type UseCode, type UseDenial, useDenial } from "../../runtime/context/use-result.ts";
import type { RecordAccess } from "./find-record.ts";

export type RecordAnswer = { readonly ok: true; readonly value: JsonObject; readonly isUntrusted: boolean } | UseDenial;

export interface RecordCall {
  readonly requests: readonly Request[];
  execute(): Promise<RecordAnswer>;
}

export type StoreResult = { readonly ok: true } | Failure;

/** The power of the records tools; null outside of a workspace. */
export interface RecordPowers {
  readonly records: RecordCallContext | null;
}

/** What a call may use: the records of its session's workspace, and the session's authority. */
export interface RecordCallContext {
  /** Whether the call was decided on all of these. */
  isDecided(requests: readonly Request[]): boolean;
  /** How the session reads texts now. */
  readonly reading: Reading;
  /** The call has read a record that is not known to be clean. */
  taint(): void;
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

export function recordFailure(code: UseCode, message: string, fix: string | null = null): UseDenial {
  return useDenial(code, null, message, fix);
}

export function missingRecord(id: string): RecordAnswer {
  return recordFailure("not_available", `no record ${JSON.stringify(id)}`, "find records with records_search");
}

export const UNREADABLE: RecordAnswer = recordFailure(
  "not_available",
  "the file exists, but its frontmatter is not a valid record",
  "a person can see the errors with: ambit records list",
);
