import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appendEntry, headOf, writeEntries } from "./append.ts";
import { CommitLoop } from "./commit-loop.ts";
import { messageOf } from "./failure.ts";
import { JOURNAL_FILE, machineGround } from "./folder.ts";
import { journalBytes } from "./journal.ts";
import { openConnection } from "./open.ts";
import type { Driver, Statement } from "./sqlite.ts";
import { budget, driver, eachWith, type SoleState } from "./testing/journal.ts";
import { digest, entryOf, value, writeOf } from "./testing/state.ts";

let sole: SoleState;
eachWith((begun) => {
  sole = begun;
});

const NOTHING_FOUND: Statement = {
  run: () => ({ changes: 0 }),
  get: () => undefined,
  all: () => [],
  iterate: () => [],
};

/** Who asks for the right to write as anybody may, and does not wait for it. */
function writing(folder: string = sole.place.folder): string {
  const database = driver(join(folder, "state.db"), false);
  try {
    database.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; UPDATE progress SET facts = facts");
    database.exec("COMMIT");
    return "written";
  } catch (error) {
    return messageOf(error);
  } finally {
    database.close();
  }
}

describe("somebody else", () => {
  it("cannot write to the database while anything waits, and can as soon as nothing does", async () => {
    expect(writing()).toBe("written");
    await sole.appended("b", "c");
    expect(writing()).toBe("database is locked");
    expect(sole.inFile()).toBe(1);
    expect(await sole.ids()).toBe("first b c");
    expect(writing()).toBe("written");
    // Nor does what comes to nothing stand in anybody's way.
    await sole.state.loop.write(() => {
      throw new Error("a mistake");
    });
    expect(writing()).toBe("written");
    value(await sole.state.loop.write(() => null));
    expect(writing()).toBe("written");
    await sole.appended("d");
    await sole.state.loop.write((connection) => {
      connection.run("INSERT INTO generation (scope, number) VALUES ('bad', 1)");
      throw new Error("a mistake");
    });
    expect(await sole.ids()).toBe("first b c d");
    expect(writing()).toBe("written");
    await sole.appended("e");
    sole.state.close();
    expect(writing()).toBe("written");
    sole.reopen();
    expect(await sole.ids()).toBe("first b c d e");
  });

  it("who writes to the database where nothing waits is noticed, and nothing is lost", async () => {
    await sole.appended("b", "c");
    expect(await sole.ids()).toBe("first b c");
    const other = sole.place.opened();
    value(await other.ledger.append([entryOf({ id: "d" })]));
    await sole.appended("e", "f");
    expect(await sole.ids(sole.fallen().opened({ isSole: true }))).toBe("first b c d e f");
    expect(await sole.ids()).toBe("first b c d e f");
    value(await other.ledger.append([entryOf({ id: "g" })]));
    await sole.appended("h");
    expect(await sole.ids()).toBe("first b c d e f g h");
    expect(await sole.ids(other)).toBe("first b c d e f g h");
  });

  it("who put in what waited leaves what was acknowledged since", async () => {
    await sole.appended("b", "c");
    const copy = sole.fallen();
    copy.opened().close();
    await sole.appended("d", "e");
    fs.copyFileSync(sole.journal, join(copy.folder, JOURNAL_FILE));
    expect(await sole.ids(copy.opened())).toBe("first b c d e");
  });

  it("who wrote is no reason to believe what is remembered", async () => {
    await sole.appended("b");
    expect(await sole.ids()).toBe("first b");
    const other = sole.place.opened();
    value(await other.ledger.bump(["agent"], entryOf({ id: "c" })));
    value(await other.ledger.decide(writeOf({ entry: entryOf({ id: "d" }), charges: [budget] })));
    const spend = () => sole.state.ledger.decide(writeOf({ charges: [{ ...budget, calls: 2 }] }));
    expect(value(await spend())).toMatchObject({ ok: false, code: "budget_exhausted" });
    expect(sole.state.ledger.generation("agent")).toBe(1);
    value(await other.ledger.bump(["agent"], entryOf({ id: "e" })));
    expect(await sole.append("f")).toBe(6);
    expect(sole.state.ledger.generation("agent")).toBe(2);
    expect(await sole.ids()).toBe("first b c d e f");
  });

  it("who puts in the same at the same time is no hindrance", async () => {
    await sole.appended("b", "c");
    const copy = sole.fallen();
    let isFirst = true;
    const parts = { folder: copy.folder, digest, ground: machineGround(), isSole: false, notary: null };
    const late: Driver = (path, isReader) => {
      const database = driver(path, isReader);
      const prepare = (text: string) => {
        if (text === "BEGIN IMMEDIATE" && isFirst) {
          isFirst = false;
          copy.opened().close();
        }
        return database.prepare(text);
      };
      return { prepare, exec: (text) => database.exec(text), close: () => database.close() };
    };
    const opened = openConnection({ ...parts, driver: late });
    expect([isFirst, opened.ok ? "opened" : opened.message]).toEqual([false, "opened"]);
    if (opened.ok) opened.value.close();
    expect(await sole.ids(copy.opened())).toBe("first b c");
  });
});

