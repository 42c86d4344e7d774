// Finds files below a folder by a pattern or by a text in them. Asks the worker for a whole tree at once; where that
// exceeds one answer, for one folder after the other.
import { setImmediate } from "node:timers/promises";
import { parsePathPatterns } from "../../core/authority/axes/path.ts";
import { type Sequence, sequenceMatches } from "../../core/authority/patterns/sequence.ts";
import type { FileEntry, FileMatch, FilePath, FileResult } from "../../core/ports/files.ts";
import { framePayloadBytesMax } from "../plan/start/frame.ts";
import { below, type FileLocation, type FileOperation, type FileReach } from "./reach.ts";
import { fileRefusal } from "./refusals.ts";
import {
  type BoundedList,
  findRequest,
  type ListedEntry,
  pathBytesMax,
  plainRequest,
  readEntries,
  readMatches,
  type SearchMatch,
} from "./wire.ts";

export interface BelowLimits {
  /** Entries examined for one answer. */
  readonly walkEntriesMax: number;
  readonly walkDepthMax: number;
  /** Only this many leading bytes of a file are searched. */
  readonly searchFileBytesMax: number;
}

interface At<T> {
  readonly some: BoundedList<T>;
  readonly at: FileLocation;
  /** The answer was full, independent of other limits. */
  readonly full: boolean;
}

/** The state of one glob or search. */
interface Collection<T> {
  readonly found: T[];
  readonly foundMax: number;
  /** Entries that may still be examined. */
  left: number;
  /** Entries that exist and are not granted. */
  leftOut: number;
}

export interface SearchResult<T> {
  readonly items: readonly T[];
  readonly leftOut: number;
}

const textBytesMax = 256;
/** An answer this long may have had no space for another path. */
const fullBytes = framePayloadBytesMax - 2 * pathBytesMax;
const noPathSettings = { home: null, base: null, protectedPaths: [] };

export async function globBelow(
  reach: FileReach,
  root: FilePath,
  pattern: string,
  entriesMax: number,
  limits: BelowLimits,
): Promise<FileResult<SearchResult<FileEntry>>> {
  const patterns = parsePathPatterns(pattern, root, noPathSettings);
  if (!patterns.ok) return fileRefusal("invalid_input", patterns.message);
  const start = literalStart(patterns.value);
  const gathering: Collection<FileEntry> = { found: [], foundMax: entriesMax, left: limits.walkEntriesMax, leftOut: 0 };
  const take = ({ some, at }: At<ListedEntry>): Promise<void> =>
    inTurns(some.items, ({ path, kind }) => {
      if (kind !== "file" && kind !== "link") return;
      const entry = entryAt(gathering, at, path);
      if (entry === null || !patterns.value.some((one) => matches(one, entry.named))) return;
      if (reach.isReadable(entry)) gathering.found.push({ path: entry.named, kind });
      else gathering.leftOut++;
    });
  const first = await reach.run(walkJob(limits), start);
  if (!first.ok) return first;
  await gather(reach, gathering, first.value, (at) => reach.at(walkJob(limits), at), take, null);
  return { ok: true, value: { items: await ordered(gathering, (entry) => entry.path), leftOut: gathering.leftOut } };
}

export async function searchBelow(
  reach: FileReach,
  root: FilePath,
  text: string,
  matchesMax: number,
  limits: BelowLimits,
): Promise<FileResult<SearchResult<FileMatch>>> {
  const wanted = Buffer.from(text);
  if (wanted.length === 0 || wanted.length > textBytesMax || /[\0\n]/.test(text))
    return fileRefusal("invalid_input", "the search text must be a non-empty text within one line");
  const job: FileOperation<At<SearchMatch>> = {
    verb: "fs.read",
    request: findRequest(matchesMax, limits.searchFileBytesMax, wanted),
    value: (body, at) => located(body, readMatches(body), at),
  };
  const gathering: Collection<FileMatch> = { found: [], foundMax: matchesMax, left: limits.walkEntriesMax, leftOut: 0 };
  const take = ({ some, at }: At<SearchMatch>): Promise<void> =>
    inTurns(some.items, ({ path, line, text: shown }) => {
      const entry = entryAt(gathering, at, path);
      if (entry === null) return;
      if (reach.isReadable(entry)) gathering.found.push({ path: entry.named, line, text: shown });
      else gathering.leftOut++;
    });
  const first = await reach.run(job, root);
  if (!first.ok) return first;
  await gather(
    reach,
    gathering,
    first.value,
    (at) => reach.at(job, at),
    take,
    (at) => reach.isReadable(at),
  );
  return { ok: true, value: { items: await ordered(gathering, (match) => match.path), leftOut: gathering.leftOut } };
}

/** Other sessions and control get a turn after this many entries, each of which is decided on. */
export const entriesPerTurn = 256;

/** Calls `take` for every item and yields to the event loop in between. */
export async function inTurns<T>(items: readonly T[], take: (item: T) => void): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % entriesPerTurn === 0) await setImmediate();
    take(item);
  }
}

