// A quick look at the end of the chain: what was written since the last checkpoint must still hang together.
import { chainHash, ZERO_HASH } from "../audit/chain.ts";
import { parseCheckpoint } from "../audit/checkpoint.ts";
import { headOf } from "./append.ts";
import { type Connection, numberOf, textOf } from "./connection.ts";
import { rowAt, rowsBetween } from "./leaf.ts";

/** More than a checkpoint is ever behind; the whole chain is for the verifier. */
export const tailRowsMax = 20_000;

/** Null if it holds; else what is wrong and what to do. */
export function tailProblem(connection: Connection): string | null {
  const head = headOf(connection);
  const first = numberOf(connection.get("SELECT first FROM progress"), "first");
  const noted = connection.get("SELECT max(place) AS place FROM checkpoint")?.["place"] ?? null;
  const checkpoint = typeof noted === "number" ? noted : 0;
  if (checkpoint > head.place) return broken(`entries ${head.place + 1} to ${checkpoint} are missing`);
  if (head.place < first - 1) return broken(`entries up to ${first - 1} are missing`);
  if (checkpoint >= first && !isAsNoted(connection, checkpoint))
    return broken(`entry ${checkpoint} is not what was signed`);
  const from = Math.max(checkpoint, first, head.place - tailRowsMax);
  let place = Math.max(from - 1, 0);
  let hash = from <= 1 ? ZERO_HASH : null;
  for (const row of rowsBetween(connection, from, head.place)) {
    if (row.place !== place + 1) return broken(`entry ${place + 1} is missing`);
    place = row.place;
    // The row before the first one we look at may be gone by retention: its hash is believed, the verifier checks it.
    if (hash !== null && chainHash(connection.digest, hash, row.body) !== row.hash)
      return broken(`entry ${place} is not what was written`);
    hash = row.hash;
  }
  return place === head.place ? null : broken(`entry ${place + 1} is missing`);
}

/** A note that cannot be read is the verifier's to tell of. */
function isAsNoted(connection: Connection, place: number): boolean {
  const note = parseCheckpoint(textOf(connection.get("SELECT text FROM checkpoint WHERE place = ?", place), "text"));
  return note === null || note.hash === rowAt(connection, place)?.hash;
}

function broken(what: string): string {
  return `the log is damaged: ${what}. Nothing runs on it. Keep a copy of the state folder, look with "ambit audit verify", then move state.db away to begin a new log`;
}
