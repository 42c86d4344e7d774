// States of versions 1 and 2: every acknowledged entry is in the state after it is opened, also entries that only the
// journal had.
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogEnd, Notary } from "../core/ports/stores/notary.ts";
import { chainHash, ZERO_HASH } from "../log/chain/chain.ts";
import { entryBody } from "../log/chain/entry-body.ts";
import { Connection } from "./connection.ts";
import { lineOf } from "./log/leaf.ts";
import { openStoredChain } from "./log/stored-chain.ts";
import { migrate, schema } from "./schema.ts";
import { type Database, type Driver, loadDriver } from "./sqlite.ts";
import type { State } from "./state.ts";
import {
  chargeOf,
  digest,
  entryOf,
  program,
  type TemporaryState,
  temporaryState,
  value,
  writeOf,
} from "./testing/state.ts";

const driver = loadDriver(program) as Driver;
const journalBytes = 1024 * 1024;

let place: TemporaryState;
beforeEach(() => {
  place = temporaryState();
  mkdirSync(place.folder, { mode: 0o700 });
});
afterEach(() => place.remove());

const journal = (): string => join(place.folder, "state.journal");
const inDatabase = <T>(use: (database: Database) => T): T => {
  const database = driver(join(place.folder, "state.db"), false);
  try {
    return use(database);
  } finally {
    database.close();
  }
};
const version = (): unknown =>
  inDatabase((database) => database.prepare("PRAGMA user_version").get()?.["user_version"]);

/** A leaf of one entry, as versions 1 and 2 stored it: [account number, calls used, time, is left] for each account. */
interface OldLeaf extends LogEnd {
  readonly before: string;
  readonly accounts: string;
  readonly entries: string;
  readonly note: string | null;
}

const isSignedText = (end: LogEnd): string => `signed ${end.place} ${end.hash}`;

/** Entries 1 to `count`, each charged to account 1. */
function oldLeaves(count: number, isSigned: boolean): readonly OldLeaf[] {
  let hash = ZERO_HASH;
  return Array.from({ length: count }, (_, at) => {
    const before = hash;
    // Text that a careless parser would take for the end of a leaf.
    const body = entryBody(entryOf({ id: `e${at + 1}`, more: { text: 'ü \u{1f600} \u2028\n]"' } }));
    hash = chainHash(digest, before, body);
    const end = { place: at + 1, hash };
    const note = isSigned ? isSignedText(end) : null;
    return { ...end, before, accounts: `[[1,${at + 1},${at + 10},0]]`, entries: `[\n${lineOf(hash, body)}\n]`, note };
  });
}

/** In the journal's format. */
function recordOf({ place: last, before, accounts, entries, note }: OldLeaf): Buffer {
  const text = `${accounts}\n${entries}${note === null ? "" : `\n${JSON.stringify(note)}`}`;
  const padded = String(last).padStart(16);
  const hash = chainHash(digest, before, `${padded} ${padded}\n${text}`);
  return Buffer.from(`${String(Buffer.byteLength(text)).padStart(8)} ${padded} ${padded} ${hash}\n${text}`);
}

/** A state whose process was killed: some leaves in the table, the records of some in the journal. */
function makeOldState(leaves: readonly OldLeaf[], inTable: number, records: Buffer, tables = 2): void {
  const database = driver(join(place.folder, "state.db"), false);
  const connection = new Connection(database, digest);
  expect(migrate(connection, schema.slice(0, tables))).toBe(null);
  connection.run("INSERT INTO account (name, family, used, at, is_left) VALUES ('a', 'family', 0, 1, 0)");
  for (const { place: last, accounts, entries, note } of leaves.slice(0, inTable)) {
    connection.run(
      "INSERT INTO leaf (last, first, accounts, entries) VALUES (?, ?, ?, ?)",
      last,
      last,
      accounts,
      entries,
    );
    if (tables > 1) inTableNote(connection, last, note);
  }
  connection.close();
  writeFileSync(journal(), Buffer.concat([records, Buffer.alloc(journalBytes - records.length)]), { mode: 0o600 });
}

function inTableNote(connection: Connection, last: number, note: string | null): void {
  connection.exec("DROP TRIGGER leaf_kept");
  connection.run("UPDATE leaf SET note = ? WHERE last = ?", note, last);
  connection.exec(
    "CREATE TRIGGER leaf_kept BEFORE UPDATE ON leaf BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
  );
}

const ids = async (state: State): Promise<string> =>
  value(await state.chain.rows(1, 99))
    .map(({ body }) => (JSON.parse(body) as { id: string }).id)
    .join(" ");

/** Signs with a text; this end was remembered before. */
function notaryOf(remembered: LogEnd | null): Notary {
  let last = remembered;
  return {
    sign: isSignedText,
    isSigned: (note, end) => note === isSignedText(end),
    remembered: () => last,
    remember: (note) => {
      const [, number, hash] = note.split(" ");
      last = { place: Number(number), hash: String(hash) };
    },
  };
}

