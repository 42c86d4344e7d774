// What an editor shows about a record: problems with quick fixes, explanations of words, and words that fit. Pure: text in, data out.
import { schemaOf } from "../agents/schema/schema.ts";
import { CATALOG, scopeKeys, type VerbEntry, verbEntry } from "../core/authority/catalog.ts";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import { conditionKeys } from "../core/notation/scope/conditions.ts";
import { lineAt, type Range, type Source } from "../core/notation/source.ts";

/** Reads the text as the file it is, and says what is wrong with it. */
export type Diagnose = (text: string) => readonly Diagnostic[];

export interface Replacement extends Range {
  readonly text: string;
}

/**
 * The edit that does what a diagnostic proposes; null where it cannot be made by replacing text. INVARIANT: after it the problem is
 * gone, and no error is there that was not there before.
 */
export function quickFix(source: Source, diagnostic: Diagnostic, diagnose: Diagnose): Replacement | null {
  const before = errorsIn(diagnose(source.text));
  for (const edit of proposedEdits(source, diagnostic)) {
    const after = diagnose(source.text.slice(0, edit.start) + edit.text + source.text.slice(edit.end));
    const isGone = !after.some(({ code, message }) => code === diagnostic.code && message === diagnostic.message);
    if (isGone && errorsIn(after) <= before) return edit;
  }
  return null;
}

function errorsIn(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.filter(({ severity }) => severity === "error").length;
}

/** In place of what is marked, then in place of the item or the line around it. */
function proposedEdits(source: Source, { span, fix, suggestion }: Diagnostic): readonly Replacement[] {
  const line = lineAt(source, span.start);
  const text = source.text.slice(line.start, line.end);
  const lead = /^\s*(?:- )?/.exec(text)?.[0].length ?? 0;
  const whole = { start: line.start + lead, end: line.end };
  const marked = { start: span.start, end: span.end };
  return [
    ...(suggestion === null
      ? []
      : [
          { ...marked, text: suggestion },
          { ...whole, text: renamed(text.slice(lead), suggestion) },
        ]),
    ...(fix === null
      ? []
      : [
          { ...marked, text: fix },
          { ...whole, text: fix },
        ]),
  ];
}

/** The first word of an item with another name. */
function renamed(item: string, name: string): string {
  return item.replace(/^[\w.]+/, name);
}

export interface Explanation extends Range {
  /** Markdown. */
  readonly text: string;
}

/** About the verb, scope key or record key at a place. */
export function explanationAt({ text }: Source, offset: number): Explanation | null {
  const range = wordAt(text, offset);
  const word = text.slice(range.start, range.end);
  const verb = verbEntry(word);
  if (verb !== null) return { ...range, text: verbText(verb) };
  const around = verbAround(text, range.start);
  const key = around === null ? null : describedKey(word);
  if (around !== null && key !== null && keysOf(around).includes(word))
    return { ...range, text: `\`${word}\` of \`${around.verb}\`: ${key}` };
  const own = recordKeys().get(word);
  return own === undefined ? null : { ...range, text: `\`${word}\`: ${own}` };
}

function verbText(entry: VerbEntry): string {
  const keys = keysOf(entry);
  const bare = entry.family === "internal" ? "everything" : "nothing";
  return [
    `**${entry.verb}**: ${entry.effect}. Risk: ${entry.risk}.`,
    ...(entry.axes.length === 0 ? [] : [`Without a scope it grants ${bare}.`]),
    ...(keys.length === 0 ? [] : [`Keys: ${keys.map((key) => `\`${key}\``).join(", ")}`]),
  ].join("\n\n");
}

export interface Completion {
  readonly label: string;
  readonly detail: string;
  readonly kind: "verb" | "key";
}

/** Words that fit at a place: keys of the verb around it, else verbs in a list, else keys of the record. */
export function completionsAt({ text }: Source, offset: number): readonly Completion[] {
  const start = wordAt(text, offset).start;
  const verb = verbAround(text, start);
  if (verb !== null)
    return keysOf(verb).map((label) => ({ label, detail: describedKey(label) ?? "", kind: "key" as const }));
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  if (/^\s*- ["']?$|[[,]\s*["']?$|^\s*(?:capabilities|access):\s*["']?(?:[\w.]+,?\s+)*$/.test(line))
    return CATALOG.map(({ verb: label, effect, risk }) => ({
      label,
      detail: `${effect} (${risk} risk)`,
      kind: "verb" as const,
    }));
  if (line !== "") return [];
  return [...recordKeys()].map(([label, detail]) => ({ label, detail, kind: "key" as const }));
}

function keysOf(entry: VerbEntry): readonly string[] {
  return [...scopeKeys(entry), ...conditionKeys(entry)];
}

/** The verb whose scope holds this place: in braces of a compact spec, or in the lines below `- net.get:`. */
function verbAround(text: string, offset: number): VerbEntry | null {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const compact = /([\w.]+)\{[^{}]*$/.exec(line);
  if (compact !== null) return verbEntry(compact[1] ?? "");
  const indent = /^\s*/.exec(line)?.[0].length ?? 0;
  if (indent === 0 || !/^\s*[\w]*$/.test(line)) return null;
  const above = text
    .slice(0, offset - line.length)
    .split("\n")
    .reverse();
  for (const one of above) {
    const lead = /^(\s*)(- )?/.exec(one);
    const depth = (lead?.[1]?.length ?? 0) + (lead?.[2]?.length ?? 0);
    if (one.trim() === "" || depth >= indent) continue;
    return verbEntry(/^\s*(?:- )?([\w.]+):\s*$/.exec(one)?.[1] ?? "");
  }
  return null;
}

/** Dots are inside verbs. */
function wordAt(text: string, offset: number): Range {
  const isWord = (at: number): boolean => /[\w.]/.test(text[at] ?? "");
  let [start, end] = [offset, offset];
  while (start > 0 && isWord(start - 1)) start--;
  while (end < text.length && isWord(end)) end++;
  return { start, end };
}

type Described = Readonly<Record<string, { readonly description?: string } | undefined>>;

function describedKey(key: string): string | null {
  const definitions = schemaOf("record")["$defs"] as Described;
  return (definitions[`scope-${key}`] ?? definitions[`condition-${key}`])?.description ?? null;
}

function recordKeys(): ReadonlyMap<string, string> {
  const properties = schemaOf("record")["properties"] as Described;
  return new Map(Object.entries(properties).map(([key, schema]) => [key, schema?.description ?? ""]));
}
