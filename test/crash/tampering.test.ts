// A writer to the file changes the log: detected by the verifier, which has only the public key.
import { generateKeyPairSync } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { VerifyReport } from "../../src/core/ports/daemon/daemon-control.ts";
import type { ChainRow, ChainStore, CheckpointRow } from "../../src/core/ports/stores/chain-rows.ts";
import type { Signer } from "../../src/core/ports/stores/signing.ts";
import { chainHash, ZERO_HASH } from "../../src/log/chain/chain.ts";
import { makeCheckpoint } from "../../src/log/chain/checkpoint.ts";
import { signatureCheck, signerOf } from "../../src/log/keys/key-text.ts";
import type { VerifyOptions } from "../../src/log/verify/verify.ts";
import { verifyStore } from "../../src/log/verify/verify-store.ts";
import { type Database, loadDriver } from "../../src/store/sqlite.ts";
import { openState } from "../../src/store/state.ts";
import { editEntry, editLog, readLog } from "../../src/store/testing/leaf.ts";
import { root } from "../e2e/ambit.ts";
import { sizeFor } from "../house/long.ts";
import { ownFolder, removeFolder } from "./child.ts";
import { charge, decision, digest, noon } from "./entries.ts";
import { keptValue } from "./inspect.ts";

const entries = 120;
const noted: readonly number[] = [40, 80, 110];
const last = noted.at(-1) as number;
const times = sizeFor(8, 200);

const signer: Signer = signerOf(generateKeyPairSync("ed25519").privateKey);
let folder = "";
let head: { readonly place: number; readonly hash: string };
let copies = 0;

beforeAll(async () => {
  folder = ownFolder();
  const state = keptValue(openState(join(folder, "log"), { digest, program: root }));
  for (let place = 1; place <= entries; place++) {
    keptValue(await state.ledger.decide(decision(`e${place}`, [charge("account", null)])));
    if (!noted.includes(place)) continue;
    const { hash } = keptValue(await state.chain.head());
    const text = makeCheckpoint({ node: "here", size: place, hash, at: noon, next: null }, signer);
    keptValue(await state.chain.keepCheckpoint({ place, text }));
  }
  head = keptValue(await state.chain.head());
  state.close();
});
afterAll(() => removeFolder(folder));

