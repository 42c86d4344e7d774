// Agent records as files that commands edit: every change is atomic, can be undone, and never overwrites a concurrent
// change.
import type { Failure, Result } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";

/** The change of a record's file, computed from its text. */
export type FileChange<R> =
  | { readonly kind: "write"; readonly text: string }
  | { readonly kind: "refuse"; readonly refusal: R };

export type FileChangeResult<R> =
  /** `others`: further hard links of the file, which keep the old text. */
  | { readonly kind: "done"; readonly others: number }
  | { readonly kind: "refused"; readonly refusal: R }
  | { readonly kind: "failed"; readonly message: string };

/** Null: the file does or did not exist. */
export interface UndoStep {
  readonly now: Source | null;
  readonly before: Source | null;
}

/** Records as files: every change is atomic, can be undone, and is never lost to a concurrent one. */
export interface RecordFiles {
  read(name: string): Result<Source, Failure>;
  edit<R>(name: string, change: (source: Source) => FileChange<R>): FileChangeResult<R>;
  create(id: string, text: string): FileChangeResult<string>;
  remove(name: string, text: string): FileChangeResult<string>;
  step(name: string): UndoStep | null;
  undo(name: string, step: UndoStep): FileChangeResult<string>;
}
