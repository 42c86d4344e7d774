// Reads the log: by what is asked for, and one entry with everything that tells more of it.
import type { ChainRow } from "../ports/chain-rows.ts";
import type { Durable } from "../ports/durable.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { LogQuery, PlacedEntry } from "../ports/log.ts";
import { headOf } from "./append.ts";
import { firstOf } from "./chain.ts";
import { type CommitLoop, unkept } from "./commit-loop.ts";
import type { Connection } from "./connection.ts";
import { entriesAt, entryById, moreOf, placedOf, rowsAt } from "./entry-rows.ts";
import { between, factsOf, placesByFacts } from "./fact-index.ts";
import { rowsBetween } from "./leaf.ts";
import { type Asked, askedOf, bodyTest, isAsked } from "./log-conditions.ts";
import { placesByWords, wordsDone } from "./word-index.ts";

const queryTextCharactersMax = 4_096;
/** Places looked through in one go where there is no index, and candidates of the index. */
const lookedRowsMax = 4_096;
const candidatesMax = 256;

/** A stretch of places, and what knows it best. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly by: "words" | "facts" | "rows";
}

export class LogReader {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  async log(query: LogQuery): Durable<readonly PlacedEntry[]> {
    if ((query.text?.length ?? 0) > queryTextCharactersMax)
      return unkept(`at most ${queryTextCharactersMax} characters are searched for`);
    const asked = askedOf(query);
    if (asked.words === null) return this.#loop.read((connection) => byFacts(connection, asked));
    // Nothing that could be found stands in it.
    if (asked.words.size === 0) return { ok: true, value: [] };
    return this.#byWords(asked);
  }

  /** Step by step, so that others are answered in between. What is written meanwhile is not looked at. */
  async #byWords(asked: Asked): Durable<readonly PlacedEntry[]> {
    const planned = this.#loop.readNow((connection) => stretchesOf(connection, asked));
    if (!planned.ok) return planned;
    const found: PlacedEntry[] = [];
    for (const stretch of planned.value) {
      let rest: Stretch | null = stretch;
      while (rest !== null && found.length < asked.count) {
        const here: Stretch = rest;
        const looked = this.#loop.readNow((connection) => look(connection, asked, here));
        if (!looked.ok) return looked;
        found.push(...looked.value.found);
        rest = looked.value.rest;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return { ok: true, value: found.slice(0, asked.count) };
  }

  entry(id: string): ReturnType<Ledger["entry"]> {
    return this.#loop.read((connection) => {
      const entry = entryById(connection, id);
      return entry === null ? null : { entry, more: moreOf(connection, entry.entry.id) };
    });
  }
}

/** The tail that is not in the index is short: it is read from the rows themselves. */
function byFacts(connection: Connection, asked: Asked): readonly PlacedEntry[] {
  const done = factsOf(connection);
  const from = Math.max(asked.from, firstOf(connection));
  const to = Math.min(asked.to, headOf(connection).place);
  const indexed = (count: number): readonly PlacedEntry[] =>
    entriesAt(connection, placesByFacts(connection, asked, from, Math.min(to, done), count));
  const tail = (count: number): readonly PlacedEntry[] =>
    taken(asked, rowsBetween(connection, Math.max(from, done + 1), to, asked.order), count);
  const [first, second] = asked.order === "DESC" ? [tail, indexed] : [indexed, tail];
  const found = first(asked.count);
  return found.length < asked.count ? [...found, ...second(asked.count - found.length)] : found;
}

/** Of these, what was asked for, and no more than so many. */
function taken(asked: Asked, rows: Iterable<ChainRow>, count: number): readonly PlacedEntry[] {
  const mayBe = bodyTest(asked);
  const found: PlacedEntry[] = [];
  if (count <= 0) return found;
  for (const row of rows) {
    if (!mayBe(row.body)) continue;
    const placed = placedOf(row);
    if (isAsked(asked, placed.entry) && found.push(placed) >= count) break;
  }
  return found;
}

function stretchesOf(connection: Connection, asked: Asked): readonly Stretch[] {
  const done = wordsDone(connection);
  const facts = factsOf(connection);
  const from = Math.max(asked.from, firstOf(connection));
  const to = Math.min(asked.to, headOf(connection).place);
  const [first, last] = between(connection, asked, from, Math.min(to, facts));
  const hasFacts = asked.verb !== null || asked.facts.length > 0;
  const stretches: readonly Stretch[] = [
    { from: first, to: Math.min(last, done), by: "words" },
    { from: Math.max(first, done + 1), to: last, by: hasFacts ? "facts" : "rows" },
    { from: Math.max(from, facts + 1), to, by: "rows" },
  ];
  const some = stretches.filter((stretch) => stretch.from <= stretch.to);
  return asked.order === "ASC" ? some : some.reverse();
}

interface Looked {
  readonly found: readonly PlacedEntry[];
  readonly rest: Stretch | null;
}

function look(connection: Connection, asked: Asked, stretch: Stretch): Looked {
  if (stretch.by === "rows") return lookAtRows(connection, asked, stretch);
  const [most, find] = stretch.by === "words" ? [candidatesMax, placesByWords] : [lookedRowsMax, placesByFacts];
  const places = find(connection, asked, stretch.from, stretch.to, most);
  const last = places.at(-1);
  const isAll = places.length < most || last === undefined;
  const rest = isAll ? null : asked.order === "ASC" ? { ...stretch, from: last + 1 } : { ...stretch, to: last - 1 };
  return { found: taken(asked, rowsAt(connection, places), asked.count), rest };
}

function lookAtRows(connection: Connection, asked: Asked, stretch: Stretch): Looked {
  const isUp = asked.order === "ASC";
  const [from, to] = isUp
    ? [stretch.from, Math.min(stretch.to, stretch.from + lookedRowsMax - 1)]
    : [Math.max(stretch.from, stretch.to - lookedRowsMax + 1), stretch.to];
  const found = taken(asked, rowsBetween(connection, from, to, asked.order), asked.count);
  const rest = isUp ? { ...stretch, from: to + 1 } : { ...stretch, to: from - 1 };
  return { found, rest: rest.from <= rest.to ? rest : null };
}
