// For tests: is a request, written as a person writes it, covered by some grant?
import { grantMatches } from "../../authority/compiled.ts";
import type { Grant } from "../../authority/grant.ts";
import type { Reading } from "../reading.ts";
import { readRequestText } from "../request/request.ts";
import { READING } from "./notation.ts";

export function covers(grants: readonly Grant[], line: string, reading: Reading = READING): boolean {
  const asked = readRequestText(line, reading);
  if (!asked.ok) throw new Error(`${line}: ${asked.message}`);
  const { verb, values } = asked.value;
  return grants.some((grant) => grant.verb === verb && grantMatches(grant, values));
}

/** Random text that every parser must survive. */
export const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "\0",
  "\uE000",
  "a\uE001b",
  "\uD800",
  "__proto__",
  "constructor",
  "toString",
  "*",
  "**",
  ":",
  "::",
  ".",
  "..",
  "/",
  "//",
  "~",
  "{",
  "}",
  "[",
  "]",
  "[]",
  "[::1]",
  "[::1",
  "\\",
  "'",
  '"',
  "\n",
  "+.x",
  ["$", "{HOME}"].join(""),
  "*".repeat(10_000),
  "/".repeat(10_000),
  "[".repeat(10_000),
  "{".repeat(10_000),
  "a.".repeat(10_000),
  "a:".repeat(10_000),
  "é".repeat(5000),
  "\u202Efs.read",
];
