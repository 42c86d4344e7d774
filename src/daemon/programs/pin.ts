// Binds an approval to what the call runs: the content of the files its arguments name, and the code of a project's tool.
// Anything that cannot be bound is listed, so that the approval request can show it.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { pathText } from "../../core/authority/axes/path.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonList, isJsonObject, type Json } from "../../core/base/json.ts";
import type { CallPin, PinnedCall } from "../parts.ts";

/** Distinct paths that are examined for one call. */
const pathsMax = 8192;
const fileBytesMax = 16 * 1024 * 1024;
const callBytesMax = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
/** File names that an approval request lists. */
const namesShownMax = 40;

/** The digest of a project tool's source; null for a built-in tool. */
export type ToolDefinition = (workspace: string | null, tool: string) => Promise<string | null>;

export async function pinOf(call: PinnedCall, definition: ToolDefinition): Promise<CallPin> {
  const source = await definition(call.workspace, call.tool);
  const isProgram = call.requests.some(({ verb }) => verb.verb.startsWith("proc."));
  if (!isProgram && source === null) return { digest: null, binding: null };
  const whole = createHash("sha256");
  const bound: string[] = [];
  const unbound: string[] = [];
  if (source !== null) {
    whole.update(`tool ${source}\n`);
    bound.push(`the code of the tool ${call.tool}`);
  }
  if (isProgram) {
    const { paths, isCut } = candidatesOf(call);
    const files = await digestsOf(paths);
    for (const { path, mark } of files.marks) whole.update(`${path.length}:${path} ${mark}\n`);
    bound.push(...listed(files.marks.map(({ path }) => path)));
    unbound.push(...listed(files.unread));
    if (isCut) unbound.push(`files named after the first ${pathsMax} words`);
    unbound.push("other files that the program reads");
  }
  return { digest: bound.length === 0 ? null : whole.digest("hex"), binding: { bound, unbound } };
}

function listed(names: readonly string[]): readonly string[] {
  if (names.length <= namesShownMax) return names;
  return [...names.slice(0, namesShownMax), `${names.length - namesShownMax} more files`];
}

/** Every path that an argument of the call can mean, in argument order. */
function candidatesOf({ requests, input }: PinnedCall): {
  readonly paths: ReadonlySet<string>;
  readonly isCut: boolean;
} {
  const paths = new Set<string>();
  for (const { folder, words } of requests.map((request) => programOf(request, input)))
    for (const word of words)
      for (const name of namesIn(word)) {
        if (paths.size === pathsMax) return { paths, isCut: true };
        // The kernel accepts no longer path, and none with this character.
        if (name !== "" && name.length <= 4096 && !name.includes("\0")) paths.add(resolve(folder, name));
      }
  return { paths, isCut: false };
}

/** Arguments with their base folder. Files that a call reads for a program, such as its input, are paths already. */
function programOf(
  { verb, values }: Request,
  input: Json,
): { readonly folder: string; readonly words: readonly string[] } {
  const value = (axis: string) => values[verb.axes.findIndex(({ name }) => name === axis)];
  if (verb.verb === "fs.read") {
    const path = values.find(isSegments);
    return { folder: "/", words: path === undefined ? [] : [pathText(path.segments)] };
  }
  const root = value("root");
  if (!verb.verb.startsWith("proc.") || !isSegments(root)) return { folder: "/", words: [] };
  const argv = value("argv");
  return { folder: pathText(root.segments), words: isSegments(argv) ? argv.segments : textsIn(input) };
}

/** A shell line has no axis of its own: it is somewhere in the arguments. Iterative, so depth is no problem. */
function textsIn(input: Json): readonly string[] {
  const texts: string[] = [];
  const open: Json[] = [input];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") texts.push(next);
    else if (isJsonList(next)) open.push(...next);
    else if (isJsonObject(next)) open.push(...Object.values(next));
  }
  return texts;
}

/** The argument itself, the value of an option (`--file=x`, `-fx`, `@x`), and the words of a line (`sh -c './x && y'`). */
function* namesIn(word: string): Generator<string> {
  yield word;
  if (/^-[^-]/.test(word)) yield word.slice(2);
  if (!/[^\w./+-]/.test(word)) return;
  for (const [part] of word.matchAll(/[^\s"'`;|&<>(){}$=,:@\\]+/g)) if (part !== word) yield part;
  for (const [, value = ""] of word.matchAll(/[=@:](.+)/gs)) yield value;
}

/** Their content differs per process, or they have none. */
const KERNEL_FOLDERS: readonly string[] = ["/proc", "/sys", "/dev"];

interface FileMark {
  readonly path: string;
  readonly mark: string;
}

async function digestsOf(
  paths: ReadonlySet<string>,
): Promise<{ readonly marks: readonly FileMark[]; readonly unread: readonly string[] }> {
  const marks: FileMark[] = [];
  const unread: string[] = [];
  let bytesLeft = callBytesMax;
  for (const path of paths) {
    const isKernels = KERNEL_FOLDERS.some((folder) => path.startsWith(`${folder}/`));
    const found = isKernels ? null : await markOf(path, Math.min(fileBytesMax, bytesLeft));
    if (isKernels || found === "unread") unread.push(path);
    else if (found !== null) {
      bytesLeft -= found.bytes;
      marks.push({ path, mark: found.mark });
    }
  }
  return { marks, unread };
}

/**
 * Null if it is not a regular file. A file above `bytesMax` is identified by inode, size and times: every change to it also
 * changes its ctime.
 */
async function markOf(
  path: string,
  bytesMax: number,
): Promise<{ readonly mark: string; readonly bytes: number } | "unread" | null> {
  let file: FileHandle;
  try {
    // An agent can put a FIFO here: opening one must not wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Missing file or parent, socket, name too long, symlink loop: the program cannot read a file there either.
    return code !== undefined && NO_FILE.includes(code) ? null : "unread";
  }
  try {
    const found = await file.stat({ bigint: true });
    if (found.isDirectory()) return "unread";
    if (!found.isFile()) return null;
    const { dev, ino, size, mtimeNs, ctimeNs } = found;
    if (size > BigInt(bytesMax)) return { mark: [dev, ino, size, mtimeNs, ctimeNs].join(" "), bytes: 0 };
    return await contentMark(file, Number(size));
  } catch {
    return "unread";
  } finally {
    await file.close();
  }
}

const NO_FILE: readonly string[] = ["ENOENT", "ENOTDIR", "ENXIO", "ENAMETOOLONG", "ELOOP", "ENODEV"];

/** At most one chunk more than its size when opened: reading a growing file ends. */
async function contentMark(file: FileHandle, size: number): Promise<{ readonly mark: string; readonly bytes: number }> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size + 1));
  let bytes = 0;
  while (bytes <= size) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return { mark: hash.digest("hex"), bytes };
}
