// Rates: at most N calls in any window of S seconds. Exact for rates of up to a thousand calls. Above that, calls are
// counted in buckets, each dated by its last call: never more calls than allowed, sometimes slightly fewer.
import type { Rate } from "../../core/authority/grant.ts";
import { type Connection, numberOf } from "../connection.ts";

const exactCallsMax = 1_000;
/** Enough for every rate: all buckets together hold more calls than any window allows. */
const bucketsMax = 1_024;

/** How many calls of an account the window that ends now may contain. Infinite if older buckets are gone. */
export function callsWithin(connection: Connection, account: number, { seconds }: Rate, now: number): number {
  const begin = now - seconds * 1000;
  if (!(seconds > 0) || !Number.isFinite(begin)) return Number.POSITIVE_INFINITY;
  const row = connection.get(CALLS_SINCE, account, begin);
  return numberOf(row, "is_complete") === 1 ? numberOf(row, "calls") : Number.POSITIVE_INFINITY;
}

/**
 * Reads every bucket: clocks jump, so they may be out of order. Without bucket 1, a bucket before the window proves
 * that all are present.
 */
const CALLS_SINCE = `SELECT
    coalesce(sum(calls) FILTER (WHERE at > ?2), 0) AS calls,
    coalesce(min(number), 1) = 1 OR count(*) FILTER (WHERE at <= ?2) > 0 AS is_complete
  FROM bucket WHERE account = ?1`;

/** Counts one call: the newest bucket grows, or a new one begins. */
export function addCall(connection: Connection, account: number, rate: Rate, at: number): void {
  const newest = connection.get(
    "SELECT number, calls, at FROM bucket WHERE account = ? ORDER BY number DESC LIMIT 1",
    account,
  );
  const number = newest === undefined ? 0 : numberOf(newest, "number");
  if (newest !== undefined && numberOf(newest, "calls") < Math.ceil(rate.calls / exactCallsMax)) {
    connection.run(
      "UPDATE bucket SET calls = calls + 1, at = max(at, ?) WHERE account = ? AND number = ?",
      ...[at, account, number],
    );
    return;
  }
  connection.run("INSERT INTO bucket (account, number, calls, at) VALUES (?, ?, 1, ?)", account, number + 1, at);
  connection.run("DELETE FROM bucket WHERE account = ? AND number <= ?", account, number + 1 - bucketsMax);
}

/** Replaces the calls of one account with those of another. */
export function copyCalls(connection: Connection, from: number, to: number): void {
  connection.run("DELETE FROM bucket WHERE account = ?", to);
  connection.run(
    "INSERT INTO bucket (account, number, calls, at) SELECT ?, number, calls, at FROM bucket WHERE account = ?",
    ...[to, from],
  );
}
