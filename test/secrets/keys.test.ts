// A key encrypted for an age recipient, or read through a reference: it is the recorded key, or all secrets stay locked. After an
// interrupted key change all secrets can still be decrypted.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeyInput, KeySource, NewKey } from "../../src/core/ports/secret-key.ts";
import type { SecretStore, SettingStore } from "../../src/core/ports/stores/secret-store.ts";
import { daemonSecrets } from "../../src/daemon/secrets.ts";
import { openWithIdentity, sealForRecipient } from "../../src/secrets/age.ts";
import { KEY_SETTING } from "../../src/secrets/record.ts";
import type { SecretVault } from "../../src/secrets/vault.ts";
import { AGE, KeysFixture, NOTHING, openedValue, VALUE } from "./keys-fixture.ts";

let fixture: KeysFixture;

beforeEach(async () => {
  fixture = new KeysFixture();
  await fixture.start();
});

afterEach(() => fixture.stop());

const OTHER = "AGE-SECRET-KEY-1633SADGJKRKAUWPA8QSSMSSXFF306QAHD5WSC86GSD445SJJDF4SKWGH03";
const hasAge = spawnSync("age", ["--version"]).status === 0;

/** One secret under this key. */
async function sealedUnder(key: NewKey): Promise<SecretVault> {
  const vault = fixture.vault();
  await fixture.set(vault);
  const answer = await vault.rekey({ key }, fixture.entry("rekeyed"));
  expect(answer).toEqual({ ok: true, value: {} });
  return vault;
}

const asKept = (): string =>
  `${fixture.place.settings.get(KEY_SETTING)} ${JSON.stringify(fixture.place.secrets.all())}`;

