// URIs of resources as names: `docs://pages/a` is the segments `docs:`, `pages`, `a`. One spelling for one resource: what a server
// could read as another resource than the one that was decided has none.
import { type Result, refuse } from "../../base/result.ts";
import type { Segments, Sequence } from "../patterns/sequence.ts";
import { namePatternText, nameText, parseName, parseNamePattern } from "./name.ts";

/** No authority looks like this. */
const NO_AUTHORITY = "[]";
const HIERARCHICAL = /^([A-Za-z][A-Za-z0-9+.-]*):(\/\/)?(\/.*|(?<=\/\/).*)$/s;
const ENCODED_STEP = /%(?:00|2e|2f|5c)/i;

export function parseUri(text: string): Result<Segments> {
  // A star would match them as part of a name, and a server cuts them off: it would read another resource.
  if (/[?#]/.test(text)) return refuse("bad_value", `${JSON.stringify(text)} has a query or a fragment`);
  const name = nameOf(text);
  return name.ok ? parseName(name.value) : name;
}

export function parseUriPattern(text: string): Result<Sequence> {
  const name = nameOf(text);
  return name.ok ? parseNamePattern(name.value) : name;
}

export function uriText(segments: readonly string[]): string {
  return uriOf(nameText(segments));
}

export function uriPatternText(pattern: Sequence): string {
  return uriOf(namePatternText(pattern));
}

function nameOf(text: string): Result<string> {
  if (ENCODED_STEP.test(text) || text.includes("\\"))
    return refuse("bad_value", `${JSON.stringify(text)} has an encoded NUL, dot or slash, or a backslash`);
  const [, scheme, , rest = ""] = HIERARCHICAL.exec(text) ?? [];
  if (scheme === undefined) return { ok: true, value: text };
  const authority = scheme.toLowerCase() === "file" ? "localhost" : NO_AUTHORITY;
  // `docs:/a` and `docs:///a` are the same, and are not `docs://a`.
  return { ok: true, value: `${scheme.toLowerCase()}:/${rest.startsWith("/") ? authority : ""}${rest}` };
}

function uriOf(name: string): string {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/(.*)$/s.exec(name) ?? [];
  if (scheme === undefined) return name;
  const isWithout = rest.startsWith(`${NO_AUTHORITY}/`);
  return `${scheme}://${isWithout ? rest.slice(NO_AUTHORITY.length) : rest}`;
}