describe("a state that was killed with entries in its journal alone", () => {
  it.each([1, 2])("of version %i has all of them, with their charges, and no journal any more", async (tables) => {
    const leaves = oldLeaves(5, false);
    makeOldState(leaves, 2, Buffer.concat(leaves.slice(1).map(recordOf)), tables);
    const state = place.opened();
    expect(await ids(state)).toBe("e1 e2 e3 e4 e5");
    expect(value(await state.ledger.accounts(null))).toMatchObject([{ account: "a", used: 5, at: 14 }]);
    const charges = [chargeOf("a", { calls: 6 })];
    expect(value(await state.ledger.decide(writeOf({ charges })))).toMatchObject({ ok: true, place: 6 });
    expect(value(await state.ledger.decide(writeOf({ charges })))).toMatchObject({ ok: false, empty: ["a"] });
    expect([existsSync(journal()), version()]).toEqual([false, schema.length]);
    state.close();
    expect(value(await place.opened().chain.head()).place).toBe(6);
  });

  it("has them once, although the table has them already", async () => {
    const leaves = oldLeaves(3, false);
    makeOldState(leaves, 3, Buffer.concat(leaves.slice(1).map(recordOf)));
    expect(await ids(place.opened())).toBe("e1 e2 e3");
    expect(existsSync(journal())).toBe(false);
  });

  it("has all but a torn or changed record, wherever it is, and nothing after it", { timeout: 60_000 }, async () => {
    const leaves = oldLeaves(4, false);
    const [two, three, four] = leaves.slice(1).map(recordOf) as [Buffer, Buffer, Buffer];
    const tries = [1, 20, 50, 107, 108, 150, three.length - 1].flatMap((at) => [
      { broken: Buffer.concat([three.subarray(0, at), Buffer.alloc(three.length - at)]), at },
      { broken: Buffer.from(three.map((byte, index) => (index === at ? byte ^ 1 : byte))), at },
    ]);
    for (const { broken, at } of tries) {
      place.remove();
      place = temporaryState();
      mkdirSync(place.folder, { mode: 0o700 });
      makeOldState(leaves, 1, Buffer.concat([two, broken, four]));
      const state = place.opened();
      expect(await ids(state), `byte ${at}`).toBe("e1 e2");
      expect(value(await state.ledger.append([entryOf({ id: "next" })])).place).toBe(3);
    }
  });

  it.each<[string, Buffer]>([
    ["nothing", Buffer.alloc(0)],
    ["garbage", Buffer.alloc(journalBytes, "9 ")],
    ["a record without an end", Buffer.from(`99999999 ${"2".padStart(16)} ${"2".padStart(16)} ${"0".repeat(64)}\n`)],
  ])("opens although the journal has %s", async (_, bytes) => {
    makeOldState(oldLeaves(1, false), 1, bytes);
    expect(await ids(place.opened())).toBe("e1");
  });
});

describe("where commits are signed", () => {
  it("signed records are imported", async () => {
    const leaves = oldLeaves(3, true);
    makeOldState(leaves, 1, Buffer.concat(leaves.slice(1).map(recordOf)));
    expect(await ids(place.opened({ notary: notaryOf(leaves[1] as LogEnd) }))).toBe("e1 e2 e3");
  });

  it.each<[string, number, boolean, string]>([
    ["an unsigned record", 2, false, "unsigned entries from 2 on"],
    ["a journal that lacks the end remembered outside", 0, true, "entries 2 to 3 are missing"],
  ])("%s is damage: nothing is opened, and the journal stays as evidence", (_, records, isSigned, message) => {
    const [signed, leaves] = [oldLeaves(3, true), oldLeaves(3, isSigned)];
    const bytes = Buffer.concat(leaves.slice(1, 1 + records).map(recordOf));
    makeOldState([signed[0] as OldLeaf], 1, bytes);
    const before = readFileSync(journal());
    for (let tries = 0; tries < 2; tries++) {
      const opened = place.open({ notary: notaryOf(records === 0 ? (leaves[2] as LogEnd) : (signed[0] as LogEnd)) });
      expect(opened).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    }
    expect(readFileSync(journal()).equals(before)).toBe(true);
    expect([version(), inDatabase((database) => database.prepare("SELECT 1 FROM leaf").all().length)]).toEqual([2, 1]);
  });
});

describe("a journal", () => {
  it("beside a new database belongs to another log: it is neither read nor removed", async () => {
    writeFileSync(journal(), Buffer.concat(oldLeaves(2, false).map(recordOf)), { mode: 0o600 });
    const state = place.opened();
    expect(await ids(state)).toBe("");
    state.close();
    expect(await ids(place.opened())).toBe("");
    expect(existsSync(journal())).toBe(true);
  });

  it("is a regular file, or nothing is opened", () => {
    makeOldState(oldLeaves(1, false), 1, Buffer.alloc(0));
    const other = join(place.folder, "other");
    renameSync(journal(), other);
    symlinkSync(other, journal());
    expect(place.open()).toMatchObject({ ok: false, message: expect.stringContaining("is a symbolic link") });
    renameSync(journal(), `${other}-link`);
    linkSync(other, journal());
    expect(place.open()).toMatchObject({ ok: false, message: expect.stringContaining("has more than one hard link") });
  });

  it("that was not imported is never verified as intact", () => {
    const leaves = oldLeaves(2, false);
    makeOldState(leaves, 1, recordOf(leaves[1] as OldLeaf));
    const verify = () => openStoredChain(place.folder, { digest, program });
    expect(verify()).toMatchObject({ ok: false, message: expect.stringContaining("ambit daemon start") });
    place.opened().close();
    const stored = value(verify());
    stored.close();
  });
});

describe("the counts of accounts that were in leaves", () => {
  it("are the newest of each", async () => {
    makeOldState(oldLeaves(3, false), 3, Buffer.alloc(0));
    expect(value(await place.opened().ledger.accounts(null))).toMatchObject([{ used: 3, at: 12 }]);
  });

  it.each(["[[1,null,1,0]]", '[[1,"x",1,0]]', "[[1,", "[[1,1,1,7]]"])(
    "are trusted only if they are numbers: %s",
    (text) => {
      makeOldState(
        oldLeaves(1, false).map((leaf) => ({ ...leaf, accounts: text })),
        1,
        Buffer.alloc(0),
      );
      expect(place.open()).toMatchObject({ ok: false, message: expect.stringContaining("cannot be opened") });
    },
  );
});
