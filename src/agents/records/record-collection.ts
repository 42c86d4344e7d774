// All records of a workspace, read from their files. Unchanged records come from a cache; only the files decide which
// records exist.
import type { CodedFailure } from "../../core/base/result.ts";
import type { Diagnostic, DiagnosticCode, Severity } from "../../core/notation/diagnostic.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import { cacheText, readCache } from "./collection-cache.ts";
import { idOfPath, type RecordData, type RecordReading, readRecordData } from "./record-data.ts";

export interface ListedFile {
  /** Relative to the records folder, with `/`. */
  readonly path: string;
  /** Changes whenever the file does: its size, its times, its inode. */
  readonly stamp: string;
  /** Old enough that a further change would change the stamp. */
  readonly settled: boolean;
}

/** A file that exists and cannot be a record. */
export interface ListedProblem {
  readonly path: string;
  readonly code: DiagnosticCode;
  readonly message: string;
}

export interface Listing {
  /** Sorted by path. */
  readonly files: readonly ListedFile[];
  readonly problems: readonly ListedProblem[];
}

export type ReadText = { readonly ok: true; readonly text: string } | CodedFailure<DiagnosticCode>;

export interface ParsedText {
  readonly read: { readonly tree: TreeNode | null; readonly diagnostics: readonly Diagnostic[] };
  readonly body: { readonly start: number };
}

/** What the collection needs from the machine. */
export interface CollectionMachine {
  list(): Listing;
  read(file: ListedFile): ReadText;
  frontmatter(source: Source): ParsedText;
  /** The name of a file in messages. */
  nameOf(path: string): string;
  loadCache(): string | null;
  saveCache(text: string): void;
}

export interface Problem {
  readonly diagnostic: Diagnostic;
  /** Its text, to show the line; empty if there is none. */
  readonly source: Source;
}

export interface RecordCollection {
  /** Sorted by id; none twice. */
  readonly records: readonly RecordData[];
  readonly problems: readonly Problem[];
  /** By path. */
  readonly files: ReadonlyMap<string, ListedFile>;
  readonly counts: { readonly files: number; readonly read: number; readonly kept: number };
}

/** `step` is called with the number of finished files, to show progress. */
export function openCollection(
  machine: CollectionMachine,
  step: (done: number, total: number) => void = () => {},
): RecordCollection {
  const { files, problems: found } = machine.list();
  const cache = readCache(machine.loadCache());
  const problems = found.map((problem) => problemOf(machine, problem));
  const records: RecordData[] = [];
  const keep: { readonly stamp: string; readonly record: RecordData }[] = [];
  let kept = 0;
  for (const [at, file] of files.entries()) {
    step(at, files.length);
    const known = cache.get(file.path);
    if (known !== undefined && known.stamp === file.stamp) {
      kept++;
      records.push(known.record);
      keep.push(known);
      continue;
    }
    const { record, found: mistakes } = readOne(machine, file);
    problems.push(...mistakes);
    if (record === null) continue;
    records.push(record);
    // A record with a diagnostic is not cached, so that its line can be shown again.
    if (file.settled && mistakes.length === 0) keep.push({ stamp: file.stamp, record });
  }
  if (keep.length !== cache.size || kept !== cache.size) machine.saveCache(cacheText(keep));
  return {
    ...distinct(machine, records, problems),
    files: new Map(files.map((file) => [file.path, file])),
    counts: { files: files.length, read: files.length - kept, kept },
  };
}

/** One record by its file, with its current text: the cache is not used. */
export function readOne(
  machine: Pick<CollectionMachine, "read" | "frontmatter" | "nameOf">,
  file: ListedFile,
): {
  readonly record: RecordData | null;
  readonly found: readonly Problem[];
  readonly source: Source;
  readonly body: number;
} {
  const text = machine.read(file);
  if (!text.ok) {
    const problem = problemOf(machine, { path: file.path, code: text.code, message: text.message });
    return { record: null, found: [problem], source: problem.source, body: 0 };
  }
  const source: Source = { name: machine.nameOf(file.path), text: text.text };
  const { read, body } = machine.frontmatter(source);
  const { record, diagnostics }: RecordReading =
    read.tree === null
      ? { record: null, diagnostics: read.diagnostics.map(forRecords) }
      : readRecordData(file.path, read.tree, source.text.slice(body.start));
  return { record, found: diagnostics.map((diagnostic) => ({ diagnostic, source })), source, body: body.start };
}

/** The example in the diagnostic for missing frontmatter is for agents. */
function forRecords(diagnostic: Diagnostic): Diagnostic {
  return diagnostic.fix?.startsWith("---\n") === true ? { ...diagnostic, fix: EXAMPLE } : diagnostic;
}

const EXAMPLE = '---\nclass: note\ntitle: "What it is about"\n---';

/** An id belongs to the file at its path, else to the first file that claims it. */
function distinct(
  machine: CollectionMachine,
  records: readonly RecordData[],
  problems: readonly Problem[],
): Pick<RecordCollection, "records" | "problems"> {
  const taken = new Map<string, RecordData>();
  const doubles: Problem[] = [];
  const isOwn = ({ id, path }: RecordData): boolean => idOfPath(path) === id;
  for (const record of [...records.filter(isOwn), ...records.filter((one) => !isOwn(one))]) {
    const other = taken.get(record.id);
    if (other === undefined) taken.set(record.id, record);
    else {
      const message = `the id ${JSON.stringify(record.id)} belongs to ${machine.nameOf(other.path)}`;
      doubles.push(problemOf(machine, { path: record.path, code: "bad_value", message }));
    }
  }
  const sorted = [...taken.values()].sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
  return { records: sorted, problems: [...problems, ...doubles] };
}

export function problemOf(
  machine: Pick<CollectionMachine, "nameOf">,
  { path, code, message }: ListedProblem,
  severity: Severity = "error",
): Problem {
  const name = machine.nameOf(path);
  const span = { source: name, start: 0, end: 0 };
  return {
    diagnostic: { severity, code, message, span, suggestion: null, fix: null },
    source: { name, text: "" },
  };
}
