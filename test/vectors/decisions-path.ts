// Decisions about paths: deep stars, spelling, and paths protected under any pattern.
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { HOME, PATH_SETTINGS, WORK } from "./machine.ts";
import { isAtOrBelow, pathWords, spelledOut, wordsMatch } from "./model-words.ts";
import { type Row, textAt, textsAt } from "./row.ts";
import { seedGlob } from "./seed-rules.ts";

const GLOB: readonly string[] = ["egghead-path-glob"];

/** `.`, `..` and empty segments. */
const DETOUR = /(^|\/)\.{1,2}(\/|$)|\/\/|.\/$/;

function words(path: string): string[] {
  return pathWords(path, WORK, HOME);
}

/** The longest protected path that equals or contains this one. */
export function protectedAbove(path: string): readonly string[] | null {
  const all = PATH_SETTINGS.protectedPaths.filter((entry) => isAtOrBelow(words(path), entry));
  return all.sort((left, right) => right.length - left.length)[0] ?? null;
}

function globMatches(input: Row, longer = 0): boolean {
  const pattern = textAt(input, "pattern");
  const path = words(textAt(input, "path"));
  if (/[?[\]]|^!/.test(pattern)) return false;
  const guarded = protectedAbove(textAt(input, "path"));
  return spelledOut(pattern)
    .map(words)
    .some((one) => wordsMatch(one, path, longer) && (guarded === null || isAtOrBelow(one, guarded)));
}

function globs(input: Row): JsonObject {
  return { matches: globMatches(input) };
}

/** The literal beginning of a token's or a caveat's pattern. */
function names(pattern: string, guarded: readonly string[]): boolean {
  return isAtOrBelow(words(pattern), guarded);
}

/** A token's path pattern against the requested path, both normalized. */
function tokens(input: Row): JsonObject {
  const [held, asked] = [tokenPath(input, "held"), tokenPath(input, "request")];
  return { expect: held !== null && asked !== null && wordsMatch(words(held), words(asked)) ? "allow" : "deny" };
}

/** The same as text: stars over characters, the path as requested. */
function seedTokens(input: Row): JsonObject {
  const [pattern, path] = [tokenPath(input, "held"), tokenPath(input, "request")];
  if (path === null || textAt(input, "held").split(":")[0] !== textAt(input, "request").split(":")[0])
    return { expect: "deny" };
  return { expect: pattern === null || seedGlob({ pattern, path })["matches"] === true ? "allow" : "deny" };
}

function tokenPath(input: Row, key: string): string | null {
  return /^fs\.\w+:(.*)$/s.exec(textAt(input, key))?.[1] ?? null;
}

export const PATH_DECISIONS: readonly Decision[] = [
  {
    record: "0005-path-patterns",
    when: "`**` would have to stand for no segment at all, which it may",
    files: GLOB,
    holds: (input) => globMatches(input) !== globMatches(input, 1),
    answer: globs,
    seed: seedGlob,
  },
  {
    record: "0005-path-patterns",
    when: "the pattern holds `?`, `[`, `]` or begins with `!`: it is refused",
    files: GLOB,
    holds: (input) => /[?[\]]|^!/.test(textAt(input, "pattern")),
    answer: () => ({ matches: false }),
    seed: seedGlob,
  },
  {
    record: "0005-path-patterns",
    when: "the pattern holds braces, which are spelled out, or two stars glued to a name, which stay in it",
    files: GLOB,
    holds: (input) => /\{|[^/]\*\*|\*\*[^/]/.test(textAt(input, "pattern")),
    answer: globs,
    seed: seedGlob,
  },
  {
    record: "0005-path-patterns",
    when: "the path or the pattern has `.`, `..` or an empty segment: both are made normal first",
    files: GLOB,
    holds: (input) => ["path", "pattern"].some((key) => DETOUR.test(textAt(input, key))),
    answer: globs,
    seed: seedGlob,
  },
  {
    record: "0005-path-patterns",
    when: "one of path and pattern is relative and the other is not: what is relative lies below the working folder",
    files: GLOB,
    holds: (input) => /^[/~]/.test(textAt(input, "path")) !== /^[/~]/.test(textAt(input, "pattern")),
    answer: globs,
    seed: seedGlob,
  },
  {
    record: "0012-protected-paths",
    when: "the path is protected, and the pattern does not name it",
    files: GLOB,
    holds: (input) => protectedAbove(textAt(input, "path")) !== null,
    answer: globs,
    seed: seedGlob,
  },
  {
    record: "0012-protected-paths",
    when: "the path is protected, and no entry names it",
    files: ["bridle-path-scope"],
    holds: (input) => {
      const guarded = protectedAbove(textAt(input, "path"));
      return guarded !== null && !textsAt(input, "scope").some((entry) => names(entry, guarded));
    },
    answer: () => ({ expect: "deny" }),
    seed: (input) => ({
      expect: textsAt(input, "scope").some((entry) => isAtOrBelow(words(textAt(input, "path")), words(entry)))
        ? "allow"
        : "deny",
    }),
  },
  {
    record: "0005-path-patterns",
    when: "the path asked for has `.`, `..` or an empty segment: it is made normal first",
    files: ["scarab-token-glob"],
    holds: (input) => DETOUR.test(tokenPath(input, "request") ?? ""),
    answer: tokens,
    seed: seedTokens,
  },
  {
    record: "0012-protected-paths",
    when: "the path asked for is protected, and the token does not name it",
    files: ["scarab-token-glob"],
    holds: (input) => {
      const guarded = protectedAbove(tokenPath(input, "request") ?? "/");
      return guarded !== null && !names(tokenPath(input, "held") ?? "/", guarded);
    },
    answer: () => ({ expect: "deny" }),
    seed: seedTokens,
  },
  {
    record: "0012-protected-paths",
    when: "the path is on the list: closed under every pattern, and opened by a grant that names it",
    files: ["ethos-always-deny-paths"],
    holds: (input) => protectedAbove(textAt(input, "path")) !== null,
    answer: () => ({ everywhere: "deny", named: "allow" }),
    seed: () => ({ everywhere: "deny", named: "deny" }),
  },
];
