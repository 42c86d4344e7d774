// Secrets on a real database with a real key file: values are stored encrypted, bindings cannot be changed apart from the value,
// and after any interruption all secrets can be decrypted.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../src/core/ports/daemon/exchange.ts";
import type { KeyInput } from "../../src/core/ports/secret-key.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import type { SealedSecret, SecretStore } from "../../src/core/ports/stores/secret-store.ts";
import { daemonSecrets } from "../../src/daemon/secrets.ts";
import { notRedactable } from "../../src/log/redaction/known-secret.ts";
import { refusesBoundHosts } from "../../src/sandbox/network/fetch/handles-binding.ts";
import { KEY_SETTING } from "../../src/secrets/record.ts";
import type { OpenedSecret } from "../../src/secrets/secret-rows.ts";
import { keySourceEnvironment } from "../../src/secrets/sources.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import { type TestStore, testStore } from "../../src/store/testing/memory.ts";

const VALUE = "correct-horse-battery";
const PASSPHRASE = "a long passphrase";
let state = "";
let place: TestStore;
let now = 1_000_000;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ambit-vault-"));
  place = testStore(join(state, "store"));
});

afterEach(() => {
  place.remove();
  rmSync(state, { recursive: true });
});

function vaultOn(store: TestStore, secrets: SecretStore = store.secrets): SecretVault {
  const { settings } = store;
  return new SecretVault({
    secrets,
    settings,
    state,
    now: () => now,
    places: { ...keySourceEnvironment(null), cost: { n: 16_384, r: 8, p: 1 } },
    refusesValue: notRedactable,
    refusesHosts: refusesBoundHosts,
  });
}

let entries = 0;
function entry(outcome = "set"): LogEntry {
  entries++;
  return {
    ...{ id: `e${entries}`, kind: "secret", at: now, outcome, code: null, of: null, tool: null, verbs: [], more: {} },
    ...{ user: null, agent: null, workspace: null, chain: [], session: null, trace: null },
  };
}

const BINDING = { tools: ["web_fetch"], hosts: ["api.example.com"], uses: 3 };
const asked = (name: string, value = VALUE): Parameters<SecretVault["set"]>[0] => ({
  ...{ name, value, binding: BINDING, username: null, isCanary: false, isRotation: false },
});
const opened = (answer: Answer<OpenedSecret>): string => (answer.ok ? answer.value.value.toString() : answer.code);
const typed = (passphrase: string): KeyInput => ({ passphrase, identity: null, bus: null });
const keyFile = (): string => join(state, "keys", "secrets.key");

/** Every byte below a folder. */
function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name)).toString("latin1"))
    .join("\n");
}

test("a value can be decrypted again, in this process and the next, and is stored nowhere in plain text", async () => {
  const vault = vaultOn(place);
  expect(await vault.set(asked("token"), entry())).toMatchObject({
    ok: true,
    value: { name: "token", version: 1, used: 0 },
  });
  expect(opened(vault.open("token"))).toBe(VALUE);
  expect(opened(vaultOn(place.again()).open("token"))).toBe(VALUE);
  const all = everything(state);
  for (const form of [VALUE, Buffer.from(VALUE).toString("base64"), Buffer.from(VALUE).toString("hex")])
    expect(all).not.toContain(form);
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  expect(statSync(join(state, "keys")).mode & 0o777).toBe(0o700);
  expect(JSON.stringify(vault.list())).not.toMatch(/sealed|keyId|horse/);
});

test("setting a value again makes a new version; rotating keeps its bindings", async () => {
  const vault = vaultOn(place);
  await vault.set(asked("token"), entry());
  const rotated = await vault.set(
    { ...asked("token", "another-value"), binding: { tools: [], hosts: [], uses: null }, isRotation: true },
    entry("rotated"),
  );
  expect(rotated).toMatchObject({ ok: true, value: { version: 2, binding: BINDING } });
  expect(opened(vault.open("token"))).toBe("another-value");
  expect(await vault.set({ ...asked("missing"), isRotation: true }, entry())).toMatchObject({ code: "invalid_input" });
});

