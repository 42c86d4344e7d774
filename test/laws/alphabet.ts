// Small alphabets, so that random patterns overlap often. Guarded segments are included on purpose.

import type { ToAscii } from "../../src/core/authority/axes/destination.ts";
import type { PathSettings } from "../../src/core/authority/axes/path.ts";
import type { AddressRange } from "../../src/core/base/address.ts";
import { parseRange } from "../../src/core/base/address.ts";

export const PROTECTED: readonly (readonly string[])[] = [
  ["h", "u", ".ssh"],
  ["h", "u", ".ssh", "key"],
  ["b", "ab"],
];

export const PATH_SETTINGS: PathSettings = { home: ["h", "u"], base: ["a"], protectedPaths: PROTECTED };
/** The same machine, seen from another folder. */
export const OTHER_GROUND: PathSettings = { ...PATH_SETTINGS, base: ["b"] };
export const TO_ASCII: ToAscii = () => null;

export const PATH_TEXTS = ["a", "b", "ab", "h", "u", ".ssh", "key", "abb"] as const;
export const PATH_GLOBS = [
  ["a", ""],
  ["", "b"],
  ["a", "b"],
  [".s", ""],
  ["", "s", ""],
  ["", "a", ""],
  ["k", ""],
] as const;

export const NAME_TEXTS = ["a", "b", "ab", "db-a", "db-"] as const;
export const NAME_GLOBS = [
  ["db-", ""],
  ["a", ""],
  ["", "b"],
  ["", "-", ""],
  ["a", "b"],
] as const;

export const LABELS = ["com", "x", "a", "internal"] as const;

export const PROGRAMS = ["find", "git", "ls", "rg", "/usr/bin/find", "/find", "dd", "go"] as const;
export const PROGRAM_GLOBS = [
  ["fi", ""],
  ["", "d"],
  ["/usr/", ""],
  ["", "find"],
  ["", "/", "nd"],
  ["/", ""],
  ["r", "g"],
] as const;
export const TOKENS = [
  "-exec",
  "log",
  "-c",
  ".",
  "-z",
  "--pre",
  "",
  "-n",
  "of=x",
  "-delete",
  "--pre=x",
  "-cz",
  "-exec=q",
  "a*",
] as const;
export const TOKEN_GLOBS = [
  ["-e", ""],
  ["-", "z"],
  ["", "c", ""],
  ["-", ""],
  ["--p", ""],
  ["", "="],
  ["of", ""],
  ["lo", ""],
  ["-", "c", ""],
  ["-z", ""],
  ["--pre=", ""],
  ["a", ""],
] as const;
/** Words that appear in requests only. */
export const OTHER_TOKENS = [
  "-execdir",
  "-zx",
  "--foo-z",
  "-xz",
  "--pr",
  "loo",
  "logs",
  "-C",
  "--exec",
  "-nz",
  "=",
  "of=",
  "-O1",
  "+x",
  "abc",
] as const;

export const RANGE_TEXTS = [
  "10.0.0.0/8",
  "10.1.0.0/16",
  "10.1.2.3",
  "10.0.0.0/7",
  "0.0.0.0/0",
  "8.8.8.0/24",
  "8.8.8.8",
  "128.0.0.0/1",
  "169.254.0.0/16",
  "169.254.169.254",
  "169.254.169.254/31",
  "168.63.129.0/24",
  "168.63.129.16",
  "127.0.0.1",
  "192.168.0.0/16",
  "192.0.0.0/8",
  "fd00::/8",
  "fd00::/32",
  "fd00:ec2::254",
  "fd00:ec2::/32",
  "::1",
  "::/0",
  "2000::/3",
  "2001:4860::/32",
  "2001:4860::1",
  "::/64",
  "::fffe:0:0/96",
  "::/81",
  "::1:0:0:0",
  "2001::/16",
] as const;

export const RANGES: readonly AddressRange[] = RANGE_TEXTS.map((text) => {
  const range = parseRange(text);
  if (!range.ok) throw new Error(`${text}: ${range.message}`);
  return range.value;
});

export const PORTS = [1, 22, 80, 443, 444, 8080, 65_535] as const;
export const WORDS = { mode: ["ro", "rw", "live"], raw: ["sni", "raw"] } as const;
export const TEXT_PATTERNS = [
  ["a", ""],
  ["", "b"],
  ["a", "b"],
  ["a/", ""],
  ["", "/", ""],
  ["", ""],
  ["x"],
  ["a/b"],
  ["", "."],
  ["", "a", "b/", ""],
  ["..", ""],
  ["a", "a", ""],
  ["", "/a", "/a"],
] as const;
export const TEXTS = [
  "x",
  "ab",
  "a/b",
  "a",
  "b",
  "",
  "..",
  "a/..",
  "../b",
  "axb",
  "a\\b",
  "a\nb",
  "aab/",
  "a.",
  "...",
  "/a/a",
  "aXa/a",
  "b/a/a",
  "a/a",
] as const;
export const KEYS = ["a", "b", "c d"] as const;
