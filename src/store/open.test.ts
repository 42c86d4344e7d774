import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChainRow } from "../core/ports/stores/chain-rows.ts";
import { Connection } from "./connection.ts";
import { machineEnvironment, type StateEnvironment, stateBackups } from "./folder.ts";
import { migrate, schema } from "./schema.ts";
import { type Database, loadDriver } from "./sqlite.ts";
import { editLog, readLog } from "./testing/leaf.ts";
import { digest, entryOf, program, type TemporaryState, temporaryState, value, writeOf } from "./testing/state.ts";

let place: TemporaryState;
let file: string;
beforeEach(() => {
  place = temporaryState();
  file = join(place.folder, "state.db");
});
afterEach(() => place.remove());

/** A modification of the file while no process owns it. */
function edit(text: string): void {
  const database = reader(false);
  database.exec(text);
  database.close();
}

function reader(isReader = true): Database {
  const driver = loadDriver(program);
  if (driver === null) throw new Error("there is no driver");
  return driver(file, isReader);
}

const refusal = (parts?: { readonly environment: StateEnvironment }): string => {
  const kept = place.open(parts);
  return kept.ok ? "opened" : kept.message;
};

describe("the folder and the file", () => {
  it("are private to us", () => {
    mkdirSync(place.folder, { mode: 0o755 });
    place.opened();
    expect(statSync(place.folder).mode & 0o777).toBe(0o700);
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600);
  });

  it("are not links", () => {
    const elsewhere = join(dirname(place.folder), "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, place.folder);
    expect(refusal()).toContain("is a symbolic link");
    expect(existsSync(join(elsewhere, "state.db"))).toBe(false);
  });

  it.each(["state.db", "state.db-wal", "state.db-shm"])("%s is a regular file", (name) => {
    mkdirSync(place.folder, { mode: 0o700 });
    const other = join(dirname(place.folder), "other");
    symlinkSync(other, join(place.folder, name));
    expect(refusal()).toContain("is a symbolic link");
    expect(existsSync(other)).toBe(false);
    renameSync(join(place.folder, name), join(place.folder, "gone"));
    writeFileSync(other, "");
    linkSync(other, join(place.folder, name));
    expect(refusal()).toContain("has more than one hard link");
  });

  it("cannot be written by others", () => {
    place.opened().close();
    chmodSync(file, 0o620);
    expect(refusal()).toContain("is writable by others");
    chmodSync(file, 0o600);
    chmodSync(place.folder, 0o702);
    expect(refusal()).toContain("is writable by others");
    chmodSync(place.folder, 0o700);
    expect(refusal()).toBe("opened");
  });

  it("belong to us", () => {
    mkdirSync(place.folder, { mode: 0o700 });
    expect(refusal({ environment: { ...machineEnvironment(), uid: statSync(place.folder).uid + 1 } })).toContain(
      "another user",
    );
  });

  it.each<[string, string, number, boolean]>([
    ["ext4", "linux", 0xef53, true],
    ["btrfs as a negative number", "linux", 0x9123683e | 0, true],
    ["tmpfs", "linux", 0x01021994, true],
    ["nfs", "linux", 0x6969, false],
    ["smb", "linux", 0x517b, false],
    ["cifs", "linux", 0xff534d42 | 0, false],
    ["smb2", "linux", 0xfe534d42, false],
    ["9p", "linux", 0x01021997, false],
    ["fuse", "linux", 0x65735546, false],
    ["an unknown type", "linux", 0x12345678, false],
    ["apfs", "darwin", 0x1a, true],
    ["nfs on a Mac", "darwin", 0x02, false],
  ])("are on a local disk: %s", (_, platform, kind, isTaken) => {
    const environment = { ...machineEnvironment(), platform, fileSystem: () => kind };
    expect(refusal({ environment }).includes("not on a local disk")).toBe(!isTaken);
  });
});

