// What a step of a live root does, on real folders: every combination of changes on both sides.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { draftSize } from "../drafts/draft-size.ts";
import { BaseTree, readBaseLog } from "./base-tree.ts";
import { carryIn } from "./carry-in.ts";
import { compareSides, type SideChange } from "./compare-sides.ts";
import { planStep } from "./live-plan.ts";
import { makeCopy } from "./make-copy.ts";
import { isEqualContent } from "./same-content.ts";
import { TreeFolder } from "./tree-folder.ts";

let top: string;
let real: TreeFolder;
let copy: TreeFolder;
let base: BaseTree;
const isHidden = (path: readonly string[]): boolean => path[0] === "secret";

beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "ambit-live-")));
  for (const name of ["real/dir", "real/.git", "copy", "incoming"]) mkdirSync(join(top, name), { recursive: true });
  for (const name of ["a", "dir/b", "dir/c", "secret", ".git/index", ".git/HEAD"])
    writeFileSync(join(top, "real", name), name);
  real = TreeFolder.open(join(top, "real"));
  copy = TreeFolder.open(join(top, "copy"));
  base = new BaseTree(join(top, "base.jsonl"));
  const limits = { names: 100, bytes: 1_000 };
  const made = await makeCopy({ real, target: join(top, "copy"), base, limits, isHidden });
  expect(made).toEqual({ ok: true, size: await draftSize(join(top, "copy")) });
});
afterEach(() => {
  real.close();
  copy.close();
  rmSync(top, { recursive: true, force: true });
});

async function plan(held: readonly string[] = []): Promise<Record<string, readonly string[]>> {
  const found = await compareSides({ real, copy, base, isHidden });
  const step = await planStep(found, {
    real,
    isDeferred: (key) => held.includes(key),
    isEqual: (change) => isEqualContent(change, real, copy),
  });
  const names = (changes: readonly SideChange[]): readonly string[] => changes.map(({ path }) => path.join("/"));
  return {
    in: names(step.carryIn),
    land: names(step.land),
    apart: names(step.apart),
    equal: names(step.equal),
  };
}

const NOTHING = { in: [], land: [], apart: [], equal: [] };
const write = (side: "real" | "copy", name: string, text: string): void => writeFileSync(join(top, side, name), text);
const remove = (side: "real" | "copy", name: string): void => rmSync(join(top, side, name), { recursive: true });

describe("a step", () => {
  const table: readonly (readonly [string, () => void, Partial<typeof NOTHING | Record<string, readonly string[]>>])[] =
    [
      ["nothing changed", () => undefined, {}],
      ["the program changed", () => write("copy", "a", "new"), { land: ["a"] }],
      ["the person changed", () => write("real", "a", "new"), { in: ["a"] }],
      ["the person created a file that programs do not see", () => write("real", "secret", "new"), {}],
      ["the program deleted", () => remove("copy", "a"), { land: ["a"] }],
      ["the person deleted", () => remove("real", "a"), { in: ["a"] }],
      ["the program deleted a folder", () => remove("copy", "dir"), { land: ["dir"] }],
      [
        "both changed to the same",
        () => {
          write("copy", "a", "same");
          write("real", "a", "same");
        },
        { equal: ["a"] },
      ],
      [
        "both changed",
        () => {
          write("copy", "a", "one");
          write("real", "a", "two");
        },
        { apart: ["a"] },
      ],
      [
        "the program deleted a folder in which the person created a file",
        () => {
          remove("copy", "dir");
          write("real", "dir/new", "p");
        },
        { in: ["dir/new", "dir"], land: ["dir/b", "dir/c"] },
      ],
      [
        "the program replaced by a file a folder in which the person created a file",
        () => {
          remove("copy", "dir");
          write("copy", "dir", "file");
          write("real", "dir/new", "p");
        },
        { in: ["dir/new"], land: ["dir/b", "dir/c"], apart: ["dir"] },
      ],
      [
        "git runs in the copy",
        () => {
          write("copy", ".git/index", "new");
          write("copy", ".git/index.lock", "");
        },
        {},
      ],
      [
        "both changed the git folder",
        () => {
          write("copy", ".git/index", "new");
          write("real", ".git/index", "other");
          write("real", ".git/HEAD", "other");
        },
        { apart: [".git/index"] },
      ],
    ];
  test.each(table)("%s", async (_title, change, expected) => {
    change();
    expect(await plan()).toEqual({ ...NOTHING, ...expected });
  });

  test("changes that wait for the end are not landed again", async () => {
    write("copy", "a", "new");
    expect(await plan(["a"])).toEqual(NOTHING);
  });
});

