import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lookAt, placeNamed, placeReal } from "./places.ts";

let root: string;
const path = (name: string): readonly string[] => join(root, name).split("/").slice(1);

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "ambit-places-")));
  mkdirSync(join(root, "work/out"), { recursive: true });
  writeFileSync(join(root, "work/file"), "");
  symlinkSync("work", join(root, "alias"));
  symlinkSync("nowhere", join(root, "dangling"));
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

describe("a tree", () => {
  test.each<[string, string, readonly string[]]>([
    ["work", "work", []],
    ["alias", "work", []],
    ["alias/out", "work/out", []],
    ["work/file", "work", ["file"]],
    ["alias/file", "work", ["file"]],
    ["work/none", "work", ["none"]],
    ["work/no/such", "work", ["no", "such"]],
  ])("%s is opened at %s", (name, base, inside) => {
    const [place] = lookAt([{ path: path(name), mode: "read" }]);
    expect(place).toMatchObject({ named: path(name), base: path(base), inside, real: [...path(base), ...inside] });
  });

  test("that leads nowhere is no place, and takes no number", () => {
    const places = lookAt([
      { path: path("dangling"), mode: "read" },
      { path: path("work/file/x"), mode: "read" },
      { path: path("work"), mode: "read" },
    ]);
    expect(places.map(({ tree, named }) => [tree, named])).toEqual([[0, path("work")]]);
  });

  test("is known by device and inode", () => {
    const [one, two] = lookAt([
      { path: path("work"), mode: "read" },
      { path: path("alias"), mode: "write" },
    ]);
    expect([two?.device, two?.inode]).toEqual([one?.device, one?.inode]);
  });
});

describe("a path", () => {
  test("lies in the innermost tree of its name, of those it may be written in", () => {
    const places = lookAt([
      { path: path("work"), mode: "write" },
      { path: path("work/out"), mode: "read" },
      { path: path("alias"), mode: "read" },
    ]);
    expect(placeNamed(places, path("work/out/x"), false)).toMatchObject({ place: { tree: 1 }, rest: ["x"] });
    expect(placeNamed(places, path("work/out/x"), true)).toMatchObject({ place: { tree: 0 }, rest: ["out", "x"] });
    expect(placeNamed(places, path("works/x"), false)).toBeNull();
    expect(placeNamed(places, path("alias/x"), true)).toBeNull();
    expect(placeReal(places, path("work/x"), false)).toMatchObject({ rest: ["x"] });
    expect(placeReal(places, path("alias/x"), false)).toBeNull();
  });
});
