// Trees for the sandbox: never wider than an agent's own link, never a name that an agent could replace.
import { describe, expect, test } from "vitest";
import { chain, grant, link } from "../../../test/forge/authority.ts";
import { parsePathPatterns, tree } from "../../core/authority/axes/path.ts";
import { ANY } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { GrantedTrees } from "./granted-trees.ts";

type Written = readonly [verb: "read" | "write" | "delete", root: string, pattern?: string];

function names(text: string): readonly string[] {
  return text.split("/").filter((name) => name !== "");
}

function grantOf([verb, root, pattern]: Written): Grant {
  const path = names(root);
  const patterns =
    pattern === undefined
      ? [tree(path)]
      : parsePathPatterns(pattern, path, { home: null, base: null, protectedPaths: [] });
  const of = Array.isArray(patterns) ? patterns : "ok" in patterns && patterns.ok ? patterns.value : [];
  return { ...grant(`fs.${verb}`, [{ kind: "sequences", of }]), root: path };
}

function own(...written: readonly Written[]): CompiledLink {
  return link("record", written.map(grantOf));
}

function limit(...written: readonly Written[]): CompiledLink {
  return link("limit", written.map(grantOf), {}, "limit");
}

function shown(authority: Authority, near = "/"): readonly string[] {
  return new GrantedTrees().of(authority, names(near)).map(({ path, mode }) => `${mode} /${path.join("/")}`);
}

describe("trees of grants", () => {
  test.each<[string, Authority, readonly string[]]>([
    ["nothing", [], []],
    ["one root", [chain(own(["read", "/p"]))], ["read /p"]],
    ["reading around writing", [chain(own(["read", "/p"], ["write", "/p/out"]))], ["read /p", "write /p/out"]],
    ["reading in writing", [chain(own(["write", "/p"], ["read", "/p/in"]))], ["write /p"]],
    ["deleting is writing", [chain(own(["delete", "/p"]))], ["write /p"]],
    ["a pattern is represented by its root", [chain(own(["read", "/p", "src/*.ts"]))], ["read /p"]],
    ["an inner root adds nothing", [chain(own(["read", "/p"], ["read", "/p/a"]))], ["read /p"]],
    ["a limit narrows", [chain(own(["read", "/p"]), limit(["read", "/p/a"]))], ["read /p/a"]],
    ["a wider limit does not widen", [chain(own(["read", "/p/a"]), limit(["read", "/p"]))], ["read /p/a"]],
    ["a limit beside it leaves nothing", [chain(own(["read", "/p"]), limit(["read", "/q"]))], []],
    ["a limit without the verb leaves nothing", [chain(own(["write", "/p"]), limit(["read", "/p"]))], []],
    ["names with the same beginning are two", [chain(own(["read", "/p"]), limit(["read", "/pq"]))], []],
    ["two chains are both", [chain(own(["read", "/p"])), chain(own(["read", "/q"]))], ["read /p", "read /q"]],
    [
      "a writable tree around it is opened instead",
      [chain(own(["read", "/p"], ["write", "/p"]), limit(["read", "/p/a"]))],
      ["read /p"],
    ],
  ])("%s", (_, authority, expected) => {
    expect(shown(authority)).toEqual(expected);
  });

  test("any path is the whole machine", () => {
    expect(shown([chain(link("record", [grant("fs.read", [ANY])]))])).toEqual(["read /"]);
  });

  test("of too many trees, those around the requested path are kept", () => {
    const many = Array.from({ length: 100 }, (_, at): Written => ["read", `/t/${at}`]);
    const trees = shown([chain(own(...many))], "/t/99/file");
    expect(trees).toHaveLength(64);
    expect(trees).toContain("read /t/99");
  });
});

describe("cached trees", () => {
  test("are the same list for the same links, and computed again when one of them changes", () => {
    const trees = new GrantedTrees();
    const [record, narrow, wide] = [own(["write", "/p"]), limit(["write", "/p/a"]), limit(["write", "/p"])];
    const near = names("/p/a");
    const first = trees.of([chain(record, narrow)], near);
    expect(trees.of([chain(record, narrow)], near)).toBe(first);
    expect(trees.writable(first)).toBe(trees.writable(trees.of([chain(record, narrow)], near)));
    expect(trees.of([chain(record, wide)], near)).toEqual([{ path: ["p"], mode: "write" }]);
    expect(trees.of([chain(record)], near)).toEqual([{ path: ["p"], mode: "write" }]);
    expect(trees.of([chain(record, narrow), chain(own(["read", "/q"]))], near).map(({ path }) => path)).toContainEqual([
      "q",
    ]);
    expect(trees.of([chain(record, narrow)], near)).toEqual(first);
  });
});
