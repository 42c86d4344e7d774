// `ambit records list | show | search | new`: the records of a workspace as data.

import type { RecordsFolder } from "../../agents/disk/records-folder.ts";
import { linkGraph } from "../../agents/records/links.ts";
import {
  type CollectionMachine,
  openCollection,
  type RecordCollection,
  readOne,
} from "../../agents/records/record-collection.ts";
import { isAgentClass, parseRecordId, type RecordData } from "../../agents/records/record-data.ts";
import { recordText } from "../../agents/records/record-text.ts";
import { queryWords, RecordSearch } from "../../agents/records/search.ts";
import { type Snippet, snippetOf } from "../../agents/records/search-snippet.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail, hasErrors, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";
import { type ProgressPorts, progressOf } from "../terminal/progress.ts";
import { snippetLine } from "./snippet-line.ts";

export interface RecordsPorts extends ProgressPorts {
  readonly paint: Paint;
  /** Null outside a workspace. */
  readonly records: RecordsFolder | null;
  print(text: string): void;
  printError(text: string): void;
}

export interface RecordsListOptions extends JsonOption {
  readonly class?: string | undefined;
}

export interface RecordsNewOptions extends JsonOption {
  readonly class: string;
  readonly title?: string | undefined;
}

/** Results of a search that are printed; the rest is counted. */
const resultsShownMax = 50;
const classesShownMax = 20;

export function recordsList(ports: RecordsPorts, options: RecordsListOptions): ExitCode {
  if (ports.records === null) return noWorkspace(ports, options);
  const collection = collectionOf(ports, ports.records, options);
  const records = collection.records.filter((record) => isOfClass(record, options.class));
  if (options.json)
    ports.print(
      jsonLine({
        records: records.map((record) => summary(record, ports.records as RecordsFolder)),
        files: collection.counts,
        problems: collection.problems.map(showProblem),
      }),
    );
  else {
    printProblems(ports, collection.problems);
    for (const record of records) ports.print(line(record, ports.paint));
    if (records.length === 0) ports.print(ports.paint.dim(noneText(collection.records, options.class)));
  }
  return hasErrors(collection.problems) ? EXIT.error : EXIT.ok;
}

function noneText(records: readonly RecordData[], asked: string | undefined): string {
  if (asked === undefined || records.length === 0)
    return "no records here; create one: ambit records new notes/first --class note";
  const classes = [...new Set(records.map(({ recordClass }) => visibleText(recordClass ?? "none")))].toSorted();
  return `no records of class ${visibleText(asked)}; there are ${classes.slice(0, classesShownMax).join(", ")}`;
}

export function recordsShow(ports: RecordsPorts, id: string, options: JsonOption): ExitCode {
  if (ports.records === null) return noWorkspace(ports, options);
  const collection = collectionOf(ports, ports.records, options);
  const found = collection.records.find((record) => record.id === id);
  const file = found === undefined ? undefined : collection.files.get(found.path);
  if (found === undefined || file === undefined) {
    const nearest = nearestName(
      id,
      collection.records.map((record) => record.id),
    );
    const unread = collection.problems.length > 0 ? "some files could not be read: ambit records list" : null;
    const fix = nearest === null ? unread : `did you mean ${nearest}?`;
    return fail(ports, options, EXIT.error, `no record ${JSON.stringify(id.slice(0, 200))}`, fix);
  }
  // The file as it is now, not as the index remembers it.
  const { record, found: problems, source, body } = readOne(ports.records.machine, file);
  if (!options.json) printProblems(ports, problems);
  if (record === null) return fail(ports, options, EXIT.error, `${source.name} is no longer a record`, null);
  const graph = linkGraph(collection.records.map((one) => (one.path === record.path ? record : one)));
  const links = graph.linksOf(record.id);
  const backlinks = graph.backlinksOf(record.id);
  const text = source.text.slice(body);
  if (options.json) ports.print(jsonLine({ ...summary(record, ports.records), links, backlinks, body: text }));
  else {
    const { paint } = ports;
    ports.print(line(record, paint));
    ports.print(paint.dim(`  ${visibleText(source.name)}`));
    for (const { target, to } of links)
      ports.print(
        to === null
          ? `  ${paint.warn("->")} ${visibleText(target)}  ${paint.dim("no such record")}`
          : `  -> ${visibleText(to)}`,
      );
    for (const from of backlinks) ports.print(`  <- ${visibleText(from)}`);
    ports.print("");
    for (const one of text.trimEnd().split(/\r\n?|\n/)) ports.print(visibleText(one));
  }
  return EXIT.ok;
}

