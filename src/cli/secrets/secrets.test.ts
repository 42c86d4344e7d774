// `ambit secrets`: values come from a person, a pipe, a variable or a file, and appear in no output and no argument.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ControlMessages, SecretView } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient } from "../../core/ports/daemon/exchange.ts";
import { PLAIN } from "../terminal/paint.ts";
import { addSecrets } from "./command.ts";
import { type SecretsPorts, valueBytesMax } from "./value.ts";

const VALUE = "correct-horse";
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-secrets-"));
  writeFileSync(join(folder, "token"), `${VALUE}\n`);
  writeFileSync(join(folder, "large"), "x".repeat(valueBytesMax + 10));
  writeFileSync(join(folder, "binary"), Buffer.from([0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7]));
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Setting {
  readonly says?: readonly (string | boolean | null)[];
  readonly piped?: string;
  readonly refuses?: boolean;
}

interface Ran {
  readonly exit: number | null;
  readonly out: string;
  readonly errors: string;
  readonly asked: readonly (readonly [string, unknown])[];
}

const BOUND = { tools: ["web_fetch"], hosts: ["api.example.com"], uses: 5 };
const SECRET: SecretView = {
  name: "token",
  version: 2,
  binding: BOUND,
  username: null,
  isCanary: false,
  used: 3,
  at: 7,
};

