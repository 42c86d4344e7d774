// The key in a real keychain, read with the real secret-tool over a real session bus: stored, read, locked, lost.
import { execFileSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keySourceEnvironment } from "../../src/secrets/sources.ts";
import { Keyring, missingPrograms } from "./keyring.ts";
import { KeysWorld, NOTHING, opened, VALUE } from "./keys-world.ts";

const missing = missingPrograms();
if (missing.length > 0)
  process.stderr.write(
    `SKIPPED: the key in a real keychain, because ${missing.join(", ")} is not installed; to have it looked at, run: apt install dbus gnome-keyring libsecret-tools\n`,
  );

describe.skipIf(missing.length > 0)("a real keychain", () => {
  const keyring = new Keyring();
  let world: KeysWorld;
  const { programs } = keySourceEnvironment(null);

  beforeAll(() => keyring.start(), 60_000);
  afterAll(() => keyring.stop());
  beforeEach(async () => {
    await keyring.unlocked();
    world = new KeysWorld();
    await world.start();
  }, 30_000);
  afterEach(() => world.stop());

  const given = (): typeof NOTHING => ({ ...NOTHING, bus: keyring.address });
  const vault = (): ReturnType<KeysWorld["vault"]> => world.vault({ programs });
  const environment = (): Record<string, string> => ({ DBUS_SESSION_BUS_ADDRESS: keyring.address });
  const lookup = (id: string | null): string =>
    execFileSync("secret-tool", ["lookup", "application", "ambit", "key", id ?? ""], { env: environment() }).toString();

  async function kept(): Promise<string | null> {
    const first = vault();
    await world.set(first);
    const key = { source: "keychain", bus: keyring.address } as const;
    expect(await first.rekey({ key }, world.entry())).toEqual({ ok: true, value: {} });
    return first.source().keyId;
  }

  test("stores the key and returns it to the next process", async () => {
    const id = await kept();
    expect(lookup(id)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    const next = vault();
    expect(await next.unlock(given())).toEqual({ ok: true, value: {} });
    expect(opened(next)).toBe(VALUE);
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
    expect(opened(next)).toMatch(/^secret_refused/);
    await keyring.unlocked();
    expect(await next.unlock(given())).toMatchObject({ ok: true });
    expect(opened(next)).toBe(VALUE);
  });

  test("that is locked stores nothing, and the previous key stays in use", async () => {
    const first = vault();
    await world.set(first);
    keyring.lock();
    const key = { source: "keychain", bus: keyring.address } as const;
    expect(await first.rekey({ key }, world.entry())).toMatchObject({ ok: false, code: "secret_refused" });
    expect(opened(vault())).toBe(VALUE);
  });

  test("that lost the key leaves all secrets locked", async () => {
    const id = await kept();
    execFileSync("secret-tool", ["clear", "application", "ambit", "key", id ?? ""], { env: environment() });
    const next = vault();
    const answer = await next.unlock(given());
    expect(answer.ok ? "" : answer.message).toBe("the keychain has no ambit key");
    expect(await next.rekey({ key: { source: "file" } }, world.entry())).toMatchObject({ ok: false });
  });

  test("is cleared when the key moves elsewhere", async () => {
    const id = await kept();
    const next = vault();
    await next.unlock(given());
    expect(await next.rekey({ key: { source: "file" } }, world.entry())).toEqual({ ok: true, value: {} });
    expect(() => lookup(id)).toThrow();
    expect(opened(vault())).toBe(VALUE);
  });

  test("a bus without a secret service is reported", async () => {
    await kept();
    const next = vault();
    const answer = await next.unlock({ ...NOTHING, bus: "unix:path=/nowhere/bus" });
    expect(answer.ok ? "" : answer.message).toMatch(/secret-tool ended with status 1 \(.*[Cc]ould not connect/);
  });
});
