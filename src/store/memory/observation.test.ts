// Observations on a real database: immutable, searchable, limited, and counted when they are removed.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Observation } from "../../core/ports/stores/memory-store.ts";
import { type TestStore, testStore } from "../testing/memory.ts";
import { observationTagsMax, observationTextBytesMax, type SqliteObservationStore } from "./observation.ts";
import { observationBytesMax, observationCountMax } from "./observation-row.ts";

const noon = 1_800_000_000_000;
const ada = { workspace: "/work", agent: "ada" };
const bob = { workspace: "/work", agent: "bob" };

let place: TestStore;
let observations: SqliteObservationStore;
beforeEach(async () => {
  place = await testStore();
  observations = place.observations;
});
afterEach(() => place.remove());

function observed(id: string, more: Partial<Observation> = {}): Observation {
  return { id, name: ada, session: "s1", at: noon, text: `saw ${id}`, tags: [], isClean: true, ...more };
}

async function append(id: string, more: Partial<Observation> = {}): Promise<void> {
  place.value(await observations.append(observed(id, more)));
}

type ObservationQuery = Parameters<SqliteObservationStore["query"]>[0];
async function ids(asked: Partial<ObservationQuery> = {}): Promise<readonly string[]> {
  const all: ObservationQuery = { of: [ada], text: null, tag: null, since: null, before: null, count: 1_000, ...asked };
  return place.value(await observations.query(all)).map(({ id }) => id);
}

describe("observations", () => {
  test("are returned whole, newest first by arrival and not by clock, also after the store was reopened", async () => {
    const odd = observed("b\0", {
      at: noon - 9,
      session: null,
      text: 'a\0b\ud800"',
      tags: ["x\0", "y"],
      isClean: false,
    });
    await append("a");
    place.value(await observations.append(odd));
    const again = await place.again();
    const found = await again.observations.query({
      of: [ada],
      text: null,
      tag: null,
      since: null,
      before: null,
      count: 9,
    });
    expect(found).toEqual({ ok: true, value: [odd, observed("a")] });
  });

  test("are of the requested agents, and of no other", async () => {
    await append("a1");
    await append("b1", { name: bob });
    await append("a2");
    await append("other", { name: { workspace: null, agent: "ada" } });
    await append("zero", { name: { workspace: "/work", agent: "ada\0" } });
    expect([await ids(), await ids({ of: [bob] }), await ids({ of: [] })]).toEqual([["a2", "a1"], ["b1"], []]);
    expect(await ids({ of: [bob, ada, bob] })).toEqual(["a2", "b1", "a1"]);
    expect(await ids({ of: [ada, bob], count: 2 })).toEqual(["a2", "b1"]);
  });

  test("are found by all words, by a tag, and since a time", async () => {
    await append("1", { text: "The Build failed", tags: ["build"], at: noon });
    await append("2", { text: "the build passed", tags: ["build", "good"], at: noon + 10 });
    await append("3", { text: "lunch", tags: [], at: noon + 20 });
    expect(await ids({ text: "BUILD the" })).toEqual(["2", "1"]);
    expect(await ids({ text: "build failed" })).toEqual(["1"]);
    expect(await ids({ tag: "good" })).toEqual(["2"]);
    expect(await ids({ tag: "goo" })).toEqual([]);
    expect(await ids({ since: noon + 10 })).toEqual(["3", "2"]);
    expect(await ids({ since: noon + 11, text: "build" })).toEqual([]);
  });

  test("are paged by id, each returned once; after an unknown id there is nothing", async () => {
    const names = Array.from({ length: 300 }, (_, at) => `o${at}`);
    await Promise.all(
      names.map((id, at) => append(id, { name: at % 3 === 0 ? bob : ada, tags: at % 2 === 0 ? ["even"] : [] })),
    );
    const met: string[] = [];
    for (let before: string | null = null; ; ) {
      const page: readonly string[] = await ids({ of: [ada, bob], tag: "even", before, count: 7 });
      met.push(...page);
      before = page.at(-1) ?? null;
      if (page.length < 7) break;
    }
    expect(met).toEqual(names.filter((_, at) => at % 2 === 0).reverse());
    expect(await ids({ before: "missing" })).toEqual([]);
  });

  test("with an existing id is an error and changes nothing", async () => {
    await append("a");
    expect((await observations.append(observed("a", { text: "another" }))).ok).toBe(false);
    await append("b");
    expect(await ids({ text: "saw" })).toEqual(["b", "a"]);
  });

  test("have a limit on text and tags: beyond it they are refused, never truncated", async () => {
    await append("most", { text: "é".repeat(observationTextBytesMax / 2) });
    const over = [
      observed("text", { text: `${"é".repeat(observationTextBytesMax / 2)}x` }),
      observed("tags", { tags: Array.from({ length: observationTagsMax + 1 }, String) }),
      observed("tag", { tags: ["x".repeat(1_000)] }),
    ];
    for (const each of over) expect(await observations.append(each)).toMatchObject({ ok: false });
    expect(await ids()).toEqual(["most"]);
  });

  test("cannot be changed even with SQL", async () => {
    await append("a");
    place.value(await observations.append(observed("b")));
    expect(await place.refuses("UPDATE observation SET text = 'x'")).toMatch(/never changed/);
  });

  test("of one agent are limited; then the oldest are removed and counted, those of others stay", async () => {
    await append("other", { name: bob });
    await append("first");
    await place.write((connection) => {
      // As if the limit were nearly reached: the stored count decides.
      connection
        .prepare("UPDATE observation_space SET count = ? WHERE holder = ?")
        .run(observationCountMax, '["/work","ada"]');
    });
    await Promise.all(["second", "third", "fourth"].map((id) => append(id)));
    expect(await ids()).toEqual(["fourth"]);
    expect(place.value(await observations.removed(ada))).toBe(3);
    expect([await ids({ of: [bob] }), place.value(await observations.removed(bob))]).toEqual([["other"], 0]);
  });

  test("of one agent are limited in bytes: a large one removes several small ones", async () => {
    for (const id of ["first", "second", "third"]) await append(id, { text: "x".repeat(100) });
    await place.write((connection) => {
      // As if other texts had taken all the room but that of one and a half of these.
      connection.prepare("UPDATE observation_space SET bytes = bytes + ?").run(observationBytesMax - 450);
    });
    await append("fits", { text: "x".repeat(150) });
    expect(await ids()).toEqual(["fits", "third", "second", "first"]);
    await append("large", { text: "x".repeat(150) });
    expect(await ids()).toEqual(["large", "fits", "third"]);
    expect(place.value(await observations.removed(ada))).toBe(2);
  });

  test("long searches do not block other requests", async () => {
    await Promise.all(Array.from({ length: 2_000 }, (_, at) => append(`o${at}`)));
    let hadTurn = false;
    const looking = ids({ text: "nowhere" });
    setImmediate(() => {
      hadTurn = true;
    });
    expect([await looking, hadTurn]).toEqual([[], true]);
  });
});
