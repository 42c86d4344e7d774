// The result of every reader of text: one tree, or diagnostics instead of it. And the limits of all readers.
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import type { TreeNode } from "../core/notation/tree.ts";

/** INVARIANT: with a diagnostic there is no tree at all. A partly readable text grants nothing. */
export interface TextTree {
  readonly tree: TreeNode | null;
  readonly diagnostics: readonly Diagnostic[];
}

export const sourceCharactersMax = 1_048_576;
/** Nesting of lists and maps. */
export const depthMax = 64;
/** Scalars, lists and maps together. */
export const nodesMax = 100_000;
/** Only the first diagnostics of a text are reported. */
export const diagnosticsMax = 20;
/** A longer number has lost digits long before its end. */
export const numberCharactersMax = 64;
