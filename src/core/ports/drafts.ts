// Drafts as callers see them: what a program changed, what landed in the project, and what is pending or was held back.
import type { DenialCode } from "../authority/decision.ts";
import type { Presence } from "./daemon/daemon-control.ts";

/** One change that did not land. */
export interface UnlandedChange {
  /** Relative to the root; bytes that are not valid text are shown as `\xNN`. */
  readonly path: string;
  readonly kind: "write" | "delete" | "link" | "folder" | "git";
  readonly code: DenialCode;
  /** One sentence for a person and for a model. */
  readonly reason: string;
}

/** The result of landing one command's changes. */
export interface ChangesReport {
  /** Id of the draft for `ambit changes` and `ambit undo`; null if nothing changed. */
  readonly draft: string | null;
  readonly root: string;
  readonly landed: number;
  /** The first of the paths that landed, relative to the root. */
  readonly paths: readonly string[];
  readonly kept: readonly UnlandedChange[];
  /** How many held-back changes are not listed. */
  readonly keptMore: number;
}

export const DRAFT_STATES = ["running", "kept", "landed", "undone", "broken"] as const;

/**
 * running: its command has not ended. kept: parts of it can still land or be discarded. landed: nothing is pending; it can be
 * undone. undone: reverted. broken: an interrupted landing that could not be finished or rolled back; a person has to look.
 */
export type DraftState = (typeof DRAFT_STATES)[number];

export interface DraftSummary {
  readonly draft: string;
  readonly state: DraftState;
  readonly agent: string;
  readonly workspace: string | null;
  readonly root: string;
  /** The call that made it, by its log id. */
  readonly call: string;
  /** The program, for display. */
  readonly command: readonly string[];
  readonly at: number;
  readonly bytes: number;
  readonly landed: number;
  readonly kept: readonly UnlandedChange[];
  readonly keptMore: number;
}

/** One changed path with its contents, for a person to compare. */
export interface DraftDifference {
  readonly path: string;
  readonly kind: UnlandedChange["kind"];
  /** The text before and after; null if it cannot be shown, and `note` says why. */
  readonly before: string | null;
  readonly after: string | null;
  readonly note: string | null;
}

export interface DraftView {
  readonly summary: DraftSummary;
  readonly differences: readonly DraftDifference[];
  /** Digest of the sealed draft and of the root's current content at its paths: an approval to land names this digest. */
  readonly digest: string;
  /** How many paths were left out of `differences`. */
  readonly more: number;
}

export type DraftMessages = {
  /** Drafts with pending changes; `all` adds landed and undone drafts. */
  readonly "changes.list": {
    readonly asks: { readonly all: boolean };
    readonly answers: { readonly drafts: readonly DraftSummary[] };
  };
  /** By the id of a draft, or of the call that made it. */
  readonly "changes.show": { readonly asks: { readonly id: string }; readonly answers: DraftView };
  /** Lands pending changes. `digest`: of what the person reviewed. */
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
    /** `notes`: what stays although the rest is undone. */
    readonly answers: { readonly summary: DraftSummary; readonly notes: readonly string[] };
  };
};
