// Every modification of a signed log is detected, with only the first public key.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entryOf, newSigner, WrittenLog } from "../../../test/audit/written-log.ts";
import { sizeFor } from "../../../test/house/long.ts";
import type { ChainRow } from "../../core/ports/stores/chain-rows.ts";
import { sha256 } from "../../platform/digest.ts";
import { chainHash, ZERO_HASH } from "../chain/chain.ts";
import { ENTRIES_PRUNED, pruningDetails } from "../chain/chain-events.ts";
import { makeCheckpoint } from "../chain/checkpoint.ts";
import { unsignedEntriesMax, unsignedMillisecondsMax } from "../chain/unsigned-tail.ts";
import { copyUnsignedMax } from "./verify.ts";

/** Recomputes every hash from a position on, as if this had been written. */
function chained(rows: readonly ChainRow[], from = 1): readonly ChainRow[] {
  let hash = rows[from - 2]?.hash ?? ZERO_HASH;
  return rows.map((row, at) => {
    if (at < from - 1) return row;
    hash = chainHash(sha256, hash, row.body);
    return { place: at + 1, body: row.body, hash };
  });
}

const whats = (problems: readonly { readonly what: string }[]): string => problems.map(({ what }) => what).join("; ");

describe("an unmodified log is intact", () => {
  test.each([
    ["empty", new WrittenLog(), 0],
    ["signed to the end", new WrittenLog().fill(5).sign(), 0],
    ["every commit signed", new WrittenLog().fill(2).signCommit().fill(3).signCommit(), 0],
    ["every commit signed from a position on", new WrittenLog().fill(2).sign().fill(3).signCommit(), 0],
    ["signed often, with a tail", new WrittenLog().fill(3).sign().fill(4).sign().fill(2), 2],
    ["under three keys", new WrittenLog().fill(3).rotate().fill(2).sign().rotate().fill(1).sign(), 0],
    ["signed again by the new key at the same position", new WrittenLog().fill(3).rotate().sign(), 0],
  ])("%s", (_what, log, unsigned) => {
    const given = { head: log.head };
    for (const rotations of [[], log.rotations])
      expect(log.verify({ ...given, rotations })).toMatchObject({
        isIntact: true,
        problems: [],
        entries: log.rows.length,
        checkpoints: log.notes.length,
        head: log.head,
        unsigned,
      });
  });
});

