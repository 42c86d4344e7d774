// The interface of every engine: built once over the grants and the requests, then called for a range of them.
import type { Verb, WrittenGrant, WrittenRequest } from "../workload.ts";

export interface Engine {
  /**
   * How many of the requests from `from` up to `to` are allowed. The loop is the engine's own, so that no engine pays for the
   * calls of another.
   */
  count(from: number, to: number): number;
}

export type BuildEngine = (
  grants: readonly WrittenGrant[],
  requests: readonly WrittenRequest[],
) => Engine | Promise<Engine>;

/** A list for each verb, as in any handwritten loop. */
export function byVerb<T>(grants: readonly WrittenGrant[], entry: (grant: WrittenGrant) => T): Record<Verb, T[]> {
  const lists: Record<Verb, T[]> = { "net.get": [], "fs.read": [], "proc.exec": [] };
  for (const grant of grants) lists[grant.verb].push(entry(grant));
  return lists;
}
