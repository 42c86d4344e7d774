// What every reader of text hands on: one tree, or the diagnostics that stand in its place. And the limits all keep.
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import type { TreeNode } from "../core/notation/tree.ts";

/** INVARIANT: with a diagnostic there is no tree at all. Half a text never grants half of what it said. */
export interface Read {
  readonly tree: TreeNode | null;
  readonly diagnostics: readonly Diagnostic[];
}

export const sourceCharactersMax = 1_048_576;
/** Lists and maps inside each other. */
export const depthMax = 64;
/** Scalars, lists and maps together. */
export const nodesMax = 100_000;
/** A text with more mistakes than this is told of the first ones. */
export const diagnosticsMax = 20;
/** A longer number has lost digits long before its end. */
export const numberCharactersMax = 64;
