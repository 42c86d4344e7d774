// Moving the key between its sources with the built command and a real daemon that stops and starts again.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { isRunning } from "../house/processes.ts";
import { removeState } from "../house/remove-state.ts";
import { Keyring, missingPrograms } from "./keyring.ts";
import { AGE } from "./keys-fixture.ts";

const program = fileURLToPath(new URL("../../bin/ambit", import.meta.url));
const VALUE = "correct-horse-battery";
const KEY = "what-the-reference-gives";
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-key-"));
  mkdirSync(join(folder, "home"));
  prepareState(join(folder, "state"), join(folder, "config"));
  expect(
    ambit(["secrets", "set", "token", "--tool", "web_fetch", "--host", "api.example.com"], { input: VALUE }),
  ).toMatchObject({
    status: 0,
  });
});

afterEach(() => {
  ambit(["daemon", "stop"]);
  removeState(folder);
});

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly errors: string;
}

function ambit(words: readonly string[], more: { input?: string; environment?: Record<string, string> } = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: join(folder, "home"),
    encoding: "utf8",
    input: more.input ?? "",
    timeout: 90_000,
    env: {
      PATH: "/usr/bin:/bin",
      NO_COLOR: "1",
      XDG_STATE_HOME: join(folder, "state"),
      XDG_CONFIG_HOME: join(folder, "config"),
      ...more.environment,
    },
  });
  return { status, out: stdout, errors: stderr };
}

/** Stops the daemon; the next command starts another one with empty memory. */
function restarted(): Record<string, unknown> {
  expect(ambit(["daemon", "stop"]).status).toBe(0);
  const { status, out } = ambit(["secrets", "key", "--json"]);
  expect(status).toBe(0);
  return JSON.parse(out);
}

const problems = (): readonly string[] => JSON.parse(ambit(["daemon", "status", "--json"]).out).problems;
const keyFile = (): string => join(folder, "state", "ambit", "keys", "secrets.key");
/** Succeeds only while the secret can be decrypted. */
const bound = (): number | null => ambit(["secrets", "policy", "token", "--uses", "9"]).status;

/** No file of the state folder contains it, including the daemon's log. */
function expectNowhere(text: string): void {
  const files = readdirSync(join(folder, "state"), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.length).toBeGreaterThan(2);
  for (const one of files) expect(readFileSync(join(one.parentPath, one.name)).includes(text), one.name).toBe(false);
}

test("a file reference: the daemon reads the file when it starts, and reports why if it cannot", () => {
  expect(ambit(["secrets", "key"]).out).toContain(`key    in a file that only you can read: ${keyFile()}`);
  const path = join(folder, "key");
  writeFileSync(path, `${KEY}\n`, { mode: 0o600 });
  expect(ambit(["secrets", "key", "--from", `file:${path}`])).toMatchObject({
    status: 0,
    out: "re-encrypted secrets\n",
  });
  expect(existsSync(keyFile())).toBe(false);
  expect(restarted()).toMatchObject({ source: "reference", where: `file:${path}`, isLocked: false, problem: null });
  expect([bound(), problems()]).toEqual([0, []]);
  chmodSync(path, 0o640);
  expect(restarted()).toMatchObject({ isLocked: true, problem: expect.stringContaining("it must have mode 0600") });
  expect(problems()).toEqual([expect.stringContaining("it must have mode 0600; fix: ambit secrets unlock")]);
  expect(ambit(["doctor"]).out).toMatch(/secrets_locked[\s\S]*it must have mode 0600/);
  const refused = ambit(["secrets", "rotate", "token"], { input: "another-value-of-it" });
  expect([refused.status, refused.errors]).toEqual([1, expect.stringContaining("the store is locked")]);
  expect(ambit(["secrets", "key", "--file"]).status).toBe(1);
  chmodSync(path, 0o600);
  expect(ambit(["secrets", "unlock"])).toMatchObject({ status: 0, out: "unlocked secrets\n" });
  expect([bound(), problems()]).toEqual([0, []]);
  expectNowhere(KEY);
  expectNowhere(VALUE);
}, 120_000);

