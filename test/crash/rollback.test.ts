// Random histories of a signed log whose files a keyless writer replaces, truncates or strips of their notes after the daemon was
// killed: `verify` and the next start agree, and accept only what the daemon wrote up to the end that `keys/head` remembers.
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openNotary } from "../../src/daemon/log/notary.ts";
import { verifyStoredLog } from "../../src/daemon/log/stored-log.ts";
import { type Database, loadDriver } from "../../src/store/sqlite.ts";
import { openState } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { sizeFor } from "../house/long.ts";
import { ownFolder, removeFolder } from "./child.ts";
import { charge, decision, digest, noon } from "./entries.ts";
import { keptValue } from "./inspect.ts";

const DATABASE = ["state.db", "state.db-wal", "state.journal"];
const runs = sizeFor(25, 300);

let folder = "";
let histories = 0;
beforeAll(() => {
  folder = ownFolder();
});
afterAll(() => removeFolder(folder));

/** A copy of the disk after a commit: the daemon may have been killed there. */
type Moment = string;

/** One history: commits of several entries each, and the disk before the first and after each. */
async function history(commits: readonly number[]): Promise<readonly Moment[]> {
  const own = join(folder, `history-${++histories}`);
  const state = join(own, "state");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const notary = keptValue(openNotary(state));
  notary.begin("here", () => noon);
  const opened = keptValue(openState(state, { digest, program: root, notary }));
  const moments: Moment[] = [];
  for (const [at, entries] of commits.entries()) {
    const writes = Array.from({ length: entries }, (_, one) =>
      opened.ledger.decide(decision(`e${at}-${one}`, [charge("account", null)])),
    );
    for (const write of writes) keptValue(await write);
    const moment = join(own, `moment-${at}`);
    cpSync(state, moment, { recursive: true });
    moments.push(moment);
  }
  opened.close();
  notary.close();
  return moments;
}

/** The state folder with the database of one moment and the keys of another. */
function joined(database: Moment, keys: Moment): string {
  const state = join(folder, "joined");
  rmSync(state, { recursive: true, force: true });
  mkdirSync(state, { mode: 0o700 });
  for (const name of DATABASE) if (existsSync(join(database, name))) cpSync(join(database, name), join(state, name));
  cpSync(join(keys, "keys"), join(state, "keys"), { recursive: true });
  return state;
}

function edited(state: string, edit: (database: Database) => void): void {
  const database = loadDriver(root)?.(join(state, "state.db"), false);
  if (database === undefined) throw new Error("there is no database driver");
  for (const row of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER ${String(row["name"])}`);
  edit(database);
  database.close();
}

interface Verdict {
  readonly isIntact: boolean;
  readonly isStarted: boolean;
}

async function verdict(state: string): Promise<Verdict> {
  const verified = await verifyStoredLog({ state, program: root }, null, null);
  const notary = openNotary(state);
  if (!notary.ok) return { isIntact: verified.ok && verified.value.isIntact, isStarted: false };
  notary.value.begin("here", () => noon);
  const opened = openState(state, { digest, program: root, notary: notary.value });
  if (opened.ok) opened.value.close();
  notary.value.close();
  return { isIntact: verified.ok && verified.value.isIntact, isStarted: opened.ok };
}

const FINE: Verdict = { isIntact: true, isStarted: true };
const REFUSED: Verdict = { isIntact: false, isStarted: false };
const commits = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 6 });

test("a database is accepted at or after the remembered end, and never before it", async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.nat(), fc.nat(), async (sizes, one, other) => {
      const moments = await history(sizes);
      const [database, keys] = [one % moments.length, other % moments.length];
      const found = await verdict(joined(moments[database] as Moment, moments[keys] as Moment));
      // `database > keys`: killed between a commit and the write to keys/head; what follows is signed.
      expect(found).toEqual(database >= keys ? FINE : REFUSED);
    }),
    { numRuns: runs },
  );
});

test("entries removed together with their notes are reported missing", async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.nat(), async (sizes, cut) => {
      const last = (await history(sizes)).at(-1) as Moment;
      const state = joined(last, last);
      const places = sizes.reduce((sum, size) => sum + size, 0);
      edited(state, (database) => database.prepare("DELETE FROM leaf WHERE last > ?").run(cut % places));
      expect(await verdict(state)).toEqual(REFUSED);
    }),
    { numRuns: runs },
  );
});

test("deleted notes are reported missing: the last, one in the middle or all", async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.nat(), async (sizes, which) => {
      const last = (await history(sizes)).at(-1) as Moment;
      const state = joined(last, last);
      let [isLast, isFirst] = [false, false];
      edited(state, (database) => {
        const leaves = database.prepare("SELECT last FROM leaf ORDER BY last").all();
        const at = which % (leaves.length + 1);
        if (at === leaves.length) database.exec("UPDATE leaf SET note = NULL");
        else database.prepare("UPDATE leaf SET note = NULL WHERE last = ?").run(leaves[at]?.["last"] as number);
        isLast = at >= leaves.length - 1;
        isFirst = at === 0;
      });
      const found = await verdict(state);
      // A log that an older version began has no note at its start; its entries are proven by the later notes.
      expect(found.isIntact).toBe(isFirst && !isLast);
      if (isLast) expect(found.isStarted).toBe(false);
    }),
    { numRuns: runs },
  );
});
