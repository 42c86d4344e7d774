// One record as it is now: its data, its whole text, and the version of that text.

import { type ListedFile, readOne } from "../../agents/records/record-collection.ts";
import { isAgentClass, type RecordData } from "../../agents/records/record-data.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { textOf } from "../../core/notation/scope/scope-values.ts";
import type { Source } from "../../core/notation/source.ts";
import { entryOf } from "../../core/notation/tree.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { Library, LibraryMachine } from "./library.ts";
import { bodyStart } from "./text.ts";

/** Access to a workspace's records. */
export interface RecordAccess {
  readonly machine: LibraryMachine;
  readonly library: Library;
  /** The plain file at a path in the records folder, with no link on the path; null if there is none. */
  file(path: string): ListedFile | null;
}

export type FoundRecord =
  | { readonly kind: "record"; readonly record: RecordData; readonly source: Source; readonly bodyStart: number }
  /** It exists and is an agent's text, which these tools do not handle. */
  | { readonly kind: "agent" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "none" };

export async function findRecord(place: RecordAccess, id: string): Promise<FoundRecord> {
  const own = place.file(`${id}.md`);
  const here = own === null ? NONE : lookAt(place, own, id);
  if (here.kind === "record" || here.kind === "agent") return here;
  // A record at another path may claim this id.
  const { records, files } = await place.library.open(place.machine);
  const named = records.find((record) => record.id === id);
  const file = named === undefined ? undefined : files.get(named.path);
  return file === undefined ? here : lookAt(place, file, id);
}

const NONE: FoundRecord = { kind: "none" };

function lookAt({ machine }: RecordAccess, file: ListedFile, id: string): FoundRecord {
  const { record, source, body } = readOne(machine, file);
  if (record !== null)
    return record.id === id ? { kind: "record", record, source, bodyStart: bodyStart(source.text, body) } : NONE;
  if (source.text === "") return { kind: "unreadable" };
  const { tree } = machine.frontmatter(source).read;
  const entry = tree?.kind === "map" ? entryOf(tree, "class") : null;
  const written = entry === null ? null : (textOf(entry, new Diagnostics())?.text ?? null);
  return isAgentClass(written) ? { kind: "agent" } : { kind: "unreadable" };
}

/** Half of a digest is enough to distinguish texts, and short enough to be copied. */
const versionCharacters = 32;

export function versionOf(text: string, digest: Digest): string {
  return digest(text).slice(0, versionCharacters);
}
