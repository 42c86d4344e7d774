// What lies below a folder: by a pattern, or by a text in it. The worker is asked for a tree at once; where that is
// more than an answer holds, for one folder after the other.
import { parsePathPatterns } from "../../core/authority/axes/path.ts";
import { type Sequence, sequenceMatches } from "../../core/authority/patterns/sequence.ts";
import type { FileEntry, FileMatch, FilePath, FileResult } from "../../core/ports/files.ts";
import { framePayloadBytesMax } from "../plan/start/frame.ts";
import { below, type FileReach, type Job, type Located } from "./reach.ts";
import { refused } from "./refusals.ts";
import {
  type Found,
  findRequest,
  type Listed,
  pathBytesMax,
  plainRequest,
  readEntries,
  readMatches,
  type Some,
} from "./wire.ts";

export interface BelowLimits {
  /** Entries looked at for one answer, wherever they are. */
  readonly walkEntriesMax: number;
  readonly walkDepthMax: number;
  /** Of a file longer than this only the beginning is searched. */
  readonly searchFileBytesMax: number;
}

interface At<T> {
  readonly some: Some<T>;
  readonly at: Located;
  /** The answer had no room for more, whatever else bounds it. */
  readonly full: boolean;
}

/** Everything one glob or search gathers. */
interface Gathering<T> {
  readonly found: T[];
  readonly foundMax: number;
  /** Entries that may still be looked at. */
  left: number;
  /** What is there and not granted. */
  leftOut: number;
}

export interface Gathered<T> {
  readonly items: readonly T[];
  readonly leftOut: number;
}

const wantedBytesMax = 256;
/** An answer this long may have had no room for another path. */
const fullBytes = framePayloadBytesMax - 2 * pathBytesMax;
const noGround = { home: null, base: null, protectedPaths: [] };

export async function globBelow(
  reach: FileReach,
  root: FilePath,
  pattern: string,
  entriesMax: number,
  limits: BelowLimits,
): Promise<FileResult<Gathered<FileEntry>>> {
  const patterns = parsePathPatterns(pattern, root, noGround);
  if (!patterns.ok) return refused("invalid_input", patterns.message);
  const start = literalStart(patterns.value);
  const gathering: Gathering<FileEntry> = { found: [], foundMax: entriesMax, left: limits.walkEntriesMax, leftOut: 0 };
  const take = ({ some, at }: At<Listed>): void => {
    for (const { path, kind } of some.items) {
      if (kind !== "file" && kind !== "link") continue;
      const entry = entryAt(gathering, at, path);
      if (entry === null || !patterns.value.some((one) => matches(one, entry.asked))) continue;
      if (reach.isReadable(entry)) gathering.found.push({ path: entry.asked, kind });
      else gathering.leftOut++;
    }
  };
  const first = await reach.run(walkJob(limits), start);
  if (!first.ok) return first;
  await gather(reach, gathering, first.value, (at) => reach.at(walkJob(limits), at), take, null);
  return { ok: true, value: { items: ordered(gathering, (entry) => entry.path), leftOut: gathering.leftOut } };
}

export async function searchBelow(
  reach: FileReach,
  root: FilePath,
  text: string,
  matchesMax: number,
  limits: BelowLimits,
): Promise<FileResult<Gathered<FileMatch>>> {
  const wanted = Buffer.from(text);
  if (wanted.length === 0 || wanted.length > wantedBytesMax || /[\0\n]/.test(text))
    return refused("invalid_input", "not a text that a line can hold");
  const job: Job<At<Found>> = {
    verb: "fs.read",
    request: findRequest(matchesMax, limits.searchFileBytesMax, wanted),
    value: (body, at) => located(body, readMatches(body), at),
  };
  const gathering: Gathering<FileMatch> = { found: [], foundMax: matchesMax, left: limits.walkEntriesMax, leftOut: 0 };
  const take = ({ some, at }: At<Found>): void => {
    for (const { path, line, text: shown } of some.items) {
      const entry = entryAt(gathering, at, path);
      if (entry === null) continue;
      if (reach.isReadable(entry)) gathering.found.push({ path: entry.asked, line, text: shown });
      else gathering.leftOut++;
    }
  };
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
  return { ok: true, value: { items: ordered(gathering, (match) => match.path), leftOut: gathering.leftOut } };
}

/**
 * One answer for a whole tree, or, where it does not hold everything, one for each part of it. `single`: which plain
 * files are asked for one by one; null where a folder's list already says it all.
 */
async function gather<S, T>(
  reach: FileReach,
  gathering: Gathering<T>,
  first: At<S>,
  ask: (at: Located) => Promise<FileResult<At<S>>>,
  take: (answer: At<S>) => void,
  single: ((at: Located) => boolean) | null,
): Promise<void> {
  const parts: Located[] = [];
  let answer: At<S> | null = first;
  for (;;) {
    if (answer !== null) {
      gathering.left -= answer.some.items.length + 1;
      const before = { found: gathering.found.length, leftOut: gathering.leftOut };
      take(answer);
      // Parts help where one answer was too small for what it tells, or was filled by what is not granted.
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

/** The folders in a folder, and the files that are looked into one by one; what a list says itself is taken. */
async function partsOf<S, T>(
  reach: FileReach,
  gathering: Gathering<T>,
  at: Located,
  take: (answer: At<S>) => void,
  single: ((at: Located) => boolean) | null,
): Promise<readonly Located[]> {
  const listed = await reach.at(listJob(gathering.left), at);
  if (!listed.ok) return [];
  gathering.left -= listed.value.some.items.length + 1;
  if (single === null) take(listed.value as unknown as At<S>);
  const parts: Located[] = [];
  for (const { path, kind } of listed.value.some.items) {
    if (path === null || (kind !== "folder" && (single === null || kind !== "file"))) continue;
    const part = below(at, [path]);
    if (kind === "folder" || single?.(part) === true) parts.push(part);
    else gathering.leftOut++;
  }
  return parts;
}

function walkJob({ walkEntriesMax, walkDepthMax }: BelowLimits): Job<At<Listed>> {
  return {
    verb: "fs.read",
    request: plainRequest("k", walkEntriesMax, walkDepthMax),
    value: (body, at) => located(body, readEntries(body), at),
  };
}

export function listJob(entriesMax: number): Job<At<Listed>> {
  return {
    verb: "fs.read",
    request: plainRequest("l", Math.max(1, entriesMax)),
    value: (body, at) => located(body, readEntries(body), at),
  };
}

function located<T>(body: Buffer, some: Some<T> | null, at: Located): At<T> | null {
  return some === null ? null : { some, at, full: body.length > fullBytes };
}

/** Null for a name that is no text: nobody could ask for it. */
function entryAt<T>(gathering: Gathering<T>, at: Located, path: string | null): Located | null {
  if (path !== null) return path === "" ? at : below(at, path.split("/"));
  gathering.leftOut++;
  return null;
}

/** The folder that everything a pattern can match lies in. */
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

/** By name, whatever order the disk has them in. Lines of one file are in their order already. */
function ordered<T>({ found, foundMax }: Gathering<T>, pathOf: (item: T) => FilePath): readonly T[] {
  const named = found.map((item) => ({ item, name: pathOf(item).join("/") }));
  named.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
  return named.slice(0, foundMax).map(({ item }) => item);
}
