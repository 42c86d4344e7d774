// Reads the log: by query, and one entry with its follow-up entries.
import type { ChainRow } from "../../core/ports/stores/chain-rows.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { ChainedEntry, LogQuery } from "../../core/ports/stores/log.ts";
import { type CommitLoop, writeFailure } from "../commit-loop.ts";
import type { Connection } from "../connection.ts";
import { headOf } from "./append.ts";
import { firstOf } from "./chain.ts";
import { entriesById, idText, moreOf, ofText, placedOf, placedWith, rowsAt, tailOf } from "./entry-rows.ts";
import { between, factsOf, placesByFacts } from "./fact-index.ts";
import { rowsBetween } from "./leaf.ts";
import { bodyTest, type LogConditions, logConditions, logEntriesMax, matchesConditions } from "./log-conditions.ts";
import { placesByWords, wordsDone } from "./word-index.ts";

const queryTextCharactersMax = 4_096;
/** Unindexed entries and index candidates that are read in one turn: other requests are served in between. */
const lookedRowsMax = 512;
const candidatesMax = 256;
/** The same for a text search without parsing. */
const scannedRowsMax = 4_096;

/** A range of positions, and the index that covers it. */
interface SearchRange {
  readonly from: number;
  readonly to: number;
  readonly by: "words" | "facts" | "rows";
}

export class LogReader {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  async log(query: LogQuery): Durable<readonly ChainedEntry[]> {
    if ((query.text?.length ?? 0) > queryTextCharactersMax)
      return writeFailure(`at most ${queryTextCharactersMax} characters are searched for`);
    const asked = logConditions(query);
    // No entry can match.
    if (asked.words?.size === 0) return { ok: true, value: [] };
    const planned = this.#loop.readNow((connection) => stretchesOf(connection, asked));
    if (!planned.ok) return planned;
    const found: ChainedEntry[] = [];
    for (const stretch of planned.value) {
      let rest: SearchRange | null = stretch;
      while (rest !== null && found.length < asked.count) {
        const here: SearchRange = rest;
        const looked = this.#loop.readNow((connection) => look(connection, asked, here));
        if (!looked.ok) return looked;
        found.push(...looked.value.found);
        rest = looked.value.rest;
        if (rest !== null) await turn();
      }
    }
    return { ok: true, value: found.slice(0, asked.count) };
  }

  /** By the whole id, or by a unique prefix. Entries not indexed yet are scanned step by step. */
  async entry(id: string): ReturnType<Ledger["entry"]> {
    const whole = await this.#one(id, true);
    const one = !whole.ok || whole.value !== null ? whole : await this.#one(id, false);
    if (!one.ok) return one;
    if (one.value === null) return { ok: true, value: null };
    const { entry } = one.value;
    const indexed = this.#loop.readNow((connection) => moreOf(connection, entry.id));
    if (!indexed.ok) return indexed;
    const isMore = (other: ChainedEntry): boolean => other.entry.of === entry.id;
    const tail = await this.#tail(ofText(entry.id), isMore, logEntriesMax);
    if (!tail.ok) return tail;
    return { ok: true, value: { entry: one.value, more: [...indexed.value, ...tail.value].slice(0, logEntriesMax) } };
  }

  async #one(id: string, isWhole: boolean): Durable<ChainedEntry | null> {
    if (id === "") return { ok: true, value: null };
    const indexed = this.#loop.readNow((connection) => entriesById(connection, id, isWhole));
    if (!indexed.ok) return indexed;
    const isIt = ({ entry }: ChainedEntry): boolean => (isWhole ? entry.id === id : entry.id.startsWith(id));
    const tail = await this.#tail(idText(id, isWhole), isIt, 2);
    if (!tail.ok) return tail;
    const [only, another] = [...indexed.value, ...tail.value];
    return { ok: true, value: only === undefined || (another !== undefined && !isWhole) ? null : only };
  }

  /** Unindexed entries that contain this text and match; at most `count`. */
  async #tail(text: string, isIt: (one: ChainedEntry) => boolean, count: number): Durable<readonly ChainedEntry[]> {
    const found: ChainedEntry[] = [];
    const planned = this.#loop.readNow(tailOf);
    if (!planned.ok) return planned;
    const { from, to } = planned.value;
    for (let at = from; at <= to && found.length < count; at += scannedRowsMax) {
      const last = Math.min(to, at + scannedRowsMax - 1);
      const step = this.#loop.readNow((connection) => placedWith(connection, at, last, text, isIt, count));
      if (!step.ok) return step;
      found.push(...step.value);
      if (last < to) await turn();
    }
    return { ok: true, value: found.slice(0, count) };
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The matching rows, at most `count`. */
function taken(asked: LogConditions, rows: Iterable<ChainRow>, count: number): readonly ChainedEntry[] {
  const mayBe = bodyTest(asked);
  const found: ChainedEntry[] = [];
  if (count <= 0) return found;
  for (const row of rows) {
    if (!mayBe(row.body)) continue;
    const placed = placedOf(row);
    if (matchesConditions(asked, placed.entry) && found.push(placed) >= count) break;
  }
  return found;
}

function stretchesOf(connection: Connection, asked: LogConditions): readonly SearchRange[] {
  const done = wordsDone(connection);
  const facts = factsOf(connection);
  const from = Math.max(asked.from, firstOf(connection));
  const to = Math.min(asked.to, headOf(connection).place);
  const [first, last] = between(connection, asked, from, Math.min(to, facts));
  const hasFacts = asked.verb !== null || asked.facts.length > 0;
  const indexed: readonly SearchRange[] =
    asked.words === null
      ? [{ from: first, to: last, by: "facts" }]
      : [
          { from: first, to: Math.min(last, done), by: "words" },
          { from: Math.max(first, done + 1), to: last, by: hasFacts ? "facts" : "rows" },
        ];
  const stretches: readonly SearchRange[] = [...indexed, { from: Math.max(from, facts + 1), to, by: "rows" }];
  const some = stretches.filter((stretch) => stretch.from <= stretch.to);
  return asked.order === "ASC" ? some : some.reverse();
}

interface SearchStep {
  readonly found: readonly ChainedEntry[];
  readonly rest: SearchRange | null;
}

function look(connection: Connection, asked: LogConditions, stretch: SearchRange): SearchStep {
  if (stretch.by === "rows") return scanRows(connection, asked, stretch);
  const find = stretch.by === "words" ? placesByWords : placesByFacts;
  const most = asked.words === null && asked.workspace === null ? asked.count : candidatesMax;
  const places = find(connection, asked, stretch.from, stretch.to, most);
  const last = places.at(-1);
  const isAll = places.length < most || last === undefined;
  const rest = isAll ? null : asked.order === "ASC" ? { ...stretch, from: last + 1 } : { ...stretch, to: last - 1 };
  return { found: taken(asked, rowsAt(connection, places), asked.count), rest };
}

function scanRows(connection: Connection, asked: LogConditions, stretch: SearchRange): SearchStep {
  const isUp = asked.order === "ASC";
  const [from, to] = isUp
    ? [stretch.from, Math.min(stretch.to, stretch.from + lookedRowsMax - 1)]
    : [Math.max(stretch.from, stretch.to - lookedRowsMax + 1), stretch.to];
  const found = taken(asked, rowsBetween(connection, from, to, asked.order), asked.count);
  const rest = isUp ? { ...stretch, from: to + 1 } : { ...stretch, to: from - 1 };
  return { found, rest: rest.from <= rest.to ? rest : null };
}