describe("a key for an age recipient", () => {
  const identity = (text: string = AGE.identity, mode = 0o600): string =>
    fixture.file("identity", `# of ann\n${text}\n`, mode);

  test("with an identity file is decrypted automatically in the next process", async () => {
    const path = identity();
    await sealedUnder({ source: "age", recipient: AGE.recipient, identity: path });
    expect(existsSync(join(fixture.folder, "keys", "secrets.key"))).toBe(false);
    const next = fixture.vault();
    expect(next.isLocked).toBe(true);
    await next.ready();
    expect(openedValue(next)).toBe(VALUE);
    expect(next.source()).toMatchObject({ source: "age", where: path, recipient: AGE.recipient, problem: null });
  });

  test("stores an identity file below the home folder by its full path", async () => {
    identity();
    const vault = await sealedUnder({ source: "age", recipient: AGE.recipient, identity: "~/identity" });
    expect(vault.source().where).toBe(join(fixture.folder, "identity"));
  });

  test("without an identity file stays locked until an identity is named, each time", async () => {
    await sealedUnder({ source: "age", recipient: AGE.recipient, identity: null });
    const next = fixture.vault();
    await next.ready();
    expect(next.source()).toMatchObject({ isLocked: true, fix: "ambit secrets unlock --identity FILE" });
    expect(await next.unlock(NOTHING)).toMatchObject({ ok: false, fix: "ambit secrets unlock --identity FILE" });
    expect(await next.unlock({ ...NOTHING, identity: identity() })).toMatchObject({ ok: true });
    expect(openedValue(next)).toBe(VALUE);
    expect(fixture.vault().isLocked).toBe(true);
  });

  test.each<[string, () => void, RegExp]>([
    ["can be read by others", () => chmodSync(identity(), 0o644), /must have mode 0600/],
    ["is gone", () => rmIdentity(), /cannot be read \(ENOENT\)/],
    ["holds another identity", () => identity(OTHER), /does not decrypt the key/],
    ["holds none", () => identity("# nothing"), /contains no identity/],
    ["holds a damaged identity", () => identity(`${AGE.identity.slice(0, -1)}Q`), /damaged/],
    ["holds an ssh key", () => identity("-----BEGIN OPENSSH PRIVATE KEY-----"), /are not X25519 identities/],
    [
      "is encrypted itself",
      () => fixture.file("identity", "age-encryption.org/v1\n"),
      /is encrypted with a passphrase/,
    ],
    ["holds too many identities", () => identity(`${AGE.identity}\n`.repeat(17)), /more than 16/],
    ["is a folder", () => folderInstead(), /is not a file/],
  ])("whose identity file %s stays locked, and nothing is encrypted again", async (_, harm, problem) => {
    const path = identity();
    await sealedUnder({ source: "age", recipient: AGE.recipient, identity: path });
    const before = asKept();
    harm();
    const next = fixture.vault();
    await next.ready();
    expect(openedValue(next)).toMatch(/^secret_refused: the store is locked/);
    expect(next.source().problem).toMatch(problem);
    expect(await fixture.set(next, "second")).toBe(false);
    expect(await next.rekey({ key: { source: "file" } }, fixture.entry())).toMatchObject({ ok: false });
    expect(asKept()).toBe(before);
  });

  function rmIdentity(): void {
    execFileSync("rm", [join(fixture.folder, "identity")]);
  }

  function folderInstead(): void {
    rmIdentity();
    mkdirSync(join(fixture.folder, "identity"), { mode: 0o700 });
  }

  test.each([
    ["", null],
    [AGE.recipient.toUpperCase(), null],
    [`${AGE.recipient.slice(0, -1)}q`, null],
    ["age1pq1aaaa", null],
    ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ", null],
    [AGE.identity, null],
    [AGE.recipient, OTHER],
  ])("%j with the identity %j is refused, and the previous key stays in use", async (recipient, other) => {
    const vault = fixture.vault();
    await fixture.set(vault);
    const before = asKept();
    const key: NewKey = { source: "age", recipient, identity: other === null ? null : identity(other) };
    expect(await vault.rekey({ key }, fixture.entry())).toMatchObject({ ok: false });
    expect(asKept()).toBe(before);
    expect(openedValue(fixture.vault())).toBe(VALUE);
  });

  test("decrypts what the program age has encrypted", async () => {
    const found = await openWithIdentity(AGE.sealed, identity(`${OTHER}\r\n${AGE.identity}`), null);
    expect(found.ok && found.value.toString()).toBe(AGE.text);
    const bytes = Buffer.from(AGE.sealed, "base64");
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
    expect(await openWithIdentity(bytes.toString("base64"), identity(), null)).toMatchObject({ ok: false });
  });

  test.skipIf(!hasAge)("can be decrypted by the program age (skipped where it is not installed)", async () => {
    const sealed = await sealForRecipient(Buffer.from(AGE.text), AGE.recipient);
    if (!sealed.ok) throw new Error(sealed.message);
    const input = Buffer.from(sealed.value, "base64");
    expect(execFileSync("age", ["-d", "-i", identity()], { input }).toString()).toBe(AGE.text);
    await sealedUnder({ source: "age", recipient: AGE.recipient, identity: null });
    const record = JSON.parse(fixture.place.settings.get(KEY_SETTING) ?? "{}");
    const key = execFileSync("age", ["-d", "-i", identity()], { input: Buffer.from(record.age.sealed, "base64") });
    expect(key).toHaveLength(32);
    expect(fixture.place.settings.get(KEY_SETTING)).not.toContain(key.toString("base64"));
  });
});

