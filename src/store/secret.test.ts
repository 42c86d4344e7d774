// Secrets and settings on a real database: each row with its entry in one commit, readable synchronously, uses never
// exceeded.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EntryKind, LogEntry } from "../core/ports/stores/log.ts";
import type { SealedSecret } from "../core/ports/stores/secret-store.ts";
import { secretBytesMax } from "./secret.ts";
import { settingValueBytesMax } from "./setting.ts";
import { type TestStore, testStore } from "./testing/memory.ts";

let place: TestStore;
beforeEach(() => {
  place = testStore();
});
afterEach(() => place.remove());

let entries = 0;
function entry(outcome: string, kind: EntryKind = "secret"): LogEntry {
  entries += 1;
  return {
    ...{
      id: `e${entries}`,
      kind,
      at: 1_800_000_000_000,
      outcome,
      code: null,
      of: null,
      tool: null,
      verbs: [],
      more: {},
    },
    ...{ user: null, agent: null, workspace: null, chain: [], session: null, trace: null },
  };
}

function sealed(name: string, more: Partial<SealedSecret> = {}): SealedSecret {
  const binding = { tools: ["deploy"], hosts: ["api.example.com"], uses: null };
  return {
    name,
    version: 1,
    sealed: "c2VhbGVk",
    keyId: "k1",
    binding,
    username: "ada",
    isCanary: false,
    used: 0,
    at: 7,
    ...more,
  };
}

function limited(uses: number): Partial<SealedSecret> {
  return { binding: { tools: [], hosts: [], uses } };
}

const outcomes = (): readonly string[] => place.entries().map(({ outcome }) => outcome);

describe("a secret", () => {
  test("exists once it is stored, with its entry, and after the store was reopened", async () => {
    const deploy = sealed("deploy");
    const putting = place.secrets.put(deploy, entry("set"));
    expect(place.secrets.get("deploy")).toBeNull();
    place.value(await putting);
    expect([place.secrets.get("deploy"), place.secrets.all()]).toEqual([deploy, [deploy]]);
    expect(outcomes()).toEqual(["set"]);
    expect(place.again().secrets.all()).toEqual([deploy]);
  });

  test.each(["", "a\0b", "\ud800", "__proto__", "é"])("of any name is that name's alone: %j", async (name) => {
    place.value(await place.secrets.put(sealed(name), entry("set")));
    place.value(await place.secrets.put(sealed(`${name}\0`, { version: 9 }), entry("set")));
    for (const each of [place, place.again()]) {
      expect([each.secrets.get(name)?.version, each.secrets.get(`${name}\0`)?.version]).toEqual([1, 9]);
    }
    expect(place.secrets.get("toString")).toBeNull();
  });

  test("that is stored again replaces the old one; deleted it is gone, and its entry says so once", async () => {
    place.value(await place.secrets.put(sealed("deploy"), entry("set")));
    place.value(await place.secrets.put(sealed("deploy", { version: 2, sealed: "bmV3" }), entry("rotated")));
    expect(place.secrets.all().map(({ version }) => version)).toEqual([2]);
    expect(place.value(await place.secrets.delete("deploy", entry("deleted")))).toBe(true);
    expect(place.value(await place.secrets.delete("deploy", entry("deleted")))).toBe(false);
    expect([place.secrets.get("deploy"), place.again().secrets.all()]).toEqual([null, []]);
    expect(outcomes()).toEqual(["set", "rotated", "deleted"]);
  });

  test("with an entry that cannot be written is not stored, and other jobs of the same commit are", async () => {
    const broken = { ...entry("set"), at: 0.5 };
    const kept = await Promise.all([
      place.secrets.put(sealed("first"), entry("set")),
      place.secrets.put(sealed("second"), broken),
      place.secrets.put(sealed("third"), entry("set")),
    ]);
    expect(kept.map(({ ok }) => ok)).toEqual([true, false, true]);
    for (const each of [place, place.again()])
      expect(each.secrets.all().map(({ name }) => name)).toEqual(["first", "third"]);
    expect(outcomes()).toHaveLength(2);
  });

  test("is limited in size", async () => {
    const large = sealed("large", { sealed: "x".repeat(secretBytesMax) });
    expect(await place.secrets.put(large, entry("set"))).toMatchObject({ ok: false });
    expect([place.secrets.all(), outcomes()]).toEqual([[], []]);
  });
});

