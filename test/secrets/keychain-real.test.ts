// The key in a real keychain, read with the real secret-tool over a real session bus: stored, read, locked, lost.
import { execFileSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keySourceEnvironment } from "../../src/secrets/sources.ts";
import { Keyring, missingPrograms } from "./keyring.ts";
import { KeysFixture, NOTHING, openedValue, VALUE } from "./keys-fixture.ts";

const missing = missingPrograms();
if (missing.length > 0)
  process.stderr.write(
    `SKIPPED: the key in a real keychain, because ${missing.join(", ")} is not installed; to have it looked at, run: apt install dbus gnome-keyring libsecret-tools\n`,
  );

describe.skipIf(missing.length > 0)("a real keychain", () => {
  const keyring = new Keyring();
  let fixture: KeysFixture;
  const { programs } = keySourceEnvironment(null);

  beforeAll(() => keyring.start(), 60_000);
  afterAll(() => keyring.stop());
  beforeEach(async () => {
    await keyring.unlocked();
    fixture = new KeysFixture();
    await fixture.start();
  }, 30_000);
  afterEach(() => fixture.stop());

  const given = (): typeof NOTHING => ({ ...NOTHING, bus: keyring.address });
  const vault = (): ReturnType<KeysFixture["vault"]> => fixture.vault({ programs });
  const environment = (): Record<string, string> => ({ DBUS_SESSION_BUS_ADDRESS: keyring.address });
  const lookup = (id: string | null): string =>
    execFileSync("secret-tool", ["lookup", "application", "ambit", "key", id ?? ""], { env: environment() }).toString();

  async function kept(): Promise<string | null> {
    const first = vault();
    await fixture.set(first);
    const key = { source: "keychain", bus: keyring.address } as const;
    expect(await first.rekey({ key }, fixture.entry())).toEqual({ ok: true, value: {} });
    return first.source().keyId;
  }

  test("stores the key and returns it to the next process", async () => {
    const id = await kept();
    expect(lookup(id)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    const next = vault();
    expect(await next.unlock(given())).toEqual({ ok: true, value: {} });
    expect(openedValue(next)).toBe(VALUE);
  });

  test("that is locked returns no key and reports that; unlocking it unlocks the secret store", async () => {
    await kept();
    keyring.lock();
    const next = vault();
    const answer = await next.unlock(given());
    expect(answer).toMatchObject({
      ok: false,
      code: "secret_refused",
      fix: expect.stringContaining("unlock the keychain"),
    });
    expect(answer.ok ? "" : answer.message).toContain("the keychain is locked");
    expect(openedValue(next)).toMatch(/^secret_refused/);
    await keyring.unlocked();
    expect(await next.unlock(given())).toMatchObject({ ok: true });
    expect(openedValue(next)).toBe(VALUE);
  });

  test("that is locked stores nothing, and the previous key stays in use", async () => {
    const first = vault();
    await fixture.set(first);
    keyring.lock();
    const key = { source: "keychain", bus: keyring.address } as const;
    expect(await first.rekey({ key }, fixture.entry())).toMatchObject({ ok: false, code: "secret_refused" });
    expect(openedValue(vault())).toBe(VALUE);
  });

  test("that lost the key leaves all secrets locked", async () => {
    const id = await kept();
    execFileSync("secret-tool", ["clear", "application", "ambit", "key", id ?? ""], { env: environment() });
    const next = vault();
    const answer = await next.unlock(given());
    expect(answer.ok ? "" : answer.message).toBe("the keychain has no ambit key");
    expect(await next.rekey({ key: { source: "file" } }, fixture.entry())).toMatchObject({ ok: false });
  });

  test("is cleared when the key moves elsewhere", async () => {
    const id = await kept();
    const next = vault();
    await next.unlock(given());
    expect(await next.rekey({ key: { source: "file" } }, fixture.entry())).toEqual({ ok: true, value: {} });
    expect(() => lookup(id)).toThrow();
    expect(openedValue(vault())).toBe(VALUE);
  });

  test("a bus without a secret service is reported", async () => {
    await kept();
    const next = vault();
    const answer = await next.unlock({ ...NOTHING, bus: "unix:path=/nowhere/bus" });
    expect(answer.ok ? "" : answer.message).toMatch(/secret-tool exited with status 1 \(.*[Cc]ould not connect/);
  });
});
