// The path axis: absolute, lexically normal paths and the patterns over them.
// The kernel resolves links later; nothing here looks at a disk.

import { pathBytesMax, patternCharactersMax, segmentsMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { braces } from "../patterns/braces.ts";
import { isPlainText } from "../patterns/reserved.ts";
import { DEEP, literal, type Segment, segmentOf } from "../patterns/segment.ts";
import { type Segments, type Sequence, sequenceText } from "../patterns/sequence.ts";

/** Where on a machine the words are read: what `~` and a relative path mean, and which paths are protected. */
export interface PathSettings {
  readonly home: readonly string[] | null;
  readonly base: readonly string[] | null;
  /** A segment `*` in an entry stands for any one name: every user's home, every process. */
  readonly protectedPaths: readonly (readonly string[])[];
  /** The same path without links among the folders above it, as far as the machine knows; absent where no disk is read. */
  readonly followed?: (path: readonly string[]) => readonly string[];
}

/** A root to propose where none is written: the project, unless it is the whole home folder or more. */
export function proposedRoot({ base, home }: Pick<PathSettings, "base" | "home">): string {
  const isProject = base !== null && base.length > 0 && !(home !== null && base.every((name, at) => name === home[at]));
  return isProject ? "." : "~/project";
}

/** A path of a request by its one real name, with its protected leading segments guarded. */
export function parsePath(text: string, pathSettings: PathSettings): Result<Segments> {
  const path = parseWrittenPath(text, pathSettings);
  if (!path.ok || pathSettings.followed === undefined) return path;
  return done(guardPath(pathSettings.followed(path.value.segments), pathSettings.protectedPaths));
}

/** The same as it is written: links are not followed. */
export function parseWrittenPath(text: string, pathSettings: PathSettings): Result<Segments> {
  if (text.length > pathBytesMax) return refuse("too_long", `the path is longer than ${pathBytesMax} characters`);
  const segments = normalSegments(text, pathSettings, false);
  return segments.ok ? done(guardPath(segments.value, pathSettings.protectedPaths)) : segments;
}

/** Everything at or below a protected path is reached only by a pattern that names that path literally. */
export function guardPath(segments: readonly string[], protectedPaths: PathSettings["protectedPaths"]): Segments {
  let depth = 0;
  for (const entry of protectedPaths) {
    if (
      entry.length > depth &&
      entry.length <= segments.length &&
      entry.every((name, at) => name === "*" || name === segments[at])
    )
      depth = entry.length;
  }
  return { segments, guarded: depth === 0 ? null : segments.map((_, at) => at < depth) };
}

/** A plain folder or file name for `in` and `sandbox`: no star. */
export function parseRoot(text: string, pathSettings: PathSettings): Result<readonly string[]> {
  if (text.includes("*"))
    return refuse("bad_pattern", `${JSON.stringify(text)}: a root is one folder; wildcards belong in \`paths\``);
  if (text.length > pathBytesMax) return refuse("too_long", `the path is longer than ${pathBytesMax} characters`);
  return normalSegments(text, pathSettings, false);
}

/** The whole tree at and below a root. */
export function tree(root: readonly string[]): Sequence {
  return [...root.map(literal), DEEP];
}

/** One entry of `paths`, relative to `root`; an entry that leaves the root is refused, never trimmed. */
export function parsePathPatterns(
  text: string,
  root: readonly string[],
  pathSettings: PathSettings,
): Result<readonly Sequence[]> {
  if (text.length > patternCharactersMax)
    return refuse("too_long", `the pattern is longer than ${patternCharactersMax} characters`);
  const spelled = braces(text);
  if (!spelled.ok) return spelled;
  const patterns: Sequence[] = [];
  for (const one of spelled.value) {
    const bad = /[?[\]]|^!|[@+!]\(/.exec(one);
    if (bad !== null)
      return refuse(
        "bad_pattern",
        `${JSON.stringify(bad[0])} is not part of a path pattern; only \`*\`, \`**\` and braces are`,
      );
    const segments = normalSegments(one, { ...pathSettings, base: root }, true);
    if (!segments.ok) return segments;
    if (!root.every((name, at) => name === segments.value[at])) {
      return refuse("escapes_root", `${JSON.stringify(text)} leaves its root /${root.join("/")}`);
    }
    patterns.push(
      joinDeep(segments.value.map((segment, at) => (at < root.length ? literal(segment) : segmentOf(segment)))),
    );
  }
  return done(patterns);
}

/** `**` beside `**` says nothing more. */
export function joinDeep(pattern: readonly Segment[]): Sequence {
  return pattern.filter((segment, at) => segment.kind !== "deep" || pattern[at - 1]?.kind !== "deep");
}

/** `stars`: the text is a pattern, whose segments `..` cannot take back: behind a star it has no one meaning. */
function normalSegments(text: string, pathSettings: PathSettings, stars: boolean): Result<readonly string[]> {
  if (text === "") return refuse("bad_value", "the path is empty");
  if (!isPlainText(text)) return refuse("bad_value", "the path contains a character that is not allowed");
  const home = text === "~" || text.startsWith("~/");
  const start = text.startsWith("/") ? [] : home ? pathSettings.home : pathSettings.base;
  if (start === null)
    return refuse(
      "not_absolute",
      home
        ? "`~` cannot be resolved: there is no home folder"
        : `${JSON.stringify(text)} is relative, and there is no root to resolve it against`,
    );
  const segments = [...start];
  for (const segment of (home ? text.slice(1) : text).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop()?.includes("*") === true && stars)
      return refuse("bad_pattern", "`..` after a wildcard is ambiguous");
  }
  return segments.length > segmentsMax
    ? refuse("too_long", `the path has more than ${segmentsMax} segments`)
    : done(segments);
}

export function pathText(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}

export function pathPatternText(pattern: Sequence): string {
  return `/${sequenceText(pattern, "/")}`;
}
