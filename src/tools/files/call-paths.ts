// Paths of a call: parsed from the input, made into requests, and displayed so that they can be used again.

import { type Ground, parsePath, parsePathPatterns, pathText } from "../../core/authority/axes/path.ts";
import { type VerbEntry, verbEntry } from "../../core/authority/catalog.ts";
import type { Segments, Sequence } from "../../core/authority/patterns/sequence.ts";
import type { Request } from "../../core/authority/request.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FilePath } from "../../core/ports/files.ts";

export type FileVerb = "fs.read" | "fs.write" | "fs.delete";

/** Defaults to the working folder. */
export function placeOf(text: string | undefined, ground: Ground): Result<Segments> {
  return parsePath(text ?? ".", ground);
}

export function requestFor(name: FileVerb, path: Segments): Request {
  const verb: VerbEntry | null = verbEntry(name);
  if (verb === null) throw new Error(`there is no verb ${name}`);
  return { verb, values: [path] };
}

export interface PatternTarget {
  readonly patterns: readonly Sequence[];
  /** The folder that contains everything the patterns can match: all that such a call needs to read. */
  readonly start: Segments;
}

/** A pattern below a folder; one that leaves it is refused. */
export function parsePatternTarget(pattern: string, root: Segments, ground: Ground): Result<PatternTarget> {
  const patterns = parsePathPatterns(pattern, root.segments, { home: null, base: null, protectedPaths: [] });
  if (!patterns.ok) return patterns;
  const start = literalStart(patterns.value);
  if (start.length < root.segments.length) return refuse("escapes_root", "the pattern is outside its folder");
  const place = parsePath(pathText(start), ground);
  return place.ok ? done({ patterns: patterns.value, start: place.value }) : place;
}

/** The last name is a file's, and never the start folder. */
function literalStart(patterns: readonly Sequence[]): readonly string[] {
  const [first = [], ...others] = patterns.map((pattern) => {
    const star = pattern.findIndex((segment) => segment.kind !== "literal");
    const plain = pattern.slice(0, star < 0 ? Math.max(0, pattern.length - 1) : star);
    return plain.map((segment) => (segment.kind === "literal" ? segment.text : ""));
  });
  const shared = first.findIndex((name, at) => others.some((other) => other[at] !== name));
  return shared < 0 ? first : first.slice(0, shared);
}

/** The shortest form that a later call accepts: relative below the working folder, absolute elsewhere. */
export function displayPath(path: FilePath, { base }: Ground): string {
  if (base === null || base.length > path.length || !base.every((name, at) => name === path[at])) return pathText(path);
  const rest = path.slice(base.length);
  // A leading tilde would be parsed as the home folder.
  return rest.length === 0 ? "." : rest[0]?.startsWith("~") === true ? `./${rest.join("/")}` : rest.join("/");
}