test("a policy changes the bindings and nothing else", async () => {
  const vault = vaultOn(place);
  await vault.set(asked("token"), entry());
  place.value(await place.secrets.use("token", 1, entry("used")));
  const binding = { tools: ["git"], hosts: ["git.example.com"], uses: null };
  expect(await vault.policy({ name: "token", binding }, entry("bound"))).toMatchObject({
    ok: true,
    value: { version: 1, binding },
  });
  expect(vault.list()[0]).toMatchObject({ used: 1, binding });
  expect(opened(vault.open("token"))).toBe(VALUE);
});

test.each<[string, (sealed: SealedSecret) => SealedSecret]>([
  ["another host", (one) => ({ ...one, binding: { ...one.binding, hosts: ["evil.example.com"] } })],
  ["more uses", (one) => ({ ...one, binding: { ...one.binding, uses: null } })],
  ["another tool", (one) => ({ ...one, binding: { ...one.binding, tools: ["git"] } })],
  ["another name", (one) => ({ ...one, name: "other" })],
  ["another version", (one) => ({ ...one, version: one.version + 1 })],
  ["another username", (one) => ({ ...one, username: "eve" })],
  ["another byte", (one) => ({ ...one, sealed: flipped(one.sealed) })],
  ["a shorter envelope", (one) => ({ ...one, sealed: one.sealed.slice(0, 40) })],
  ["no envelope", (one) => ({ ...one, sealed: "" })],
])("a row with %s written into the database cannot be decrypted", async (_, change) => {
  const vault = vaultOn(place);
  await vault.set(asked("token"), entry());
  const row = change(place.secrets.get("token") as SealedSecret);
  place.value(await place.secrets.put(row, entry()));
  expect(vault.open(row.name)).toMatchObject({ ok: false, code: "secret_refused" });
  await vault.set(asked("whole"), entry());
  const all = vault.openAll();
  expect(all).toMatchObject({ ok: true, value: { damaged: [row.name] } });
  expect(all.ok && all.value.secrets.map(({ name }) => name)).toContain("whole");
});

test("a secret that cannot be decrypted is reported, and the others are still redacted", async () => {
  const vault = vaultOn(place);
  await vault.set({ ...asked("broken"), value: "the-broken-value-1" }, entry());
  await vault.set({ ...asked("whole"), value: "the-whole-value-22" }, entry());
  const row = place.secrets.get("broken") as SealedSecret;
  place.value(await place.secrets.put({ ...row, sealed: flipped(row.sealed) }, entry()));
  const { secrets, settings } = place;
  const opened = daemonSecrets({ secrets, settings, state, now: () => 0, entry, alarm: () => undefined });
  expect(opened.redacting.text("it is the-whole-value-22")).toBe("it is [REDACTED:whole]");
  expect(opened.problems()).toEqual([expect.stringContaining("the secret broken cannot be decrypted")]);
});

function flipped(sealed: string): string {
  const bytes = Buffer.from(sealed, "base64");
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] as number) ^ 1;
  return bytes.toString("base64");
}

test("a canary whose row is changed to an ordinary secret cannot be decrypted, and a canary is never returned", async () => {
  const vault = vaultOn(place);
  await vault.set({ ...asked("decoy"), isCanary: true }, entry());
  expect(vault.open("decoy")).toMatchObject({ ok: false, code: "secret_refused" });
  const all = vault.openAll();
  expect(all.ok && all.value.secrets.map(({ name, value, isCanary }) => [name, value.toString(), isCanary])).toEqual([
    ["decoy", VALUE, true],
  ]);
  place.value(await place.secrets.put({ ...(place.secrets.get("decoy") as SealedSecret), isCanary: false }, entry()));
  expect(vault.open("decoy")).toMatchObject({ ok: false, code: "secret_refused" });
});