describe("uses", () => {
  test("100 concurrent uses of a secret for 7: seven, each with its entry", async () => {
    place.value(await place.secrets.put(sealed("deploy", limited(7)), entry("set")));
    const used = await Promise.all(Array.from({ length: 100 }, () => place.secrets.use("deploy", 1, entry("used"))));
    expect(used.filter((kept) => kept.ok && kept.value)).toHaveLength(7);
    expect(outcomes().filter((outcome) => outcome === "used")).toHaveLength(7);
    for (const each of [place, place.again()]) expect(each.secrets.get("deploy")?.used).toBe(7);
  });

  test("are of the version that was read, of an existing secret, and never of a canary", async () => {
    place.value(await place.secrets.put(sealed("deploy", { version: 2 }), entry("set")));
    place.value(await place.secrets.put(sealed("bird", { isCanary: true }), entry("set")));
    const asked: readonly (readonly [string, number])[] = [
      ["deploy", 1],
      ["deploy", 3],
      ["missing", 1],
      ["bird", 1],
    ];
    for (const [name, version] of asked)
      expect(place.value(await place.secrets.use(name, version, entry("used")))).toBe(false);
    expect(place.value(await place.secrets.use("deploy", 2, entry("used")))).toBe(true);
    expect(outcomes()).toEqual(["set", "set", "used"]);
  });

  test("are kept by another binding of the same version, and begin again with the next", async () => {
    place.value(await place.secrets.put(sealed("deploy", limited(2)), entry("set")));
    const [stale] = [place.secrets.get("deploy") as SealedSecret];
    place.value(await place.secrets.use("deploy", 1, entry("used")));
    place.value(await place.secrets.put({ ...stale, ...limited(1) }, entry("bound")));
    expect(place.value(await place.secrets.use("deploy", 1, entry("used")))).toBe(false);
    place.value(await place.secrets.put({ ...stale, ...limited(1), version: 2 }, entry("rotated")));
    expect(place.value(await place.secrets.use("deploy", 2, entry("used")))).toBe(true);
  });
});

describe("a setting", () => {
  test("exists once it is set, with its entry; null removes it", async () => {
    const { settings } = place;
    const setting = settings.set("key id", "a\0\ud800", entry("set", "control"));
    expect(settings.get("key id")).toBeNull();
    place.value(await setting);
    expect([settings.get("key id"), place.again().settings.get("key id")]).toEqual(["a\0\ud800", "a\0\ud800"]);
    place.value(await settings.set("key id", "other", entry("set again", "control")));
    expect(settings.get("key id")).toBe("other");
    place.value(await settings.set("key id", null, entry("taken away", "control")));
    expect([settings.get("key id"), place.again().settings.get("key id")]).toEqual([null, null]);
    expect(outcomes()).toEqual(["set", "set again", "taken away"]);
  });

  test("written concurrently is what the last writer wrote", async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => place.settings.set("turn", String(at), entry("set", "control"))),
    );
    for (const each of [place, place.again()]) expect(each.settings.get("turn")).toBe("49");
  });

  test("is limited in size", async () => {
    const large = "x".repeat(settingValueBytesMax + 1);
    expect(await place.settings.set("large", large, entry("set", "control"))).toMatchObject({ ok: false });
    expect(await place.settings.set(large, "", entry("set", "control"))).toMatchObject({ ok: false });
    expect(outcomes()).toEqual([]);
  });
});
