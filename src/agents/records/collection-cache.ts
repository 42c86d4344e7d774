// A cache of the data of unchanged files, stored as text between two runs. Lines that differ from our format are
// ignored.
import type { WrittenLink } from "./link-scanner.ts";
import type { RecordData } from "./record-data.ts";

export interface CachedRecord {
  readonly stamp: string;
  readonly record: RecordData;
}

/** Changes whenever the extracted data, or the splitting into words, changes. */
const VERSION = "ambit-records-1";
/** A larger cache is not stored. */
const cacheCharactersMax = 64 * 1024 * 1024;

/** One line for each record, so that an error in one does not affect the others. */
export function cacheText(kept: readonly CachedRecord[]): string {
  const lines = [VERSION];
  let characters = VERSION.length;
  for (const { stamp, record } of kept) {
    const { id, path, recordClass, title, tags, links, words } = record;
    const line = JSON.stringify([
      ...[path, stamp, id, recordClass, title],
      tags,
      links.map(({ kind, target }) => [kind, target]),
      [words.title, words.tags, words.body].map((list) => list.join(" ")),
    ]);
    characters += line.length + 1;
    if (characters > cacheCharactersMax) break;
    lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}

/** By path. */
export function readCache(text: string | null): ReadonlyMap<string, CachedRecord> {
  const kept = new Map<string, CachedRecord>();
  if (text === null || !text.startsWith(`${VERSION}\n`) || !text.endsWith("\n")) return kept;
  for (const line of text.slice(VERSION.length + 1, -1).split("\n")) {
    const one = readLine(line);
    if (one !== null) kept.set(one.record.path, one);
  }
  return kept;
}

function readLine(line: string): CachedRecord | null {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 8) return null;
  const [path, stamp, id, recordClass, title, tags, links, words] = fields as readonly unknown[];
  if (!isText(path) || !isText(stamp) || !isText(id) || !isText(title)) return null;
  if ((recordClass !== null && !isText(recordClass)) || !isTexts(tags) || !isTexts(words) || words.length !== 3)
    return null;
  const written = readLinks(links);
  if (written === null) return null;
  const [inTitle = [], inTags = [], inBody = []] = words.map((list) => (list === "" ? [] : list.split(" ")));
  return {
    stamp,
    record: {
      id,
      path,
      recordClass,
      title,
      tags,
      links: written,
      words: { title: inTitle, tags: inTags, body: inBody },
    },
  };
}

function readLinks(value: unknown): readonly WrittenLink[] | null {
  if (!Array.isArray(value)) return null;
  const links: WrittenLink[] = [];
  for (const item of value as readonly unknown[]) {
    if (!isTexts(item) || item.length !== 2) return null;
    const [kind, target = ""] = item;
    if (kind !== "wiki" && kind !== "path" && kind !== "field") return null;
    links.push({ kind, target });
  }
  return links;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}
