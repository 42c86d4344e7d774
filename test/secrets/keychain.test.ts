// The key in a keychain whose program fails in every way: nothing is decrypted or encrypted again, and the message says what to
// do.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { busAddress, securityCommands } from "../../src/secrets/keychain.ts";
import { KEY_SETTING } from "../../src/secrets/record.ts";
import { KeysFixture, NOTHING, openedValue, type ToolState, VALUE } from "./keys-fixture.ts";

let fixture: KeysFixture;

beforeEach(async () => {
  fixture = new KeysFixture();
  await fixture.start();
});

afterEach(() => fixture.stop());

const KEYCHAIN = { key: { source: "keychain", bus: null } } as const;
const items = (): readonly string[] => readdirSync(join(fixture.tools, "items"));

/** One secret under a key in the keychain, and a vault of a process that has not read the key yet. */
async function kept(): Promise<ReturnType<KeysFixture["vault"]>> {
  const first = fixture.vault();
  await fixture.set(first);
  expect(await first.rekey(KEYCHAIN, fixture.entry("rekeyed"))).toEqual({ ok: true, value: {} });
  return fixture.vault({ millisecondsMax: 1_500 });
}

test("a key in the keychain decrypts all secrets in the next process, and is stored nowhere else", async () => {
  const vault = await kept();
  expect(existsSync(join(fixture.folder, "keys", "secrets.key"))).toBe(false);
  expect(vault.isLocked).toBe(true);
  await vault.ready();
  expect(openedValue(vault)).toBe(VALUE);
  expect(vault.source()).toMatchObject({ source: "keychain", where: null, isLocked: false, problem: null, fix: null });
  const [item] = items();
  expect(item).toBe(vault.source().keyId);
  const key = readFileSync(join(fixture.tools, "items", item ?? ""), "utf8");
  expect(key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(fixture.words().join("\n")).not.toContain(key);
  expect(readFileSync(join(fixture.tools, "environment"), "utf8")).not.toContain(key);
  expect(fixture.place.settings.get(KEY_SETTING)).not.toContain(key);
});

test.each<[ToolState, RegExp, RegExp]>([
  ["gone", /the keychain has no ambit key/, /restore the keychain/],
  ["locked", /the keychain is locked/, /unlock the keychain, then run: ambit secrets unlock/],
  ["complains", /secret-tool exited with status 1 \(secret-tool: Could not connect/, /ambit secrets unlock/],
  ["hangs", /secret-tool did not respond within 2 seconds/, /ambit secrets unlock/],
  ["garbage", /the keychain entry is not an ambit key/, /ambit secrets unlock/],
  ["other", /is not the one that secrets are encrypted with/, /ambit secrets unlock/],
  ["floods", /printed more than 4096 bytes/, /ambit secrets unlock/],
])("with a %s keychain program all secrets stay locked until it returns the key", async (toolState, problem, fix) => {
  const vault = await kept();
  const before = [fixture.place.settings.get(KEY_SETTING), JSON.stringify(fixture.place.secrets.all())];
  fixture.toolState(toolState);
  await vault.ready();
  expect(openedValue(vault)).toMatch(/^secret_refused: the store is locked: /);
  expect(vault.openAll()).toMatchObject({ ok: false, code: "secret_refused" });
  const { isLocked, ...told } = vault.source();
  expect([isLocked, told.problem, told.fix]).toEqual([
    true,
    expect.stringMatching(problem),
    expect.stringMatching(fix),
  ]);
  expect(await fixture.set(vault, "second")).toBe(false);
  for (const key of [{ source: "file" }, { source: "passphrase", passphrase: "a long passphrase" }] as const)
    expect(await vault.rekey({ key }, fixture.entry())).toMatchObject({ ok: false, code: "secret_refused" });
  expect(await vault.unlock(NOTHING)).toMatchObject({ ok: false, code: "secret_refused" });
  expect([fixture.place.settings.get(KEY_SETTING), JSON.stringify(fixture.place.secrets.all())]).toEqual(before);
  expect(existsSync(join(fixture.folder, "keys", "secrets.key"))).toBe(false);
  fixture.toolState("works");
  expect(await vault.unlock(NOTHING)).toEqual({ ok: true, value: {} });
  expect(openedValue(vault)).toBe(VALUE);
});

test.each<[string, ToolState, RegExp]>([
  ["complains", "complains", /Could not connect/],
  ["hangs", "hangs", /did not respond/],
  ["loses the key it stored", "forgets", /the keychain has no ambit key/],
  ["returns another key", "other", /a different value than was stored/],
])(
  "a keychain that %s does not become the key source: the previous key still decrypts",
  async (_, toolState, message) => {
    const vault = fixture.vault({ millisecondsMax: 1_500 });
    await fixture.set(vault);
    const before = JSON.stringify(fixture.place.secrets.all());
    fixture.toolState(toolState);
    const answer = await vault.rekey(KEYCHAIN, fixture.entry());
    expect(answer).toMatchObject({ ok: false, code: "secret_refused" });
    expect(answer.ok ? "" : answer.message).toMatch(message);
    expect([JSON.stringify(fixture.place.secrets.all()), fixture.place.settings.get(KEY_SETTING)]).toEqual([
      before,
      null,
    ]);
    expect(openedValue(fixture.vault())).toBe(VALUE);
    expect(items()).toEqual([]);
  },
);

test("without secret-tool or a session bus, the message says what to install and where to run it", async () => {
  await kept();
  const without = fixture.vault({ programs: [join(fixture.folder, "none")] });
  await without.ready();
  expect(without.source()).toMatchObject({ problem: expect.stringContaining("secret-tool is not installed") });
  expect(without.source().fix).toContain("apt install libsecret-tools");
  const busless = fixture.vault({ runtime: join(fixture.folder, "nowhere") });
  await busless.ready();
  expect(busless.source().problem).toContain("there is no D-Bus session bus");
  expect(await busless.unlock({ ...NOTHING, bus: "unix:path=/somewhere/bus" })).toMatchObject({ ok: true });
  expect(openedValue(busless)).toBe(VALUE);
});

test("another key gets its own keychain item, and the old item is cleared once unused", async () => {
  const vault = await kept();
  const [first] = items();
  await vault.ready();
  expect(await vault.rekey(KEYCHAIN, fixture.entry())).toMatchObject({ ok: true });
  expect(items()).toEqual([vault.source().keyId]);
  expect(items()).not.toContain(first);
  fixture.toolState("locked");
  expect(await vault.rekey({ key: { source: "file" } }, fixture.entry())).toMatchObject({
    ok: false,
    message: expect.stringContaining("all secrets are re-encrypted, but the old key is still in the keychain"),
  });
  expect(openedValue(fixture.vault())).toBe(VALUE);
});

describe("reading the keychain", () => {
  const lookups = (): number => fixture.words().filter((line) => line.startsWith("lookup")).length;

  test("is not repeated for every failing call, and is repeated after a while", async () => {
    const vault = await kept();
    fixture.toolState("complains");
    const before = lookups();
    for (let times = 0; times < 5; times++) await vault.ready();
    expect(lookups() - before).toBe(1);
    fixture.toolState("works");
    fixture.now += 60_001;
    await vault.ready();
    expect(openedValue(vault)).toBe(VALUE);
  });

  test("does not happen after a person locks the store, until a person unlocks it", async () => {
    const vault = await kept();
    await vault.ready();
    expect(await vault.lock()).toMatchObject({ ok: true });
    fixture.now += 120_000;
    await vault.ready();
    expect(vault.isLocked).toBe(true);
    expect(await fixture.set(vault, "second")).toBe(false);
    expect(await vault.unlock(NOTHING)).toMatchObject({ ok: true });
    expect(openedValue(vault)).toBe(VALUE);
  });
});

test("a lost keychain with nothing encrypted under its key blocks nothing", async () => {
  const vault = await kept();
  await vault.ready();
  await vault.delete("token", fixture.entry("deleted"));
  fixture.toolState("gone");
  const next = fixture.vault();
  expect(await next.rekey({ key: { source: "file" } }, fixture.entry())).toMatchObject({ ok: true });
  expect(next.source()).toMatchObject({ source: "file", isLocked: false });
  expect(await fixture.set(next)).toBe(true);
  expect(openedValue(fixture.vault())).toBe(VALUE);
});

test.each([
  "tcp:host=evil.example.com,port=1",
  "unixexec:path=/bin/sh",
  "autolaunch:",
  "unix:path=/a;tcp:host=b",
  "unix:tmpdir=/tmp",
  "unix:path=",
  "unix:path=/a b",
  "",
])("%j is not accepted as a session bus address", (address) => {
  expect(busAddress(address, "/nowhere")).toMatchObject({ ok: false, code: "secret_refused" });
});

test("on macOS the key is passed on standard input, never as an argument", () => {
  const id = "0123456789abcdef0123456789abcdef";
  const { put, get, find, drop } = securityCommands("/usr/bin/security", id);
  expect(put("S2V5")).toEqual({
    argv: ["/usr/bin/security", "-i"],
    input: `add-generic-password -l "ambit: key of the secrets" -s ambit -a ${id} -w S2V5\n`,
  });
  expect(get).toEqual({
    argv: ["/usr/bin/security", "find-generic-password", "-s", "ambit", "-a", id, "-w"],
    input: null,
  });
  expect(find).toBe(null);
  expect(drop.argv).toEqual(["/usr/bin/security", "delete-generic-password", "-s", "ambit", "-a", id]);
});