describe("a key reference", () => {
  const KEY = "what-the-reference-gives";

  test("to a file is read automatically in the next process; other contents leave the store locked, and the right ones unlock it", async () => {
    const path = fixture.file("key", `${KEY}\n`);
    await sealedUnder({ source: "reference", reference: `file:${path}`, value: null });
    const next = fixture.vault();
    await next.ready();
    expect(openedValue(next)).toBe(VALUE);
    expect(next.source()).toMatchObject({ source: "reference", where: `file:${path}`, problem: null });
    const before = asKept();
    for (const text of ["another-text-of-it", "", "short", `${KEY}x`]) {
      writeFileSync(path, text);
      const wrong = fixture.vault();
      await wrong.ready();
      expect(openedValue(wrong)).toMatch(/^secret_refused: the store is locked/);
      expect(wrong.source().problem).toMatch(/is not the one that secrets are encrypted with|it is empty/);
      expect(await fixture.set(wrong, "second")).toBe(false);
      expect(await wrong.rekey({ key: { source: "file" } }, fixture.entry())).toMatchObject({ ok: false });
    }
    expect(asKept()).toBe(before);
    writeFileSync(path, KEY);
    const again = fixture.vault();
    await again.ready();
    expect(openedValue(again)).toBe(VALUE);
    expect(asKept()).not.toContain(KEY);
  });

  test("to a program runs it by its full path, without our environment", async () => {
    writeFileSync(join(fixture.tools, "give"), `#!/bin/sh\nenv > "\${0%/*}/given"\nprintf '%s' "$1"\n`, {
      mode: 0o755,
    });
    process.env["AMBIT_TEST_SECRET"] = "of-this-process";
    const vault = await sealedUnder({ source: "reference", reference: `cmd:give "${KEY} $(id)"`, value: null });
    delete process.env["AMBIT_TEST_SECRET"];
    expect(vault.source().where).toBe(`cmd:${join(fixture.tools, "give")} "${KEY} $(id)"`);
    expect(readFileSync(join(fixture.tools, "given"), "utf8")).not.toContain("of-this-process");
    const next = fixture.vault({ programs: [] });
    await next.ready();
    expect(openedValue(next)).toBe(VALUE);
  });

  test.each<[string, string, RegExp]>([
    ["fails", "exit 3", /exited with status 3/],
    ["hangs while its child keeps the output open", "sleep 60 & sleep 60", /did not respond within 2 seconds/],
    ["prints too much", "exec head -c 100000 /dev/zero", /printed more than 65536 bytes/],
    ["says nothing", "exit 0", /it is empty/],
    ["prints something that is not text", "printf '\\377\\376\\375aaaaaaaaa'", /does not return text/],
    ["prints another key", "printf 'another-key-of-it'", /is not the one that secrets/],
    ["does not exist any more", "", /cannot be run/],
  ])("to a program that %s leaves all secrets locked", async (_, script, problem) => {
    const path = join(fixture.tools, "give");
    const says = (line: string): void => writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    says(`printf '${KEY}'`);
    await sealedUnder({ source: "reference", reference: `cmd:${path}`, value: null });
    const before = asKept();
    if (script === "") execFileSync("rm", [path]);
    else says(script);
    const next = fixture.vault({ millisecondsMax: 1_500 });
    await next.ready();
    expect(next.source()).toMatchObject({ isLocked: true, problem: expect.stringMatching(problem) });
    expect(openedValue(next)).toMatch(/^secret_refused/);
    expect(asKept()).toBe(before);
  });

  test("to an environment variable: the command that has it sends the key; the daemon reads none", async () => {
    process.env["AMBIT_TEST_KEY"] = KEY;
    const first = fixture.vault();
    await fixture.set(first);
    const key: NewKey = { source: "reference", reference: "env:AMBIT_TEST_KEY", value: null };
    expect(await first.rekey({ key }, fixture.entry())).toMatchObject({ ok: false, code: "secret_refused" });
    await sealedUnder({ ...key, value: KEY });
    const next = fixture.vault();
    await next.ready();
    delete process.env["AMBIT_TEST_KEY"];
    expect(next.source()).toMatchObject({
      isLocked: true,
      fix: "where AMBIT_TEST_KEY is set, run: ambit secrets unlock",
    });
    expect(await next.unlock(NOTHING)).toMatchObject({ ok: false, code: "secret_refused" });
    expect(await next.unlock({ ...NOTHING, passphrase: "another key of it" })).toMatchObject({ ok: false });
    expect(await next.unlock({ ...NOTHING, passphrase: KEY })).toMatchObject({ ok: true });
    expect(openedValue(next)).toBe(VALUE);
  });

  test.each([
    "nothing",
    "env:A B",
    "file:relative",
    "cmd:",
    "cmd:no-such-program-anywhere x",
    "cmd:./give",
    "file:FOLDER/missing",
    "file:FOLDER/open",
    "file:FOLDER/short",
  ])("%j is refused, and the previous key stays in use", async (text) => {
    fixture.file("open", KEY, 0o644);
    chmodSync(join(fixture.folder, "open"), 0o644);
    fixture.file("short", "1234567");
    const vault = fixture.vault();
    await fixture.set(vault);
    const before = asKept();
    const reference = text.replace("FOLDER", fixture.folder);
    expect(await vault.rekey({ key: { source: "reference", reference, value: null } }, fixture.entry())).toMatchObject({
      ok: false,
    });
    expect(asKept()).toBe(before);
    expect(openedValue(fixture.vault())).toBe(VALUE);
  });
});