export function recordsSearch(ports: RecordsPorts, words: readonly string[], options: RecordsListOptions): ExitCode {
  if (ports.records === null) return noWorkspace(ports, options);
  const asked = queryWords(words.join(" "));
  if (!asked.ok) return fail(ports, options, EXIT.usage, asked.message, asked.fix ?? null);
  const { machine } = ports.records;
  const collection = collectionOf(ports, ports.records, options);
  const records = collection.records.filter((record) => isOfClass(record, options.class));
  const search = new RecordSearch(asked.value);
  for (const record of records) search.add(record.words);
  const found = search.found().map((number) => records[number] as RecordData);
  const first = found.slice(0, resultsShownMax);
  if (options.json) {
    const results = first.map((record) => ({
      ...summary(record, ports.records as RecordsFolder),
      snippet: snippetIn(collection, machine, record, asked.value),
    }));
    ports.print(
      jsonLine({ words: asked.value, total: found.length, records: results, unread: unreadCount(collection) }),
    );
    return EXIT.ok;
  }
  for (const record of first) {
    ports.print(line(record, ports.paint));
    const snippet = snippetIn(collection, machine, record, asked.value);
    if (snippet !== null) ports.print(snippetLine(snippet, ports.paint));
  }
  const more = found.length - first.length;
  if (found.length === 0) ports.print(ports.paint.dim("no record contains all of these words"));
  if (more > 0) ports.print(ports.paint.dim(`and ${more} more; narrow the search with another word or --class`));
  if (unreadCount(collection) > 0)
    ports.printError(
      ports.paint.dim(`${countText(unreadCount(collection), "file", "files")} could not be read: ambit records list`),
    );
  return EXIT.ok;
}

export function recordsNew(ports: RecordsPorts, id: string, options: RecordsNewOptions): ExitCode {
  if (ports.records === null) return noWorkspace(ports, options);
  const name = parseRecordId(id);
  if (!name.ok)
    return fail(
      ports,
      options,
      EXIT.usage,
      name.message,
      "an id has names separated by /, such as notes/first; no name is empty, starts with a dot or contains * or \\",
    );
  if (isAgentClass(options.class))
    return fail(ports, options, EXIT.usage, "agents are not created as records", "ambit agents new");
  const written = recordText(options.class, options.title ?? null);
  if (!written.ok) return fail(ports, options, EXIT.usage, written.message, written.fix ?? null);
  const taken = openCollection(ports.records.machine).records.find((record) => record.id === id);
  if (taken !== undefined) {
    const file = ports.records.machine.nameOf(taken.path);
    return fail(ports, options, EXIT.error, `the record ${JSON.stringify(id)} already exists: ${file}`, null);
  }
  const made = ports.records.create(name.value.segments, written.value);
  if (!made.ok) return fail(ports, options, EXIT.error, made.message, null);
  const file = ports.records.machine.nameOf(`${id}.md`);
  ports.print(
    options.json ? jsonLine({ id, class: options.class, file }) : `${ports.paint.good("new")}  ${visibleText(file)}`,
  );
  return EXIT.ok;
}

function collectionOf(ports: RecordsPorts, { machine }: RecordsFolder, options: JsonOption): RecordCollection {
  return progressOf(ports, options).over("reading records", (step) => openCollection(machine, step));
}

/** From the file as it is now; the index knows words, not lines. */
function snippetIn(
  collection: RecordCollection,
  machine: CollectionMachine,
  { path }: RecordData,
  words: readonly string[],
): Snippet | null {
  const file = collection.files.get(path);
  if (file === undefined) return null;
  const { record, source, body } = readOne(machine, file);
  return record === null ? null : snippetOf(source, body, words);
}

function isOfClass({ recordClass }: RecordData, wanted: string | undefined): boolean {
  return wanted === undefined || recordClass === wanted;
}

function unreadCount({ problems }: RecordCollection): number {
  return new Set(problems.filter(({ diagnostic }) => diagnostic.severity === "error").map(({ source }) => source.name))
    .size;
}

function summary({ id, recordClass, title, tags, path }: RecordData, { machine }: RecordsFolder): object {
  return { id, class: recordClass, title, tags, file: machine.nameOf(path) };
}

function line({ id, recordClass, title, tags }: RecordData, paint: Paint): string {
  const words = [paint.strong(visibleText(id)), paint.dim(visibleText(recordClass ?? "-")), visibleText(title)];
  return [...words, ...tags.map((tag) => paint.dim(`#${visibleText(tag)}`))].join("  ");
}

function noWorkspace(ports: RecordsPorts, options: JsonOption): ExitCode {
  return fail(ports, options, EXIT.error, "no .ambit folder here or in a parent folder", "ambit init");
}
