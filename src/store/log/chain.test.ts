import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chainHash, ZERO_HASH } from "../../log/chain/chain.ts";
import { entryBody } from "../../log/chain/entry-body.ts";
import { type Database, loadDriver } from "../sqlite.ts";
import type { State } from "../state.ts";
import { editLog } from "../testing/leaf.ts";
import { digest, entryOf, program, type TemporaryState, temporaryState, value } from "../testing/state.ts";
import { removedRowsMax } from "./chain.ts";
import { FactFiller } from "./index-filler.ts";
import { rowsBetween } from "./leaf.ts";
import { fillWords } from "./word-index.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

async function filled(count: number): Promise<void> {
  const before = value(await state.chain.head()).place;
  for (let at = 0; at < count; at += 500)
    value(
      await state.ledger.append(
        Array.from({ length: Math.min(500, count - at) }, (_, one) => entryOf({ id: `id-${before + at + one + 1}` })),
      ),
    );
}

describe("the chain", () => {
  it("is consistent from the zero hash on", async () => {
    const entries = [entryOf(), entryOf({ more: { text: "\0\ud800 ü" } }), entryOf()];
    value(await state.ledger.append(entries));
    let hash = ZERO_HASH;
    for (const [at, row] of value(await state.chain.rows(1, 10)).entries()) {
      hash = chainHash(digest, hash, row.body);
      expect(row).toEqual({ place: at + 1, body: entryBody(entries[at]!), hash });
    }
    expect(value(await state.chain.head())).toEqual({ place: 3, hash });
    expect(value(await state.chain.rows(2, 1)).map((row) => row.place)).toEqual([2]);
  });

  it("is continued after a removed range", async () => {
    for (let at = 0; at < 12; at++) await filled(1);
    const database = loadDriver(program)?.(join(place.folder, "state.db"), false) as Database;
    editLog(database, (rows) => rows.filter((row) => row.place < 3 || row.place > 9));
    database.close();
    const places = async (from: number, count: number): Promise<readonly number[]> =>
      value(await state.chain.rows(from, count)).map((row) => row.place);
    expect(await places(1, 3)).toEqual([1, 2]);
    expect(await places(3, 2)).toEqual([10, 11]);
    expect(await places(13, 2)).toEqual([]);
  });

  it("is empty at first", async () => {
    expect(value(await state.chain.head())).toEqual({ place: 0, hash: ZERO_HASH });
    expect(value(await state.chain.first())).toBe(1);
    expect(value(await state.chain.rows(1, 9))).toEqual([]);
  });
});

describe("entries are immutable", () => {
  it.each([
    ["UPDATE leaf SET entries = replace(entries, 'allow', 'deny')", "never changed"],
    ["UPDATE leaf SET last = 9 WHERE last = 5", "never changed"],
    ["DELETE FROM leaf WHERE last = 5", "never removed"],
    ["DELETE FROM leaf", "never removed"],
    ["INSERT INTO leaf SELECT 99, 99, entries, NULL FROM leaf LIMIT 1", "behind the last"],
    ["INSERT INTO leaf SELECT 5, 6, entries, NULL FROM leaf LIMIT 1", "behind the last"],
    ["INSERT OR REPLACE INTO leaf SELECT last, first, entries, NULL FROM leaf LIMIT 1", "behind the last"],
    ["UPDATE progress SET before = 3", "only up to a checkpoint"],
    ["UPDATE checkpoint SET text = ''", "never changed"],
    ["DELETE FROM checkpoint", "never removed"],
    ["DELETE FROM progress", "always one"],
  ])("%s", async (text, why) => {
    await filled(4);
    value(await state.chain.keepCheckpoint({ place: 4, text: "note" }));
    await filled(1);
    const driver = loadDriver(program);
    const database = driver?.(join(place.folder, "state.db"), false);
    expect(() => database?.exec(text)).toThrow(why);
    database?.close();
    expect(value(await state.chain.rows(1, 9))).toHaveLength(5);
  });
});

