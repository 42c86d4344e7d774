import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { Diagnostics } from "../diagnostic.ts";
import { compactText } from "../printer.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { readCapabilities } from "./capabilities.ts";

function read(
  value: Json,
  root: readonly string[] | null = ["p"],
): { readonly texts: string[]; readonly diagnostics: Diagnostics } {
  const diagnostics = new Diagnostics();
  return {
    texts: readCapabilities(treeOf(value), { reading: READING, diagnostics, root }).map(compactText),
    diagnostics,
  };
}

test.each<[Json, string[]]>([
  [null, []],
  [[], []],
  ["", []],
  [["records.read"], ["records.read"]],
  [[{ "records.read": null }], ["records.read"]],
  [[{ "records.read": {} }], ["records.read"]],
  [[{ "net.get": { hosts: ["*.github.com", "api.openai.com"] } }], ["net.get{hosts=[*.github.com,api.openai.com]}"]],
  [
    [{ "net.get": { hosts: ["a.b"] } }, { "net.get": { hosts: ["c.d"] } }],
    ["net.get{hosts=[a.b]}", "net.get{hosts=[c.d]}"],
  ],
  [["net.get{hosts=[a.b,c.d],ask}"], ["net.get{hosts=[a.b,c.d],ask}"]],
  ["net.get{hosts=[*.github.com]} records.read", ["net.get{hosts=[*.github.com]}", "records.read"]],
  ["records.read,fs.read", ["records.read", "fs.read{in=/p}"]],
  [["fs.read{in=/p/q}"], ["fs.read{in=/p/q}"]],
  [[{ "agent.grant": { id: "agents/scout" } }], ["agent.grant{id=scout}"]],
  [[{ "agent.update": { ids: ["agents/*"], paths: ["agents/team/**"] } }], ["agent.update{id=*,paths=[team/**]}"]],
])("%j grants %j", (value, texts) => {
  expect(read(value).texts).toEqual(texts);
  expect(diagnosticLines(read(value).diagnostics)).toEqual([]);
});

test("a string with a colon and no brace is a token", () => {
  expect(read(["net.connect:api.x.com:443"]).texts).toEqual(["net.connect{hosts=[api.x.com],ports=[443]}"]);
  expect(read(["net.connect{hosts=[api.x.com],ports=[443],expires=2026-12-01T00:00:00Z}"]).texts).toHaveLength(1);
});

test("a token's paths stay below the agent's root", () => {
  expect(read(["fs.read:/p/a/**"]).texts).toEqual(["fs.read{in=/p/a}"]);
  expect(read(["fs.read:/q/a/**"]).texts.filter((text) => text.includes("/q"))).toEqual([]);
});

test.each<[Json, string, string | null]>([
  [{ "records.read": null }, "wrong_type ", null],
  [42, "wrong_type ", null],
  [true, "wrong_type ", null],
  [[42], "wrong_type [0]", null],
  [[null], "wrong_type [0]", null],
  [[["records.read"]], "wrong_type [0]", null],
  [[{}], "wrong_type [0]", null],
  [[{ "records.read": null, "fs.read": null }], "wrong_type [0]", null],
  [[{ "fs.write": "garbage" }], "wrong_type [0].fs.write", null],
  [[{ "fs.write": [] }], "wrong_type [0].fs.write", null],
  [["records.reed"], "unknown_verb [0]", "records.read"],
  [[{ "records.reed": null }], "unknown_verb [0].records.reed:", "records.read"],
  [["totally.unrelated"], "unknown_verb [0]", null],
  [["nodotshere"], "unknown_verb [0]", null],
  [["search"], "unknown_verb [0]", null],
  [[{ __proto__x: {} }], "unknown_verb [0].__proto__x:", null],
  [["constructor"], "unknown_verb [0]", null],
  [[""], "syntax [0]", null],
  [["net.get{hosts=[x]"], "syntax [0]", null],
  [["records.read fs.read"], "syntax [0]", null],
  [[{ "fs.write": { pathz: ["/tmp/*"] } }], "unknown_key [0].fs.write.pathz:", "paths"],
])("%j grants nothing: %s", (value, place, suggestion) => {
  const { texts, diagnostics } = read(value);
  expect(texts).toEqual([]);
  expect(diagnosticLines(diagnostics)).toEqual([`error ${place}`]);
  expect(diagnostics.list[0]?.suggestion).toBe(suggestion);
});

test("one invalid item does not affect the others", () => {
  expect(read(["records.read", "records.reed", { "fs.read": { pathz: [] } }, "fs.read"]).texts).toEqual([
    "records.read",
    "fs.read{in=/p}",
  ]);
});

test("no tree makes the parser throw, and everything not granted has a diagnostic", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { texts, diagnostics } = read(value as Json);
      const isEmpty =
        value === null ||
        (Array.isArray(value) && value.length === 0) ||
        (typeof value === "string" && /^[\s,]*$/.test(value));
      expect(texts).toEqual([]);
      expect(diagnostics.list.length > 0).toBe(!isEmpty);
    }),
    { numRuns: 500 },
  );
});