describe("an interrupted key change", () => {
  const PASSPHRASE = "a long passphrase";
  const wanted = (source: KeySource): NewKey => {
    switch (source) {
      case "file":
        return { source };
      case "passphrase":
        return { source, passphrase: PASSPHRASE };
      case "keychain":
        return { source, bus: null };
      case "age":
        return { source, recipient: AGE.recipient, identity: fixture.file("identity", AGE.identity) };
      case "reference":
        return { source, reference: `file:${fixture.file("key", "what-the-reference-gives")}`, value: null };
      default:
        return source satisfies never;
    }
  };
  const given: KeyInput = { ...NOTHING, passphrase: PASSPHRASE };
  const ready = async (vault: SecretVault): Promise<void> => {
    await vault.ready();
    if (vault.isLocked) expect(await vault.unlock(given)).toMatchObject({ ok: true });
  };
  const FULL = Promise.resolve({ ok: false, code: "audit_unavailable", message: "no space left on device" } as const);

  /** Every write from the nth on fails. */
  function failingAfter(count: number): { secrets: SecretStore; settings: SettingStore } {
    const { secrets, settings } = fixture.place;
    let left = count;
    const may = (): boolean => left-- > 0;
    return {
      secrets: {
        get: (name) => secrets.get(name),
        all: () => secrets.all(),
        delete: (name, one) => secrets.delete(name, one),
        use: (name, version, one) => secrets.use(name, version, one),
        put: (secret, one) => (may() ? secrets.put(secret, one) : FULL),
      },
      settings: { get: (key) => settings.get(key), set: (...asked) => (may() ? settings.set(...asked) : FULL) },
    };
  }

  const PAIRS: readonly (readonly [KeySource, KeySource])[] = [
    ["file", "keychain"],
    ["file", "age"],
    ["file", "reference"],
    ["keychain", "keychain"],
    ["keychain", "file"],
    ["age", "reference"],
    ["reference", "passphrase"],
  ];

  test.each(PAIRS.flatMap(([from, to]) => [0, 1, 3].map((writes) => [from, to, writes] as const)))(
    "from %s to %s after %i writes: all secrets can be decrypted, and the next change completes",
    async (from, to, writes) => {
      const names = ["one", "two"];
      const first = fixture.vault();
      for (const name of names) await fixture.set(first, name, `value-of-${name}`);
      if (from !== "file")
        expect(await first.rekey({ key: wanted(from) }, fixture.entry())).toMatchObject({ ok: true });
      const cut = fixture.vault({}, failingAfter(writes));
      await ready(cut);
      expect(await cut.rekey({ key: wanted(to) }, fixture.entry())).toMatchObject({ code: "audit_unavailable" });
      const next = fixture.vault();
      await ready(next);
      for (const vault of [cut, next])
        for (const name of names) expect(openedValue(vault, name)).toBe(`value-of-${name}`);
      expect(await next.rekey({ key: wanted(to) }, fixture.entry())).toMatchObject({ ok: true });
      const last = fixture.vault();
      await ready(last);
      for (const name of names) expect(openedValue(last, name)).toBe(`value-of-${name}`);
      expect(last.source()).toMatchObject({ source: to, problem: null });
      expect(new Set(fixture.place.secrets.all().map(({ keyId }) => keyId))).toEqual(new Set([last.source().keyId]));
    },
  );
});

