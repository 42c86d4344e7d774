// `log` over many entries: every filter alone, every two of them, and words. The newest fifty matches.
import type { Ledger } from "../../src/core/ports/stores/ledger.ts";
import type { LogQuery } from "../../src/core/ports/stores/log.ts";
import type { Row } from "../row.ts";
import { OURS } from "./calls.ts";
import { numberedEntry, RARE } from "./entries.ts";
import { expectValue } from "./fixture.ts";

export const LOG = "log";
const entriesAsked = 50;
const turnsCount = 3;

/** The median of three for each; the first one has a cold cache. */
export async function measureLog(ledger: Ledger, size: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, query, fits] of queries(size)) {
    const taken: number[] = [];
    for (let turn = 0; turn < turnsCount; turn++) {
      const began = performance.now();
      const found = expectValue(await ledger.log({ ...query, count: entriesAsked }));
      taken.push((performance.now() - began) * 1e6);
      if (found.length > 0 !== fits) throw new Error(`log by ${name} found ${found.length} entries`);
    }
    const sorted = taken.sort((left, right) => left - right);
    rows.push({ subject: OURS, case: `${LOG} by ${name}`, value: sorted[turnsCount >> 1] ?? Number.NaN, unit: "ns" });
  }
  return rows;
}

type FilterCase = readonly [name: string, query: Omit<LogQuery, "count">, fits: boolean];

function queries(size: number): readonly FilterCase[] {
  const [early, late] = [numberedEntry(size >> 2), numberedEntry(size - (size >> 2))];
  const single: readonly FilterCase[] = [
    ["user", { user: "user-7" }, true],
    ["agent", { agent: "agent-7" }, true],
    ["session", { session: "s_7" }, true],
    ["verb", { verb: "net.get" }, true],
    ["code", { code: "scope_violation" }, true],
    ["outcome", { outcome: "deny" }, true],
    ["since", { since: early.at }, true],
    ["until", { until: late.at }, true],
  ];
  const pairs = single.flatMap(([left, one], place) =>
    single.slice(place + 1).map(([right, other]): FilterCase => {
      const query = { ...one, ...other };
      return [`${left} and ${right}`, query, canFit(query, size)];
    }),
  );
  return [
    ...single,
    ...pairs,
    ["an unknown user", { user: "unknown" }, false],
    ["a rare word", { text: RARE }, true],
    ["a word of all entries", { text: "notes" }, true],
    ["a rare word and agent", { text: RARE, agent: "agent-0" }, true],
    ["a word of no entry", { text: "zephyr" }, false],
  ];
}

/** Whether any of the numbered entries matches: their members repeat, so few of them are enough. */
function canFit(query: Omit<LogQuery, "count">, size: number): boolean {
  const isFitting = (number: number): boolean => {
    const entry = numberedEntry(number);
    return (
      (query.user ?? entry.user) === entry.user &&
      (query.agent ?? entry.agent) === entry.agent &&
      (query.session ?? entry.session) === entry.session &&
      (query.code ?? entry.code) === entry.code &&
      (query.outcome ?? entry.outcome) === entry.outcome &&
      (query.verb === undefined || entry.verbs.includes(query.verb))
    );
  };
  const comesRound = Math.min(size >> 1, 2_000);
  return Array.from({ length: comesRound }, (_, number) => number + 1).some(isFitting);
}