describe("a disk that fails", () => {
  it("while what waits is put in is not believed any more, and nothing is lost", async () => {
    await sole.append("b", "x".repeat(9_000));
    await sole.append("c", "x".repeat(9_000));
    sole.state.loop.readNow((connection) => connection.exec("PRAGMA max_page_count = 1"));
    for (const id of ["g", "h", "i"]) await sole.append(id, "x".repeat(9_000));
    expect(sole.inFile()).toBe(3);
    const read = await sole.state.chain.rows(1, 99);
    expect(read.ok ? "read" : read.message).toContain("full");
    expect(await sole.ids()).toBe("first b c g h i");
  });

  it("and undoes what was open itself is still the one who failed", async () => {
    const failing: Driver = (path, isReader) => {
      const database = driver(path, isReader);
      const run = (): never => {
        database.exec("ROLLBACK");
        throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
      };
      const prepare = (text: string): Statement =>
        text === "COMMIT" ? { ...NOTHING_FOUND, run } : database.prepare(text);
      return { prepare, exec: (text) => database.exec(text), close: () => database.close() };
    };
    const copy = sole.fallen();
    const parts = { folder: copy.folder, digest, ground: machineGround(), isSole: true, notary: null };
    const connection = value(openConnection({ ...parts, driver: failing }));
    headOf(connection);
    connection.begin();
    appendEntry(connection, entryOf({ id: "b" }));
    writeEntries(connection);
    connection.commit();
    for (let time = 0; time < 2; time++) expect(() => connection.settle()).toThrow("disk I/O error");
    connection.close();
    expect(await sole.ids(copy.opened())).toBe("first b");
  });

  it("and leaves open what was to be undone is let go of at once, with the right to write", async () => {
    const failures = new Map<string, number>();
    const failing: Driver = (path, isReader) => {
      const database = driver(path, isReader);
      const prepare = (text: string): Statement => {
        const statement = database.prepare(text);
        const run: Statement["run"] = (...values) => {
          const [word = ""] = text.split(" ");
          const errcode = failures.get(word);
          failures.delete(word);
          if (errcode !== undefined) throw Object.assign(new Error(`${word} failed`), { errcode });
          return statement.run(...values);
        };
        return {
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
          run,
          iterate: (...values) => statement.iterate(...values),
        };
      };
      return { prepare, exec: (text) => database.exec(text), close: () => database.close() };
    };
    const copy = sole.fallen();
    const parts = { folder: copy.folder, digest, ground: machineGround(), isSole: true, notary: null, driver: failing };
    const loop = new CommitLoop({ elapsed: () => performance.now() * 1_000, open: () => openConnection(parts) });
    value(loop.open());
    value(loop.readNow(headOf));
    value(await loop.write((connection) => void appendEntry(connection, entryOf({ id: "b" }))));
    expect(writing(copy.folder)).toBe("database is locked");
    // A row that does not fit is no reason to distrust the disk; that it cannot be undone is one.
    failures.set("INSERT", 19).set("ROLLBACK", 5);
    expect(loop.readNow((connection) => connection.settle())).toMatchObject({ ok: false });
    expect([failures.size, writing(copy.folder)]).toEqual([0, "written"]);
    loop.close();
    expect(await sole.ids(copy.opened())).toBe("first b");
  });

  it.runIf(process.platform === "linux")("under the journal is told, and the next is written", async () => {
    await sole.appended("b", "c");
    const file = fs.readdirSync("/proc/self/fd").find((one) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${one}`) === fs.realpathSync(sole.journal);
      } catch {
        return false;
      }
    });
    fs.closeSync(Number(file));
    expect((await sole.state.ledger.append([entryOf()])).ok).toBe(false);
    await sole.appended("d", "e");
    expect(await sole.ids(sole.fallen().opened())).toBe("first b c d e");
    expect(await sole.ids()).toBe("first b c d e");
  });
});

describe("the file", () => {
  const header = (length: number, first: number, last: number): string =>
    `${String(length).padStart(8)} ${String(first).padStart(16)} ${String(last).padStart(16)} ${"0".repeat(64)}\n`;

  it.each<[string, Uint8Array]>([
    ["empty", Buffer.alloc(0)],
    ["short", Buffer.from("  ")],
    ["garbage", Buffer.alloc(journalBytes, "9 ")],
    ["much too long", Buffer.alloc(journalBytes * 2, header(0, 1, 1))],
    ["of records without an end", Buffer.from(header(99_999_999, 2, 2))],
    ["of records that begin behind their end", Buffer.from(header(4, 2, 1) + header(0, 2, 0))],
  ])("is no reason not to open: %s", async (_, bytes) => {
    await sole.appended("b");
    for (const isSole of [false, true]) {
      const copy = sole.fallen(() => bytes);
      const opened = copy.opened({ isSole });
      for (const id of ["x", "y", "z"]) await sole.append(id, "", opened);
      if (isSole) expect(fs.statSync(join(copy.folder, JOURNAL_FILE)).size).toBe(Math.max(bytes.length, journalBytes));
      expect(await sole.ids(opened)).toBe("first x y z");
    }
  });

  it("holds nothing that a new log could begin with", async () => {
    const fresh = sole.another();
    let opened = fresh.opened({ isSole: true });
    expect(value(await opened.chain.head()).place).toBe(0);
    for (const id of ["b", "c"]) await sole.append(id, "", opened);
    opened.close();
    for (const name of fs.readdirSync(fresh.folder)) if (name !== JOURNAL_FILE) fs.rmSync(join(fresh.folder, name));
    opened = fresh.opened({ isSole: true });
    expect(await sole.ids(opened)).toBe("");
  });

  it("is one of its own, for us alone, and only the one who is alone makes it", () => {
    expect(fs.statSync(sole.journal).mode & 0o777).toBe(0o600);
    const copy = sole.fallen();
    const path = join(copy.folder, JOURNAL_FILE);
    const refusal = (change: () => void): string => {
      fs.rmSync(path, { recursive: true, force: true });
      change();
      const [one, other] = [false, true]
        .map((isSole) => copy.open({ isSole }))
        .map((kept) => (kept.ok ? "opened" : kept.message));
      return one === other ? String(one) : `${one}, ${other}`;
    };
    expect(refusal(() => fs.symlinkSync(sole.journal, path))).toContain("is a link");
    expect(refusal(() => fs.linkSync(sole.journal, path))).toContain("another name");
    expect(refusal(() => fs.mkdirSync(path))).toContain("is no file");
    expect(refusal(() => fs.writeFileSync(path, "", { mode: 0o600 }) ?? fs.chmodSync(path, 0o620))).toContain("others");
    fs.rmSync(path);
    copy.opened().close();
    expect(fs.existsSync(path)).toBe(false);
  });
});
