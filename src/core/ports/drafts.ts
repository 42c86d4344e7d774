// Drafts as callers see them: what a program changed, what of it reached the project, and what waits or was held back.
import type { DenialCode } from "../authority/decision.ts";
import type { Presence } from "./daemon/daemon-control.ts";

/** One change that did not reach the project. */
export interface KeptChange {
  /** Relative to the root; bytes that are no text are shown as `\xNN`. */
  readonly path: string;
  readonly kind: "write" | "delete" | "link" | "folder" | "git";
  readonly code: DenialCode;
  /** One sentence for a person and for a model. */
  readonly reason: string;
}

/** What became of the changes of one command. */
export interface ChangesReport {
  /** Names the draft for `ambit changes` and `ambit undo`; null where nothing changed. */
  readonly draft: string | null;
  readonly root: string;
  readonly landed: number;
  /** The first of those that landed, relative to the root. */
  readonly paths: readonly string[];
  readonly kept: readonly KeptChange[];
  /** How many more were kept than are listed. */
  readonly keptMore: number;
}

export const DRAFT_STATES = ["running", "kept", "landed", "undone", "broken"] as const;

/**
 * running: its command has not ended. kept: something of it can still land or be discarded. landed: nothing waits; it can be undone. undone: taken back.
 * broken: an interrupted landing that could not be finished or rolled back; a person has to look.
 */
export type DraftState = (typeof DRAFT_STATES)[number];

export interface DraftSummary {
  readonly draft: string;
  readonly state: DraftState;
  readonly agent: string;
  readonly workspace: string | null;
  readonly root: string;
  /** The call that made it, as the log names it. */
  readonly call: string;
  /** The program, for showing. */
  readonly command: readonly string[];
  readonly at: number;
  readonly bytes: number;
  readonly landed: number;
  readonly kept: readonly KeptChange[];
  readonly keptMore: number;
}

/** One changed name with its contents, for a person who compares them. */
export interface DraftDifference {
  readonly path: string;
  readonly kind: KeptChange["kind"];
  /** The text before and after; null where there is none to show, and `note` says why. */
  readonly before: string | null;
  readonly after: string | null;
  readonly note: string | null;
}

export interface DraftShown {
  readonly summary: DraftSummary;
  readonly differences: readonly DraftDifference[];
  /** Of the sealed draft and of what the root has at its names: a landing is agreed to by this. */
  readonly digest: string;
  /** How many names were left out of `differences`. */
  readonly more: number;
}

export type DraftMessages = {
  /** Drafts with something that waits; `all` adds those that landed or were undone. */
  readonly "changes.list": {
    readonly asks: { readonly all: boolean };
    readonly answers: { readonly drafts: readonly DraftSummary[] };
  };
  /** By the id of a draft, or of the call that made it. */
  readonly "changes.show": { readonly asks: { readonly id: string }; readonly answers: DraftShown };
  /** Lands what waits for a person. `digest`: of what the person was shown. */
  readonly "changes.land": {
    readonly asks: { readonly id: string; readonly digest: string | null; readonly presence: Presence | null };
    readonly answers: { readonly summary: DraftSummary; readonly landed: number };
  };
  readonly "changes.discard": {
    readonly asks: { readonly id: string; readonly presence: Presence | null };
    readonly answers: { readonly summary: DraftSummary };
  };
  readonly "changes.undo": {
    readonly asks: { readonly id: string; readonly presence: Presence | null };
    readonly answers: { readonly summary: DraftSummary };
  };
};
