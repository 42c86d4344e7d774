import fc from "fast-check";
import { expect, test } from "vitest";
import type { Grant } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import { compactText } from "../printer.ts";
import { textsOf } from "../scope/scope-values.ts";
import { diagnosticLines, READING, spanOf } from "../testing/notation.ts";
import { readCompact } from "./compact.ts";
import { splitSpecs } from "./specs.ts";

function read(text: string): { readonly printed: string | null; readonly diagnostics: Diagnostics } {
  const diagnostics = new Diagnostics();
  const grant = readCompact(text, { reading: READING, diagnostics, span: spanOf("", text.length), root: ["p"] });
  return { printed: grant === null ? null : compactText(grant), diagnostics };
}

test.each([
  ["records.read", "records.read"],
  ["records.read{}", "records.read"],
  ["  records.read { } ", "records.read"],
  ["net.get{hosts=[*.github.com,api.x.com],ask}", "net.get{hosts=[*.github.com,api.x.com],ask}"],
  ["net.get{ hosts = [ *.github.com , api.x.com ] , ask }", "net.get{hosts=[*.github.com,api.x.com],ask}"],
  ["net.get{hosts=x.com}", "net.get{hosts=[x.com]}"],
  ["net.get{hosts=[]}", "net.get{hosts=[]}"],
  ["net.get{hosts=[x.com],ask=presence,clean}", "net.get{hosts=[x.com],ask=presence,clean}"],
  ["net.get{clean,hosts=[x.com],ask=false}", "net.get{hosts=[x.com],clean}"],
  [
    "net.connect{hosts=[::1,10.0.0.0/8],ports=[443,8000-8100],raw}",
    "net.connect{hosts=[::1,10.0.0.0/8],ports=[443,8000-8100],raw}",
  ],
  ["net.get{hosts=[db.x],private=[db.x=10.1.0.0/16]}", "net.get{hosts=[db.x],private=[db.x=10.1.0.0/16]}"],
  ["proc.exec{cmds=[rg,jq],patterns=[git:*]}", 'proc.exec{in=/p,cmds=[rg,jq],patterns=["git **"]}'],
  ["proc.exec{patterns=[git log **, npm test]}", 'proc.exec{in=/p,patterns=["git log **","npm test"]}'],
  ['proc.exec{cmds=["true"]}', 'proc.exec{in=/p,cmds=["true"]}'],
  ["fs.read{in=/p/a b}", 'fs.read{in="/p/a b"}'],
  ['fs.read{paths=["a,b","[","x"]}', null],
  ['fs.read{paths=["a,b]"]}', null],
  ['fs.read{paths=["a,b","c"]}', 'fs.read{in=/p,paths=["a,b",c]}'],
  ['fs.read{paths=["src/{a,b}"]}', "fs.read{in=/p,paths=[src/a,src/b]}"],
  [
    "tool.invoke{tools=[t],args={amount={range=[0,100]},to={values=[a]}}}",
    "tool.invoke{tools=[t],args={amount={range=[0,100]},to={values=[a]}}}",
  ],
  [
    'tool.invoke{tools=[t],args={"\\"a.b\\".c"={values=["1",1,true,"true",null]}},args_only}',
    'tool.invoke{tools=[t],args={"\\"a.b\\".c"={values=["1",1,true,"true",null]}},args_only}',
  ],
  ['net.get{"hosts"=["x.com"]}', "net.get{hosts=[x.com]}"],
  [
    "net.get{hosts=[x.com],expires=2026-12-01T02:00:00+02:00,rate=10/hour,calls=5,pass=use}",
    "net.get{hosts=[x.com],calls=5,rate=10/h,expires=2026-12-01T00:00:00Z,pass=use}",
  ],
])("%s parses as %s", (text, printed) => {
  expect(read(text).printed).toBe(printed);
});

test.each([
  ["", "error syntax [0-0]"],
  ["   ", "error syntax [3-3]"],
  ["{hosts=[x]}", "error syntax [0-11]"],
  ["net.get{hosts=[x]", "error syntax [7-17]"],
  ["net.get{hosts=[x", "error syntax [14-16]"],
  ["net.get{hosts=", "error syntax [14-14]"],
  ["net.get{", "error syntax [8-8]"],
  ["net.get{hosts}", "error syntax [8-14]"],
  ["net.get{hosts,ask}", "error syntax [8-18]"],
  ["net.get{hosts=}", "error syntax [14-15]"],
  ["net.get{=x}", "error syntax [8-11]"],
  ["net.get{,}", "error syntax [8-10]"],
  ["net.get{hosts=[x],}", "error syntax [18-19]"],
  ["net.get{hosts=[x,]}", "error syntax [17-19]"],
  ["net.get{hosts=[,x]}", "error syntax [15-19]"],
  ["net.get{hosts=[x]}}", "error syntax [18-19]"],
  ["net.get{hosts=[x]} ask", "error syntax [19-22]"],
  ["net.get hosts=[x]", "error syntax [8-17]"],
  ["net.get{hosts=[x],hosts=[y]}", "error syntax [18-23]"],
  ['net.get{hosts=["x]}', "error syntax [15-19]"],
  ['net.get{hosts=["\\x"]}', "error syntax [15-21]"],
  ['net.get{hosts=[a"b"]}', "error syntax [16-21]"],
  ["net.get{hosts=[a[b]]}", "error syntax [16-21]"],
  ["net.get{hosts=[[a]]}", "error wrong_type [15-18]"],
  ["net.get{hosts={a=b}}", "error wrong_type [14-19]"],
  ["net.gte{hosts=[x]}", "error unknown_verb [0-7]"],
  ["nodotshere", "error unknown_verb [0-10]"],
  ["net.get{hosts=[x],ports=[70000]}", "error bad_value [25-30]"],
  ["net.get{hozts=[x]}", "error unknown_key [8-13]"],
  ["proc.exec{cmds=[true]}", "error wrong_type [16-20]"],
  ["agent.grant{id=12}", "error wrong_type [15-17]"],
])("%s is refused at its position: %s", (text, place) => {
  const { printed, diagnostics } = read(text);
  expect(printed).toBeNull();
  expect(
    diagnosticLines(diagnostics)
      .filter((line) => line.startsWith("error"))
      .map((line) => line.replace(/ $/, " [0-0]")),
  ).toEqual([place]);
});

