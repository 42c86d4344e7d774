// Somebody who can write to the file changes the log: found by the verifier, which has nothing but the public key.
import { generateKeyPairSync } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chainHash, ZERO_HASH } from "../../src/audit/chain.ts";
import { makeCheckpoint } from "../../src/audit/checkpoint.ts";
import type { VerifyGiven } from "../../src/audit/verify.ts";
import { verifyStore } from "../../src/audit/verify-store.ts";
import { signatureCheck, signerOf } from "../../src/node/audit-key-text.ts";
import type { ChainStore } from "../../src/ports/chain-rows.ts";
import type { VerifyAnswer } from "../../src/ports/daemon-control.ts";
import type { Signer } from "../../src/ports/signing.ts";
import { type Database, loadDriver } from "../../src/store/sqlite.ts";
import { openState } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { ownFolder, removeFolder } from "./child.ts";
import { charge, decision, digest, noon } from "./entries.ts";
import { keptValue } from "./inspect.ts";

const entries = 120;
const noted: readonly number[] = [40, 80, 110];
const last = noted.at(-1) as number;
const times = process.env["AMBIT_LONG"] === "1" ? 200 : 8;

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

/** A copy of the log after somebody had their way with it, as the verifier sees it. */
async function verified(tamper: (database: Database) => void, given: Partial<VerifyGiven> = {}): Promise<VerifyAnswer> {
  copies += 1;
  const path = join(folder, `copy-${copies}`);
  mkdirSync(path);
  // What is committed may still lie beside the database.
  for (const name of readdirSync(join(folder, "log")).filter((each) => !each.endsWith("-shm")))
    copyFileSync(join(folder, "log", name), join(path, name));
  const database = loadDriver(root)?.(join(path, "state.db"), false);
  if (database === undefined) throw new Error("there is no database driver");
  // Whoever can write to the file can do away with what the file itself forbids.
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

type Chain = Pick<ChainStore, "rows" | "checkpoints" | "head" | "first">;

/** Read straight from the file: a store that opens it would refuse some of this before the verifier sees it. */
function chainOf(database: Database): Chain {
  const read = <T>(text: string, ...values: readonly number[]): Promise<{ readonly ok: true; readonly value: T }> =>
    Promise.resolve({ ok: true, value: database.prepare(text).all(...values) as unknown as T });
  return {
    rows: (from, count) =>
      read("SELECT place, body, hash FROM entry WHERE place >= ? ORDER BY place LIMIT ?", from, count),
    checkpoints: (from) => read("SELECT place, text FROM checkpoint WHERE place >= ? ORDER BY place", from),
    head: async () => {
      const row = database.prepare("SELECT place, hash FROM entry ORDER BY place DESC LIMIT 1").get();
      return { ok: true, value: { place: Number(row?.["place"] ?? 0), hash: String(row?.["hash"] ?? ZERO_HASH) } };
    },
    first: async () => ({ ok: true, value: 1 }),
  };
}

function edited(body: string, at: number): string {
  const place = at % body.length;
  const other = body[place] === "x" ? "y" : "x";
  return body.slice(0, place) + other + body.slice(place + 1);
}

/** Every hash made anew, as if that were how it had always been. */
function rehash(database: Database): void {
  let hash = ZERO_HASH;
  for (const row of database.prepare("SELECT place, body FROM entry ORDER BY place").all()) {
    hash = chainHash(digest, hash, String(row["body"]));
    database.prepare("UPDATE entry SET hash = ? WHERE place = ?").run(hash, Number(row["place"]));
  }
}

function editRow(database: Database, place: number, at: number): void {
  const row = database.prepare("SELECT body FROM entry WHERE place = ?").get(place);
  database.prepare("UPDATE entry SET body = ? WHERE place = ?").run(edited(String(row?.["body"]), at), place);
}

function removeRow(database: Database, place: number, isClosed: boolean): void {
  database.prepare("DELETE FROM entry WHERE place = ?").run(place);
  // In two steps, since no two rows have the same place even for a moment.
  if (!isClosed) return;
  database.prepare("UPDATE entry SET place = -place WHERE place > ?").run(place);
  database.exec("UPDATE entry SET place = -place - 1 WHERE place < 0");
}

function swapRows(database: Database, one: number, other: number, withHash: boolean): void {
  const read = database.prepare("SELECT body, hash FROM entry WHERE place = ?");
  const [first, second] = [read.get(one), read.get(other)];
  const write = database.prepare(`UPDATE entry SET body = ?${withHash ? ", hash = ?" : ""} WHERE place = ?`);
  const values = (row: typeof first): string[] =>
    withHash ? [String(row?.["body"]), String(row?.["hash"])] : [String(row?.["body"])];
  write.run(...values(second), one);
  write.run(...values(first), other);
}

const anyPlace = fc.noBias(fc.integer({ min: 1, max: entries }));
const signedPlace = fc.noBias(fc.integer({ min: 1, max: last }));

/** What is done, in many places; each is a whole way of tampering. */
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
    "the end is cut off before the last checkpoint",
    () =>
      fc.sample(signedPlace, times).map((place) => (database) => {
        database.prepare("DELETE FROM entry WHERE place >= ?").run(place);
      }),
  ],
  [
    "an entry is edited and everything is hashed anew",
    () =>
      fc.sample(fc.tuple(signedPlace, fc.nat(10_000)), times).map(([place, at]) => (database) => {
        editRow(database, place, at);
        rehash(database);
      }),
  ],
  [
    "an entry is removed, the others close up, and everything is hashed anew",
    () =>
      fc.sample(signedPlace, times).map((place) => (database) => {
        removeRow(database, place, true);
        rehash(database);
      }),
  ],
  [
    "everything is hashed anew and signed with another key",
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
    const hash = String(database.prepare("SELECT hash FROM entry WHERE place = ?").get(place)?.["hash"]);
    const text = makeCheckpoint({ node: "here", size: place, hash, at: noon, next: null }, other);
    database.prepare("UPDATE checkpoint SET text = ? WHERE place = ?").run(text, place);
  }
}

