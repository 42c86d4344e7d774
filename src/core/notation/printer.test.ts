import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sizeFor } from "../../../test/house/long.ts";
import { CATALOG, type VerbEntry, verbEntry } from "../authority/catalog.ts";
import type { Grant } from "../authority/grant.ts";
import { DEEP, literal } from "../authority/patterns/segment.ts";
import type { Json } from "../base/json.ts";
import { readCompact } from "./compact/compact.ts";
import { Diagnostics } from "./diagnostic.ts";
import { compactText, grantWords } from "./printer.ts";
import { readGrant } from "./scope/scope-reader.ts";
import { mapOf, READING, spanOf } from "./testing/notation.ts";

function again(text: string, root: readonly string[] | null): Grant | null {
  const span = spanOf("again", text.length);
  return readCompact(text, { reading: READING, diagnostics: new Diagnostics(), span, root });
}

/** Everything a grant means; its position is not part of that. */
function meaning(grant: Grant | null): unknown {
  return grant && { ...grant, span: null };
}

const part = fc.oneof(
  fc.constantFrom(
    "a",
    "b.c",
    "*",
    "**",
    "a*",
    "*b*",
    "x y",
    "a,b",
    "a=b",
    "!x",
    "~",
    "~x",
    "-",
    "true",
    "null",
    "1",
    "1e3",
    "é",
    "\u202e",
    "\u0001",
    "\u{e0001}",
    '"',
    "'",
    "\\",
    "#",
    ":",
  ),
  fc.string({ maxLength: 4 }),
);
const path = fc.array(part, { maxLength: 4 }).map((parts) => parts.join("/"));
const host = fc.constantFrom(
  "a.b",
  "*.a.b",
  "+.a.b",
  "*",
  "1.2.3.4",
  "10.0.0.0/8",
  "::1",
  "[2001:db8::]/32",
  "fd00::/8",
  "::ffff:1.2.3.0/120",
  "A.B.",
  "müller.example",
  "a",
);
const opening = fc
  .tuple(host, fc.constantFrom("10.0.0.0/8", "fd00::/32", "127.0.0.1"))
  .map(([name, range]) => `${name}=${range}`);
const port = fc.constantFrom<Json>(1, 443, "443", "8000-8100", "*", 65_535);
const word = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(" "));
const command = fc.oneof(
  word,
  fc.constantFrom(
    "git:*",
    "a:**",
    "a:*b",
    "x::*",
    ":*",
    'git commit -m "two words"',
    "'*' \"**\" ''",
    "* x *",
    "** **",
  ),
);
const name = fc.oneof(path, part);
const tool = fc.oneof(
  fc.constantFrom(
    "fs_read",
    "tool:fs_read",
    "builtin:fs_read",
    "builtin:x",
    "tool:x",
    "tool:builtin:x",
    "builtin:**",
    "tool:a.*",
    "**",
    "a.b",
    "a.*",
    "*",
    "builtin:tool:x*",
  ),
  part,
);
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom(-0, 1e21, 5e-324, 0.1));
const scalar = fc.oneof<fc.Arbitrary<Json>[]>(part, number, fc.boolean(), fc.constant(null));
const constraint = fc.oneof<fc.Arbitrary<Json>[]>(
  fc.array(scalar, { maxLength: 3 }).map((values) => ({ values })),
  fc.tuple(fc.option(number), fc.option(number)).map((range) => ({ range })),
  fc.nat().map((length) => ({ max_length: length })),
  fc.array(word, { maxLength: 3 }).map((text) => ({ text })),
  fc
    .array(
      fc.oneof(
        path,
        path.map((text) => `/${text}`),
      ),
      { maxLength: 3 },
    )
    .map((list) => ({ path: list })),
  fc.array(host, { maxLength: 3 }).map((url) => ({ url })),
);
const place = fc.oneof(fc.constantFrom("a", "a.b", '"a.b".c', '""', "ü", "__proto__", "x y"), part);
const list = (items: fc.Arbitrary<Json>): fc.Arbitrary<Json> => fc.oneof(fc.array(items, { maxLength: 3 }), items);
const root = path.map((text) => `/p/${text}`);