test("an unknown verb is answered with the nearest one, and an old name with the new one", () => {
  expect(read("net.gte").diagnostics.list[0]?.suggestion).toBe("net.get");
  expect(read("totally.unrelated").diagnostics.list[0]?.suggestion).toBeNull();
  expect(read("shell.exec{cmds=[rg]}").printed).toBe("proc.exec{in=/p,cmds=[rg]}");
  expect(diagnosticLines(read("shell.eval").diagnostics)).toEqual(["warning deprecated [0-10]"]);
  expect(read("shell.evil").printed).toBeNull();
});

const MARKS = fc.array(
  fc.constantFrom(
    ...'{}[],="\\ .*',
    "net.get",
    "fs.read",
    "hosts",
    "in",
    "ask",
    "args",
    "/p",
    "1",
    "\n",
    "\0",
    "__proto__",
  ),
  { maxLength: 60 },
);

test("no text makes the parser throw, and a grant never comes with an error", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    MARKS.map((parts) => parts.join("")),
    MARKS.map((parts) => `net.get{${parts.join("")}}`),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      const { printed, diagnostics } = read(text);
      const errors = diagnostics.list.filter((one) => one.severity === "error");
      expect(errors.length > 0).toBe(printed === null);
      for (const { span } of diagnostics.list) expect(span.start <= span.end && span.end <= text.length).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["10,000 braces", "net.get".concat("{".repeat(10_000))],
  ["10,000 nested maps", `net.get${"{a=".repeat(5_000)}`],
  ["10,000 brackets", `net.get{hosts=${"[".repeat(10_000)}`],
  ["text over the limit", `net.get{hosts=[${"a".repeat(20_000)}]}`],
  ["a megabyte", "x".repeat(1_000_000)],
  ["10,000 quotes", `net.get{hosts=[${'"'.repeat(10_001)}]}`],
  ["10,000 backslashes", `net.get{hosts=["${"\\".repeat(10_001)}"]}`],
  ["a key called __proto__", "net.get{__proto__={hosts=[*]}}"],
  ["a key called constructor", "net.get{constructor=[*]}"],
  ["a verb called __proto__", "__proto__{hosts=[*]}"],
  ["an argument's kind called __proto__", "tool.invoke{args={a={__proto__=[1]}}}"],
])("%s is refused at once", (_, text) => {
  const { printed, diagnostics } = read(text);
  expect(printed).toBeNull();
  expect(diagnostics.list.filter((one) => one.severity === "error")).toHaveLength(1);
});

test("arguments called __proto__ and constructor are ordinary arguments", () => {
  const text = "tool.invoke{tools=[t],args={__proto__={values=[1]},constructor={values=[2]}}}";
  expect(read(text).printed).toBe(text);
});

test("a line of specs is split outside braces and quotes, and no part of it is lost", () => {
  const split = (line: string): readonly string[] | undefined =>
    splitSpecs(line, spanOf("", line.length), new Diagnostics())?.map(({ text }) => text);
  expect(split("net.get{hosts=[a, b]} records.read,fs.read")).toEqual([
    "net.get{hosts=[a, b]}",
    "records.read",
    "fs.read",
  ]);
  expect(split('fs.read{paths=["} x"]} records.read')).toEqual(['fs.read{paths=["} x"]}', "records.read"]);
  expect(split('fs.read{paths=["\\')).toEqual(['fs.read{paths=["\\']);
  expect(split("a}} b")).toEqual(["a}}", "b"]);
  expect(split("")).toEqual([]);
  fc.assert(
    fc.property(MARKS, (parts) => {
      const line = parts.join("");
      expect(split(line)?.join("").replace(/[\s,]/g, "")).toBe(line.replace(/[\s,]/g, ""));
    }),
  );
});

test("between braces a single value is a list of one, in a map it is not", () => {
  const diagnostics = new Diagnostics();
  const context = { reading: READING, diagnostics, span: spanOf("v"), root: null };
  expect(compactText(readCompact("net.get{hosts=a.com,ports=443}", context) as Grant)).toBe(
    "net.get{hosts=[a.com],ports=[443]}",
  );
  expect(
    textsOf(
      { key: "hosts", keySpan: spanOf("k"), value: { kind: "scalar", value: "a", span: spanOf("v") } },
      diagnostics,
    ),
  ).toBe(null);
  expect(diagnostics.list).toMatchObject([{ code: "wrong_type", fix: 'hosts: ["a"]' }]);
});
