// Callers inside one process: of a plain SQLite table with one commit per call, and of our store without its daemon.
import { join } from "node:path";
import { sha256 } from "../../src/platform/digest.ts";
import { loadDriver } from "../../src/store/sqlite.ts";
import { openState } from "../../src/store/state.ts";
import { rootFolder } from "../place.ts";
import { chargeOf, entryOf } from "./entries.ts";
import { expectValue } from "./fixture.ts";
import type { Call, WorkerOptions } from "./worker.ts";

/** The same driver, the same durability, the same bytes; nothing is charged, chained or indexed. */
export function plainCallers({ folder, callers }: WorkerOptions): readonly Call[] {
  const driver = loadDriver(rootFolder);
  if (driver === null) throw new Error("there is no driver");
  const database = driver(join(folder, "plain.db"), false);
  for (const setting of ["journal_mode = wal", "synchronous = full"]) database.exec(`PRAGMA ${setting}`);
  const { synchronous } = database.prepare("PRAGMA synchronous").get() ?? {};
  if (synchronous !== 2) throw new Error("the plain database is not durable");
  database.exec("CREATE TABLE IF NOT EXISTS call (place INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO call (body) VALUES (?)");
  const line: (() => void)[] = [];
  // The driver closes a database that is no longer referenced, whatever is prepared on it.
  const held = [database];
  // Callers are queued; each has its own commit.
  const serve = (): void => {
    for (const done of held.length === 0 ? [] : line.splice(0)) {
      insert.run(JSON.stringify(entryOf()));
      done();
    }
  };
  const call: Call = () =>
    new Promise((done) => {
      if (line.push(done) === 1) setImmediate(serve);
    });
  return Array.from({ length: callers }, () => call);
}

export function storeCallers({ folder, callers }: WorkerOptions): readonly Call[] {
  const { ledger } = expectValue(openState(folder, { digest: sha256, program: rootFolder }));
  return Array.from({ length: callers }, () => async () => {
    const write = { entry: entryOf(), charges: [chargeOf()], claim: null, generations: [], links: [] };
    const written = expectValue(await ledger.decide(write));
    if (!written.ok) throw new Error(`the store refused: ${written.code}`);
  });
}
