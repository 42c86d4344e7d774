// Results of requests to the lander: every outcome is a value, none is thrown.
import type { DraftScan } from "../../plan/drafts/change.ts";
import type { Landing, LandProblems } from "../../plan/drafts/land-answer.ts";

export interface FolderIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

/** What the worker opened, and what the kernel enforces on it. */
export interface LandWorkerReady {
  readonly landlock: boolean;
  readonly seccomp: boolean;
  /** Root and drafts are on one mount: files land by rename. */
  readonly renames: boolean;
  readonly root: FolderIdentity;
  readonly drafts: FolderIdentity;
}

export type LandRefusal =
  | { readonly status: "refused"; readonly errno: number; readonly reason: string }
  /** The worker ended or did not answer: `recover` finds out whether anything landed. */
  | { readonly status: "lost"; readonly reason: string };

export type LandConflict =
  /** The root is unchanged. */
  | { readonly status: "conflict"; readonly conflicts: LandProblems }
  /** The root is neither unchanged nor complete: `recover` tries again. */
  | {
      readonly status: "stuck";
      readonly landing: number;
      readonly conflicts: LandProblems;
      readonly stuck: LandProblems;
    };

export type ScanResult = { readonly status: "scanned"; readonly scan: DraftScan } | LandRefusal;
export type LandResult =
  /** `landing` is 0 where every step had landed already. */
  | { readonly status: "landed"; readonly landing: number; readonly changed: number; readonly alreadyThere: number }
  | LandConflict
  | LandRefusal;
export type UndoResult = { readonly status: "undone"; readonly landing: number } | LandConflict | LandRefusal;
export type RecoverResult =
  | { readonly status: "recovered"; readonly landings: readonly Landing[] }
  | LandConflict
  | LandRefusal;
export type FlushResult = { readonly status: "flushed" } | LandRefusal;
export type DraftReadResult =
  | { readonly status: "read"; readonly size: number; readonly bytes: Uint8Array }
  | LandRefusal;
