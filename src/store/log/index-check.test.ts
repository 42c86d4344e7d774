// A writer of the database who hides an entry from searches is detected; an index that is behind, or complete, is fine.
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Database, loadDriver } from "../sqlite.ts";
import type { State } from "../state.ts";
import { entryOf, program, type TemporaryState, temporaryState, value } from "../testing/state.ts";
import { FactFiller, factStepRows } from "./index-filler.ts";
import { fillWords } from "./word-index.ts";

let place: TemporaryState;
let state: State;
beforeEach(async () => {
  place = temporaryState();
  state = place.opened();
  const entry = (at: number): ReturnType<typeof entryOf> =>
    entryOf({ id: `id-${at}`, of: at % 2 === 0 ? `id-${at - 1}` : null, code: at === 7 ? "scope_violation" : null });
  value(await state.ledger.append(Array.from({ length: factStepRows + 20 }, (_, at) => entry(at + 1))));
});
afterEach(() => place.remove());

async function index(): Promise<void> {
  const filler = new FactFiller();
  value(await state.loop.write((connection) => filler.step(connection)));
  value(await state.loop.write(fillWords));
}

const unindexed = async (): Promise<number | null> => value(await state.chain.unindexed(1, 1_000));

test("an index that has not begun, is behind or is complete hides nothing", async () => {
  expect(await unindexed()).toBe(null);
  await index();
  expect(value(await state.ledger.log({ code: "scope_violation", count: 9 }))).toHaveLength(1);
  expect(await unindexed()).toBe(null);
});

test.each<[string, string, number]>([
  ["a removed fact", "DELETE FROM fact WHERE place = 7", 7],
  ["a changed fact", "UPDATE fact SET code = NULL WHERE place = 7", 7],
  ["another moment", "UPDATE fact SET at = at + 1 WHERE place = 7", 7],
  ["a renamed term", "UPDATE term SET text = 'x' WHERE text = 'scope_violation'", 7],
  ["a removed verb", "DELETE FROM fact_verb WHERE place = 7", 7],
  ["a verb with other facts", "UPDATE fact_verb SET code = NULL WHERE place = 7", 7],
  ["a removed id", "DELETE FROM fact_id WHERE id = 'id-7'", 7],
  ["a removed outcome of a call", "DELETE FROM fact_of WHERE of = 'id-7'", 8],
  ["a narrowed time range", "UPDATE span SET latest = earliest - 1", 1],
  ["removed words", "DELETE FROM word WHERE rowid = 7", 7],
  ["a position that it never reached", "UPDATE progress SET facts = 270", factStepRows + 1],
])("detects %s", async (_, text, found) => {
  await index();
  state.close();
  const database = loadDriver(program)?.(join(place.folder, "state.db"), false) as Database;
  for (const row of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER ${String(row["name"])}`);
  database.exec(text);
  database.close();
  state = place.opened();
  expect(await unindexed()).toBe(found);
});
