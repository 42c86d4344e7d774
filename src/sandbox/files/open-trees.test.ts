import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isStillThere, locateTrees, type OpenTree, positionByName, positionByRealPath } from "./open-trees.ts";

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
    const [place] = locateTrees([{ path: path(name), mode: "read" }]);
    expect(place).toMatchObject({ named: path(name), base: path(base), inside, real: [...path(base), ...inside] });
  });

  test("that leads nowhere is not opened, and gets no number", () => {
    const places = locateTrees([
      { path: path("dangling"), mode: "read" },
      { path: path("work/file/x"), mode: "read" },
      { path: path("work"), mode: "read" },
    ]);
    expect(places.map(({ tree, named }) => [tree, named])).toEqual([[0, path("work")]]);
  });

  test("is identified by device and inode", () => {
    const [one, two] = locateTrees([
      { path: path("work"), mode: "read" },
      { path: path("alias"), mode: "write" },
    ]);
    expect([two?.device, two?.inode]).toEqual([one?.device, one?.inode]);
  });
});

describe("a tree that was resolved", () => {
  const looked = (name: string) => locateTrees([{ path: path(name), mode: "read" }])[0] as OpenTree;

  test("is valid until its name leads to something else", () => {
    mkdirSync(join(root, "moving/inner"), { recursive: true });
    const [plain, inner] = [looked("moving"), looked("moving/inner")];
    expect([isStillThere(plain), isStillThere(inner)]).toEqual([true, true]);
    renameSync(join(root, "moving"), join(root, "moved"));
    expect([isStillThere(plain), isStillThere(inner)]).toEqual([false, false]);
    mkdirSync(join(root, "moving/inner"), { recursive: true });
    expect([isStillThere(plain), isStillThere(inner)]).toEqual([false, false]);
    rmSync(join(root, "moving"), { recursive: true });
    symlinkSync("moved", join(root, "moving"));
    // By another path, the same folder.
    expect([isStillThere(plain), isStillThere(inner)]).toEqual([true, true]);
  });

  test("through a link is valid until the link leads elsewhere", () => {
    symlinkSync("work", join(root, "turning"));
    const place = looked("turning/out");
    expect(isStillThere(place)).toBe(true);
    rmSync(join(root, "turning"));
    mkdirSync(join(root, "else/out"), { recursive: true });
    symlinkSync("else", join(root, "turning"));
    expect(isStillThere(place)).toBe(false);
  });

  test("that did not exist is another one once it does, and a file stays one until a folder takes its name", () => {
    const [missing, file] = [looked("work/later"), looked("work/file")];
    expect([isStillThere(missing), isStillThere(file)]).toEqual([true, true]);
    mkdirSync(join(root, "work/later"));
    renameSync(join(root, "work/file"), join(root, "work/kept"));
    mkdirSync(join(root, "work/file"));
    expect([isStillThere(missing), isStillThere(file)]).toEqual([false, false]);
    rmSync(join(root, "work/file"), { recursive: true });
    renameSync(join(root, "work/kept"), join(root, "work/file"));
  });
});

describe("a path", () => {
  test("belongs to the innermost tree of its name, of those it may be written in", () => {
    const places = locateTrees([
      { path: path("work"), mode: "write" },
      { path: path("work/out"), mode: "read" },
      { path: path("alias"), mode: "read" },
    ]);
    expect(positionByName(places, path("work/out/x"), false)).toMatchObject({ tree: { tree: 1 }, rest: ["x"] });
    expect(positionByName(places, path("work/out/x"), true)).toMatchObject({ tree: { tree: 0 }, rest: ["out", "x"] });
    expect(positionByName(places, path("works/x"), false)).toBeNull();
    expect(positionByName(places, path("alias/x"), true)).toBeNull();
    expect(positionByRealPath(places, path("work/x"), false)).toMatchObject({ rest: ["x"] });
    expect(positionByRealPath(places, path("alias/x"), false)).toBeNull();
  });
});
