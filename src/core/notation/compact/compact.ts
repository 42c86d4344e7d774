// The compact notation of one grant: `net.get{hosts=[*.github.com,api.x.com],ask}`.
import type { Grant, Span } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import { unquote } from "../scope/place.ts";
import { readGrant } from "../scope/scope-reader.ts";
import { readVerb } from "../scope/verb-reader.ts";
import type { Entry, Mapping } from "../tree.ts";
import { parseCompact } from "./compact-parser.ts";
import type { Places } from "./compact-places.ts";
import { compactWord } from "./compact-word.ts";

export interface CompactContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  /** Of the whole text. */
  readonly span: Span;
  /** Where its characters stand under the span; absent where they stand there one for one. */
  readonly places?: Places;
  /** Hoisted root of the agent, or null. */
  readonly root: readonly string[] | null;
  readonly implied?: string | null;
}

export function readCompact(text: string, context: CompactContext): Grant | null {
  const spec = parseCompact(text, context.span, context.diagnostics, context.places);
  if (spec === null) return null;
  const verb = readVerb(spec.verb, spec.verbSpan, context.diagnostics);
  if (verb === null) return null;
  const diagnostics = new Diagnostics();
  const grant = readGrant(verb, listed(spec.scope), { ...context, diagnostics, implied: context.implied ?? null });
  for (const one of diagnostics.list) context.diagnostics.list.push({ ...one, fix: compactFix(one.fix) });
  return grant;
}

/** The scope reader proposes `key: value` as in a record; between braces that is `key=value`. Other fixes stay as they are. */
function compactFix(fix: string | null): string | null {
  if (fix === null || !/^[a-z_]+: /.test(fix)) return fix;
  return fix.replace(/"(?:[^"\\]|\\.)*"|: |, |\{ | \}/g, (part) =>
    part.startsWith('"') ? compactWord(unquote(part) ?? part) : part === ": " ? "=" : part.trim(),
  );
}

/** Between braces `hosts=x` is short for `hosts=[x]`; a record's map says which of its values are lists. */
function listed(scope: Mapping | null): Mapping | null {
  if (scope === null) return null;
  const entries = scope.entries.map((entry): Entry => {
    const { key, value } = entry;
    if (value.kind !== "scalar" || !LIST_KEYS.includes(key)) return entry;
    return { ...entry, value: { kind: "list", items: [value], span: value.span } };
  });
  return { ...scope, entries };
}

const LIST_KEYS: readonly string[] = [
  "paths",
  "hosts",
  "ports",
  "private",
  "cmds",
  "patterns",
  "classes",
  "ids",
  "keys",
  "agents",
  "tools",
  "names",
  "providers",
  "models",
  "users",
];
