import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogEntry, LogQuery } from "../core/ports/stores/log.ts";
import { FactFiller } from "./log/index-filler.ts";
import { logConditions, matchesConditions } from "./log/log-conditions.ts";
import { fillWords } from "./log/word-index.ts";
import type { State } from "./state.ts";
import { entryOf, type TemporaryState, temporaryState, value } from "./testing/state.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

const COUNT = 700;
const KINDS = ["decision", "outcome", "alarm"] as const;
const entries: readonly LogEntry[] = Array.from({ length: COUNT }, (_, at) =>
  entryOf({
    id: `id-${String(at).padStart(4, "0")}`,
    kind: KINDS[at % 3] ?? "alarm",
    // The clock jumps back half way.
    at: 1_000_000 + (at < 400 ? at : at - 200) * 10,
    user: at % 5 === 0 ? null : `user${at % 5}`,
    agent: `agent${at % 7}`,
    session: `session${at % 50}`,
    verbs: at % 2 === 0 ? ["fs.read"] : ["net.get", "tool.invoke"],
    outcome: at % 4 === 0 ? "deny" : "allow",
    code: at % 4 === 0 ? (at % 8 === 0 ? "scope_violation" : "expired") : null,
    of: at % 10 === 9 ? `id-${String(at - 9).padStart(4, "0")}` : null,
    more: { reason: at % 3 === 0 ? "Größe of the Kelvin \u212a" : "host api.github.com", number: at },
  }),
);

const QUERIES: readonly Omit<LogQuery, "count">[] = [
  {},
  { user: "user2" },
  { agent: "agent3" },
  { session: "session11" },
  { verb: "net.get" },
  { verb: "tool.invoke", code: "expired" },
  { code: "expired" },
  { kind: "alarm", outcome: "deny" },
  { agent: "agent1", user: "user1" },
  { agent: "missing" },
  { since: 1_002_500, until: 1_003_500 },
  { since: 1_003_990, agent: "agent4" },
  { until: 1_000_000 },
  { text: "GITHUB" },
  { text: "api.github.com", agent: "agent2" },
  { text: "größe" },
  { text: "k" },
  { text: "123" },
  { text: "git" },
  { text: "github größe" },
  { text: "host", since: 1_002_500, until: 1_003_500, verb: "fs.read" },
];

const places = (kept: readonly { readonly place: number }[]): readonly number[] => kept.map((one) => one.place);

describe("the log answers every query as a scan of every entry would", () => {
  it.each<[string, facts: number, words: number]>([
    ["nothing indexed", 0, 0],
    ["some facts indexed", 1, 0],
    ["all facts indexed", 5, 0],
    ["some words indexed", 5, 1],
    ["all words indexed", 5, 5],
    ["words before facts", 1, 5],
  ])("%s", async (_how, facts, words) => {
    for (let at = 0; at < COUNT; at += 100) value(await state.ledger.append(entries.slice(at, at + 100)));
    const filler = new FactFiller();
    for (let step = 0; step < facts; step++) value(await state.loop.write((connection) => filler.step(connection)));
    for (let step = 0; step < words; step++) value(await state.loop.write(fillWords));
    for (const query of QUERIES) {
      const asked = logConditions({ ...query, count: 1 });
      const isIn = (entry: LogEntry): boolean => (asked.words?.size === 0 ? false : matchesConditions(asked, entry));
      const wanted = entries.flatMap((entry, at) => (isIn(entry) ? [at + 1] : [])).reverse();
      const name = JSON.stringify(query);
      expect(places(value(await state.ledger.log({ ...query, count: 1000 }))), name).toEqual(wanted);
      expect(places(value(await state.ledger.log({ ...query, count: 5 }))), name).toEqual(wanted.slice(0, 5));
      const [, , third] = wanted;
      if (third === undefined) continue;
      expect(places(value(await state.ledger.log({ ...query, count: 3, before: third }))), name).toEqual(
        wanted.slice(3, 6),
      );
      const after = wanted.filter((one) => one > third).reverse();
      expect(places(value(await state.ledger.log({ ...query, count: 1000, after: third }))), name).toEqual(after);
    }
  });

  it("finds every pair of conditions", async () => {
    value(await state.ledger.append(entries));
    const singles = {
      user: "user2",
      agent: "agent3",
      session: "session1",
      verb: "net.get",
      code: "expired",
      kind: "alarm",
      outcome: "deny",
    } as const;
    for (const one of Object.keys(singles) as (keyof typeof singles)[])
      for (const other of Object.keys(singles) as (keyof typeof singles)[]) {
        const query: LogQuery = { [one]: singles[one], [other]: singles[other], count: 1000 };
        const wanted = entries
          .flatMap((entry, at) => (matchesConditions(logConditions(query), entry) ? [at + 1] : []))
          .reverse();
        expect(places(value(await state.ledger.log(query))), `${one} ${other}`).toEqual(wanted);
      }
  });

  it.each<[string, boolean]>([
    ["api.github.com", true],
    ["API", true],
    ["github api", true],
    ["githu", false],
    ["github nothing", false],
    ["größe", true],
    ["GRO\u0308SSE", false],
    ["GRO\u0308ßE", true],
    ["reason", false],
    ["k", true],
    ["_", false],
    ["snake_case", true],
    ["snake", false],
    ["42", true],
    ["日本", true],
    ["\ud83d\ude00", false],
  ])("a word is a whole word, in any letter case: %s", async (text, isFound) => {
    const more = { reason: "Größe of API.GitHub.com \u212a", list: [{ deep: "snake_case" }, 42, "日本 \ud83d\ude00"] };
    value(await state.ledger.append([entryOf({ more })]));
    const found = async (): Promise<boolean> => value(await state.ledger.log({ text, count: 9 })).length === 1;
    expect(await found()).toBe(isFound);
    value(await state.loop.write(fillWords));
    expect(await found()).toBe(isFound);
  });

  it("words that do not occur are found nowhere, and a count is a count", async () => {
    value(await state.ledger.append(entries.slice(0, 10)));
    for (const query of [{ text: "" }, { text: "---" }])
      expect(value(await state.ledger.log({ ...query, count: 9 }))).toEqual([]);
    for (const count of [0, -1, Number.NaN]) expect(value(await state.ledger.log({ count }))).toEqual([]);
    expect((await state.ledger.log({ text: "a".repeat(5000), count: 1 })).ok).toBe(false);
  });
});

describe("one entry", () => {
  it("is found by its id or by a unique prefix, with related entries", async () => {
    for (let at = 0; at < COUNT; at += 350) value(await state.ledger.append(entries.slice(at, at + 350)));
    const found = value(await state.ledger.entry("id-0690"));
    expect(found?.entry.place).toBe(691);
    expect(places(found?.more ?? [])).toEqual([700]);
    expect(places(value(await state.ledger.entry("id-0000"))?.more ?? [])).toEqual([10]);
    expect(value(await state.ledger.entry("id-069"))).toBeNull();
    expect(value(await state.ledger.entry("id-07"))).toBeNull();
    expect(value(await state.ledger.entry(""))).toBeNull();
    value(await state.ledger.append([entryOf({ id: "other" })]));
    expect(value(await state.ledger.entry("ot"))?.entry.entry.id).toBe("other");
  });
});
