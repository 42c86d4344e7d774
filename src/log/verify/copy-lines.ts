// The lines that a second copy of the log receives next: an export from a position on, in pieces.

import type { CodedFailure } from "../../core/base/result.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { ChainRow, ChainStore, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import { chainHash, ZERO_HASH } from "../chain/chain.ts";
import { readEntryBody } from "../chain/entry-body.ts";
import { exportLine } from "./export.ts";

/** The entry and the note after which it continues. */
export interface CopyPosition {
  readonly place: number;
  readonly hash: string;
  readonly note: number;
}

export interface CopyPiece {
  /** Lines with their line ends. */
  readonly text: string;
  readonly end: CopyPosition;
  /** Whether the log ended with it when it was read. */
  readonly isAll: boolean;
  /** Hashes of its entries, by position. */
  readonly hashes: ReadonlyMap<number, string>;
  /** Whether it contains only entries about the copy itself, and notes. */
  readonly isOfCopy: boolean;
}

/** Entries that a slow copy itself causes. */
export const SINK_BEHIND = "sink_behind";
export const SINK_CAUGHT_UP = "sink_caught_up";

type Chain = Pick<ChainStore, "rows" | "checkpoints" | "head">;

const pieceRowsMax = 256;
const pieceCharactersMax = 1_048_576;

export class CopyLines {
  readonly #chain: Chain;
  readonly #digest: Digest;
  #notes: readonly CheckpointRow[] = [];

  constructor(chain: Chain, digest: Digest) {
    this.#chain = chain;
    this.#digest = digest;
  }

  /** The entry before a position, from the log itself. A refusal if the log has no such entry. */
  async placeAt(place: number, first: number): Durable<Omit<CopyPosition, "note">> {
    if (place === 0) return { ok: true, value: { place, hash: ZERO_HASH } };
    const rows = await this.#chain.rows(place, 1);
    if (!rows.ok) return rows;
    const [row] = rows.value;
    if (row?.place === place) return { ok: true, value: { place, hash: row.hash } };
    // After a pruning the log begins after a note, which is the only reference.
    return place === first - 1 ? { ok: true, value: { place, hash: "" } } : broken(place);
  }

  /** Null if there is nothing more now. */
  async next(from: CopyPosition): Durable<CopyPiece | null> {
    const rows = await this.#chain.rows(from.place + 1, pieceRowsMax);
    if (!rows.ok) return rows;
    const head = await this.#chain.head();
    if (!head.ok) return head;
    const taken = this.#taken(rows.value, from);
    if (!taken.ok) return taken;
    const last = taken.value.at(-1) ?? from;
    // INVARIANT: read after the rows. A note is committed before any entry after it can be read here.
    const notes = await this.#notesBetween(from, last.place);
    if (!notes.ok) return notes;
    const text = linesOf(taken.value, notes.value);
    if (text === "") return { ok: true, value: null };
    const end = { place: last.place, hash: last.hash, note: notes.value.at(-1)?.place ?? from.note };
    const hashes = new Map(taken.value.map(({ place, hash }) => [place, hash]));
    const isOfCopy = taken.value.every(({ body }) => isAboutCopy(body));
    return { ok: true, value: { text, end, isAll: last.place >= head.value.place, hashes, isOfCopy } };
  }

  /** As many as fit, each of which must continue the one before: a sent line cannot be taken back. */
  #taken(rows: readonly ChainRow[], from: CopyPosition): { ok: true; value: ChainRow[] } | ReturnType<typeof broken> {
    const taken: ChainRow[] = [];
    let { place, hash } = from;
    let characters = 0;
    for (const row of rows) {
      const isNext = row.place === place + 1 && (hash === "" || chainHash(this.#digest, hash, row.body) === row.hash);
      if (!isNext) return broken(place + 1);
      ({ place, hash } = row);
      characters += row.body.length;
      taken.push(row);
      if (characters > pieceCharactersMax) break;
    }
    return { ok: true, value: taken };
  }

  /** Notes that were not sent. A note whose entry was passed already is omitted: it would be out of place. */
  async #notesBetween(from: CopyPosition, to: number): Durable<readonly CheckpointRow[]> {
    const low = Math.max(from.note + 1, from.place);
    let notes = this.#notes.filter(({ place }) => place >= low);
    if (!notes.some(({ place }) => place > to)) {
      const found = await this.#chain.checkpoints(low);
      if (!found.ok) return found;
      notes = [...found.value];
    }
    this.#notes = notes;
    return { ok: true, value: notes.filter(({ place }) => place <= to) };
  }
}

function isAboutCopy(body: string): boolean {
  if (!body.includes(SINK_BEHIND) && !body.includes(SINK_CAUGHT_UP)) return false;
  const entry = readEntryBody(body);
  return entry?.kind === "daemon" && (entry.outcome === SINK_BEHIND || entry.outcome === SINK_CAUGHT_UP);
}

function linesOf(rows: readonly ChainRow[], notes: readonly CheckpointRow[]): string {
  let [text, at] = ["", 0];
  const notesUpTo = (place: number): void => {
    for (let note = notes[at]; note !== undefined && note.place <= place; note = notes[++at])
      text += `${exportLine({ kind: "checkpoint", place: note.place, text: note.text })}\n`;
  };
  for (const { place, body, hash } of rows) {
    notesUpTo(place - 1);
    text += `${exportLine({ kind: "entry", place, body, hash })}\n`;
  }
  notesUpTo(Number.POSITIVE_INFINITY);
  return text;
}

function broken(place: number): CodedFailure<"audit_unavailable"> {
  const message = `entry ${place} of the log is missing or was replaced; run: ambit audit verify`;
  return { ok: false, code: "audit_unavailable", message };
}
