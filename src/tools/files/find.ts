// fs_list, fs_glob and fs_grep: the contents of a folder, by names or by lines.
import type { Ground } from "../../core/authority/axes/path.ts";
import { anyMatches } from "../../core/authority/patterns/sequence.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FileMatch, FilePath, Files } from "../../core/ports/files.ts";
import { displayPath, type PatternTarget, parsePatternTarget, placeOf, requestFor } from "./call-paths.ts";
import type { FileAnswer, FileCall } from "./file-call.ts";
import { fitting } from "./fit-items.ts";
import * as limits from "./limits.ts";
import { refusedWith } from "./refusals.ts";

export interface ListInput {
  readonly path?: string;
  readonly limit?: number;
}

export interface GlobInput {
  readonly pattern: string;
  readonly in?: string;
  readonly limit?: number;
}

export interface GrepInput {
  readonly text: string;
  readonly in?: string;
  readonly glob?: string;
  readonly limit?: number;
}

export function listCall({ path, limit = limits.itemsUsual }: ListInput, ground: Ground): Result<FileCall> {
  const place = placeOf(path, ground);
  if (!place.ok) return place;
  const { segments } = place.value;
  return done({
    requests: [requestFor("fs.read", place.value)],
    changes: null,
    isReading: true,
    carry: async (files) => {
      const listed = await files.list(segments, limit + 1);
      if (!listed.ok) return refusedWith(listed);
      const { items, more } = fitting(listed.value, limit, false, ({ path: entry, kind }) => ({
        name: entry.at(-1) ?? "",
        kind,
      }));
      return { ok: true, value: { path: displayPath(segments, ground), entries: items, more } };
    },
  });
}

export function globCall(input: GlobInput, ground: Ground): Result<FileCall> {
  const { pattern, limit = limits.itemsUsual } = input;
  const root = placeOf(input.in, ground);
  if (!root.ok) return root;
  const place = parsePatternTarget(pattern, root.value, ground);
  if (!place.ok) return place;
  const { segments } = root.value;
  return done({
    requests: [requestFor("fs.read", place.value.start)],
    changes: null,
    isReading: true,
    carry: async (files) => {
      const found = await files.glob(segments, pattern, limit + 1);
      if (!found.ok) return refusedWith(found);
      const { items, more } = fitting(found.value, limit, false, ({ path }) => displayPath(path, ground));
      return { ok: true, value: { in: displayPath(segments, ground), paths: items, more } };
    },
  });
}

export function grepCall(input: GrepInput, ground: Ground): Result<FileCall> {
  const { text, glob } = input;
  if (/[\0\n]/.test(text) || Buffer.byteLength(text) > limits.wantedCharactersMax)
    return refuse("bad_value", `the text must be within one line and at most ${limits.wantedCharactersMax} bytes`);
  const root = placeOf(input.in, ground);
  if (!root.ok) return root;
  const place = glob === undefined ? null : parsePatternTarget(glob, root.value, ground);
  if (place !== null && !place.ok) return place;
  const start = place === null ? root.value : place.value.start;
  return done({
    requests: [requestFor("fs.read", start)],
    changes: null,
    isReading: true,
    carry: (files) => grep(files, start.segments, input, place === null ? null : place.value, ground),
  });
}

async function grep(
  files: Files,
  start: FilePath,
  { text, limit = limits.matchesUsual }: GrepInput,
  place: PatternTarget | null,
  ground: Ground,
): Promise<FileAnswer> {
  const most = place === null ? limit + 1 : limits.sortedMatchesMax;
  const found = await files.search(start, text, most);
  if (!found.ok) return refusedWith(found);
  const isMeant = ({ path }: FileMatch): boolean =>
    place === null || anyMatches(place.patterns, { segments: path, guarded: null });
  // At the requested number there may be more.
  const hasMore = found.value.length >= most;
  const { items, more } = fitting(found.value.filter(isMeant), limit, hasMore, (match) => ({
    path: displayPath(match.path, ground),
    line: match.line,
    text: match.text,
  }));
  return { ok: true, value: { in: displayPath(start, ground), matches: items, more } };
}
