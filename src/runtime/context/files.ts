// Files as a tool sees them: paths are text, each is decided before it is touched, and the port decides it again after
// resolving symlinks.

import { parsePath, pathText } from "../../core/authority/axes/path.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import { utf8Bytes, utf8Text } from "../../core/base/bytes.ts";
import type { FileFacts, FilePath, FileResult, Files } from "../../core/ports/files.ts";
import type { FilesPort } from "../../core/ports/instruments.ts";
import { editFile, type FileEditReport, readEdits } from "./file-edit.ts";
import { fileFailure, isErrno } from "./file-refusals.ts";
import { type ContextLifetime, sealMembers } from "./life.ts";
import { entriesMax as entriesLimit, entriesUsual, fileBytesMax } from "./limits.ts";
import { parsePatternTarget } from "./pattern-target.ts";
import type { Edit } from "./replace.ts";
import type { UseGate } from "./use-gate.ts";
import { countOf, invalid, optionsOf, type UseResult, unreadable, useDenial, useResult } from "./use-result.ts";

export interface ListedFile {
  readonly path: string;
  readonly kind: FileFacts["kind"];
}

export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface ListOptions {
  readonly entriesMax?: number | undefined;
}

export interface WriteOptions {
  /** Creates missing folders above the file. Each is decided on its own, as a change of that folder. */
  readonly folders?: boolean | undefined;
}

export interface LocatedPath {
  /** Absolute. */
  readonly path: string;
  /** The working folder, where relative paths start; null if there is none. */
  readonly folder: string | null;
}

