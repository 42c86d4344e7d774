// A file with several hard links has names that no decision covered: it is never written, and read only in a tree granted as a
// whole.
import { linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { bytes, filesIn, newFolder, path, said, text } from "./fixture.ts";
import { nativeMissing } from "./native.ts";

describe.skipIf(nativeMissing() !== null)("hard links", () => {
  let root: string;
  let open: string;
  beforeEach(() => {
    root = newFolder();
    open = join(root, "open");
    mkdirSync(join(open, "sub"), { recursive: true });
    mkdirSync(join(root, "closed"));
    writeFileSync(join(root, "closed/loot"), "loot");
    linkSync(join(root, "closed/loot"), join(open, "linked"));
    writeFileSync(join(open, "single"), "single loot");
  });

  const several = "scope_violation: several hard links";

  test.each<[string, readonly string[] | undefined, string]>([
    ["the whole tree", undefined, "loot"],
    ["everything by a pattern", ["**"], "loot"],
    ["one level and everything below it", ["*", "*/**", "."], "loot"],
    ["one level", ["*"], several],
    ["the name", ["linked"], several],
    ["everything but the folder itself", ["*/**"], several],
    ["names with an extension", ["**/*ed"], several],
  ])("with %s granted, a read gives the right answer", async (_, paths, expected) => {
    const files = filesIn({ granted: [["read", open, paths]] });
    expect(await text(files, join(open, "linked"))).toBe(expected);
    if (paths === undefined) expect(await text(files, join(open, "single"))).toBe("single loot");
  });

  test("a tree with a protected path in it is not granted as a whole", async () => {
    const files = filesIn({ granted: [["read", open]], protectedPaths: [join(open, "sub/keys")] });
    expect(await text(files, join(open, "linked"))).toBe(several);
    expect(await text(files, join(open, "single"))).toBe("single loot");
    const beside = filesIn({ granted: [["read", open]], protectedPaths: [join(root, "closed")] });
    expect(await text(beside, join(open, "linked"))).toBe("loot");
  });

  test("neither write nor append changes one, whatever is granted", async () => {
    const files = filesIn({ granted: [["write", root]] });
    for (const name of ["open/linked", "closed/loot"]) {
      expect(said(await files.write(path(join(root, name)), bytes("x")))).toBe(several);
      expect(said(await files.append(path(join(root, name)), bytes("x")))).toBe(several);
    }
    expect(readFileSync(join(open, "linked"), "utf8")).toBe("loot");
    expect(statSync(join(open, "linked")).nlink).toBe(2);
    expect(said(await files.append(path(join(open, "single")), bytes("!")))).toBe("done");
  });

  test("a delete removes one name and leaves the others", async () => {
    const files = filesIn({ granted: [["delete", open]] });
    expect(said(await files.remove(path(join(open, "linked"))))).toBe("done");
    expect(readFileSync(join(root, "closed/loot"), "utf8")).toBe("loot");
  });

  test("a search skips them", async () => {
    const files = filesIn({ granted: [["read", open]] });
    const found = await files.search(path(open), "loot", 10);
    expect(found.ok && found.value.map((match) => match.path.at(-1))).toEqual(["single"]);
  });
});
