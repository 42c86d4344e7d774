// Inspects a store after a failure, from the outside: whether everything acknowledged is there, the chain is consistent, and what
// was spent is exactly what was allowed.
import { join } from "node:path";
import type { DurableResult } from "../../src/core/ports/stores/durable.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import { chainHash, ZERO_HASH } from "../../src/log/chain/chain.ts";
import { loadDriver } from "../../src/store/sqlite.ts";
import { openState, type State } from "../../src/store/state.ts";
import { digest, noon } from "./entries.ts";

export interface Found {
  /** Empty, or what is wrong. */
  readonly problems: readonly string[];
  readonly entries: number;
  /** Stored without an acknowledgement. */
  readonly untold: number;
}

const batchRows = 1_000;

export async function inspect(folder: string, program: string, said: readonly string[]): Promise<Found> {
  const state = openState(folder, { digest, program });
  if (!state.ok) return { problems: [`cannot be opened: ${state.message}`], entries: 0, untold: 0 };
  const problems: string[] = [];
  const rows = await chained(state.value, problems);
  await balanced(state.value, [...rows.values()], problems);
  const kept = said.filter((line) => line.startsWith("kept "));
  for (const line of kept) {
    const lost = await missing(state.value, rows, line.split(" "));
    if (lost !== null) problems.push(`lost: ${lost}`);
  }
  state.value.close();
  problems.push(...damages(folder, program));
  const told = new Set(kept.map((line) => line.split(" ")[2]));
  const untold = [...rows.keys()].filter((id) => !told.has(id) && !id.startsWith("put-")).length;
  return { problems, entries: rows.size, untold };
}

interface Placed {
  readonly place: number;
  readonly entry: LogEntry;
}

/** Every entry by its id, each hashed again. */
async function chained(state: State, problems: string[]): Promise<ReadonlyMap<string, Placed>> {
  const entries = new Map<string, Placed>();
  let hash = ZERO_HASH;
  for (let from = 1; ; ) {
    const rows = keptValue(await state.chain.rows(from, batchRows));
    for (const row of rows) {
      hash = chainHash(digest, hash, row.body);
      if (row.place !== from) problems.push(`place ${row.place} stands where ${from} should`);
      if (row.hash !== hash) problems.push(`the hash at ${row.place} is wrong`);
      const entry = JSON.parse(row.body) as LogEntry;
      if (entries.has(entry.id)) problems.push(`${entry.id} stands there twice`);
      entries.set(entry.id, { place: row.place, entry });
      from = row.place + 1;
    }
    if (rows.length < batchRows) break;
  }
  const head = keptValue(await state.chain.head());
  if (head.hash !== hash || head.place !== entries.size) problems.push("the head is not the last entry");
  return entries;
}

/** What every account and the secret have spent equals the number of entries about it. */
async function balanced(state: State, placed: readonly Placed[], problems: string[]): Promise<void> {
  const allowed = new Map<string, number>();
  for (const { entry } of placed)
    if (entry.outcome === "allow")
      for (const account of (entry.more["accounts"] ?? []) as readonly string[])
        allowed.set(account, (allowed.get(account) ?? 0) + 1);
  const used = placed.filter(({ entry }) => entry.kind === "secret" && entry.outcome === "used").length;
  if ((state.secrets.get("secret")?.used ?? 0) !== used)
    problems.push(`the secret was used ${used} times and has another count`);
  const spent = new Map(keptValue(await state.ledger.accounts(null)).map(({ account, used }) => [account, used]));
  for (const account of new Set([...allowed.keys(), ...spent.keys()]))
    if (allowed.get(account) !== spent.get(account))
      problems.push(`${account}: ${allowed.get(account) ?? 0} allowed, ${spent.get(account) ?? 0} spent`);
}

async function missing(
  state: State,
  rows: ReadonlyMap<string, Placed>,
  words: readonly string[],
): Promise<string | null> {
  const [, kind = "", id = "", number = ""] = words;
  const line = words.join(" ");
  switch (kind) {
    case "decision":
      return rows.get(id)?.place === Number(number) ? null : line;
    case "memory": {
      const found = keptValue(await state.memory.get({ kind: "session", session: id.split("-")[0] ?? "" }, id, noon));
      return found?.version === Number(number) && found.value.length === 9_000 ? null : line;
    }
    case "observation": {
      const row = state.loop.readNow((connection) =>
        connection.get("SELECT 1 AS found FROM observation WHERE id = ?", JSON.stringify(id)),
      );
      return keptValue(row) === undefined ? line : null;
    }
    case "setting":
      return state.settings.get(id) === id && rows.has(id) ? null : line;
    case "secret":
      return rows.has(id) && number === "1" ? null : line;
    default:
      return `an unknown line: ${line}`;
  }
}

/** What the database itself finds wrong with its file. */
function damages(folder: string, program: string): readonly string[] {
  const database = loadDriver(program)?.(join(folder, "state.db"), false);
  if (database === undefined) return ["there is no database driver"];
  const rows = ["integrity_check", "foreign_key_check"].flatMap((each) => database.prepare(`PRAGMA ${each}`).all());
  database.close();
  return rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
}

export function keptValue<T>(kept: DurableResult<T>): T {
  if (!kept.ok) throw new Error(kept.message);
  return kept.value;
}