describe("every modification is reported with its position", () => {
  const log = new WrittenLog().fill(4).sign().fill(4).sign().fill(2);
  const changed = (at: number, change: Partial<ChainRow>): readonly ChainRow[] =>
    log.rows.map((row) => (row.place === at ? { ...row, ...change } : row));
  const other = JSON.stringify({ forged: true });
  test.each<[string, readonly ChainRow[], number, RegExp]>([
    ["an edited body", changed(3, { body: other }), 3, /was changed/],
    ["an edited body in the unsigned tail", changed(10, { body: other }), 10, /was changed/],
    ["an edited hash", changed(3, { hash: "0".repeat(64) }), 3, /was changed/],
    ["a hash in upper case", changed(3, { hash: (log.rows[2] as ChainRow).hash.toUpperCase() }), 3, /was changed/],
    ["a removed row", log.rows.filter(({ place }) => place !== 3), 3, /entry 3 is missing/],
    ["removed rows", log.rows.filter(({ place }) => place < 3 || place > 5), 3, /entries 3 to 5 are missing/],
    ["the first row removed", log.rows.slice(1), 1, /entry 1 is missing/],
    ["a row twice", [...log.rows.slice(0, 3), ...log.rows.slice(2)], 3, /duplicated/],
    [
      "two rows in each other's order",
      [0, 2, 1, 3, 4, 5, 6, 7, 8, 9].map((at) => log.rows[at] as ChainRow),
      2,
      /missing/,
    ],
    [
      "two bodies swapped",
      changed(2, { body: (log.rows[2] as ChainRow).body }).map((row) =>
        row.place === 3 ? { ...row, body: (log.rows[1] as ChainRow).body } : row,
      ),
      2,
      /was changed/,
    ],
    ["a removed row, the rest renumbered", chained(log.rows.filter(({ place }) => place !== 3)), 4, /a different hash/],
    ["an edited body, the rest rehashed", chained(changed(3, { body: other })), 4, /a different hash/],
    ["truncated before the last note", log.rows.slice(0, 6), 8, /entries 7 to 8 are missing at the end/],
    ["everything removed", [], 8, /entries 1 to 8 are missing at the end/],
  ])("%s", (_what, rows, place, what) => {
    const { isIntact, problems } = log.verify({}, rows);
    expect(isIntact).toBe(false);
    expect(problems[0]).toEqual({ place, what: expect.stringMatching(what) });
  });

  test.each<[string, readonly ChainRow[], RegExp]>([
    [
      "truncated after the last note",
      log.rows.slice(0, 8),
      /entries 9 to 10 are missing at the end.*stored head includes them/,
    ],
    ["the tail rehashed", chained(changed(9, { body: other }), 9), /stored head has a different hash/],
  ])("%s: only by the head that was stored elsewhere", (_what, rows, what) => {
    expect(log.verify({}, rows).isIntact).toBe(true);
    const { problems } = log.verify({ head: log.head }, rows);
    expect(whats(problems)).toMatch(what);
  });

  test("a head within the log is compared, too", () => {
    const { place, hash } = log.rows[5] as ChainRow;
    expect(log.verify({ head: { place, hash } }).isIntact).toBe(true);
    expect(log.verify({ head: { place, hash: ZERO_HASH } }).isIntact).toBe(false);
    expect(log.verify({ head: { place: 0, hash: ZERO_HASH } }).isIntact).toBe(true);
    expect(log.verify({ head: { place: 0, hash } }).isIntact).toBe(false);
  });

  test("all notes removed and everything rewritten", () => {
    expect(whats(new WrittenLog().fill(1).verify().problems)).toMatch(/no entry is signed/);
    expect(whats(log.verify({}, log.rows, []).problems)).toMatch(/no entry is signed/);
  });

  test("entries after the last note of an older version: their number and time span", { timeout: 60_000 }, () => {
    const older = new WrittenLog().fill(1).sign();
    const tail = (milliseconds: number): WrittenLog => {
      const { rows, notes, first } = older;
      const longer = Object.assign(new WrittenLog(), { rows: [...rows], notes, first });
      return longer.write(entryOf(2, { at: 10 }), entryOf(3, { at: 10 + milliseconds }));
    };
    expect(tail(unsignedMillisecondsMax).verify().isIntact).toBe(true);
    expect(whats(tail(unsignedMillisecondsMax + 1).verify().problems)).toMatch(/2 entries are not signed, over 60 s/);
    const many = new WrittenLog().fill(1).sign().fill(unsignedEntriesMax);
    expect(many.verify().isIntact).toBe(true);
    expect(whats(many.fill(1).verify().problems)).toMatch(/are not signed/);
  });

  test("one entry after the last note, if every commit is signed; a copy may end inside a commit", () => {
    const signed = new WrittenLog().fill(3).signCommit().fill(1);
    expect(whats(signed.verify().problems)).toMatch(
      /last 1 entries are not signed, although this log signs every commit/,
    );
    expect(signed.verify({ isCopy: true }).isIntact).toBe(true);
    expect(signed.fill(copyUnsignedMax).verify({ isCopy: true }).isIntact).toBe(false);
  });

  test("another end than the one whose signature the daemon remembers", () => {
    const signed = new WrittenLog().fill(3).signCommit().fill(2).signCommit();
    const remembered = signed.head;
    expect(signed.verify({ remembered }).isIntact).toBe(true);
    const cut = signed.verify({ remembered }, signed.rows.slice(0, 3), signed.notes.slice(0, 1));
    expect(whats(cut.problems)).toMatch(/entries 4 to 5 are missing at the end: the daemon stored/);
    const other = signed.verify({ remembered: { ...remembered, hash: ZERO_HASH } });
    expect(whats(other.problems)).toMatch(/stored a different signed hash/);
  });

  test("the number of listed problems is limited", () => {
    const wrong = new WrittenLog().fill(500);
    const rows = wrong.rows.map((row) => ({ ...row, body: other }));
    const { problems } = wrong.verify({}, rows);
    expect(problems.length).toBe(101);
    expect(problems.at(-1)?.what).toBe("and 401 more");
  });
});

