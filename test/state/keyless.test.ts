// A writer of the database without the keys: whatever it changes, at any time, the log is not verified as intact afterwards, and
// the daemon signs no entry that it did not write.
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ChainRow } from "../../src/core/ports/stores/chain-rows.ts";
import { chainHash, ZERO_HASH } from "../../src/log/chain/chain.ts";
import { type Database, loadDriver } from "../../src/store/sqlite.ts";
import { editLog, readLog } from "../../src/store/testing/leaf.ts";
import { digest } from "../crash/entries.ts";
import { root } from "../e2e/ambit.ts";
import { isRunning } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("worker", ["memory.write", "memory.read"]);
  await fixture.begin();
});
afterEach(() => fixture?.stopDaemon());
afterAll(() => fixture?.remove());

const path = (name: string): string => join(fixture.state, name);
const saved = (name: string): string => join(fixture.base, `saved-${name}`);

/** Everything a keyless writer may change; the keys are out of reach. */
const FILES = ["state.db", "state.db-wal"];

function save(name: string): void {
  rmSync(saved(name), { recursive: true, force: true });
  for (const file of [...FILES, "keys"])
    if (existsSync(path(file))) cpSync(path(file), join(saved(name), file), { recursive: true });
}

function restore(name: string, files: readonly string[] = [...FILES, "keys"]): void {
  for (const file of [...FILES, "state.db-shm"]) rmSync(path(file), { force: true });
  for (const file of files) {
    rmSync(path(file), { recursive: true, force: true });
    if (existsSync(join(saved(name), file))) cpSync(join(saved(name), file), path(file), { recursive: true });
  }
}

