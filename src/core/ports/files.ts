// Files as a tool may touch them: every path decided before and after links are followed, every operation bounded.
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
  /** From one. */
  readonly line: number;
  readonly text: string;
}

export interface FileRefused {
  readonly ok: false;
  /** `scope_violation` for what authority or a link refuses; `not_available` for what is not there or cannot be done. */
  readonly code: DenialCode;
  /** Which rule or which errno: "link leads outside", "several hard links", "ENOENT". */
  readonly reason: string;
}

export type FileResult<T> = { readonly ok: true; readonly value: T } | FileRefused;

export interface Files {
  /** At most `bytesMax` bytes from `offset` on. */
  read(path: FilePath, range: { readonly offset: number; readonly bytesMax: number }): Promise<FileResult<Uint8Array>>;
  /** All of the file or nothing of it changes; mode and owner stay. */
  write(path: FilePath, content: Uint8Array): Promise<FileResult<null>>;
  append(path: FilePath, content: Uint8Array): Promise<FileResult<null>>;
  /** One folder in one that is there; refused with EEXIST where something has the name. */
  makeFolder(path: FilePath): Promise<FileResult<null>>;
  /** A file, a link itself, or an empty folder. */
  remove(path: FilePath): Promise<FileResult<null>>;
  list(path: FilePath, entriesMax: number): Promise<FileResult<readonly FileEntry[]>>;
  stat(path: FilePath): Promise<FileResult<FileFacts>>;
  /** Files below `root` whose path matches the pattern, in our own pattern language. */
  glob(root: FilePath, pattern: string, entriesMax: number): Promise<FileResult<readonly FileEntry[]>>;
  /** Lines below `root` that hold this text, as it stands. */
  search(root: FilePath, text: string, matchesMax: number): Promise<FileResult<readonly FileMatch[]>>;
  close(): void;
}