describe("the verifier with the public key alone", () => {
  test("finds nothing in a log that nobody touched", async () => {
    expect(await verified(() => {})).toMatchObject({
      isIntact: true,
      entries,
      checkpoints: noted.length,
      unsigned: entries - last,
    });
    expect(await verified(() => {}, { head })).toMatchObject({ isIntact: true });
    // Hashing anew what was not changed changes nothing: what is found below is found for what was done.
    expect(await verified(rehash)).toMatchObject({ isIntact: true });
  });

  test.each(ways)(`finds it every time when %s`, async (_, tampers) => {
    const missed: number[] = [];
    for (const [at, tamper] of tampers().entries()) if ((await verified(tamper)).isIntact) missed.push(at);
    expect(missed).toEqual([]);
  });

  const forgotten: readonly (readonly [what: string, tamper: (database: Database) => void])[] = [
    [
      "everything is hashed anew and the checkpoints are removed",
      (database) => {
        editRow(database, 3, 20);
        rehash(database);
        database.exec("DELETE FROM checkpoint");
      },
    ],
    [
      "the end is cut off with its checkpoints",
      (database) => database.exec("DELETE FROM entry WHERE place > 90; DELETE FROM checkpoint WHERE place > 90"),
    ],
    [
      "the end behind the last checkpoint is cut off",
      (database) => database.exec(`DELETE FROM entry WHERE place > ${last}`),
    ],
    ["everything is removed", (database) => database.exec("DELETE FROM entry; DELETE FROM checkpoint")],
  ];
  test.each(forgotten)("needs a hash that was kept elsewhere to find that %s, and finds it", async (_, tamper) => {
    expect((await verified(tamper, { head })).isIntact).toBe(false);
  });
});