const VALUES: Record<string, fc.Arbitrary<Json>> = {
  in: fc.oneof(root, fc.constantFrom("~", "/", "/p", ".", "x y")),
  paths: list(path),
  hosts: list(host),
  ports: list(port),
  private: list(opening),
  raw: fc.boolean(),
  cmds: list(fc.oneof(part, fc.constantFrom("git", "/usr/bin/git"))),
  patterns: list(command),
  root: fc.constantFrom("ro", "rw"),
  classes: list(name),
  id: name,
  ids: list(name),
  keys: list(name),
  agents: list(name),
  tools: list(tool),
  names: list(name),
  providers: list(name),
  models: list(name),
  servers: list(name),
  uris: list(
    fc.oneof(
      name,
      fc.constantFrom("docs://a/**", "docs:///a*", "DOCS:/a", "file:///x", "prompt:*", "a://b:1/c?d"),
      part,
    ),
  ),
  args: fc.array(fc.tuple(place, constraint), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  args_only: fc.boolean(),
  ask: fc.constantFrom<Json>(true, false, "presence"),
  calls: fc.integer({ min: 1 }),
  rate: fc.constantFrom("1/s", "10/min", "5/hour", "999/d"),
  expires: fc
    .date({ noInvalidDate: true, min: new Date("0001-01-01T00:00:00Z"), max: new Date("9998-01-01T00:00:00Z") })
    .map((date) => date.toISOString()),
  pass: fc.constantFrom("use", "pass", "both"),
  clean: fc.boolean(),
};

const CONDITIONS = ["ask", "calls", "rate", "expires", "pass", "clean"];

function grantsOf(verb: VerbEntry): fc.Arbitrary<Record<string, Json>> {
  const keys = [...verb.axes.flatMap((axis) => axis.keys as readonly string[]), ...CONDITIONS];
  return fc.record(Object.fromEntries(keys.map((key) => [key, VALUES[key] as fc.Arbitrary<Json>])), {
    requiredKeys: [],
  }) as fc.Arbitrary<Record<string, Json>>;
}

describe("a parsed grant prints, and the print parses as the same grant and prints the same", () => {
  test.each(CATALOG.map((entry) => [entry.verb, entry] as const))("%s", (_, verb) => {
    let seen = 0;
    fc.assert(
      fc.property(grantsOf(verb), fc.constantFrom(null, ["p"], ["p", "[q]"]), (written, hoisted) => {
        const around = {
          reading: READING,
          diagnostics: new Diagnostics(),
          span: spanOf("grant"),
          implied: null,
          root: hoisted,
        };
        const grant = readGrant(verb, mapOf(written), around);
        fc.pre(grant !== null);
        seen++;
        const text = compactText(grant as Grant);
        const back = again(text, hoisted);
        expect(meaning(back), text).toEqual(meaning(grant));
        expect(compactText(back as Grant)).toBe(text);
        expect(text).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
        expect(grantWords(grant as Grant)).toMatch(/^[^\p{Cc}\p{Cf}]+$/u);
      }),
      { numRuns: sizeFor(60, 300), maxSkipsPerRun: 300 },
    );
    expect(seen).toBeGreaterThan(sizeFor(20, 100));
  });
});

test.each([
  ["fs.read", "fs.read{in=[]}"],
  ["fs.read{paths=[a]}", "fs.read{in=[]}"],
  ["proc.exec{cmds=[rg]}", "proc.exec{in=[],cmds=[rg]}"],
  ["proc.eval", "proc.eval{in=[]}"],
  ["net.connect{hosts=[a.b]}", "net.connect{hosts=[a.b],ports=[]}"],
])("%s, which covers nothing without a root, prints so that it covers nothing under any root", (text, printed) => {
  const first = again(text, null) as Grant;
  expect(compactText(first)).toBe(printed);
  expect(compactText(again(printed, ["home"]) as Grant)).toBe(printed);
});

test("a name that would be resolved elsewhere keeps its origin", () => {
  for (const text of ["tool.invoke{tools=[builtin:x]}", "tool.invoke{tools=[tool:fs_read]}"]) {
    expect(compactText(again(text, null) as Grant)).toBe(text);
  }
  expect(compactText(again("tool.invoke{tools=[builtin:fs_read,tool:x]}", null) as Grant)).toBe(
    "tool.invoke{tools=[fs_read,x]}",
  );
});

test("one word that ends in a colon and a star stays one word", () => {
  const text = "proc.exec{in=/p,patterns=[a:**]}";
  expect(compactText(again(text, null) as Grant)).toBe(text);
});

test("a scope no parser makes prints as valid text, and is no wider", () => {
  const exec = again("proc.exec{in=/p}", null) as Grant;
  const [, argv, mode] = exec.scopes;
  const two = {
    ...exec,
    scopes: [
      {
        kind: "sequences",
        of: [
          [literal("a"), DEEP],
          [literal("b"), DEEP],
        ],
      },
      argv,
      mode,
    ],
  } as Grant;
  expect(compactText(two)).toBe("proc.exec{in=/a}");
  const read = {
    ...(again("fs.read{in=/p}", null) as Grant),
    root: null,
    scopes: [{ kind: "sequences", of: [[literal("a"), DEEP]] }],
  } as Grant;
  expect(compactText(read)).toBe("fs.read{in=/,paths=[a/**]}");
  const any = { ...read, scopes: [{ kind: "any" }] } as Grant;
  expect(compactText(any)).toBe("fs.read{in=/}");
});

test.each([
  ["net.get{hosts=[*.github.com],ask}", "fetch from the network: *.github.com, any port; asks first"],
  ["net.get{hosts=[*],ports=[443]}", "fetch from the network: any public host, port 443"],
  ["net.get", "fetch from the network: nothing"],
  ["records.read", "read records"],
  ["records.read{classes=[note,task]}", "read records: class note, task"],
  ["fs.read{in=/p}", "read files: anything in /p"],
  ["fs.write{in=/p,paths=[src/**,docs]}", "write files: src/**, docs in /p"],
  [
    "proc.exec{in=/p,cmds=[rg],patterns=[git log **],root=ro}",
    "run programs: in /p, rg, `git log **`, its files read-only",
  ],
  [
    "proc.exec{in=/p,calls=1,clean}",
    "run programs: in /p, any program; once; only until the session has read untrusted content",
  ],
  ["tool.invoke", "call tools: builtin:**"],
  [
    "tool.invoke{tools=[pay],args={amount={range=[0,100]}},args_only}",
    "call tools: pay, with limits on amount, no other arguments",
  ],
  [
    "secret.use{names=[gh],pass=pass}",
    "use secrets without seeing them: name gh, any tool, any host; can only be delegated, not used",
  ],
  [
    "net.get{hosts=[a.b],expires=2026-12-01T00:00:00Z,rate=10/min,ask=presence}",
    "fetch from the network: a.b, any port; asks first and requires presence; at most 10/min; until 2026-12-01T00:00:00Z",
  ],
])("%s as a sentence: %s", (text, words) => {
  expect(grantWords(again(text, null) as Grant)).toBe(words);
});

test("a sentence shows what a terminal would hide", () => {
  const grant = again('fs.read{in="/p\\u202egpj.exe"}', null) as Grant;
  expect(grantWords(grant)).toBe("read files: anything in /p\\u202egpj.exe");
});

test("every verb of the catalog has a sentence", () => {
  for (const { verb, effect } of CATALOG) expect(grantWords(again(verb, ["p"]) as Grant).startsWith(effect)).toBe(true);
  expect(verbEntry("net.get")?.effect).toBe("fetch from the network");
});