/** A copy of the log after tampering, as the verifier sees it. */
async function verified(
  tamper: (database: Database) => void,
  given: Partial<VerifyOptions> = {},
): Promise<VerifyReport> {
  copies += 1;
  const path = join(folder, `copy-${copies}`);
  mkdirSync(path);
  // Committed entries may still be beside the database.
  for (const name of readdirSync(join(folder, "log")).filter((each) => !each.endsWith("-shm")))
    copyFileSync(join(folder, "log", name), join(path, name));
  const database = loadDriver(root)?.(join(path, "state.db"), false);
  if (database === undefined) throw new Error("there is no database driver");
  // A writer to the file can remove the triggers that forbid changes.
  for (const row of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER ${String(row["name"])}`);
  tamper(database);
  const ports = { digest, check: signatureCheck(), chain: chainOf(database), pause: async () => {} };
  const all = { key: signer.key, rotations: [], node: "here", head: null, ...given };
  const answer = keptValue(await verifyStore(ports, all));
  database.close();
  removeFolder(path);
  return answer;
}

type Chain = Pick<ChainStore, "rows" | "checkpoints" | "head" | "first" | "unindexed">;

/** Read directly from the file: a store that opens it would refuse some of this before the verifier sees it. */
function chainOf(database: Database): Chain {
  return {
    rows: async (from, count) => ({
      ok: true,
      value: readLog(database)
        .filter(({ place }) => place >= from)
        .slice(0, count),
    }),
    checkpoints: async (from) => ({
      ok: true,
      value: database
        .prepare("SELECT place, text FROM checkpoint WHERE place >= ? ORDER BY place")
        .all(from) as unknown as readonly CheckpointRow[],
    }),
    head: async () => {
      const { place, hash } = readLog(database).at(-1) ?? { place: 0, hash: ZERO_HASH };
      return { ok: true, value: { place, hash } };
    },
    first: async () => ({ ok: true, value: 1 }),
    unindexed: async () => ({ ok: true, value: null }),
  };
}

function edited(body: string, at: number): string {
  const place = at % body.length;
  const other = body[place] === "x" ? "y" : "x";
  return body.slice(0, place) + other + body.slice(place + 1);
}

/** Every hash recomputed, as if it had always been so. */
function rehash(database: Database): void {
  let hash = ZERO_HASH;
  editLog(database, (rows) =>
    rows.map((row) => {
      hash = chainHash(digest, hash, row.body);
      return { ...row, hash };
    }),
  );
}

function editRow(database: Database, place: number, at: number): void {
  editEntry(database, place, ({ body }) => ({ body: edited(body, at) }));
}

function removeRow(database: Database, place: number, isClosed: boolean): void {
  editLog(database, (rows) =>
    rows
      .filter((row) => row.place !== place)
      .map((row) => (isClosed && row.place > place ? { ...row, place: row.place - 1 } : row)),
  );
}

function swapRows(database: Database, one: number, other: number, withHash: boolean): void {
  const rows = readLog(database);
  const [first, second] = [rows[one - 1] as ChainRow, rows[other - 1] as ChainRow];
  const taken = ({ body, hash }: ChainRow): Partial<ChainRow> => (withHash ? { body, hash } : { body });
  editEntry(database, one, () => taken(second));
  editEntry(database, other, () => taken(first));
}

const anyPlace = fc.noBias(fc.integer({ min: 1, max: entries }));
const signedPlace = fc.noBias(fc.integer({ min: 1, max: last }));

/** The changes, in many places; each is a complete way of tampering. */
const ways: readonly (readonly [what: string, tampers: () => readonly ((database: Database) => void)[]])[] = [
  [
    "an entry is edited",
    () =>
      fc.sample(fc.tuple(anyPlace, fc.nat(10_000)), times).map(
        ([place, at]) =>
          (database) =>
            editRow(database, place, at),
      ),
  ],
  [
    "an entry is removed",
    () =>
      fc.sample(fc.tuple(fc.noBias(fc.integer({ min: 1, max: entries - 1 })), fc.boolean()), times).map(
        ([place, isClosed]) =>
          (database) =>
            removeRow(database, place, isClosed),
      ),
  ],
  [
    "two entries are swapped",
    () =>
      fc
        .sample(
          fc.tuple(anyPlace, anyPlace, fc.boolean()).filter(([one, other]) => one !== other),
          times,
        )
        .map(
          ([one, other, withHash]) =>
            (database) =>
              swapRows(database, one, other, withHash),
        ),
  ],
  [
    "the end is removed before the last checkpoint",
    () =>
      fc.sample(signedPlace, times).map((place) => (database) => {
        editLog(database, (rows) => rows.slice(0, place - 1));
      }),
  ],
  [
    "an entry is edited and every hash is recomputed",
    () =>
      fc.sample(fc.tuple(signedPlace, fc.nat(10_000)), times).map(([place, at]) => (database) => {
        editRow(database, place, at);
        rehash(database);
      }),
  ],
  [
    "an entry is removed, the others close up, and every hash is recomputed",
    () =>
      fc.sample(signedPlace, times).map((place) => (database) => {
        removeRow(database, place, true);
        rehash(database);
      }),
  ],
  [
    "every hash is recomputed and signed with another key",
    () =>
      fc.sample(fc.tuple(signedPlace, fc.nat(10_000)), times).map(([place, at]) => (database) => {
        editRow(database, place, at);
        rehash(database);
        resign(database, signerOf(generateKeyPairSync("ed25519").privateKey));
      }),
  ],
  [
    "a checkpoint is edited",
    () =>
      fc.sample(fc.tuple(fc.constantFrom(...noted), fc.nat(10_000)), times).map(([place, at]) => (database) => {
        const row = database.prepare("SELECT text FROM checkpoint WHERE place = ?").get(place);
        database
          .prepare("UPDATE checkpoint SET text = ? WHERE place = ?")
          .run(edited(String(row?.["text"]), at), place);
      }),
  ],
];

function resign(database: Database, other: Signer): void {
  for (const place of noted) {
    const hash = readLog(database)[place - 1]?.hash ?? "";
    const text = makeCheckpoint({ node: "here", size: place, hash, at: noon, next: null }, other);
    database.prepare("UPDATE checkpoint SET text = ? WHERE place = ?").run(text, place);
  }
}

describe("the verifier with the public key alone", () => {
  test("finds nothing in an unchanged log", async () => {
    expect(await verified(() => {})).toMatchObject({
      isIntact: true,
      entries,
      checkpoints: noted.length,
      unsigned: entries - last,
    });
    expect(await verified(() => {}, { head })).toMatchObject({ isIntact: true });
    // Recomputing unchanged hashes changes nothing: what is found below is due to the tampering.
    expect(await verified(rehash)).toMatchObject({ isIntact: true });
  });

  test.each(ways)(`detects it every time when %s`, async (_, tampers) => {
    const missed: number[] = [];
    for (const [at, tamper] of tampers().entries()) if ((await verified(tamper)).isIntact) missed.push(at);
    expect(missed).toEqual([]);
  });

  const forgotten: readonly (readonly [what: string, tamper: (database: Database) => void])[] = [
    [
      "every hash is recomputed and the checkpoints are removed",
      (database) => {
        editRow(database, 3, 20);
        rehash(database);
        database.exec("DELETE FROM checkpoint");
      },
    ],
    [
      "the end is removed with its checkpoints",
      (database) => {
        editLog(database, (rows) => rows.slice(0, 90));
        database.exec("DELETE FROM checkpoint WHERE place > 90");
      },
    ],
    ["the end after the last checkpoint is removed", (database) => editLog(database, (rows) => rows.slice(0, last))],
    ["everything is removed", (database) => database.exec("DELETE FROM leaf; DELETE FROM checkpoint")],
  ];
  test.each(forgotten)(
    "needs a hash that was stored elsewhere to detect that %s, and detects it",
    async (_, tamper) => {
      expect((await verified(tamper, { head })).isIntact).toBe(false);
    },
  );
});
