// What a sealed draft would change in its root, name by name, with the current state of the root at each name.

export type FileKind = "file" | "folder" | "link" | "other";

/** The `lstat` facts of one name: enough to tell whether the same file is there later, unchanged. */
export interface Stamp {
  readonly kind: FileKind;
  readonly device: bigint;
  readonly inode: bigint;
  readonly bytes: bigint;
  readonly modifiedNanoseconds: bigint;
  readonly changedNanoseconds: bigint;
  /** Permission bits only. */
  readonly mode: number;
  /** Hard links. */
  readonly links: bigint;
}

/** One name below the root. `base`: the root's state there when the draft was scanned; null for nothing. */
export type Change =
  | {
      readonly kind: "file";
      readonly path: readonly string[];
      readonly bytes: number;
      readonly isExecutable: boolean;
      readonly base: Stamp | null;
    }
  /** A new folder. A folder that exists on both sides is no change. */
  | { readonly kind: "folder"; readonly path: readonly string[]; readonly base: Stamp | null }
  | { readonly kind: "link"; readonly path: readonly string[]; readonly target: string; readonly base: Stamp | null }
  /** Deleting a folder is a change for every name in it, those inside first. */
  | { readonly kind: "delete"; readonly path: readonly string[]; readonly base: Stamp };

/** Why a name can never land, whatever is granted. */
export type UnlandableReason =
  | "name_not_text"
  | "target_not_text"
  | "special_file"
  | "base_unreadable"
  | "other_file_system";

export interface Unlandable {
  /** For people: bytes that are not UTF-8 are shown as `\xNN`. */
  readonly path: string;
  readonly reason: UnlandableReason;
}

export interface DraftScan {
  /** Folders before their content; deletions inside a folder before the folder. */
  readonly changes: readonly Change[];
  readonly unlandable: readonly Unlandable[];
  /** An overlay attribute that is not understood: then nothing of this draft lands. */
  readonly alarm: string | null;
}