describe("signed notes", () => {
  const log = new WrittenLog().fill(4).sign().fill(4).sign();
  const forged = (text: string, place = 8): string => whats(log.verify({}, log.rows, [{ place, text }]).problems);
  const head = { node: "node-1", size: 8, hash: log.head.hash, at: 5, next: null };
  test("of an unknown key", () => {
    expect(forged(makeCheckpoint(head, newSigner()))).toMatch(/an unknown key/);
  });
  test("with the id of our key and another signature", () => {
    const liar = { key: log.first.key, sign: newSigner().sign };
    expect(forged(makeCheckpoint(head, liar))).toMatch(/an invalid signature/);
  });
  test("of another log", () => {
    expect(forged(makeCheckpoint({ ...head, node: "node-2" }, log.first))).toMatch(/belongs to another log/);
  });
  test("of another position", () => {
    expect(forged(makeCheckpoint({ ...head, size: 7 }, log.first))).toMatch(/not a valid checkpoint of this entry/);
  });
  test("of a hash that never existed", () => {
    expect(forged(makeCheckpoint({ ...head, hash: ZERO_HASH }, log.first))).toMatch(/a different hash/);
  });
  test("that does not parse", () => {
    for (const text of ["", "\n\n", "x".repeat(100_000), "ambit audit node-1\n8\n"])
      expect(forged(text)).toMatch(/not a valid checkpoint/);
  });
  test("that come after later entries", () => {
    const note = log.notes[0] as { place: number; text: string };
    expect(whats(log.verify({}, log.rows, [log.notes[1] as typeof note, note]).problems)).toMatch(/follows later/);
  });
});

describe("a sequence of keys", () => {
  test("a note by the old key after its last position", () => {
    const log = new WrittenLog().fill(2).rotate();
    const { signer } = log;
    log.signer = log.first;
    log.fill(2).sign();
    expect(whats(log.verify().problems)).toMatch(/retired at entry 3/);
    log.signer = signer;
    expect(log.sign().verify({}, log.rows, [log.notes[0], log.notes[2]] as never).isIntact).toBe(true);
  });

  test("a note by the new key before its first position", () => {
    const log = new WrittenLog().fill(2);
    const next = newSigner();
    log.signer = next;
    log.sign();
    log.signer = log.first;
    log.rotate(next);
    expect(whats(log.verify({ rotations: log.rotations }).problems)).toMatch(/valid only from entry 3/);
    expect(whats(log.verify().problems)).toMatch(/unknown key/);
  });

  test("a key that no note under the old one names is not reachable", () => {
    const log = new WrittenLog().fill(2).rotate().fill(1).sign();
    const notes = log.notes.filter(({ place }) => place !== 3);
    expect(whats(log.verify({}, log.rows, notes).problems)).toMatch(/unknown key/);
    expect(log.verify({ rotations: log.rotations }, log.rows, notes).isIntact).toBe(true);
  });

  test("a note that names a key which no entry names", () => {
    const log = new WrittenLog().fill(2).sign(newSigner().key);
    expect(whats(log.verify().problems)).toMatch(/no entry records the rotation/);
  });

  test("a key that names two others, and one that comes back", () => {
    const log = new WrittenLog().fill(2).rotate();
    const hash = (log.rows[1] as ChainRow).hash;
    const second = makeCheckpoint({ node: "node-1", size: 2, hash, at: 5, next: newSigner().key }, log.first);
    expect(whats(log.verify({ rotations: log.rotations }, log.rows, [{ place: 2, text: second }]).problems)).toMatch(
      /names a second successor/,
    );
    const back = new WrittenLog();
    back.fill(1).rotate().rotate(back.first);
    expect(whats(back.verify().problems)).toMatch(/was used before/);
  });
});

describe("retention", () => {
  const kept = (log: WrittenLog, first: number): readonly ChainRow[] => log.rows.filter(({ place }) => place >= first);
  const pruned = (first: number) =>
    entryOf(99, { kind: "daemon", outcome: ENTRIES_PRUNED, more: pruningDetails(first) });
  const log = new WrittenLog().fill(4).sign().fill(4).write(pruned(5)).sign();
  const notes = log.notes;

  test("leaves a log that still verifies", () => {
    const head = { place: 4, hash: (log.rows[3] as ChainRow).hash };
    expect(log.verify({ first: 5, head }, kept(log, 5), notes)).toMatchObject({ isIntact: true, from: 5, entries: 5 });
  });
  test("keeps the sequence of keys", () => {
    const turned = new WrittenLog().fill(1).rotate().fill(2).sign().fill(1).write(pruned(5)).sign();
    const answer = turned.verify({ first: 5, rotations: turned.rotations }, kept(turned, 5), turned.notes.slice(1));
    expect(answer).toMatchObject({ isIntact: true, problems: [] });
    expect(turned.verify({ first: 5 }, kept(turned, 5), turned.notes.slice(1)).isIntact).toBe(false);
  });
  test.each<[string, () => string, RegExp]>([
    [
      "that no entry records",
      () => whats(log.verify({ first: 6 }, kept(log, 6), notes).problems),
      /no signed entry records/,
    ],
    [
      "without a note before it",
      () => whats(log.verify({ first: 5 }, kept(log, 5), notes.slice(1)).problems),
      /hash of the entry before this one is unknown/,
    ],
    [
      "that only the unsigned tail records",
      () => {
        const tail = new WrittenLog().fill(4).sign().fill(4).sign().write(pruned(5));
        return whats(tail.verify({ first: 5 }, kept(tail, 5)).problems);
      },
      /no signed entry records/,
    ],
    [
      "with an edit after it",
      () =>
        whats(
          log.verify({ first: 5 }, [{ ...(log.rows[4] as ChainRow), body: "{}" }, ...kept(log, 6)], notes).problems,
        ),
      /was changed/,
    ],
    [
      "and a head from before it",
      () => whats(log.verify({ first: 5, head: { place: 3, hash: ZERO_HASH } }, kept(log, 5), notes).problems),
      /proves nothing/,
    ],
    [
      "and another head from where it begins",
      () => whats(log.verify({ first: 5, head: { place: 4, hash: ZERO_HASH } }, kept(log, 5), notes).problems),
      /begins with/,
    ],
  ])("%s is a problem", (_what, told, what) => {
    expect(told()).toMatch(what);
  });
});

