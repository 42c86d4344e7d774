// What the commands about agents are handed by the composition, besides what every command has.
import type { Source } from "../../core/notation/source.ts";
import type { EditGround, EditResult } from "../../agents/edit/edit.ts";
import type { AdmitWorld } from "../trust/admit.ts";
import type { ControlWorld } from "../control-world.ts";
import type { World } from "../world.ts";

/** What becomes of a record's file, by its text. */
export type FileChange<R> =
  | { readonly kind: "write"; readonly text: string }
  | { readonly kind: "refuse"; readonly refusal: R };

export type FileDone<R> =
  /** `others`: further names the file had, which keep the old text. */
  | { readonly kind: "done"; readonly others: number }
  | { readonly kind: "refused"; readonly refusal: R }
  | { readonly kind: "failed"; readonly message: string };

/** Null: the file is or was not there. */
export interface UndoStep {
  readonly now: Source | null;
  readonly before: Source | null;
}

/** Records as files: every change is whole, remembered for undo, and never lost to another one. */
export interface RecordFiles {
  read(name: string): { readonly ok: true; readonly value: Source } | { readonly ok: false; readonly message: string };
  edit<R>(name: string, change: (source: Source) => FileChange<R>): FileDone<R>;
  create(id: string, text: string): FileDone<string>;
  remove(name: string, text: string): FileDone<string>;
  step(name: string): UndoStep | null;
  undo(name: string, step: UndoStep): FileDone<string>;
}

/** Questions to a person. Every answer may be missing: the person went away. */
export interface Terminal {
  /** A person is there to be asked. */
  readonly isInteractive: boolean;
  /** No is the answer to anything but a yes. */
  confirm(question: string): Promise<boolean>;
  choose(question: string, choices: readonly Choice[]): Promise<string | null>;
  enter(question: string, check: (text: string) => string | null): Promise<string | null>;
  /** A line that is typed after the question was shown: what was typed before is dropped. There is no default. */
  typed(question: string): Promise<string | null>;
  /** Typed without being shown. */
  secret(question: string): Promise<string | null>;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

export interface AgentsWorld extends World, AdmitWorld, ControlWorld {
  readonly files: RecordFiles;
  readonly terminal: Terminal;
  /** How the record of an agent is read. */
  editGround(name: string): EditGround;
}

export type RefusedEdit = Exclude<EditResult, { kind: "edited" }>;
