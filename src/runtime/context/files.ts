// Files as a tool sees them: paths are text, each is decided before it is touched, and the port decides it again after
// resolving symlinks.

import { pathText } from "../../core/authority/axes/path.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import { utf8Bytes, utf8Text } from "../../core/base/bytes.ts";
import type { FileFacts, FilePath, FileResult, Files } from "../../core/ports/files.ts";
import { closed } from "./closed.ts";
import type { Life } from "./life.ts";
import { entriesMax, fileBytesMax } from "./limits.ts";
import { countOf, optionsOf } from "./option.ts";
import type { UseGate } from "./use-gate.ts";
import { failed, invalid, type UseResult, useDenial, useResult } from "./use-result.ts";

export interface ListedFile {
  readonly path: string;
  readonly kind: FileFacts["kind"];
}

export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface FilesInstrument {
  read(
    path: string,
    range?: { readonly offset?: number | undefined; readonly bytesMax?: number | undefined },
  ): Promise<UseResult<Uint8Array>>;
  readText(path: string): Promise<UseResult<string>>;
  /** Atomic: replaces the whole file or nothing. */
  write(path: string, content: string | Uint8Array): Promise<UseResult<null>>;
  append(path: string, content: string | Uint8Array): Promise<UseResult<null>>;
  /** Removes a file, a symlink itself, or an empty folder. */
  remove(path: string): Promise<UseResult<null>>;
  stat(path: string): Promise<UseResult<FileFacts>>;
  /** Unreadable paths are left out of this list and of the two below. */
  list(path: string): Promise<UseResult<readonly ListedFile[]>>;
  glob(root: string, pattern: string): Promise<UseResult<readonly ListedFile[]>>;
  search(root: string, text: string): Promise<UseResult<readonly FoundLine[]>>;
}

type FileVerb = "fs.read" | "fs.write" | "fs.delete";

export function filesInstrument(port: Files | null, asker: UseGate, life: Life): FilesInstrument {
  const touch = <T>(
    verb: FileVerb,
    path: string,
    act: (files: Files, path: FilePath) => Promise<FileResult<T>>,
  ): Promise<UseResult<T>> => life.use(verb, () => touched(port, asker, verb, path, act));
  const mayRead = (path: FilePath): boolean => asker.covers({ verb: "fs.read", path: pathText(path) });
  const listed = async (
    found: Promise<UseResult<readonly { readonly path: FilePath; readonly kind: ListedFile["kind"] }[]>>,
  ) => {
    const answer = await found;
    if (!answer.ok) return answer;
    const open = answer.value.filter(({ path }) => mayRead(path));
    return useResult(
      Object.freeze(open.map(({ path, kind }): ListedFile => Object.freeze({ path: pathText(path), kind }))),
    );
  };
  return closed({
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
    write: (path: string, content: string | Uint8Array) =>
      life.use("fs.write", () => changed(port, asker, path, content, (files, at, bytes) => files.write(at, bytes))),
    append: (path: string, content: string | Uint8Array) =>
      life.use("fs.write", () => changed(port, asker, path, content, (files, at, bytes) => files.append(at, bytes))),
    remove: (path: string) => touch("fs.delete", path, (files, at) => files.remove(at)),
    stat: (path: string) => touch("fs.read", path, (files, at) => files.stat(at)),
    list: (path: string) =>
      life.use("fs.read", () =>
        listed(touched(port, asker, "fs.read", path, (files, at) => files.list(at, entriesMax))),
      ),
    glob: (root: string, pattern: string) =>
      life.use("fs.read", async () => {
        if (typeof pattern !== "string") return invalid("fs.read", "the pattern is a text");
        return listed(touched(port, asker, "fs.read", root, (files, at) => files.glob(at, pattern, entriesMax)));
      }),
    search: (root: string, text: string) =>
      life.use("fs.read", async () => {
        if (typeof text !== "string" || text === "") return invalid("fs.read", "what is searched for is a text");
        const found = await touched(port, asker, "fs.read", root, (files, at) => files.search(at, text, entriesMax));
        if (!found.ok) return found;
        const open = found.value.filter(({ path }) => mayRead(path));
        return useResult(
          Object.freeze(
            open.map(
              ({ path, line, text: one }): FoundLine => Object.freeze({ path: pathText(path), line, text: one }),
            ),
          ),
        );
      }),
  });
}

async function touched<T>(
  files: Files | null,
  asker: UseGate,
  verb: FileVerb,
  path: string,
  act: (files: Files, path: FilePath) => Promise<FileResult<T>>,
): Promise<UseResult<T>> {
  const granted = asker.ask({ verb, path });
  if (!granted.ok) return granted;
  const [value] = granted.value.request.values;
  if (files === null || !isSegments(value)) return useDenial("not_available", verb, "there are no files here");
  const answer = await act(files, value.segments);
  return answer.ok ? useResult(answer.value) : failed(verb, { code: answer.code, message: answer.reason });
}

async function changed(
  port: Files | null,
  asker: UseGate,
  path: string,
  content: unknown,
  act: (files: Files, path: FilePath, content: Uint8Array) => Promise<FileResult<null>>,
): Promise<UseResult<null>> {
  const isFitting = (typeof content === "string" || content instanceof Uint8Array) && content.length <= fileBytesMax;
  if (!isFitting) return invalid("fs.write", `a content is text or bytes, at most ${fileBytesMax}`);
  // Copied, so later changes by the tool have no effect.
  const bytes = typeof content === "string" ? utf8Bytes(content) : new Uint8Array(content);
  if (bytes.length > fileBytesMax) return invalid("fs.write", `at most ${fileBytesMax} bytes`);
  return touched(port, asker, "fs.write", path, (files, at) => act(files, at, bytes));
}