test("a copy over its limits is refused, and nothing hidden is in it", async () => {
  expect(copy.stamp("secret")).toBeNull();
  for (const limits of [
    { names: 5, bytes: 1_000 },
    { names: 100, bytes: 3 },
  ]) {
    const target = mkdtempSync(join(top, "again-"));
    const made = await makeCopy({ real, target, base: new BaseTree(join(top, "other")), limits, isHidden });
    expect(made).toMatchObject({ ok: false, reason: expect.stringContaining("a live root copies all of it") });
    expect(readdirSync(target)).toEqual([]);
  }
});

test("a name that changes between the listing and the copy is left to the comparison", async () => {
  symlinkSync("a", join(top, "real", "link"));
  const [target, own] = [mkdtempSync(join(top, "again-")), new BaseTree(join(top, "other"))];
  const change = (): void => {
    remove("real", "a");
    mkdirSync(join(top, "real", "a"));
    remove("real", "link");
    write("real", "link", "no link");
    remove("real", "dir");
  };
  const request = {
    ...{ real, base: own, limits: { names: 100, bytes: 1_000 }, isHidden },
    // Read after the listing.
    get target() {
      change();
      return target;
    },
  };
  expect(await makeCopy(request)).toMatchObject({ ok: true });
  expect(readdirSync(target).filter((name) => ["a", "dir", "link"].includes(name))).toEqual([]);
  expect([...own.top.children.keys()].filter((name) => ["a", "dir", "link"].includes(name))).toEqual([]);
});

test("after the program only its own changes are found, and the project is looked at where they are", async () => {
  write("real", "dir/b", "edited by a person");
  write("real", "fresh", "a person's new file");
  write("copy", "dir/c", "edited by the program");
  write("real", "a", "edited by a person");
  write("copy", "a", "edited by both");
  remove("copy", ".git/index");
  const { changes } = await compareSides({ real, copy, base, isHidden, isCopyOnly: true });
  expect(
    changes.map(({ path, isRealChanged, isCopyChanged }) => [path.join("/"), isRealChanged, isCopyChanged]),
  ).toEqual(
    expect.arrayContaining([
      ["a", true, true],
      ["dir/c", false, true],
      [".git/index", false, true],
    ]),
  );
  expect(changes).toHaveLength(3);
});

test("a link in the copy does not redirect an edit", async () => {
  mkdirSync(join(top, "outside"));
  remove("copy", "dir");
  symlinkSync(join(top, "outside"), join(top, "copy", "dir"));
  write("real", "dir/b", "edited");
  const { changes } = await compareSides({ real, copy, base, isHidden });
  for (const change of changes) await carryIn(change, { real, copy, base, incoming: join(top, "incoming") });
  expect(TreeFolder.open(join(top, "outside")).names().names).toEqual([]);
  unlinkSync(join(top, "copy", "dir"));
});

test("the log says what the copy had, and ends where it was truncated", () => {
  base.settle(["a"], null, null);
  base.flush();
  const log = `${JSON.stringify([["x"], "folder"])}\n${JSON.stringify([["y"], "folder"])}\n${JSON.stringify([["x"], null])}\n[["z"`;
  expect([...readBaseLog(log)]).toEqual([["y", "folder"]]);
});
