// The changes of a draft with their texts before and after, for review; limited in number and size.
import type { DraftDifference } from "../../core/ports/drafts.ts";
import type { Change } from "../plan/drafts/change.ts";
import type { DraftRecord } from "./draft-records.ts";
import type { LandWorkers } from "./lander/land-workers.ts";

const shownFilesMax = 200;
const shownFileBytesMax = 131_072;
const shownBytesMax = 3 * 1_048_576;

/** As many of them, from the first, as fit into one answer. */
export async function differencesOf(
  workers: LandWorkers,
  record: DraftRecord,
  changes: readonly Change[],
): Promise<readonly DraftDifference[]> {
  const differences: DraftDifference[] = [];
  let bytes = 0;
  for (const change of changes.slice(0, shownFilesMax)) {
    const one = await differenceOf(workers, record, change);
    // The encoded size: a control character takes six bytes.
    bytes += JSON.stringify(one).length;
    if (bytes > shownBytesMax) break;
    differences.push(one);
  }
  return differences;
}

interface Text {
  readonly text: string | null;
  readonly note: string | null;
}

const NO_TEXT: Text = { text: null, note: null };

async function differenceOf(workers: LandWorkers, record: DraftRecord, change: Change): Promise<DraftDifference> {
  const path = change.path.join("/");
  const base = { path, before: null, after: null };
  switch (change.kind) {
    case "folder":
      return { ...base, kind: "folder", note: null };
    case "link":
      return { ...base, kind: "link", note: `-> ${change.target}` };
    case "delete": {
      const before = change.base.kind === "file" ? await textOf(workers, record, "root", change.path) : NO_TEXT;
      return { ...base, kind: "delete", before: before.text, note: before.note };
    }
    case "file": {
      const after = await textOf(workers, record, "draft", change.path);
      const before = change.base?.kind === "file" ? await textOf(workers, record, "root", change.path) : NO_TEXT;
      const note = after.note ?? before.note ?? (change.isExecutable ? "executable" : null);
      const isText = after.note === null && before.note === null;
      return { ...base, kind: "write", before: isText ? before.text : null, after: isText ? after.text : null, note };
    }
    default:
      return change satisfies never;
  }
}

async function textOf(
  workers: LandWorkers,
  record: DraftRecord,
  side: "draft" | "root",
  path: readonly string[],
): Promise<Text> {
  const worker = await workers.at(record);
  if (!worker.ok) return { text: null, note: worker.message };
  const read = await worker.value.read(record.draft, { side, path, offset: 0, bytesMax: shownFileBytesMax });
  if (read.status !== "read") return { text: null, note: read.reason };
  if (read.size > read.bytes.length) return { text: null, note: "too large to show" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read.bytes);
    return text.includes("\0") ? { text: null, note: "binary" } : { text, note: null };
  } catch {
    return { text: null, note: "binary" };
  }
}
