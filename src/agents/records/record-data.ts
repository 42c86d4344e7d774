// A record as data: id, subject, links, and the words it is found by.
import { parseName } from "../../core/authority/axes/name.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import { kindName, reportRefusal, textOf, textsOf } from "../../core/notation/scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../../core/notation/tree.ts";
import { linksIn, linksPerRecordMax, type WrittenLink } from "./link-scanner.ts";
import type { RecordWords } from "./search.ts";
import { wordsOf, wordsPerRecordMax } from "./words.ts";

export interface RecordData {
  readonly id: string;
  /** Relative to the records folder, with `/` and its extension. */
  readonly path: string;
  /** Null if the record has none. */
  readonly recordClass: string | null;
  readonly title: string;
  readonly tags: readonly string[];
  readonly links: readonly WrittenLink[];
  readonly words: RecordWords;
}

export interface RecordReading {
  /** Null if the text is not a record. */
  readonly record: RecordData | null;
  readonly diagnostics: readonly Diagnostic[];
}

const titleCharactersMax = 400;

/** Case-insensitive: an interface that does not distinguish `Agent` from `agent` must not expose one as a note. */
export function isAgentClass(recordClass: string | null): boolean {
  return recordClass?.trim().toLowerCase() === "agent";
}

/** The id of a file whose text has none. */
export function idOfPath(path: string): string {
  return path.replace(/\.md$/, "");
}

/** Every part must be a plain, visible file name: a path that leaves the folder cannot be expressed. */
export function parseRecordId(text: string): ReturnType<typeof parseName> {
  const name = parseName(text);
  if (!name.ok) return name;
  const odd = name.value.segments.find((segment) => segment.startsWith(".") || segment.includes("\\"));
  if (odd === undefined) return name;
  return {
    ok: false,
    code: "bad_value",
    message: `${JSON.stringify(text.slice(0, 80))}: no part of an id may start with a dot or contain a backslash`,
  };
}

/** `path`: relative to the records folder. The body is the text after the frontmatter. */
export function readRecordData(path: string, tree: TreeNode, body: string): RecordReading {
  const diagnostics = new Diagnostics();
  if (tree.kind !== "map" && !(tree.kind === "scalar" && tree.value === null)) {
    diagnostics.error("wrong_type", tree.span, `a record's frontmatter must be a map, not ${kindName(tree)}`);
    return { record: null, diagnostics: diagnostics.list };
  }
  const map: Mapping = tree.kind === "map" ? tree : { kind: "map", entries: [], span: tree.span };
  const id = readId(path, map, diagnostics);
  const recordClass = textAt(map, "class", diagnostics);
  if (isAgentClass(recordClass))
    diagnostics.error(
      "bad_value",
      (entryOf(map, "class") as Entry).value.span,
      "an agent cannot be stored as a plain record",
      {
        fix: "move the file to .ambit/agents/",
      },
    );
  if (id === null || isAgentClass(recordClass)) return { record: null, diagnostics: diagnostics.list };
  const title = (textAt(map, "title", diagnostics) ?? headingOf(body) ?? id.slice(id.lastIndexOf("/") + 1)).slice(
    0,
    titleCharactersMax,
  );
  const tags = listAt(map, "tags", diagnostics);
  const record: RecordData = {
    id,
    path,
    recordClass,
    title,
    tags,
    links: readLinks(map, body, diagnostics),
    words: readWords(title, [...tags, id], body, map, diagnostics),
  };
  return { record, diagnostics: diagnostics.list };
}

function readId(path: string, map: Mapping, diagnostics: Diagnostics): string | null {
  const entry = entryOf(map, "id");
  const text = entry === null ? idOfPath(path) : (textOf(entry, diagnostics)?.text ?? null);
  if (text === null) return null;
  const id = parseRecordId(text);
  if (id.ok) return text;
  reportRefusal(id, entry?.value.span ?? map.span, diagnostics);
  return null;
}

function readLinks(map: Mapping, body: string, diagnostics: Diagnostics): readonly WrittenLink[] {
  const fields = listAt(map, "links", diagnostics).map(
    (text): WrittenLink => ({ kind: "field", target: /^\[\[(.*)\]\]$/s.exec(text)?.[1] ?? text }),
  );
  const scanned = linksIn(body);
  if (scanned.cut || fields.length > linksPerRecordMax)
    diagnostics.warning("too_large", map.span, `only the first ${linksPerRecordMax} links of a record are followed`);
  return [...fields.slice(0, linksPerRecordMax), ...scanned.links];
}

function readWords(
  title: string,
  tags: readonly string[],
  body: string,
  map: Mapping,
  diagnostics: Diagnostics,
): RecordWords {
  const words = { title: wordsOf(title), tags: wordsOf(tags.join(" ")), body: wordsOf(body) };
  if (words.tags.cut || words.body.cut)
    diagnostics.warning("too_large", map.span, `only the first ${wordsPerRecordMax} different words are searched`);
  return { title: words.title.list, tags: words.tags.list, body: words.body.list };
}

function textAt(map: Mapping, key: string, diagnostics: Diagnostics): string | null {
  const entry = entryOf(map, key);
  return entry === null ? null : (textOf(entry, diagnostics)?.text ?? null);
}

/** A list of text, or one text as a list of one. */
function listAt(map: Mapping, key: string, diagnostics: Diagnostics): readonly string[] {
  const entry = entryOf(map, key);
  if (entry === null) return [];
  const { value } = entry;
  if (value.kind === "scalar" && typeof value.value === "string") return [value.value];
  return (textsOf(entry, diagnostics) ?? []).map(({ text }) => text);
}

/** The first heading of the first level. */
function headingOf(body: string): string | null {
  const heading = /^# +(\S[^\r\n]{0,400})/m.exec(body)?.[1]?.trim();
  return heading === undefined ? null : heading.replace(/ +#+$/, "");
}