test("any single change to a generated log is detected", { timeout: 60_000 }, () => {
  const text = fc.string({ unit: "binary", maxLength: 8 });
  const shape = fc.record({
    parts: fc.array(fc.record({ rows: fc.integer({ min: 1, max: 4 }), turns: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    }),
    kind: fc.constantFrom(
      "body",
      "hash",
      "place",
      "remove",
      "swap",
      "repeat",
      "insert",
      "cut",
      "anew",
      "note",
      "notePlace",
    ),
    at: fc.nat(),
    in: fc.nat(),
    text,
  });
  fc.assert(
    fc.property(shape, (given) => {
      const log = new WrittenLog();
      for (const { rows, turns } of given.parts) {
        log.fill(rows);
        if (turns) log.rotate();
        else log.sign();
      }
      const rows: ChainRow[] = [...log.rows];
      const notes = [...log.notes];
      const at = given.at % rows.length;
      const row = rows[at] as ChainRow;
      const note = notes[given.at % notes.length] as { place: number; text: string };
      const altered = (from: string): string => {
        const place = given.in % from.length;
        const changed = from.slice(0, place) + given.text + from.slice(place + 1);
        return changed === from ? `${from} ` : changed;
      };
      if (given.kind === "body") rows[at] = { ...row, body: altered(row.body) };
      else if (given.kind === "hash") rows[at] = { ...row, hash: altered(row.hash) };
      else if (given.kind === "place")
        rows[at] = { ...row, place: row.place + ((given.in % 5) + 1) * (given.in % 2 ? 1 : -1) };
      else if (given.kind === "remove") rows.splice(at, 1);
      else if (given.kind === "repeat") rows.splice(at, 0, row);
      else if (given.kind === "insert") rows.splice(at, 0, { place: row.place, body: "{}", hash: sha256(row.hash) });
      else if (given.kind === "cut") rows.length = at;
      else if (given.kind === "anew")
        rows.splice(
          0,
          rows.length,
          ...chained(log.rows.map((each) => (each === row ? { ...row, body: altered(row.body) } : each))),
        );
      else if (given.kind === "note") notes[given.at % notes.length] = { ...note, text: altered(note.text) };
      else if (given.kind === "notePlace")
        notes[given.at % notes.length] = { ...note, place: note.place + 1 + (given.in % 3) };
      else {
        const other = rows[(at + 1) % rows.length] as ChainRow;
        if (other === row) return;
        rows[at] = { ...other, place: row.place };
        rows[(at + 1) % rows.length] = { ...row, place: other.place };
      }
      expect(log.verify({ head: log.head, rotations: [] }).problems).toEqual([]);
      expect(log.verify({ head: log.head, rotations: [] }, rows, notes).isIntact).toBe(false);
    }),
    { numRuns: sizeFor(150, 600) },
  );
});

test("rows of any content never make it throw", () => {
  const odd = fc.record({ place: fc.anything(), body: fc.anything(), hash: fc.anything(), text: fc.anything() });
  const log = new WrittenLog().fill(1).sign();
  fc.assert(
    fc.property(fc.array(odd, { minLength: 1, maxLength: 5 }), (given) => {
      expect(log.verify({}, given as never, given as never).isIntact).toBe(false);
    }),
    { numRuns: 500 },
  );
});
