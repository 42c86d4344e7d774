// fs_list, fs_glob and fs_grep: the contents of a folder, by names or by lines.

import { parsePath } from "../../core/authority/axes/path.ts";
import { anyMatches } from "../../core/authority/patterns/sequence.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import type { Context } from "../../runtime/context/context.ts";
import type { FoundLine, LocatedPath } from "../../runtime/context/files.ts";
import { type PatternTarget, parsePatternTarget } from "../../runtime/context/pattern-target.ts";
import { type UseResult, unreadable, useResult } from "../../runtime/context/use-result.ts";
import { type CallReading, requestsFor } from "../../runtime/tool/builtin.ts";
import { fitItems } from "./fit-items.ts";
import * as limits from "./limits.ts";

interface ListInput {
  readonly path?: string;
  readonly limit?: number;
}

interface GlobInput {
  readonly pattern: string;
  readonly in?: string;
  readonly limit?: number;
}

interface GrepInput {
  readonly text: string;
  readonly in?: string;
  readonly glob?: string;
  readonly limit?: number;
}

export async function list(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path, limit = limits.itemsUsual } = input as unknown as ListInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const listed = await files.list(at.value.path, { entriesMax: limit + 1 });
  if (!listed.ok) return listed;
  const { items, more } = fitItems(listed.value, limit, false, ({ path: entry, kind }) => ({
    name: segmentsOf(entry).at(-1) ?? "",
    kind,
  }));
  return useResult({ path: displayPath(at.value), entries: items, more });
}

export function globRequests(input: JsonObject, reading: CallReading): Result<readonly Request[]> {
  const { pattern, in: folder = "." } = input as unknown as GlobInput;
  return patternRequests(pattern, folder, reading);
}

export async function glob(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { pattern, in: folder, limit = limits.itemsUsual } = input as unknown as GlobInput;
  const at = await files.locate(folder);
  if (!at.ok) return at;
  const found = await files.glob(at.value.path, pattern, { entriesMax: limit + 1 });
  if (!found.ok) return found;
  const { items, more } = fitItems(found.value, limit, false, ({ path }) => displayPath({ ...at.value, path }));
  return useResult({ in: displayPath(at.value), paths: items, more });
}

export function grepRequests(input: JsonObject, reading: CallReading): Result<readonly Request[]> {
  const { text, glob: pattern, in: folder = "." } = input as unknown as GrepInput;
  if (/[\0\n]/.test(text) || Buffer.byteLength(text) > limits.wantedCharactersMax)
    return refuse("bad_value", `the text must be within one line and at most ${limits.wantedCharactersMax} bytes`);
  if (pattern !== undefined) return patternRequests(pattern, folder, reading);
  return requestsFor(reading, { verb: "fs.read", path: folder });
}

export async function grep(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { text, glob: pattern, in: folder, limit = limits.matchesUsual } = input as unknown as GrepInput;
  const root = await files.locate(folder);
  if (!root.ok) return root;
  const target = pattern === undefined ? null : targetOf(pattern, root.value);
  if (target !== null && !target.ok) return unreadable("fs.read", target);
  const start = target === null ? root.value.path : `/${target.value.start.segments.join("/")}`;
  const most = target === null ? limit + 1 : limits.sortedMatchesMax;
  const found = await files.search(start, text, { entriesMax: most });
  if (!found.ok) return found;
  const isMeant = ({ path }: FoundLine): boolean =>
    target === null || anyMatches(target.value.patterns, { segments: segmentsOf(path), guarded: null });
  // At the requested number there may be more.
  const hasMore = found.value.length >= most;
  const { items, more } = fitItems(found.value.filter(isMeant), limit, hasMore, (match) => ({
    path: displayPath({ ...root.value, path: match.path }),
    line: match.line,
    text: match.text,
  }));
  return useResult({ in: displayPath({ ...root.value, path: start }), matches: items, more });
}

/** The folder that contains everything the pattern can match: all that such a call needs to read. */
function patternRequests(pattern: string, folder: string, reading: CallReading): Result<readonly Request[]> {
  const root = parsePath(folder, reading.pathSettings);
  if (!root.ok) return root;
  const target = parsePatternTarget(pattern, root.value, reading.pathSettings);
  if (!target.ok) return target;
  return requestsFor(reading, { verb: "fs.read", path: `/${target.value.start.segments.join("/")}` });
}

function targetOf(pattern: string, { path }: LocatedPath): Result<PatternTarget> {
  const pathSettings = { home: null, base: null, protectedPaths: [] };
  const root = parsePath(path, pathSettings);
  return root.ok ? parsePatternTarget(pattern, root.value, pathSettings) : root;
}

/** Relative below the working folder, absolute elsewhere. */
export function displayPath({ path, folder }: LocatedPath): string {
  if (path === folder) return ".";
  const start = folder === null ? null : folder === "/" ? "/" : `${folder}/`;
  if (start === null || !path.startsWith(start)) return path;
  const rest = path.slice(start.length);
  // A leading tilde would be parsed as the home folder.
  return rest.startsWith("~") ? `./${rest}` : rest;
}

/** Of an absolute path; no name contains a slash. */
export function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((name) => name !== "");
}