describe("the database", () => {
  it("has its settings at every opening", () => {
    for (let round = 0; round < 2; round++) {
      const state = place.opened();
      const settings = ["synchronous", "journal_mode", "foreign_keys", "trusted_schema"].map((name) =>
        value(state.loop.readNow((connection) => Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0])),
      );
      expect(settings).toEqual([2, "wal", 1, 0]);
      expect(value(state.loop.readNow((connection) => connection.get("PRAGMA busy_timeout")?.["timeout"]))).toBe(5000);
      state.close();
    }
  });

  it("of a newer program is left alone", async () => {
    place.opened().close();
    edit("PRAGMA user_version = 99");
    expect(refusal()).toContain("newer ambit (version 99");
    edit(`PRAGMA user_version = ${schema.length}`);
    expect(refusal()).toBe("opened");
  });

  describe("of an older program", () => {
    const older = schema.length - 1;
    const versionIn = (path: string): unknown => {
      file = path;
      const database = reader();
      const found = database.prepare("PRAGMA user_version").get();
      database.close();
      return found;
    };
    beforeEach(() => {
      mkdirSync(place.folder, { mode: 0o700 });
      const connection = new Connection(loadDriver(program)?.(file, false) as Database, digest);
      expect(migrate(connection, schema.slice(0, older))).toBe(null);
      connection.run("INSERT INTO account (name, family, used, at, is_left) VALUES ('a', 'family', 7, 1, 0)");
      connection.close();
      chmodSync(file, 0o600);
    });

    it("is copied whole before its format changes, and only then", () => {
      place.opened().close();
      const [backup = "", ...more] = stateBackups(place.folder);
      expect([backup, more]).toEqual([`${file}.version-${older}`, []]);
      expect(statSync(backup).mode & 0o777).toBe(0o600);
      place.opened().close();
      expect(stateBackups(place.folder)).toEqual([backup]);
      expect(versionIn(backup)).toEqual({ user_version: older });
      const copy = reader();
      expect(copy.prepare("SELECT used FROM account").all()).toEqual([{ used: 7 }]);
      copy.close();
    });

    it("stays as it is where no copy can be made", () => {
      mkdirSync(`${file}.version-${older}`);
      expect(refusal()).toContain("cannot be opened");
      expect(versionIn(file)).toEqual({ user_version: older });
    });
  });

  it("of before the first release is left alone, and the message says what to do", () => {
    place.opened().close();
    edit("DROP TABLE leaf");
    expect(refusal()).toContain("move it away");
  });

  it("of another program too, and what is not a database", () => {
    mkdirSync(place.folder, { mode: 0o700 });
    edit("CREATE TABLE theirs (x)");
    chmodSync(file, 0o600);
    expect(refusal()).toContain("not an ambit database");
    renameSync(file, `${file}.theirs`);
    writeFileSync(file, "this is a text file, and a long one at that: ".repeat(100), { mode: 0o600 });
    expect(refusal()).toContain("cannot be opened");
  });

  it("can be read by others while we write", async () => {
    const state = place.opened();
    value(await state.ledger.decide(writeOf()));
    const other = reader();
    const count = (): number => readLog(other).length;
    expect(count()).toBe(1);
    value(await state.ledger.decide(writeOf()));
    expect(count()).toBe(2);
    other.close();
  });

  it("of two owners never gives more than one would", async () => {
    const states = [place.opened(), place.opened()];
    let allowed = 0;
    for (let round = 0; round < 10; round++)
      for (const state of states) {
        const charges = [
          { account: "a", calls: 7, rate: null, tokens: null, money: null, family: "f", written: ["a"] },
        ];
        const written = value(await state.ledger.decide(writeOf({ charges })));
        if (written.ok) allowed++;
      }
    expect(allowed).toBe(7);
    expect(value(await states[0]!.chain.head()).place).toBe(7);
    states[1]!.close();
  });
});

describe("the end of the chain", () => {
  const filled = async (): Promise<void> => {
    const state = place.opened();
    value(await state.ledger.append(Array.from({ length: 10 }, () => entryOf())));
    value(await state.chain.keepCheckpoint({ place: 10, text: "a note" }));
    value(await state.ledger.append(Array.from({ length: 20 }, () => entryOf())));
    state.close();
  };

  const ways: readonly (readonly [what: string, edit: (rows: ChainRow[]) => readonly ChainRow[], answer: string])[] = [
    ["nothing was changed", (rows) => rows, "opened"],
    [
      "a body was changed",
      (rows) => rows.map((row) => (row.place === 20 ? { ...row, body: row.body.replace("allow", "deny") } : row)),
      "entry 20 differs from what was written",
    ],
    [
      "a hash was changed",
      (rows) => rows.map((row) => (row.place === 30 ? { ...row, hash: "0".repeat(64) } : row)),
      "entry 30 differs from what was written",
    ],
    ["an entry was removed", (rows) => rows.filter((row) => row.place !== 25), "the log is damaged: entry 25 "],
    [
      "two were swapped",
      (rows) => rows.map((row) => ({ ...(rows[SWAPPED[row.place] ?? row.place - 1] as ChainRow), place: row.place })),
      "entry 12 differs from what was written",
    ],
    ["it ends before the checkpoint", (rows) => rows.slice(0, 8), "entries 9 to 10 are missing"],
    ["everything is gone", () => [], "entries 1 to 10 are missing"],
  ];
  const SWAPPED: Readonly<Record<number, number>> = { 12: 12, 13: 11 };

  it.each(ways.flatMap((way) => [1, 7, 100].map((many) => [...way, many] as const)))(
    "%s",
    async (_, change, answer, entriesPerLeaf) => {
      await filled();
      const database = reader(false);
      editLog(database, change, entriesPerLeaf);
      database.close();
      expect(refusal()).toContain(answer);
      if (answer !== "opened") expect(refusal()).toContain("ambit audit verify");
    },
  );
});

describe("a state that was closed", () => {
  const copied = async (): Promise<number> => {
    const copy = temporaryState();
    try {
      mkdirSync(copy.folder, { mode: 0o700 });
      copyFileSync(file, join(copy.folder, "state.db"));
      chmodSync(join(copy.folder, "state.db"), 0o600);
      return value(await copy.opened().chain.head()).place;
    } finally {
      copy.remove();
    }
  };

  it("is complete in its one file", async () => {
    const state = place.opened();
    for (let count = 0; count < 3; count++) value(await state.ledger.append([entryOf()]));
    state.close();
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0);
    expect(await copied()).toBe(3);
  });

  it("is closed during a concurrent read, and nothing is lost", async () => {
    const state = place.opened();
    value(await state.ledger.append([entryOf()]));
    const other = reader();
    other.exec("BEGIN");
    expect(readLog(other)).toHaveLength(1);
    value(await state.ledger.append([entryOf()]));
    state.close();
    other.exec("COMMIT");
    other.close();
    expect(value(await place.opened().chain.head()).place).toBe(2);
  });
});
