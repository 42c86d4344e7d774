import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CreatedAgent } from "../../core/ports/stores/link-store.ts";
import type { State } from "../state.ts";
import { entryOf, linkOf, type TemporaryState, temporaryState, value, writeOf } from "../testing/state.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

const child = { workspace: "/w", agent: "child" };
const made = (link: string): CreatedAgent => ({
  name: child,
  creator: { workspace: "/w", agent: "scout" },
  link,
  body: "",
  made: 1,
  ended: null,
});

async function tree(): Promise<void> {
  for (const [id, parent] of [
    ["a", null],
    ["b", "a"],
    ["c", "b"],
    ["d", "a"],
    ["e", null],
  ] as const)
    expect(value(await state.links.make(linkOf(id, { parent }), null, entryOf()))?.id).toBe(id);
}

it("a hired agent ends with the link it was hired with, and one that was created does not", async () => {
  const hired = { ...made("b"), name: { workspace: "/w", agent: "scout/hand" }, role: "Hand" };
  await state.links.make(linkOf("a"), null, entryOf());
  await state.links.make(linkOf("b", { parent: "a" }), hired, entryOf());
  await state.links.make(linkOf("c", { parent: "a" }), made("c"), entryOf());
  await state.links.revoke("a", 7, entryOf());
  expect([state.links.made(hired.name)?.ended, state.links.made(child)?.ended]).toEqual([7, null]);
});

describe("a link", () => {
  it("is revoked with everything below, and nothing beside", async () => {
    await tree();
    const [revoked, decided, late] = await Promise.all([
      state.links.revoke("b", 5, entryOf()),
      // Later in the same turn.
      state.ledger.decide(writeOf({ links: ["a", "b", "c"] })),
      state.links.make(linkOf("f", { parent: "c" }), null, entryOf()),
    ]);
    expect(value(revoked).map(({ id }) => id)).toEqual(["b", "c"]);
    expect(value(decided)).toEqual({ ok: false, code: "revoked" });
    expect(value(late)).toBeNull();
    state.close();
    state = place.opened();
    expect(state.links.heldBy(child).map(({ id }) => id)).toEqual(["a", "d", "e"]);
    expect(state.links.get("c")?.revoked).toBe(5);
    expect(state.links.all().map(({ id, revoked: when }) => [id, when])).toEqual([
      ["a", null],
      ["b", 5],
      ["c", 5],
      ["d", null],
      ["e", null],
    ]);
    expect(value(await state.links.revoke("b", 6, entryOf()))).toEqual([]);
    expect(value(await state.links.revoke("nothing", 6, entryOf()))).toEqual([]);
  });

  it("grants nothing once it has expired, or if it is unknown", async () => {
    value(await state.links.make(linkOf("a", { expires: 50 }), null, entryOf()));
    const outcome = async (at: number, links: readonly string[]): Promise<boolean> =>
      value(await state.ledger.decide(writeOf({ entry: entryOf({ at }), links }))).ok;
    expect(await outcome(49, ["a"])).toBe(true);
    expect(await outcome(50, ["a"])).toBe(false);
    expect(await outcome(49, ["a", "unknown"])).toBe(false);
  });

  it("is created once", async () => {
    const twice = await Promise.all([1, 2].map(() => state.links.make(linkOf("a"), null, entryOf())));
    expect(twice.map((one) => value(one)?.id ?? null)).toEqual(["a", null]);
    expect(value(await state.chain.head()).place).toBe(1);
  });

  it("that is a token is claimed by the first agent that shows it", async () => {
    value(await state.links.make(linkOf("t", { holder: null, token: "secret", expires: 50 }), null, entryOf()));
    const claim = (token: string, agent: string, at: number) =>
      state.links.claim("t", token, { workspace: "/w", agent }, entryOf({ at }));
    expect(value(await claim("wrong", "thief", 1))).toBeNull();
    expect(value(await claim("secret", "late", 50))).toBeNull();
    const racers = await Promise.all(["one", "two", "three"].map((agent) => claim("secret", agent, 1)));
    expect(racers.map((one) => value(one)?.holder?.agent ?? null)).toEqual(["one", null, null]);
    expect(state.links.heldBy({ workspace: "/w", agent: "one" })).toHaveLength(1);
  });
});

describe("a created agent", () => {
  it("ends with its links", async () => {
    value(await state.links.make(linkOf("a"), made("a"), entryOf()));
    value(
      await state.links.make(
        linkOf("b", { parent: "a", holder: { workspace: "/w", agent: "grandchild" } }),
        null,
        entryOf(),
      ),
    );
    expect(value(await state.links.make(linkOf("c"), made("c"), entryOf()))).toBeNull();
    value(await state.links.end(child, 7, entryOf()));
    state.close();
    state = place.opened();
    expect(state.links.made(child)?.ended).toBe(7);
    expect(state.links.heldBy({ workspace: "/w", agent: "grandchild" })).toEqual([]);
    expect(value(await state.links.make(linkOf("d"), made("d"), entryOf()))?.id).toBe("d");
    expect(state.links.allMade()).toEqual([made("d")]);
  });
});

describe("a generation", () => {
  it("increases at once, and everything made before is stale", async () => {
    expect(state.ledger.generation("agent")).toBe(0);
    const [, stale] = await Promise.all([
      state.ledger.bump(["agent", "agent", ""], entryOf()),
      state.ledger.decide(writeOf({ generations: [["agent", 0]] })),
    ]);
    expect(value(stale)).toEqual({ ok: false, code: "generation_stale" });
    state.close();
    state = place.opened();
    expect([state.ledger.generation("agent"), state.ledger.generation("")]).toEqual([1, 1]);
    expect(value(await state.ledger.decide(writeOf({ generations: [["agent", 1]] }))).ok).toBe(true);
  });
});