test.each<[string, Partial<Parameters<SecretVault["set"]>[0]>]>([
  ["a short value", { value: "1234567" }],
  ["a huge value", { value: "x".repeat(20_000) }],
  ["an invalid name", { name: "a b" }],
  ["an empty name", { name: "" }],
  ["a name with a brace", { name: "a}}" }],
  ["every host", { binding: { ...BINDING, hosts: ["*"] } }],
  ["an invalid host", { binding: { ...BINDING, hosts: ["https://x"] } }],
  ["an invalid tool", { binding: { ...BINDING, tools: ["builtin:nothing"] } }],
  ["zero uses", { binding: { ...BINDING, uses: 0 } }],
  ["a fraction of a use", { binding: { ...BINDING, uses: 1.5 } }],
  ["a username with a colon", { username: "a:b" }],
])("%s is refused, and nothing is stored", async (_, odd) => {
  const vault = vaultOn(place);
  expect(await vault.set({ ...asked("token"), ...odd }, entry())).toMatchObject({ ok: false, code: "invalid_input" });
  expect(vault.list()).toEqual([]);
});

test("a deleted secret is gone", async () => {
  const vault = vaultOn(place);
  await vault.set(asked("token"), entry());
  expect(await vault.delete("token", entry("deleted"))).toMatchObject({ ok: true });
  expect(vault.open("token")).toMatchObject({ ok: false, code: "secret_refused" });
  expect(await vault.delete("token", entry("deleted"))).toMatchObject({ ok: false, code: "invalid_input" });
});

test("a failing store is reported, and no secret is set", async () => {
  const failing: SecretStore = {
    ...{ get: () => null, all: () => [], delete: () => FULL, use: () => FULL },
    put: () => FULL,
  };
  const vault = vaultOn(place, failing);
  expect(await vault.set(asked("token"), entry())).toMatchObject({ ok: false, code: "audit_unavailable" });
});

const FULL = Promise.resolve({ ok: false, code: "audit_unavailable", message: "no space left on device" } as const);

describe("the key file", () => {
  test.each<[string, () => void, RegExp]>([
    ["is gone", () => rmSync(keyFile()), /does not exist/],
    ["can be read by others", () => chmodSync(keyFile(), 0o640), /0600/],
    ["holds something else", () => writeFileSync(keyFile(), "hello\n"), /does not contain a key/],
    ["is a link", () => relinked(), /cannot be read/],
    ["is empty", () => writeFileSync(keyFile(), ""), /does not contain a key/],
  ])("that %s decrypts nothing, and is not replaced by another key", async (_, harm, message) => {
    await vaultOn(place).set(asked("token"), entry());
    harm();
    const vault = vaultOn(place);
    const answer = vault.open("token");
    expect(answer).toMatchObject({ ok: false, code: "not_available" });
    expect(answer.ok ? "" : answer.message).toMatch(message);
    expect(await vault.set(asked("second"), entry())).toMatchObject({ ok: false, code: "not_available" });
    expect(vault.list()).toHaveLength(1);
  });

  function relinked(): void {
    const elsewhere = join(state, "elsewhere");
    writeFileSync(elsewhere, readFileSync(keyFile()), { mode: 0o600 });
    rmSync(keyFile());
    symlinkSync(elsewhere, keyFile());
  }

  test("cannot be locked, and says why", async () => {
    const vault = vaultOn(place);
    await vault.set(asked("token"), entry());
    expect(await vault.lock()).toMatchObject({ ok: false, code: "invalid_input" });
    expect(await vault.unlock(typed(PASSPHRASE))).toMatchObject({ ok: false, code: "invalid_input" });
  });
});