test("key records of older versions can still be read", async () => {
  const vault = await sealedUnder({ source: "passphrase", passphrase: "a long passphrase" });
  const { source, keyId, passphrase, previous } = JSON.parse(fixture.place.settings.get(KEY_SETTING) ?? "{}");
  const text = JSON.stringify({ source, keyId, passphrase, previous });
  fixture.place.value(await fixture.place.settings.set(KEY_SETTING, text, fixture.entry()));
  await vault.lock();
  const next = fixture.vault();
  expect(await next.unlock({ ...NOTHING, passphrase: "a long passphrase" })).toMatchObject({ ok: true });
  expect(openedValue(next)).toBe(VALUE);
});

test.each([
  '{"source":"keychain","keyId":"x","previous":[]}',
  '{"source":"age","keyId":"ID","previous":[],"age":null}',
  '{"source":"age","keyId":"ID","previous":[],"age":{"recipient":"a","identity":"relative","sealed":""}}',
  '{"source":"reference","keyId":"ID","previous":[],"reference":{"kind":"cmd","argv":["a\\u0000b"]}}',
  '{"source":"reference","keyId":"ID","previous":[],"reference":{"kind":"env","name":"A"},"passphrase":null}',
  '{"source":"cloud","keyId":"ID","previous":[]}',
])("%s is not a valid key record: all secrets stay locked", async (text) => {
  await fixture.set(fixture.vault());
  const record = text.replace("ID", "0123456789abcdef0123456789abcdef");
  fixture.place.value(await fixture.place.settings.set(KEY_SETTING, record, fixture.entry()));
  const vault = fixture.vault();
  await vault.ready();
  expect(openedValue(vault)).toMatch(/^not_available: the stored key metadata cannot be parsed/);
  expect(vault.source()).toMatchObject({ source: "unknown", isLocked: true });
  expect(await vault.unlock(NOTHING)).toMatchObject({ ok: false });
  expect(await vault.rekey({ key: { source: "file" } }, fixture.entry())).toMatchObject({ ok: false });
});

test("the daemon reports that secrets are locked and why; it redacts none until they are unlocked, then all", async () => {
  const path = fixture.file("key", "what-the-reference-gives");
  await sealedUnder({ source: "reference", reference: `file:${path}`, value: null });
  chmodSync(path, 0o644);
  const { secrets, settings } = fixture.place;
  const entry = (): ReturnType<KeysFixture["entry"]> => fixture.entry();
  const daemon = daemonSecrets({
    secrets,
    settings,
    state: fixture.folder,
    now: () => 0,
    entry,
    alarm: () => undefined,
  });
  await daemon.begin();
  expect(daemon.problems()).toEqual([
    expect.stringMatching(/^secrets are locked: they cannot be used or redacted: .*must have mode 0600; fix: /),
  ]);
  expect(daemon.redacting.text(`it is ${VALUE}`)).toBe(`it is ${VALUE}`);
  chmodSync(path, 0o600);
  expect(await daemon.vault.unlock(NOTHING)).toMatchObject({ ok: true });
  expect(daemon.redacting.text(`it is ${VALUE}`)).toBe("it is [REDACTED:token]");
  expect(daemon.problems()).toEqual([]);
  const next = daemonSecrets({ secrets, settings, state: fixture.folder, now: () => 0, entry, alarm: () => undefined });
  await next.begin();
  expect(next.redacting.text(`it is ${VALUE}`)).toBe("it is [REDACTED:token]");
});
