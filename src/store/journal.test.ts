import { rmSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { entryBody } from "../audit/entry-body.ts";
import type { ChainRow } from "../ports/chain-rows.ts";
import { appendEntry, writeEntries } from "./append.ts";
import { journalBytes, recordBytesMax } from "./journal.ts";
import type { State } from "./state.ts";
import { budget, eachWith, type SoleState } from "./testing/journal.ts";
import { digest, entryOf, value, writeOf } from "./testing/state.ts";

let sole: SoleState;
eachWith((begun) => {
  sole = begun;
});

const headerBytes = 8 + 1 + 16 + 1 + 16 + 1 + 64 + 1;

describe("what is acknowledged", () => {
  it("is there after a fall although no table has it, whatever it is made of", async () => {
    const texts = ["", "ü \u{1f600} \u2028\u0085\r\n,\n]", "\0\u0001\ud800", '["', "\ufffd"];
    const entries = texts.map((text) => entryOf({ agent: `\u0001${text}`, more: { text } }));
    for (const entry of entries) value(await sole.state.ledger.append([entry]));
    expect(sole.inFile()).toBe(1);
    const copies = [sole.fallen(), sole.fallen()].map((copy, at) => copy.opened({ isSole: at === 0 }));
    const all = await sole.rows();
    expect(all.slice(1).map(({ body }) => body)).toEqual(entries.map((entry) => entryBody(entry)));
    for (const copy of copies) {
      expect(await sole.rows(copy)).toEqual(all);
      expect(await sole.append("next", "", copy)).toBe(7);
      expect(value(await copy.ledger.log({ agent: entries[2]!.agent as string, count: 9 }))).toHaveLength(1);
    }
  });

  it("waits while other tables are read, and for nobody who reads the log", async () => {
    await sole.append("a");
    value(await sole.state.loop.read((connection) => connection.get("SELECT gone FROM progress")));
    expect(sole.inFile()).toBe(1);
    expect(value(await sole.state.ledger.log({ count: 9 }))).toHaveLength(2);
    expect(sole.inFile()).toBe(2);
  });

  it("is what was spent", async () => {
    const decided = async (of: State, calls: number): Promise<number> => {
      const all = Array.from({ length: calls }, () => of.ledger.decide(writeOf({ charges: [budget] })));
      return (await Promise.all(all)).filter((one) => value(one).ok).length;
    };
    for (let call = 0; call < 3; call++) expect(await decided(sole.state, 1)).toBe(1);
    expect(sole.inFile()).toBe(1);
    const copy = sole.fallen().opened({ isSole: true });
    expect(value(await copy.ledger.accounts(null))).toMatchObject([{ used: 4 }]);
    expect([await decided(copy, 9), await decided(copy, 1)]).toEqual([2, 0]);
    expect(await sole.rows(copy)).toHaveLength(6);
    expect([await decided(sole.state, 1), await decided(sole.state, 9)]).toEqual([1, 1]);
  });

  it("is all but a record that was torn, wherever that was", async () => {
    const { bytes, ends, first } = await sole.written("a", "a longer one", "b");
    const [, , from, to] = ends as [number, number, number, number];
    for (let at = from; at < to; at++)
      for (const rest of [0, 0x39])
        expect(sole.found(Buffer.concat([bytes.subarray(0, at), Buffer.alloc(to - at, rest)]), first), `${at}`).toBe(
          "2 3",
        );
    expect(sole.found(bytes.subarray(0, to - 1), first)).toBe("2 3");
    expect(sole.found(bytes, first)).toBe("2 3 4");
    const copy = sole.fallen((whole) => whole.fill(0, to - 1)).opened({ isSole: true });
    expect(await sole.ids(copy)).toBe("first 0 1");
    expect(await sole.append("next", "", copy)).toBe(4);
  });

  it("is nothing that was touched, and nothing behind it", async () => {
    const { bytes, ends, first } = await sole.written("a", "ü", "b");
    for (let at = ends[1] as number; at < (ends[2] as number); at++) {
      const touched = Buffer.from(bytes);
      touched[at] = (touched[at] as number) ^ 1;
      expect(sole.found(touched, first), `${at}`).toBe("2");
    }
    expect(sole.found(bytes, { ...first, hash: first.hash.replace(/^./, (one) => (one === "0" ? "1" : "0")) })).toBe(
      "",
    );
    for (const end of [0, 2]) expect(sole.found(bytes, { ...first, place: end })).toBe("");
    const places = `${"2".padStart(16)} ${"3".padStart(16)}`;
    const text = bytes.subarray(headerBytes, ends[1]).toString();
    const hash = digest(`${first.hash}\n${places}\n${text}`);
    expect(sole.found(Buffer.from(`${String(text.length).padStart(8)} ${places} ${hash}\n${text}`), first)).toBe("");
  });
});

describe("whoever reads along", () => {
  it("is told from the journal what stands there alone, and it stays there", async () => {
    const read = async (from: number, count: number): Promise<readonly ChainRow[]> =>
      value(await sole.state.chain.rows(from, count));
    const along: ChainRow[] = [];
    for (const id of ["b", "c", "d"]) {
      const place = await sole.append(id);
      const rows = await read(place, 256);
      expect(rows.map(({ body }) => JSON.parse(body))).toMatchObject([{ id }]);
      along.push(...rows);
      expect(await read(place + 1, 256)).toEqual([]);
    }
    for (const [from, count] of [
      [2, 99],
      [2, 2],
      [3, 1],
      [4, 0],
    ] as const)
      expect(await read(from, count)).toEqual(along.slice(from - 2, from - 2 + count));
    expect(sole.inFile()).toBe(1);
    // Where a part of it is in the table, all of it is.
    expect((await read(1, 99)).slice(1)).toEqual(along);
    expect(sole.inFile()).toBe(4);
    value(await sole.state.ledger.append([entryOf({ id: "e" }), entryOf({ id: "f" })]));
    expect((await read(6, 9)).map(({ body }) => JSON.parse(body))).toMatchObject([{ id: "f" }]);
    expect(sole.inFile()).toBe(4);
  });
});

describe("what is in the database", () => {
  it("does not come again, nor does a longer one behind a shorter one", async () => {
    await sole.append("long", "x".repeat(5_000));
    await sole.appended("b", "c");
    expect(await sole.ids(sole.fallen().opened())).toBe("first long b c");
    expect(await sole.ids()).toBe("first long b c");
    expect(await sole.ids(sole.fallen().opened({ isSole: true }))).toBe("first long b c");
    await sole.appended("d", "e");
    expect(sole.inFile()).toBe(4);
    expect(await sole.ids(sole.fallen().opened({ isSole: true }))).toBe("first long b c d e");
  });

  it("is everything once it is closed, and again", async () => {
    for (const id of ["b", "c", "d"]) {
      await sole.append(`${id}1`);
      await sole.append(`${id}2`);
      sole.state.close();
      rmSync(sole.journal);
      sole.reopen();
    }
    expect(await sole.ids()).toBe("first b1 b2 c1 c2 d1 d2");
  });

  it("is what does not fit, with all that waited", async () => {
    const text = "x".repeat(recordBytesMax - 1_000);
    const count = Math.floor(journalBytes / recordBytesMax) + 9;
    let most = 0;
    for (let at = 0; at < count; at++) {
      await sole.append(`${at}`, text);
      most = Math.max(most, at + 2 - sole.inFile());
    }
    expect(most).toBeGreaterThan(journalBytes / recordBytesMax - 1);
    expect(sole.inFile()).toBeGreaterThan(most);
    expect(statSync(sole.journal).size).toBe(journalBytes);
    expect(await sole.rows(sole.fallen().opened())).toEqual(await sole.rows());
    await sole.append("b", text);
    expect(sole.inFile()).toBe(count + 1);
    await sole.append("large", "x".repeat(recordBytesMax));
    expect(sole.inFile()).toBe(count + 3);
    await sole.appended("c");
    value(await sole.state.ledger.append(Array.from({ length: 200 }, () => entryOf())));
    expect(sole.inFile()).toBe(count + 204);
    expect(await sole.rows(sole.fallen().opened())).toHaveLength(count + 204);
  });

  it("is what is written with something else, and a fault of one harms no other", async () => {
    await sole.appended("b", "c");
    const bad = (isAsking: boolean) =>
      sole.state.loop.write((connection) => {
        if (isAsking) connection.run("INSERT INTO generation (scope, number) VALUES ('bad', 1)");
        throw new Error("a mistake");
      });
    for (const [at, isAsking] of [false, true].entries()) {
      const kept = await Promise.all([
        sole.state.ledger.append([entryOf({ id: `d${at}` })]),
        bad(isAsking),
        sole.append(`e${at}`),
      ]);
      expect(kept.map((one) => typeof one === "number" || one.ok)).toEqual([true, false, true]);
      await sole.append(`f${at}`);
      expect((await bad(isAsking)).ok).toBe(false);
    }
    const bumped = await Promise.all([
      sole.append("g"),
      sole.state.ledger.bump(["agent"], entryOf({ id: "h" })),
      sole.append("i"),
    ]);
    expect([bumped[0], bumped[2]]).toEqual([10, 12]);
    expect(sole.inFile()).toBe(12);
    await sole.appended("j");
    const copy = sole.fallen().opened();
    expect(await sole.ids(copy)).toBe("first b c d0 e0 f0 d1 e1 f1 g h i j");
    expect([copy.ledger.generation("agent"), copy.ledger.generation("bad")]).toEqual([1, 0]);
    expect(await sole.rows()).toEqual(await sole.rows(copy));
  });

  it("is what is added to what was to go to the journal", async () => {
    const twice = (isAsking: boolean) =>
      sole.state.loop.write((connection) => {
        for (const id of ["b", "c"]) {
          appendEntry(connection, entryOf({ id }));
          writeEntries(connection);
        }
        if (isAsking) connection.run("INSERT INTO generation (scope, number) VALUES ('agent', 1)");
      });
    value(await twice(false));
    value(await twice(true));
    expect(await sole.ids(sole.fallen().opened())).toBe("first b c b c");
    expect(await sole.ids()).toBe("first b c b c");
  });

  it.each<[string, () => Promise<unknown>, unknown]>([
    ["the log", async () => value(await sole.state.ledger.log({ count: 9 })).length, 4],
    ["a search", async () => value(await sole.state.ledger.log({ text: "needle", count: 9 })).length, 1],
    ["one entry", async () => value(await sole.state.ledger.entry("d"))?.entry.place, 4],
    ["the end", async () => value(await sole.state.chain.head()).place, 4],
    ["a note", async () => (await sole.state.chain.keepCheckpoint({ place: 4, text: "note" })).ok, true],
  ])("and what is not yet: %s tells of both", async (_, ask, answer) => {
    await sole.appended("b");
    await sole.append("c", "a needle");
    await sole.appended("d");
    expect(sole.inFile()).toBe(1);
    expect(await ask()).toBe(answer);
  });

  it("can be removed while others wait", async () => {
    await sole.appended("b", "c");
    value(await sole.state.chain.keepCheckpoint({ place: 2, text: "note" }));
    await sole.appended("d", "e");
    expect(value(await sole.state.chain.prune(3, entryOf({ id: "pruned" })))).toEqual({ removed: 2 });
    await sole.appended("f");
    expect(await sole.ids(sole.fallen().opened())).toBe("c d e pruned f");
    expect(await sole.ids()).toBe("c d e pruned f");
  });
});
