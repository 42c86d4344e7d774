// The records folder of a workspace, as commands use it.
import type { Failure } from "../../core/base/result.ts";
import type { CollectionMachine } from "../records/record-collection.ts";

export type NewRecord = { readonly ok: true; readonly path: string } | Failure;

export interface RecordsFolder {
  readonly machine: CollectionMachine;
  /** Writes a file that does not exist yet. */
  create(segments: readonly string[], text: string): NewRecord;
}