async function ran(words: readonly string[], { says, piped = "", refuses = false }: Setting = {}): Promise<Ran> {
  const out: string[] = [];
  const errors: string[] = [];
  const asked: [string, unknown][] = [];
  const left = [...(says ?? [])];
  let exit: number | null = null;
  const answer = (name: string, value: unknown): Answer<object> => {
    if (refuses)
      return { ok: false, code: "secret_refused", message: "the store is locked", fix: "ambit secrets unlock" };
    if (name === "secrets.list")
      return { ok: true, value: { secrets: [SECRET, { ...SECRET, name: "decoy", isCanary: true }] } };
    if (name === "secrets.set" || name === "secrets.policy")
      return { ok: true, value: { ...SECRET, ...(value as object), value: undefined } };
    return { ok: true, value: {} };
  };
  const control: MessageClient<ControlMessages> = {
    ask: async (name, value) => {
      asked.push([name, value]);
      return answer(name, value) as never;
    },
    tell: () => false,
    close: () => undefined,
  };
  const said = (): never => left.shift() as never;
  const ports: SecretsPorts = {
    paint: PLAIN,
    terminal: {
      isInteractive: says !== undefined,
      confirm: async () => said() === true,
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
    values: {
      environment: { TOKEN: VALUE },
      input: async function* () {
        for (const piece of piped.match(/.{1,5}/gs) ?? []) yield Buffer.from(piece);
      },
    },
  };
  const program = new Command("ambit").exitOverride().configureOutput({
    writeOut: (line) => out.push(line),
    writeErr: (line) => errors.push(line),
  });
  addSecrets(program, ports, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync(["secrets", ...words.map((word) => word.replace("FOLDER", folder))], { from: "user" });
  } catch {
    exit = 2;
  }
  return { exit, out: out.join("\n"), errors: errors.join("\n"), asked };
}

test.each<[string, readonly string[], Setting]>([
  ["typed", [], { says: [VALUE] }],
  ["piped in", [], { piped: `${VALUE}\n` }],
  ["piped in although a person is present", ["--from", "-"], { says: [], piped: VALUE }],
  ["in a variable", ["--from", "env:TOKEN"], {}],
  ["in a file", ["--from", "file:FOLDER/token"], {}],
])("a value that is %s is sent, and shown nowhere", async (_, words, setting) => {
  const result = await ran(
    [
      "set",
      "token",
      "--tool",
      "web_fetch",
      "--host",
      "a.example.com",
      "--host",
      "b.example.com:8443",
      "--uses",
      "3",
      "--username",
      "ann",
      ...words,
    ],
    setting,
  );
  expect([result.exit, result.errors]).toEqual([0, ""]);
  const binding = { tools: ["web_fetch"], hosts: ["a.example.com", "b.example.com:8443"], uses: 3 };
  expect(result.asked).toEqual([
    [
      "secrets.set",
      { name: "token", value: VALUE, binding, username: "ann", isCanary: false, isRotation: false, presence: null },
    ],
  ]);
  expect(result.out).toContain("set token v2  hosts a.example.com, b.example.com:8443, tools web_fetch, as ann");
  expect(result.out + result.errors).not.toContain(VALUE);
});

test.each<[string, readonly string[], Setting, number]>([
  ["a value among the arguments", ["set", "token", VALUE], { says: [VALUE] }, 2],
  ["nothing typed", ["set", "token"], { says: [null] }, 1],
  ["nothing piped in", ["set", "token"], {}, 1],
  ["a variable that is not set", ["set", "token", "--from", "env:NONE"], {}, 1],
  ["a missing file", ["set", "token", "--from", "file:FOLDER/none"], {}, 1],
  ["a folder", ["set", "token", "--from", "file:FOLDER"], {}, 1],
  ["a large file", ["set", "token", "--from", "file:FOLDER/large"], {}, 1],
  ["input that is not text", ["set", "token", "--from", "file:FOLDER/binary"], {}, 1],
  ["too much piped in", ["set", "token"], { piped: "x".repeat(valueBytesMax + 100) }, 1],
  ["an invalid host", ["set", "token", "--from", "cmd:cat /etc/passwd"], {}, 2],
  ["no uses", ["set", "token", "--uses", "0"], { says: [VALUE] }, 2],
  ["a policy without one", ["policy", "token"], {}, 2],
  ["deleting without a terminal", ["delete", "token"], {}, 2],
  ["deleting, answered with no", ["delete", "token"], { says: [false] }, 11],
])("%s: nothing is sent", async (_, words, setting, exit) => {
  const result = await ran(words, setting);
  expect([result.exit, result.asked]).toEqual([exit, []]);
  expect(result.out + result.errors).not.toContain(VALUE);
});

test("a secret bound to nothing gives a note", async () => {
  const nothing = await ran(["set", "token"], { says: [VALUE] });
  expect(nothing.out).toContain("bound to nothing");
  expect(nothing.errors).toContain("it is bound to no host");
  const host = await ran(["set", "token", "--host", "x.example.com"], { says: [VALUE] });
  expect(host.errors).toContain("it is bound to no tool");
  const canary = await ran(["set", "token", "--canary"], { says: [VALUE] });
  expect([canary.errors, canary.out]).toEqual(["", expect.stringContaining("canary")]);
});

test("rotating sends the new value and leaves the rest to the daemon", async () => {
  const result = await ran(["rotate", "token"], { piped: VALUE });
  expect(result.asked[0]?.[1]).toMatchObject({ name: "token", value: VALUE, isRotation: true });
});

test.each<[readonly string[], object]>([
  [["--uses", "9"], { ...BOUND, uses: 9 }],
  [["--uses", "any"], { ...BOUND, uses: null }],
  [["--host", "x.example.com"], { ...BOUND, hosts: ["x.example.com"] }],
  [["--unbind"], { tools: [], hosts: [], uses: null }],
  [["--unbind", "--tool", "git"], { tools: ["git"], hosts: [], uses: null }],
])("policy %j", async (words, binding) => {
  const result = await ran(["policy", "token", ...words]);
  expect(result.asked.at(-1)).toEqual(["secrets.policy", { name: "token", binding, presence: null }]);
});

test("a list shows everything but values", async () => {
  expect((await ran(["list"])).out).toBe(
    "token v2  hosts api.example.com, tools web_fetch, used 3 of 5\n" +
      "decoy v2  canary: raises an alarm where it appears, hosts api.example.com, tools web_fetch, used 3 of 5",
  );
  expect(JSON.parse((await ran(["list", "--json"])).out).secrets).toHaveLength(2);
});

test("delete", async () => {
  expect((await ran(["delete", "token", "--yes"])).asked).toEqual([["secrets.delete", { name: "token" }]]);
  expect((await ran(["delete", "token"], { says: [true] })).asked).toHaveLength(1);
});

test("a refusal is shown with its code, as lines and as JSON", async () => {
  const lines = await ran(["set", "token"], { says: [VALUE], refuses: true });
  expect([lines.exit, lines.errors]).toEqual([1, expect.stringContaining("secret_refused: the store is locked")]);
  const data = await ran(["set", "token", "--json", "--from", "env:TOKEN"], { refuses: true });
  expect(JSON.parse(data.out)).toMatchObject({ ok: false, code: "secret_refused", fix: "ambit secrets unlock" });
});

test("help has examples for every command, and none of them has a value in it", async () => {
  for (const words of [
    ["--help"],
    ["set", "--help"],
    ["list", "--help"],
    ["rotate", "--help"],
    ["policy", "--help"],
    ["delete", "--help"],
    ["lock", "--help"],
    ["unlock", "--help"],
    ["key", "--help"],
  ])
    expect((await ran(words)).out).toContain("Examples:");
});