test("an environment variable: the daemon reads none; the command that has it sends the key", () => {
  const environment = { AMBIT_KEY: KEY };
  expect(ambit(["secrets", "key", "--from", "env:AMBIT_KEY"], { environment }).status).toBe(0);
  expect(ambit(["daemon", "stop"]).status).toBe(0);
  // The next command that starts the daemon has another value, which is ignored.
  const other = { AMBIT_KEY: "of-another-user" };
  const started = JSON.parse(ambit(["secrets", "key", "--json"], { environment: other }).out);
  expect(started).toMatchObject({ source: "reference", where: "env:AMBIT_KEY", isLocked: true });
  expect(ambit(["secrets", "unlock"], { environment: other })).toMatchObject({ status: 1 });
  expect([ambit(["secrets", "unlock"]).status, bound()]).toEqual([1, 1]);
  expect(ambit(["secrets", "unlock"], { environment })).toMatchObject({ status: 0 });
  expect(bound()).toBe(0);
  expectNowhere(KEY);
}, 120_000);

test("an age recipient: decrypted with an identity file, or with one named on the command line", () => {
  const identity = join(folder, "identity");
  writeFileSync(identity, `${AGE.identity}\n`, { mode: 0o600 });
  expect(ambit(["secrets", "key", "--age", AGE.recipient, "--identity", identity])).toMatchObject({ status: 0 });
  expect(restarted()).toMatchObject({ source: "age", where: identity, recipient: AGE.recipient, isLocked: false });
  const unproven = ambit(["secrets", "key", "--age", AGE.recipient]);
  expect([unproven.status, unproven.errors]).toEqual([0, expect.stringContaining("it was not tested")]);
  expect(restarted()).toMatchObject({ isLocked: true, fix: "ambit secrets unlock --identity FILE" });
  expect(bound()).toBe(1);
  expect(ambit(["secrets", "unlock", "--identity", identity]).status).toBe(0);
  expect(bound()).toBe(0);
}, 120_000);

test("a program: the daemon runs it without a shell and with a time limit", () => {
  const give = join(folder, "give");
  writeFileSync(give, `#!/bin/sh\nprintf '%s' "${KEY}$1"\n`, { mode: 0o700 });
  expect(ambit(["secrets", "key", "--from", `cmd:${give} "a b"`]).status).toBe(0);
  expect(restarted()).toMatchObject({ where: `cmd:${give} "a b"`, isLocked: false });
  writeFileSync(give, '#!/bin/sh\necho $$ > "${0%/*}/pid"\nexec sleep 60\n');
  // The daemon continues without the key before the program's time limit, and the program ends with the daemon.
  expect(restarted()).toMatchObject({ isLocked: true });
  expect(ambit(["daemon", "stop"]).status).toBe(0);
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  expect(isRunning(pid)).toBe(false);
}, 120_000);

describe.skipIf(missingPrograms().length > 0)("a real keychain (skipped where its programs are not installed)", () => {
  test("stores the key; the daemon reads it over the session bus of the unlocking command", async () => {
    const keyring = new Keyring();
    try {
      await keyring.start();
      const environment = { DBUS_SESSION_BUS_ADDRESS: keyring.address };
      expect(ambit(["secrets", "key", "--keychain"], { environment })).toMatchObject({ status: 0 });
      expect(existsSync(keyFile())).toBe(false);
      expect(bound()).toBe(0);
      expect(restarted()).toMatchObject({ source: "keychain", isLocked: true });
      expect(problems()[0]).toMatch(/secrets are locked: they cannot be used or redacted/);
      expect(ambit(["secrets", "unlock"], { environment })).toMatchObject({ status: 0 });
      expect([bound(), problems()]).toEqual([0, []]);
      expect(ambit(["secrets", "key", "--file"]).status).toBe(0);
      expect(restarted()).toMatchObject({ source: "file", isLocked: false });
      expect(bound()).toBe(0);
    } finally {
      await keyring.stop();
    }
  }, 120_000);
});
