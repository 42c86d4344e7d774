// Writes the log of a store as lines of an export: every entry, followed by the notes signed for it.
import type { ChainStore } from "../../core/ports/stores/chain-rows.ts";
import type { Durable, DurableResult } from "../../core/ports/stores/durable.ts";
import { type ExportHeader, type ExportLine, exportLine } from "./export.ts";
import { NotePages } from "./note-pages.ts";
import type { ChainHead } from "./verify.ts";

export interface ExportOptions extends Omit<ExportHeader, "first"> {
  /** Notes in which a key names the next. */
  readonly rotations: readonly string[];
  /** The first position; not before what retention left. */
  readonly from: number;
}

export interface ExportPorts {
  readonly chain: Pick<ChainStore, "rows" | "checkpoints" | "head" | "first">;
  /** Resolves when there is room for more. */
  line(text: string): Promise<void>;
}

const batchRows = 500;

/** Returns the head it ends with: entries written meanwhile are not included. */
export async function exportStore({ chain, line }: ExportPorts, asked: ExportOptions): Durable<ChainHead> {
  const [kept, head] = [await chain.first(), await chain.head()];
  if (!kept.ok) return kept;
  if (!head.ok) return head;
  const { node, keys, at, rotations, from } = asked;
  const { place: end } = head.value;
  const first = Math.max(from, kept.value);
  const write = (one: ExportLine): Promise<void> => line(exportLine(one));
  await write({ kind: "header", node, first, keys, at });
  for (const text of rotations) await write({ kind: "rotation", text });
  const notes = new NotePages(chain, first - 1);
  const writeNotes = async (upTo: number): Promise<DurableResult<null>> =>
    notes.each(Math.min(upTo, end), (note) => write({ kind: "checkpoint", ...note }));
  const before = await writeNotes(first - 1);
  if (!before.ok) return before;
  for (let place = first; place <= end; ) {
    const rows = await chain.rows(place, Math.min(batchRows, end - place + 1));
    if (!rows.ok) return rows;
    const last = rows.value.at(-1)?.place ?? 0;
    // The position must advance, or this would never end; the verifier reports what is missing.
    if (!(last >= place)) break;
    for (const row of rows.value) {
      await write({ kind: "entry", place: row.place, body: row.body, hash: row.hash });
      const written = await writeNotes(row.place);
      if (!written.ok) return written;
    }
    place = last + 1;
  }
  const { place, hash } = head.value;
  await write({ kind: "head", place, hash });
  return { ok: true, value: { place, hash } };
}