function withDatabase(edit: (database: Database) => void): void {
  const database = loadDriver(root)?.(path("state.db"), false);
  if (database === undefined) throw new Error("there is no database driver");
  // In one transaction, after whatever a running daemon is writing.
  database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  for (const row of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER ${String(row["name"])}`);
  edit(database);
  database.exec("COMMIT");
  database.close();
}

/** Writes the rows as if they had always been there, without any signature. */
function chained(rows: readonly ChainRow[]): readonly ChainRow[] {
  let hash = ZERO_HASH;
  return rows.map(({ body }, at) => {
    hash = chainHash(digest, hash, body);
    return { place: at + 1, body, hash };
  });
}

const forged = (row: ChainRow): ChainRow => ({ ...row, body: row.body.replace('"allow"', '"deny"') });

function rewrite(edit: (rows: readonly ChainRow[]) => readonly ChainRow[], areNotesGone = true): void {
  withDatabase((database) => {
    const notes = database.prepare("SELECT last, note FROM leaf").all();
    editLog(database, (rows) => chained(edit(rows)));
    if (areNotesGone) database.exec("DELETE FROM checkpoint");
    else
      for (const { last, note } of notes)
        database.prepare("UPDATE leaf SET note = ? WHERE last = ?").run(note ?? null, last ?? null);
    database.exec("UPDATE progress SET facts = 0, words = 0");
  });
}

/** Rows up to a position, exactly as they were written, with their own signatures. */
function cut(rows: number): void {
  withDatabase((database) => {
    const last = readLog(database).at(-1)?.place ?? 0;
    for (const text of ["DELETE FROM leaf WHERE last > ?", "DELETE FROM checkpoint WHERE place > ?"])
      database.prepare(text).run(last - rows);
  });
}

const ways: readonly (readonly [what: string, tamper: () => void])[] = [
  ["an entry is changed, all hashes are recomputed, all notes are deleted", () => rewrite((rows) => rows.map(forged))],
  ["the same, with the old signatures kept", () => rewrite((rows) => rows.map(forged), false)],
  ["an entry is removed and the notes are deleted", () => rewrite((rows) => rows.filter((_, at) => at !== 2))],
  ["entries are appended", () => rewrite((rows) => [...rows, rows[1] as ChainRow], false)],
  ["nothing is changed, and all notes are deleted", () => rewrite((rows) => rows)],
  ["the last commit is removed with its signature", () => cut(1)],
  ["most entries are removed with their signatures", () => cut(4)],
  [
    "everything is deleted",
    () => withDatabase((database) => database.exec("DELETE FROM leaf; DELETE FROM checkpoint")),
  ],
  ["the files are restored from an earlier backup", () => restore("early", FILES)],
  [
    "the files are removed",
    () => {
      for (const file of FILES) rmSync(path(file), { force: true });
    },
  ],
];

/** INVARIANT of every row: not intact, no daemon starts on it, and the remembered head stays as it was. */
/** `why`: another database under the old write-ahead log may be unreadable instead. */
async function expectRefused(why: RegExp = /the log is damaged/): Promise<void> {
  const head = readFileSync(path("keys/head"), "latin1");
  const verified = await fixture.ambit("audit", "verify", "--json");
  expect(verified.status).not.toBe(0);
  expect(verified.out).toMatch(why);
  expect(verified.out).not.toContain('"isIntact":true');
  const started = await fixture.ambit("daemon", "start");
  expect([started.status === 0, started.out]).toEqual([false, expect.stringMatching(why)]);
  expect(readFileSync(path("keys/head"), "latin1")).toBe(head);
  expect((await fixture.ambit("audit", "verify")).out).not.toMatch(/^intact/m);
}

async function calls(count: number): Promise<readonly string[]> {
  const session = expectValue(await fixture.caller().open(fixture.project, "worker"));
  const said: string[] = [];
  for (let call = 0; call < count; call++)
    said.push((await session.do("memory_set", { key: `k${call}`, value: "v" })).said);
  return said;
}

describe("between stop and start", () => {
  beforeAll(async () => {
    expect(await calls(3)).toEqual(["done", "done", "done"]);
    fixture.stopDaemon();
    save("early");
    await fixture.startDaemon();
    expect(await calls(3)).toEqual(["done", "done", "done"]);
    fixture.stopDaemon();
    save("stopped");
  });

  test("unaffected calls continue", async () => {
    restore("stopped");
    await fixture.startDaemon();
    expect((await fixture.ambit("audit", "verify")).out).toMatch(/^intact .* 0 not yet signed/m);
    fixture.stopDaemon();
  });

  test.each(ways)("%s", async (_, tamper) => {
    restore("stopped");
    tamper();
    await expectRefused();
  });
});

describe("after kill -9, with the last commits in the write-ahead log alone", () => {
  beforeAll(async () => {
    restore("stopped");
    await fixture.startDaemon();
    const { pid } = await fixture.status();
    const session = expectValue(await fixture.caller().open(fixture.project, "worker"));
    expect((await session.do("memory_set", { key: "a", value: "b" })).said).toBe("done");
    for (const key of ["a", "b", "c"]) expect((await session.do("memory_get", { key })).said).toBe("done");
    // A kill during a commit may leave `keys/head` one commit behind: wait until the last outcome is written.
    const newest = (await fixture.log({ kind: "decision" })).at(-1)?.id ?? "";
    await until(async () => (await fixture.log({ kind: "outcome" })).at(-1)?.of === newest, "the outcome is written");
    process.kill(pid, "SIGKILL");
    await until(() => !isRunning(pid), "the daemon exited");
    save("killed");
  });

  test("an unchanged state goes on, with every acknowledged entry", async () => {
    restore("killed");
    await fixture.startDaemon();
    const tools = (await fixture.log({ kind: "decision" })).map(({ tool }) => tool);
    expect(tools.slice(-4)).toEqual(["memory_set", "memory_get", "memory_get", "memory_get"]);
    expect((await fixture.ambit("audit", "verify")).status).toBe(0);
    fixture.stopDaemon();
  });

  test.each(ways)("%s", async (_, tamper) => {
    restore("killed");
    tamper();
    await expectRefused();
  });
});

describe("while the daemon runs", () => {
  test.each(ways)("%s", async (_, tamper) => {
    restore("stopped");
    await fixture.startDaemon();
    const session = expectValue(await fixture.caller().open(fixture.project, "worker"));
    expect((await session.do("memory_set", { key: "a", value: "b" })).said).toBe("done");
    expect((await fixture.ambit("audit", "verify")).status).toBe(0);
    tamper();
    expect((await session.do("memory_set", { key: "a", value: "c" })).said).toBe("audit_unavailable");
    const verified = await fixture.ambit("audit", "verify", "--json");
    expect([verified.status, verified.out]).toEqual([1, expect.stringContaining('"isIntact":false')]);
    expect((await fixture.ambit("daemon", "status")).out).toContain("the log is damaged");
    expect((await fixture.ambit("daemon", "logs")).out).toContain("the log cannot be written, so every call is denied");
    fixture.stopDaemon();
    await expectRefused();
  });

  test("the file is replaced under the daemon", async () => {
    restore("stopped");
    await fixture.startDaemon();
    cpSync(join(saved("early"), "state.db"), path("other.db"));
    renameSync(path("other.db"), path("state.db"));
    await expect(calls(1)).rejects.toThrow("audit_unavailable");
    fixture.stopDaemon();
    await expectRefused(/the log is damaged|state\.db cannot be opened/);
  });
});

test("before the first start: an existing log is not signed with a new key", async () => {
  restore("stopped");
  rmSync(path("keys"), { recursive: true });
  const started = await fixture.ambit("daemon", "start");
  expect([started.status === 0, started.out]).toEqual([
    false,
    expect.stringContaining("no checkpoint signed with its key"),
  ]);
  expect(existsSync(path("keys/head"))).toBe(false);
  expect((await fixture.ambit("audit", "verify")).status).toBe(1);
});

test("a log from before commits were signed continues from its last note, and is signed from there", async () => {
  const older = (edit: (database: Database) => void): void => {
    restore("stopped");
    rmSync(path("keys/head"));
    withDatabase((database) => {
      database.exec("UPDATE leaf SET note = NULL");
      edit(database);
    });
  };
  // Its newest note is one that an older version could have made; the daemon signed the end when it stopped.
  older(() => undefined);
  await fixture.startDaemon();
  expect(await calls(1)).toEqual(["done"]);
  expect((await fixture.ambit("audit", "verify")).out).toMatch(/^intact .* 0 not yet signed/m);
  fixture.stopDaemon();
  for (const forge of ["DELETE FROM checkpoint", "UPDATE checkpoint SET text = replace(text, 'time 1', 'time 2')"]) {
    older((database) => database.exec(forge));
    const started = await fixture.ambit("daemon", "start");
    expect([started.status === 0, started.out]).toEqual([false, expect.stringContaining("the log is damaged")]);
  }
});
