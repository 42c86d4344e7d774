// `ambit secrets key`, `lock` and `unlock`: one source for the key, what a person provides for it, and nothing of it in any
// output.
import { resolve } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient } from "../../core/ports/daemon/exchange.ts";
import type { KeyStatus } from "../../core/ports/secret-key.ts";
import { PLAIN } from "../terminal/paint.ts";
import { addSecrets } from "./command.ts";
import type { SecretsPorts } from "./value.ts";

const WORDS = "a long passphrase";
const RECIPIENT = "age1wm7tdux82jay96pxphyf4r60dmhkyhrrtlf4x6m3haycuaexg3hsg6ujkp";
const BUS = "unix:path=/run/user/1/bus";
const FILE: KeyStatus = {
  ...{ source: "file", where: "/state/keys/secrets.key", recipient: null, keyId: "0123", isLocked: false },
  ...{ problem: null, fix: null },
};

interface Setting {
  readonly says?: readonly string[];
  readonly source?: Partial<KeyStatus>;
  readonly environment?: Readonly<Record<string, string>>;
}

interface Ran {
  readonly exit: number | null;
  readonly out: string;
  readonly errors: string;
  readonly asked: readonly (readonly [string, unknown])[];
}

async function ran(words: readonly string[], { says, source, environment = {} }: Setting = {}): Promise<Ran> {
  const out: string[] = [];
  const errors: string[] = [];
  const asked: [string, unknown][] = [];
  const left = [...(says ?? [])];
  let exit: number | null = null;
  const control: MessageClient<ControlMessages> = {
    ask: async (name, value) => {
      asked.push([name, value]);
      const answer: Answer<object> = { ok: true, value: name === "secrets.source" ? { ...FILE, ...source } : {} };
      return answer as never;
    },
    tell: () => false,
    close: () => undefined,
  };
  const said = (): never => left.shift() as never;
  const ports: SecretsPorts = {
    paint: PLAIN,
    terminal: {
      isInteractive: says !== undefined,
      confirm: async () => said(),
      choose: async () => said(),
      enter: async () => said(),
      typed: async () => said(),
      secret: async () => said(),
    },
    now: () => 0,
    control: async () => ({ ok: true, value: control }),
    running: async () => ({ ok: true, value: null }),
    print: (line) => out.push(line),
    printError: (line) => errors.push(line),
    values: { environment, input: async function* () {} },
  };
  const program = new Command("ambit").exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  addSecrets(program, ports, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync(["secrets", ...words], { from: "user" });
  } catch {
    exit = 2;
  }
  return { exit, out: out.join("\n"), errors: errors.join("\n"), asked };
}

const ENVIRONMENT = { AMBIT_KEY: WORDS, DBUS_SESSION_BUS_ADDRESS: BUS };

test.each<[readonly string[], object, Setting]>([
  [["--file"], { source: "file" }, {}],
  [["--passphrase"], { source: "passphrase", passphrase: WORDS }, { says: [WORDS, WORDS] }],
  [["--passphrase", "--from", "env:AMBIT_KEY"], { source: "passphrase", passphrase: WORDS }, {}],
  [["--keychain"], { source: "keychain", bus: BUS }, {}],
  [["--keychain"], { source: "keychain", bus: null }, { environment: {} }],
  [["--age", RECIPIENT], { source: "age", recipient: RECIPIENT, identity: null }, {}],
  [
    ["--age", RECIPIENT, "--identity", "key.txt"],
    { source: "age", recipient: RECIPIENT, identity: resolve("key.txt") },
    {},
  ],
  [["--age", RECIPIENT, "--identity", "~/key"], { source: "age", recipient: RECIPIENT, identity: "~/key" }, {}],
  [["--from", "env:AMBIT_KEY"], { source: "reference", reference: "env:AMBIT_KEY", value: WORDS }, {}],
  [["--from", "file:key"], { source: "reference", reference: `file:${resolve("key")}`, value: null }, {}],
  [["--from", "cmd:pass show ambit"], { source: "reference", reference: "cmd:pass show ambit", value: null }, {}],
])("key %j requests one source", async (words, key, setting) => {
  const result = await ran(["key", ...words], { environment: ENVIRONMENT, ...setting });
  expect([result.exit, result.asked]).toEqual([0, [["secrets.key", { key, presence: null }]]]);
  expect(result.out).toContain("re-encrypted");
  expect(result.out + result.errors).not.toContain(WORDS);
});

test("a recipient without an identity gives a warning: decryption was not tried", async () => {
  expect((await ran(["key", "--age", RECIPIENT])).errors).toContain("it was not tested");
  expect((await ran(["key", "--age", RECIPIENT, "--identity", "key"])).errors).toBe("");
});

