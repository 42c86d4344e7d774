// File access for tools: every path is decided before and after symlinks are resolved, and every operation is bounded.
import type { DenialCode } from "../authority/decision.ts";

/** Absolute and lexically normal. */
export type FilePath = readonly string[];

export interface FileFacts {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  readonly modifiedMilliseconds: number;
  /** Permission bits. */
  readonly mode: number;
  readonly links: number;
}

export interface FileEntry {
  readonly path: FilePath;
  readonly kind: FileFacts["kind"];
}

export interface FileMatch {
  readonly path: FilePath;
  /** One-based. */
  readonly line: number;
  readonly text: string;
}

export interface FileRefusal {
  readonly ok: false;
  /** `scope_violation` if authority or a symlink refuses; `not_available` if the file is missing or the operation fails. */
  readonly code: DenialCode;
  /** Which rule or errno: "link leads outside", "several hard links", "ENOENT". */
  readonly reason: string;
}

export type FileResult<T> = { readonly ok: true; readonly value: T } | FileRefusal;

export interface Files {
  /** Reads at most `bytesMax` bytes, starting at `offset`. */
  read(path: FilePath, range: { readonly offset: number; readonly bytesMax: number }): Promise<FileResult<Uint8Array>>;
  /** Atomic: replaces the whole file or nothing; mode and owner stay. */
  write(path: FilePath, content: Uint8Array): Promise<FileResult<null>>;
  append(path: FilePath, content: Uint8Array): Promise<FileResult<null>>;
  /** Creates one folder in an existing parent; refused with EEXIST if the name exists. */
  makeFolder(path: FilePath): Promise<FileResult<null>>;
  /** Removes a file, a symlink itself, or an empty folder. */
  remove(path: FilePath): Promise<FileResult<null>>;
  list(path: FilePath, entriesMax: number): Promise<FileResult<readonly FileEntry[]>>;
  stat(path: FilePath): Promise<FileResult<FileFacts>>;
  /** Files below `root` whose path matches the pattern, in ambit's own pattern language. */
  glob(root: FilePath, pattern: string, entriesMax: number): Promise<FileResult<readonly FileEntry[]>>;
  /** Lines below `root` that contain this literal text. */
  search(root: FilePath, text: string, matchesMax: number): Promise<FileResult<readonly FileMatch[]>>;
  close(): void;
}