export interface FilesInstrument {
  /** What a path means; nothing is looked up. The working folder by default. */
  locate(path?: string): Promise<UseResult<LocatedPath>>;
  read(
    path: string,
    range?: { readonly offset?: number | undefined; readonly bytesMax?: number | undefined },
  ): Promise<UseResult<Uint8Array>>;
  readText(path: string): Promise<UseResult<string>>;
  /** Atomic: replaces the whole file or nothing. */
  write(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<UseResult<null>>;
  append(path: string, content: string | Uint8Array): Promise<UseResult<null>>;
  /** Exact replacements in a UTF-8 text, all or none, unless the file is changed meanwhile. */
  edit(path: string, edits: readonly Edit[]): Promise<UseResult<FileEditReport>>;
  /** Removes a file, a symlink itself, or an empty folder. */
  remove(path: string): Promise<UseResult<null>>;
  stat(path: string): Promise<UseResult<FileFacts>>;
  /** Unreadable paths are left out of this list and of the two below. */
  list(path: string, options?: ListOptions): Promise<UseResult<readonly ListedFile[]>>;
  glob(root: string, pattern: string, options?: ListOptions): Promise<UseResult<readonly ListedFile[]>>;
  search(root: string, text: string, options?: ListOptions): Promise<UseResult<readonly FoundLine[]>>;
}

/** Paths of a list that are decided on before other calls get a turn. */
const decisionsPerTurn = 256;

type FileVerb = "fs.read" | "fs.write" | "fs.delete";

export function filesInstrument(port: FilesPort | null, asker: UseGate, life: ContextLifetime): FilesInstrument {
  const mayRead = (path: FilePath): boolean => asker.covers({ verb: "fs.read", path: pathText(path) });
  const found = async <T extends { readonly path: FilePath }, S>(
    root: string,
    options: unknown,
    search: (files: Files, root: FilePath, entriesMax: number) => Promise<FileResult<readonly T[]>>,
    show: (item: T) => S,
  ): Promise<UseResult<readonly S[]>> => {
    const read = optionsOf(options, ["entriesMax"]);
    const entriesMax = countOf(read?.["entriesMax"], entriesUsual, entriesLimit);
    if (read === null || entriesMax === null) return invalid("fs.read", `at most ${entriesLimit} entries`);
    const answer = await touched(port, asker, "fs.read", root, (files, at) => search(files, at, entriesMax));
    if (!answer.ok) return answer;
    const shown: S[] = [];
    for (const [at, item] of answer.value.entries()) {
      if (at > 0 && at % decisionsPerTurn === 0) await port?.pause();
      if (mayRead(item.path)) shown.push(show(item));
    }
    return useResult(Object.freeze(shown));
  };
  return sealMembers({
    locate: (path?: string) =>
      life.use("fs.read", async () => {
        const { pathSettings } = asker.reading;
        if (path !== undefined && typeof path !== "string") return invalid("fs.read", "the path must be a string");
        const place = parsePath(path ?? ".", pathSettings);
        if (!place.ok) return unreadable("fs.read", place);
        const folder = pathSettings.base === null ? null : pathText(pathSettings.base);
        return useResult(Object.freeze({ path: pathText(place.value.segments), folder }));
      }),
    read: (path: string, range?: object) =>
      life.use("fs.read", async () => {
        const read = optionsOf(range, ["offset", "bytesMax"]);
        const offset = countOf(read?.["offset"], 0, Number.MAX_SAFE_INTEGER, 0);
        const bytesMax = countOf(read?.["bytesMax"], fileBytesMax, fileBytesMax);
        if (read === null || offset === null || bytesMax === null)
          return invalid("fs.read", `a range has an offset and at most ${fileBytesMax} bytes`);
        return touched(port, asker, "fs.read", path, (files, at) => files.read(at, { offset, bytesMax }));
      }),
    readText: (path: string) =>
      life.use("fs.read", async () => {
        // One byte more than the limit: a truncated text is refused.
        const range = { offset: 0, bytesMax: fileBytesMax + 1 };
        const bytes = await touched(port, asker, "fs.read", path, (files, at) => files.read(at, range));
        if (!bytes.ok) return bytes;
        if (bytes.value.length > fileBytesMax)
          return useDenial("not_available", "fs.read", `longer than ${fileBytesMax} bytes: read it in parts`);
        return useResult(utf8Text(bytes.value));
      }),
    write: (path: string, content: string | Uint8Array, options?: WriteOptions) =>
      life.use("fs.write", async () => {
        const read = optionsOf(options, ["folders"]);
        const bytes = bytesOf(content);
        const folders = read?.["folders"] ?? false;
        if (read === null || typeof folders !== "boolean") return invalid("fs.write", "`folders` is true or false");
        if (bytes === null) return invalid("fs.write", CONTENT);
        return touched(port, asker, "fs.write", path, (files, at) =>
          folders ? files.exclusively(at, (each) => writeBelow(each, at, bytes)) : files.write(at, bytes),
        );
      }),
    append: (path: string, content: string | Uint8Array) =>
      life.use("fs.write", async () => {
        const bytes = bytesOf(content);
        if (bytes === null) return invalid("fs.write", CONTENT);
        return touched(port, asker, "fs.write", path, (files, at) => files.append(at, bytes));
      }),
    edit: (path: string, edits: readonly Edit[]) =>
      life.use("fs.write", async () => {
        const read = readEdits(edits);
        if (!read.ok) return invalid("fs.write", read.message);
        const readable = asker.ask({ verb: "fs.read", path });
        if (!readable.ok) return readable;
        return touched(port, asker, "fs.write", path, (files, at) =>
          files.exclusively(at, (each) => editFile(each, at, read.value)),
        );
      }),
    remove: (path: string) =>
      life.use("fs.delete", () => touched(port, asker, "fs.delete", path, (files, at) => files.remove(at))),
    stat: (path: string) =>
      life.use("fs.read", () => touched(port, asker, "fs.read", path, (files, at) => files.stat(at))),
    list: (path: string, options?: ListOptions) =>
      life.use("fs.read", () => found(path, options, (files, at, most) => files.list(at, most), listedFile)),
    glob: (root: string, pattern: string, options?: ListOptions) =>
      life.use("fs.read", async () => {
        if (typeof root !== "string" || typeof pattern !== "string")
          return invalid("fs.read", "the folder and the pattern must be strings");
        const { pathSettings } = asker.reading;
        const at = parsePath(root, pathSettings);
        if (!at.ok) return unreadable("fs.read", at);
        const target = parsePatternTarget(pattern, at.value, pathSettings);
        if (!target.ok) return unreadable("fs.read", target);
        // Everything that can match lies below it, so nothing else needs to be readable.
        const start = pathText(target.value.start.segments);
        return found(start, options, (files, _, most) => files.glob(at.value.segments, pattern, most), listedFile);
      }),
    search: (root: string, text: string, options?: ListOptions) =>
      life.use("fs.read", async () => {
        if (typeof text !== "string" || text === "") return invalid("fs.read", "the search text must be a string");
        return found(
          root,
          options,
          (files, at, most) => files.search(at, text, most),
          ({ path, line, text: one }): FoundLine => Object.freeze({ path: pathText(path), line, text: one }),
        );
      }),
  });
}

const CONTENT = `content must be text or bytes, at most ${fileBytesMax}`;

function listedFile({ path, kind }: { readonly path: FilePath; readonly kind: ListedFile["kind"] }): ListedFile {
  return Object.freeze({ path: pathText(path), kind });
}

async function touched<T>(
  files: FilesPort | null,
  asker: UseGate,
  verb: FileVerb,
  path: string,
  act: (files: FilesPort, path: FilePath) => Promise<FileResult<T>>,
): Promise<UseResult<T>> {
  const granted = asker.ask({ verb, path });
  if (!granted.ok) return granted;
  const { request } = granted.value;
  const [value] = request.values;
  if (files === null || !isSegments(value))
    return useDenial("not_available", verb, "file access is not available here");
  const answer = await act(files, value.segments);
  if (answer.ok) return useResult(answer.value);
  // The path as it was named: where a link leads is not disclosed.
  asker.refused(request, answer.code);
  return fileFailure(verb, answer);
}

/** Copied, so later changes by the tool have no effect. Null: not a content. */
function bytesOf(content: unknown): Uint8Array | null {
  const isFitting = (typeof content === "string" || content instanceof Uint8Array) && content.length <= fileBytesMax;
  if (!isFitting) return null;
  const bytes = typeof content === "string" ? utf8Bytes(content) : new Uint8Array(content);
  return bytes.length > fileBytesMax ? null : bytes;
}

async function writeBelow(files: Files, path: FilePath, bytes: Uint8Array): Promise<FileResult<null>> {
  const once = await files.write(path, bytes);
  if (once.ok || !isErrno(once, "ENOENT")) return once;
  const made = await makeFolders(files, path.slice(0, -1));
  return made.ok ? files.write(path, bytes) : made;
}

async function makeFolders(files: Files, folder: FilePath): Promise<FileResult<null>> {
  const missing: FilePath[] = [];
  let made = await files.makeFolder(folder);
  for (let at = folder; !made.ok && isErrno(made, "ENOENT") && at.length > 1; made = await files.makeFolder(at)) {
    missing.push(at);
    at = at.slice(0, -1);
  }
  for (const at of missing.reverse()) {
    // Another process may have created it since.
    if (!made.ok && !isErrno(made, "EEXIST")) return made;
    made = await files.makeFolder(at);
  }
  return !made.ok && isErrno(made, "EEXIST") ? { ok: true, value: null } : made;
}
