// A folder that a person moves to the path of another while a program runs is not the folder that the program saw.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { draftFixture, landAll, places, setAttribute, snapshot, tick } from "./fixture.ts";

const ROOT = { "f/a": "old a\n", "f/b": "old b\n", "x/a": "other a\n", "x/b": "other b\n", "f/deep/c": "c\n" };

describe.each(places)("drafts on the %s", (_title, place) => {
  test.each([
    ["a replaced file", { "f/a": "draft a\n" }, "f/a"],
    ["a deleted file", { "f/b": { whiteout: true as const } }, "f/b"],
    ["a new file", { "f/new": "draft\n" }, "f/new"],
    ["a new folder", { "f/more/new": "draft\n" }, "f/more"],
  ])("%s in it is a conflict, and nothing lands", async (_, upper, path) => {
    const given = await draftFixture({ root: ROOT, upper: { ...upper, plain: "draft\n" }, place });
    renameSync(join(given.root, "f"), join(given.root, "was"));
    renameSync(join(given.root, "x"), join(given.root, "f"));
    const before = snapshot(given.root);
    const result = await landAll(given);
    expect(result).toMatchObject({ status: "conflict" });
    if (result.status !== "conflict") throw new Error("it landed");
    expect(result.conflicts.listed[0]).toMatchObject({ path, reason: "parent" });
    expect(snapshot(given.root)).toEqual(before);
  });

  test("so is a folder below it, and one whose content the program replaced as a whole", async () => {
    const upper = { "f/deep/c": "draft c\n" };
    const given = await draftFixture({ root: { ...ROOT, "x/deep/c": "other c\n" }, upper, place });
    renameSync(join(given.root, "f"), join(given.root, "was"));
    renameSync(join(given.root, "x"), join(given.root, "f"));
    expect(await landAll(given)).toMatchObject({ status: "conflict" });
    const whole = await draftFixture({ root: ROOT, upper: { "f/a": "draft a\n" }, place });
    setAttribute(join(whole.upper, "f"), "user.overlay.opaque", "y");
    renameSync(join(whole.root, "f"), join(whole.root, "was"));
    renameSync(join(whole.root, "x"), join(whole.root, "f"));
    expect(await landAll(whole)).toMatchObject({ status: "conflict" });
  });

  test("a folder in which a person created and replaced files is the same folder", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "f/a": "draft a\n", "f/deep/new": "n\n" }, place });
    writeFileSync(join(given.root, "top"), "mine\n");
    writeFileSync(join(given.root, "f/b.tmp"), "mine\n");
    renameSync(join(given.root, "f/b.tmp"), join(given.root, "f/b"));
    await tick();
    expect(await landAll(given)).toMatchObject({ status: "landed" });
    expect(snapshot(given.root)).toMatchObject({
      "f/a": "644 draft a\n",
      "f/b": "644 mine\n",
      "f/deep/new": "644 n\n",
    });
  });

  test("a folder that the program created lands beside one that a person created", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "made/a": "draft\n" }, place });
    setAttribute(join(given.upper, "made"), "user.overlay.opaque", "y");
    mkdirSync(join(given.root, "mine"));
    await tick();
    renameSync(join(given.root, "mine"), join(given.root, "made"));
    expect(await landAll(given)).toMatchObject({ status: "landed" });
  });
});