/**
 * One answer for a whole tree, or, where that is incomplete, one for each part of it. `single`: the plain files that
 * are requested one by one; null where a folder's listing is sufficient.
 */
async function gather<S, T>(
  reach: FileReach,
  gathering: Collection<T>,
  first: At<S>,
  ask: (at: FileLocation) => Promise<FileResult<At<S>>>,
  take: (answer: At<S>) => Promise<void>,
  single: ((at: FileLocation) => boolean) | null,
): Promise<void> {
  const parts: FileLocation[] = [];
  let answer: At<S> | null = first;
  for (;;) {
    if (answer !== null) {
      gathering.left -= answer.some.items.length + 1;
      const before = { found: gathering.found.length, leftOut: gathering.leftOut };
      await take(answer);
      // Splitting helps where one answer was too small, or was filled by entries that are not granted.
      const isFull =
        single === null
          ? answer.full
          : gathering.found.length < gathering.foundMax && gathering.leftOut > before.leftOut;
      if (answer.some.more && isFull && gathering.left > 0) {
        gathering.found.length = before.found;
        gathering.leftOut = before.leftOut;
        parts.push(...(await partsOf(reach, gathering, answer.at, take, single)));
      }
    }
    const next = gathering.left > 0 ? parts.shift() : undefined;
    if (next === undefined) return;
    const result = await ask(next);
    answer = result.ok ? result.value : null;
  }
}

/** The folders in a folder, and the files that are searched one by one; entries of the listing itself are taken. */
async function partsOf<S, T>(
  reach: FileReach,
  gathering: Collection<T>,
  at: FileLocation,
  take: (answer: At<S>) => Promise<void>,
  single: ((at: FileLocation) => boolean) | null,
): Promise<readonly FileLocation[]> {
  const listed = await reach.at(listJob(gathering.left), at);
  if (!listed.ok) return [];
  gathering.left -= listed.value.some.items.length + 1;
  if (single === null) await take(listed.value as unknown as At<S>);
  const parts: FileLocation[] = [];
  await inTurns(listed.value.some.items, ({ path, kind }) => {
    if (path === null || (kind !== "folder" && (single === null || kind !== "file"))) return;
    const part = below(at, [path]);
    if (kind === "folder" || single?.(part) === true) parts.push(part);
    else gathering.leftOut++;
  });
  return parts;
}

function walkJob({ walkEntriesMax, walkDepthMax }: BelowLimits): FileOperation<At<ListedEntry>> {
  return {
    verb: "fs.read",
    request: plainRequest("k", walkEntriesMax, walkDepthMax),
    value: (body, at) => located(body, readEntries(body), at),
  };
}

export function listJob(entriesMax: number): FileOperation<At<ListedEntry>> {
  return {
    verb: "fs.read",
    request: plainRequest("l", Math.max(1, entriesMax)),
    value: (body, at) => located(body, readEntries(body), at),
  };
}

function located<T>(body: Buffer, some: BoundedList<T> | null, at: FileLocation): At<T> | null {
  return some === null ? null : { some, at, full: body.length > fullBytes };
}

/** Null for a name that is not UTF-8: no request could name it. */
function entryAt<T>(gathering: Collection<T>, at: FileLocation, path: string | null): FileLocation | null {
  if (path !== null) return path === "" ? at : below(at, path.split("/"));
  gathering.leftOut++;
  return null;
}

/** The deepest folder that contains everything a pattern can match. */
function literalStart(patterns: readonly Sequence[]): FilePath {
  const [first, ...others] = patterns.map((pattern) => {
    const star = pattern.findIndex((segment) => segment.kind !== "literal");
    return pattern
      .slice(0, star < 0 ? Math.max(0, pattern.length - 1) : star)
      .map((segment) => (segment.kind === "literal" ? segment.text : ""));
  });
  const start = first ?? [];
  const shared = start.findIndex((name, at) => others.some((other) => other[at] !== name));
  return shared < 0 ? start : start.slice(0, shared);
}

function matches(pattern: Sequence, path: FilePath): boolean {
  return sequenceMatches(pattern, { segments: path, guarded: null });
}

/** Items sorted in one event-loop turn, in addition to those that were first so far. */
const sortedPerTurn = 2_048;

/**
 * The first ones by name, independent of the order on disk. Lines of one file are in order already. A tree has more
 * names than can be sorted in one event-loop turn, so only as many as are wanted are kept from turn to turn.
 */
async function ordered<T>({ found, foundMax }: Collection<T>, pathOf: (item: T) => FilePath): Promise<readonly T[]> {
  const first: { readonly item: T; readonly name: string }[] = [];
  for (let at = 0; at < found.length; at += sortedPerTurn) {
    if (at > 0) await setImmediate();
    for (const item of found.slice(at, at + sortedPerTurn)) first.push({ item, name: pathOf(item).join("/") });
    first.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
    if (first.length > foundMax) first.length = foundMax;
  }
  return first.map(({ item }) => item);
}