test.each<[string, readonly string[], Setting, number]>([
  ["two places", ["--passphrase", "--file"], { says: [] }, 2],
  ["two others", ["--keychain", "--age", RECIPIENT], {}, 2],
  ["a source and a reference", ["--keychain", "--from", "env:AMBIT_KEY"], {}, 2],
  ["an identity without a recipient", ["--identity", "key"], {}, 2],
  ["an identity for another source", ["--keychain", "--identity", "key"], {}, 2],
  ["an invalid reference", ["--from", "https://vault.example.com"], {}, 2],
  ["piped input, as a reference", ["--from", "-"], {}, 2],
  ["a variable that is not set", ["--from", "env:NONE"], {}, 1],
  ["two passphrases that differ", ["--passphrase"], { says: [WORDS, "another one"] }, 1],
])("key with %s: nothing is sent", async (_, words, setting, exit) => {
  const result = await ran(["key", ...words], setting);
  expect([result.exit, result.asked]).toEqual([exit, []]);
});

test.each<[Partial<KeyStatus>, string]>([
  [{}, "key    in a file that only you can read: /state/keys/secrets.key\nid     0123\nstate  available"],
  [{ source: "keychain", where: null }, "key    in the keychain of your desktop\nid     0123\nstate  available"],
  [
    { source: "age", where: "/key", recipient: RECIPIENT },
    `key    encrypted for ${RECIPIENT}, unlocked with /key\nid     0123\nstate  available`,
  ],
  [
    { source: "passphrase", where: null, isLocked: true, problem: "the store is locked", fix: "ambit secrets unlock" },
    "key    from a passphrase\nid     0123\nstate  locked\n  fix: ambit secrets unlock",
  ],
  [
    { source: "reference", where: "cmd:/bin/x", isLocked: true, problem: "the store is locked: it hangs", fix: "do" },
    "key    from cmd:/bin/x\nid     0123\nstate  locked: it hangs\n  fix: do",
  ],
  [
    { keyId: null, problem: "/state/keys/secrets.key is not there" },
    "key    in a file that only you can read: /state/keys/secrets.key\nstate  unavailable: /state/keys/secrets.key is not there",
  ],
])("key without options shows the source: %j", async (source, text) => {
  const result = await ran(["key"], { source });
  expect([result.exit, result.out, result.asked]).toEqual([0, text, [["secrets.source", {}]]]);
  expect(JSON.parse((await ran(["key", "--json"], { source })).out)).toEqual({ ...FILE, ...source });
});

const GIVEN = { passphrase: null, identity: null, bus: null };

test.each<[string, readonly string[], Setting, object]>([
  ["a passphrase is typed", [], { says: [WORDS], source: { source: "passphrase" } }, { ...GIVEN, passphrase: WORDS }],
  [
    "or read",
    ["--from", "env:AMBIT_KEY"],
    { environment: { AMBIT_KEY: WORDS }, source: { source: "passphrase" } },
    { ...GIVEN, passphrase: WORDS },
  ],
  [
    "a variable is sent",
    [],
    { environment: { AMBIT_KEY: WORDS }, source: { source: "reference", where: "env:AMBIT_KEY" } },
    { ...GIVEN, passphrase: WORDS },
  ],
  [
    "a keychain is read over the user's own bus",
    [],
    { environment: ENVIRONMENT, source: { source: "keychain" } },
    { ...GIVEN, bus: BUS },
  ],
  ["a program is run again", [], { source: { source: "reference", where: "cmd:/bin/x" } }, GIVEN],
  [
    "an identity is given",
    ["--identity", "key"],
    { source: { source: "age" } },
    { ...GIVEN, identity: resolve("key") },
  ],
])("unlock: %s", async (_, words, setting, given) => {
  const result = await ran(["unlock", ...words], setting);
  expect(result.asked).toEqual([
    ["secrets.source", {}],
    ["secrets.unlock", given],
  ]);
  expect([result.exit, result.out]).toEqual([0, "unlocked secrets"]);
});

test("unlock without the variable, or with two sources at once, sends nothing", async () => {
  const unset = await ran(["unlock"], { source: { source: "reference", where: "env:AMBIT_KEY" } });
  expect([unset.exit, unset.errors]).toEqual([1, expect.stringContaining("the variable AMBIT_KEY is not set")]);
  expect(unset.asked).toHaveLength(1);
  expect((await ran(["unlock", "--from", "-", "--identity", "key"])).exit).toBe(2);
});

test("lock", async () => {
  expect((await ran(["lock"])).asked).toEqual([["secrets.lock", {}]]);
});