describe("a passphrase", () => {
  test("encrypts every secret again; while locked, nothing is decrypted or set until it is typed again", async () => {
    const vault = vaultOn(place);
    await vault.set(asked("token"), entry());
    await vault.set(asked("second", "second-value"), entry());
    const before = place.secrets.get("token")?.keyId;
    expect(
      await vault.rekey({ key: { source: "passphrase", passphrase: PASSPHRASE } }, entry("rekeyed")),
    ).toMatchObject({
      ok: true,
    });
    expect(existsSync(keyFile())).toBe(false);
    expect(place.secrets.get("token")?.keyId).not.toBe(before);
    expect(opened(vault.open("token"))).toBe(VALUE);
    await vault.lock();
    expect(vault.isLocked).toBe(true);
    expect(vault.open("token")).toMatchObject({ ok: false, code: "secret_refused", message: "the store is locked" });
    expect(vault.openAll()).toMatchObject({ message: "the store is locked" });
    expect(await vault.set(asked("third"), entry())).toMatchObject({ code: "secret_refused" });
    expect(await vault.policy({ name: "token", binding: BINDING }, entry())).toMatchObject({ code: "secret_refused" });
    expect(await vault.rekey({ key: { source: "file" } }, entry())).toMatchObject({ code: "secret_refused" });
    expect(vault.list()).toHaveLength(2);
    expect(await vault.unlock(typed("a wrong passphrase"))).toMatchObject({ ok: false, code: "secret_refused" });
    expect(await vault.unlock(typed(PASSPHRASE))).toMatchObject({ ok: true });
    expect(opened(vault.open("second"))).toBe("second-value");
    const next = vaultOn(place.again());
    expect(next.isLocked).toBe(true);
    await next.unlock(typed(PASSPHRASE));
    expect(opened(next.open("token"))).toBe(VALUE);
    expect(everything(state)).not.toContain(PASSPHRASE);
  });

  test("can be replaced by a key file, and that by another file", async () => {
    const vault = vaultOn(place);
    await vault.set(asked("token"), entry());
    const first = readFileSync(keyFile(), "utf8");
    await vault.rekey({ key: { source: "passphrase", passphrase: PASSPHRASE } }, entry());
    expect(await vault.rekey({ key: { source: "file" } }, entry())).toMatchObject({ ok: true });
    const second = readFileSync(keyFile(), "utf8");
    expect(second.split("\n")).toHaveLength(2);
    expect(await vault.rekey({ key: { source: "file" } }, entry())).toMatchObject({ ok: true });
    const third = readFileSync(keyFile(), "utf8");
    expect(new Set([first, second, third]).size).toBe(3);
    expect(third.split("\n")).toHaveLength(2);
    expect(opened(vaultOn(place.again()).open("token"))).toBe(VALUE);
  });

  test("that is wrong five times is rate limited", async () => {
    const vault = vaultOn(place);
    await vault.rekey({ key: { source: "passphrase", passphrase: PASSPHRASE } }, entry());
    await vault.lock();
    for (let times = 0; times < 5; times++) await vault.unlock(typed("a wrong passphrase"));
    expect(await vault.unlock(typed(PASSPHRASE))).toMatchObject({ ok: false, message: "too many wrong passphrases" });
    now += 30_001;
    expect(await vault.unlock(typed(PASSPHRASE))).toMatchObject({ ok: true });
  });

  test("has a minimum length", async () => {
    const vault = vaultOn(place);
    expect(await vault.rekey({ key: { source: "passphrase", passphrase: "short" } }, entry())).toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("an interrupted key change", () => {
  /** The store fails from the nth write on. */
  function failing(after: number): SecretStore {
    let left = after;
    return {
      get: (name) => place.secrets.get(name),
      all: () => place.secrets.all(),
      delete: (name, one) => place.secrets.delete(name, one),
      use: (name, version, one) => place.secrets.use(name, version, one),
      put: (secret, one) => (left-- > 0 ? place.secrets.put(secret, one) : FULL),
    };
  }

  test.each(
    (["file", "passphrase"] as const).flatMap((from) =>
      (["file", "passphrase"] as const).flatMap((to) => [0, 1, 2].map((done) => [from, to, done] as const)),
    ),
  )(
    "from a %s to a %s after %i of three: all secrets can be decrypted, and the next change completes",
    async (from, to, done) => {
      const first = vaultOn(place);
      const names = ["one", "two", "three"];
      for (const name of names) await first.set(asked(name, `value-of-${name}`), entry());
      if (from === "passphrase")
        await first.rekey({ key: { source: from, passphrase: "the old passphrase" } }, entry());
      const cut = vaultOn(place, failing(done));
      if (from === "passphrase") await cut.unlock(typed("the old passphrase"));
      const key = to === "file" ? { source: to } : { source: to, passphrase: PASSPHRASE };
      expect(await cut.rekey({ key }, entry())).toMatchObject({
        ok: false,
        code: "audit_unavailable",
      });
      for (const vault of [cut, vaultOn(place.again())]) {
        if (vault.isLocked) expect(await vault.unlock(typed(PASSPHRASE))).toMatchObject({ ok: true });
        for (const name of names) expect(opened(vault.open(name))).toBe(`value-of-${name}`);
      }
      const next = vaultOn(place);
      if (next.isLocked) await next.unlock(typed(PASSPHRASE));
      expect(await next.rekey({ key }, entry())).toMatchObject({ ok: true });
      expect(new Set(place.secrets.all().map(({ keyId }) => keyId)).size).toBe(1);
      expect(JSON.parse(place.settings.get(KEY_SETTING) ?? "{}").previous).toEqual([]);
    },
  );

  test("an unreadable key record leaves the store locked", async () => {
    await vaultOn(place).set(asked("token"), entry());
    for (const text of [
      "",
      "{",
      '{"source":"file"}',
      '{"source":"passphrase","keyId":"x","passphrase":null,"previous":[]}',
    ]) {
      place.value(await place.settings.set(KEY_SETTING, text, entry()));
      const vault = vaultOn(place);
      expect(vault.open("token"), text).toMatchObject({ ok: false });
      expect(await vault.set(asked("second"), entry()), text).toMatchObject({ ok: false });
    }
  });
});

test("concurrent changes are applied one after the other", async () => {
  const vault = vaultOn(place);
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, at) => vault.set(asked("token", `value-number-${at}`), entry())),
  );
  expect(all.map((one) => one.ok && one.value.version)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(opened(vault.open("token"))).toBe("value-number-19");
});

test("output that is streamed while secrets change is redacted by the old and the new values", async () => {
  const { secrets, settings } = place;
  const alarms: string[] = [];
  const alarm = (name: string): void => void alarms.push(name);
  const { vault, stream } = daemonSecrets({ secrets, settings, state, now: () => 0, entry, alarm });
  const running = stream();
  let out = "";
  const write = (text: string): void => {
    out += Buffer.from(running.write(Buffer.from(text))).toString();
  };
  write("before any secret: first-value-0001\n");
  await vault.set(asked("token", "first-value-0001"), entry());
  write("after: first-value-0001, a half: first-va");
  await vault.set({ ...asked("token", "second-value-002"), isRotation: true }, entry());
  write("lue-0001, both: first-value-0001 second-value-002\n");
  for (let at = 0; at < 20; at++) {
    await vault.set({ ...asked("token", `another-value-${at}`), isRotation: true }, entry());
    write(`number ${at}: another-value-${at}\n`);
  }
  await vault.set({ ...asked("bird", "decoy-value-0003"), isCanary: true }, entry());
  write("decoy-value-0003\n");
  await vault.delete("token", entry("deleted"));
  write("another-value-19 decoy-value-0003");
  out += Buffer.from(running.end()).toString();
  const hidden = "[REDACTED:token]";
  expect(out.split("\n")).toEqual([
    "before any secret: first-value-0001",
    `after: ${hidden}, a half: ${hidden}, both: ${hidden} ${hidden}`,
    ...Array.from({ length: 20 }, (_, at) => `number ${at}: ${hidden}`),
    "[REDACTED:bird]",
    `${hidden} [REDACTED:bird]`,
  ]);
  expect(alarms).toEqual(["bird"]);
});
