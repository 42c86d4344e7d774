// What arguments mean: places in them, and calls that a map refuses.
import { describe, expect, test } from "vitest";
import { readYaml } from "../../../text/yaml.ts";
import type { JsonObject } from "../../base/json.ts";
import { Diagnostics } from "../diagnostic.ts";
import { type ArgumentMap, argumentMapText, mappedTargets, readArgumentMap } from "./argument-map.ts";

function mapOf(text: string): ArgumentMap | null {
  const { tree } = readYaml({ name: "map", text });
  return tree === null ? null : readArgumentMap(tree, new Diagnostics());
}

describe("a map", () => {
  test.each([
    "{ fs.read: $.path }",
    "{ fs.read: [$.from, $.to], fs.write: $.to }",
    '{ fs.read: "$.pages[*].path" }',
    "{ net.get: $.options.url? }",
    "{}",
  ])("%s is printed as it is written", (text) => {
    const map = mapOf(text);
    expect(map === null ? null : argumentMapText(map)).toBe(text);
  });

  test.each([
    "{ fs.read: path }",
    "{ fs.read: $ }",
    '{ fs.read: "$[*]" }',
    "{ fs.read: $.a.* }",
    "{ proc.exec: $.line }",
    "[]",
    "{ fs.read: 1 }",
    "{ fs.reed: $.path }",
  ])("%s is none", (text) => {
    expect(mapOf(text)).toBeNull();
  });
});

describe("the targets of a call", () => {
  test.each<[string, JsonObject, readonly string[] | null]>([
    ["{ fs.read: $.path }", { path: "/a" }, ["/a"]],
    ["{ fs.read: $.path }", {}, null],
    ["{ fs.read: $.path }", { path: null }, null],
    ["{ fs.read: $.path }", { path: ["/a"] }, null],
    ["{ fs.read: $.path }", { path: 7 }, null],
    ["{ fs.read: $.path? }", {}, []],
    ["{ fs.read: $.path? }", { path: 7 }, null],
    ['{ fs.read: "$.paths[*]" }', { paths: ["/a", "/b"] }, ["/a", "/b"]],
    ['{ fs.read: "$.paths[*]" }', { paths: "/a" }, null],
    ['{ fs.read: "$.paths[*]" }', { paths: ["/a", null] }, null],
    ['{ fs.read: "$.paths[*]" }', { paths: ["/a", { path: "/b" }] }, null],
    ['{ fs.read: "$.pages[*].path" }', { pages: [{ path: "/a" }, { path: "/b" }] }, ["/a", "/b"]],
    ['{ fs.read: "$.pages[*].path" }', { pages: [{ path: "/a" }, {}] }, null],
    ["{ fs.read: $.path, fs.write: $.path }", { path: "/a" }, ["/a", "/a"]],
    ["{ fs.read: $.toString }", {}, null],
    ['{ fs.read: "$.paths[*]" }', { paths: Array.from({ length: 300 }, () => "/a") }, null],
    ["{ fs.read: $.path }", { path: "a" }, null],
    ["{ fs.write: $.path }", { path: "~/a" }, null],
    ["{ net.get: $.url }", { url: "a" }, ["a"]],
  ])("of %s for %j", (text, input, targets) => {
    const found = mappedTargets(mapOf(text) ?? [], input);
    expect(found.ok ? found.value.map(({ target }) => target) : null).toEqual(targets);
  });

  test.each<[JsonObject, string]>([
    [{}, "is missing"],
    [{ pages: "/a" }, "must be a list"],
    [{ pages: ["/a"] }, "must be an object"],
    [{ pages: [null] }, "must not be null"],
    [{ pages: Array.from({ length: 300 }, () => ({ path: "/a" })) }, "has more than 256 elements"],
    [{ pages: [{ path: 7 }] }, "must be text"],
  ])("that are not there are refused with the reason: %j", (input, why) => {
    expect(mappedTargets(mapOf('{ fs.read: "$.pages[*].path" }') ?? [], input)).toMatchObject({
      ok: false,
      message: `$.pages[*].path: the argument ${why}`,
    });
  });
});