describe("retention", () => {
  it("removes up to a checkpoint and nothing else", async () => {
    await filled(10);
    value(await state.chain.keepCheckpoint({ place: 10, text: "note" }));
    await filled(10);
    for (const before of [10, 12, 21, 99])
      expect((await state.chain.prune(before, entryOf())).ok, String(before)).toBe(false);
    expect(value(await state.chain.head()).place).toBe(20);
    expect(value(await state.chain.prune(11, entryOf({ id: "pruned" })))).toEqual({ removed: 10 });
    expect(value(await state.chain.first())).toBe(11);
    expect(value(await state.chain.rows(1, 99)).map((row) => row.place)).toEqual(
      Array.from({ length: 11 }, (_, at) => at + 11),
    );
    expect(value(await state.chain.prune(11, entryOf()))).toEqual({ removed: 0 });
    expect(value(await state.chain.checkpoints(1))).toEqual([{ place: 10, text: "note" }]);
    expect(value(await state.ledger.entry("id-3"))).toBeNull();
    state.close();
    state = place.opened();
    expect(value(await state.chain.first())).toBe(11);
    expect(value(await state.ledger.log({ count: 99 }))).toHaveLength(11);
  });

  it("removes everything that was indexed with it, in steps", async () => {
    const count = removedRowsMax + 700;
    await filled(count - 100);
    await filled(100);
    const filler = new FactFiller();
    for (let step = 0; step < 4; step++) {
      value(await state.loop.write((connection) => filler.step(connection)));
      value(await state.loop.write(fillWords));
    }
    value(await state.chain.keepCheckpoint({ place: count - 100, text: "note" }));
    expect(value(await state.chain.prune(count - 99, entryOf()))).toEqual({ removed: count - 100 });
    const left = (table: string, column = "place"): unknown =>
      value(
        state.loop.readNow(
          (connection) => connection.get(`SELECT count(*) AS n FROM ${table} WHERE ${column} <= ${count - 100}`)?.["n"],
        ),
      );
    for (const table of ["fact", "fact_verb", "fact_id", "fact_of"]) expect(left(table), table).toBe(0);
    expect(left("leaf", "last")).toBe(0);
    expect(left("word", "word MATCH 'kdecision' AND rowid")).toBe(0);
    for (const query of [{}, { agent: "scout" }, { verb: "proc.exec" }, { text: "scout" }, { since: 5 }])
      expect(value(await state.ledger.log({ ...query, count: 1000 })), JSON.stringify(query)).toHaveLength(101);
    await filled(0);
    value(await state.ledger.append(Array.from({ length: 600 }, () => entryOf({ agent: "late" }))));
    expect(value(await state.ledger.log({ agent: "late", count: 1000 }))).toHaveLength(600);
  });

  it("that was interrupted continues at the next opening", async () => {
    await filled(10);
    value(await state.chain.keepCheckpoint({ place: 10, text: "note" }));
    await filled(10);
    value(await state.loop.write((connection) => connection.run("UPDATE progress SET first = 11")));
    const rows = (): unknown => value(state.loop.readNow((connection) => [...rowsBetween(connection, 1, 99)].length));
    expect(rows()).toBe(20);
    expect(value(await state.ledger.log({ count: 99 }))).toHaveLength(10);
    state.close();
    state = place.opened();
    value(await state.ledger.append([entryOf()]));
    expect(rows()).toBe(11);
  });

  it("a checkpoint is of an existing entry, and the first note stays", async () => {
    await filled(3);
    expect((await state.chain.keepCheckpoint({ place: 2, text: "note" })).ok).toBe(false);
    expect((await state.chain.keepCheckpoint({ place: 4, text: "note" })).ok).toBe(false);
    expect((await state.chain.keepCheckpoint({ place: 0, text: "note" })).ok).toBe(false);
    value(await state.chain.keepCheckpoint({ place: 3, text: "note" }));
    value(await state.chain.keepCheckpoint({ place: 3, text: "another" }));
    expect(value(await state.chain.checkpoints(0))).toEqual([{ place: 3, text: "note" }]);
  });
});
