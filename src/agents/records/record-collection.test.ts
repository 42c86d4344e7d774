import { describe, expect, it, test } from "vitest";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { type CollectionMachine, type ListedFile, openCollection, type RecordCollection } from "./record-collection.ts";

/** A folder in memory: text and stamp of each file, and every read. */
class Folder {
  readonly files = new Map<string, { readonly text: string; readonly stamp: string; readonly settled: boolean }>();
  cache: string | null = null;
  saves = 0;
  read: string[] = [];

  put(path: string, text: string, stamp = "1", settled = true): this {
    this.files.set(path, { text, stamp, settled });
    return this;
  }

  open(): RecordCollection {
    this.read = [];
    return openCollection(this.#machine());
  }

  #machine(): CollectionMachine {
    return {
      list: () => ({
        files: [...this.files]
          .map(([path, { stamp, settled }]): ListedFile => ({ path, stamp, settled }))
          .sort((a, b) => (a.path < b.path ? -1 : 1)),
        problems: [],
      }),
      read: ({ path }) => {
        this.read.push(path);
        return { ok: true, text: this.files.get(path)?.text ?? "" };
      },
      frontmatter: readFrontmatter,
      nameOf: (path) => `records/${path}`,
      loadCache: () => this.cache,
      saveCache: (text) => {
        this.saves++;
        this.cache = text;
      },
    };
  }
}

const note = (title: string, body = ""): string => `---\nclass: note\ntitle: ${title}\ntags: [x]\n---\n${body}`;

describe("unchanged files are not read again", () => {
  test("and give the same result", () => {
    const folder = new Folder().put("a.md", note("A", "[[b]] Ünï")).put("d/b.md", note("B", "[x](../a.md)"));
    const first = folder.open();
    expect(first.counts).toEqual({ files: 2, read: 2, kept: 0 });
    const second = folder.open();
    expect(second.counts).toEqual({ files: 2, read: 0, kept: 2 });
    expect(second.records).toEqual(first.records);
    expect(folder.saves).toBe(1);
  });

  it.each<readonly [string, (folder: Folder) => void, readonly string[], readonly string[]]>([
    ["a change", (folder) => folder.put("a.md", note("C"), "2"), ["a.md"], ["C", "B"]],
    ["a new file", (folder) => folder.put("c.md", note("C")), ["c.md"], ["A", "B", "C"]],
    ["a deleted file", (folder) => folder.files.delete("a.md"), [], ["B"]],
    ["a moved file", (folder) => folder.put("z.md", note("A")).files.delete("a.md"), ["z.md"], ["B", "A"]],
    ["no cache", (folder) => Object.assign(folder, { cache: null }), ["a.md", "b.md"], ["A", "B"]],
    [
      "another version",
      (folder) => edit(folder, (text) => text.replace(/-\d+\n/, "-0\n")),
      ["a.md", "b.md"],
      ["A", "B"],
    ],
    ["half a cache", (folder) => edit(folder, (text) => text.slice(0, -9)), ["a.md", "b.md"], ["A", "B"]],
    ["one broken line", (folder) => edit(folder, (text) => text.replace('["a.md"', "[")), ["a.md"], ["A", "B"]],
    [
      "a line with a field of another type",
      (folder) => edit(folder, (text) => text.replace('["a.md","1","a"', '["a.md","1",7')),
      ["a.md"],
      ["A", "B"],
    ],
    [
      "a line with an invalid link",
      (folder) => edit(folder, (text) => text.replace('["x"],[]', '["x"],[["odd","b"]]')),
      ["a.md"],
      ["A", "B"],
    ],
  ])("%s", (_what, change, read, titles) => {
    const folder = new Folder().put("a.md", note("A")).put("b.md", note("B"));
    folder.open();
    change(folder);
    const collection = folder.open();
    expect(folder.read).toEqual(read);
    expect(collection.records.map(({ title }) => title)).toEqual(titles);
    folder.open();
    expect(folder.read).toEqual([]);
  });

  test("except files written so recently that another change would not show", () => {
    const folder = new Folder().put("a.md", note("A"), "1", false).put("b.md", note("B"));
    folder.open();
    folder.put("a.md", note("changed"), "1", true);
    expect(folder.open().records.map(({ title }) => title)).toEqual(["changed", "B"]);
    folder.open();
    expect(folder.read).toEqual([]);
  });

  test("except files with diagnostics, so that they are reported every time", () => {
    const folder = new Folder().put("a.md", "---\nclass: [x]\n---\n").put("b.md", "no frontmatter");
    for (const _ of [1, 2]) {
      const { problems } = folder.open();
      expect(problems.map(({ diagnostic, source }) => `${source.name} ${diagnostic.code}`)).toEqual([
        "records/a.md wrong_type",
        "records/b.md syntax",
      ]);
      expect(problems[1]?.diagnostic.fix).toContain("class: note");
    }
  });
});

function edit(folder: Folder, change: (text: string) => string): void {
  const before = folder.cache ?? "";
  folder.cache = change(before);
  expect(folder.cache).not.toBe(before);
}

describe("an id belongs to one file", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ["the one at its path", { "a.md": "---\nid: b\n---\n", "b.md": "---\n---\n" }, "b.md"],
    ["else the first", { "x.md": "---\nid: b\n---\n", "y.md": "---\nid: b\n---\n" }, "x.md"],
  ])("%s", (_rule, files, owner) => {
    const folder = new Folder();
    for (const [path, text] of Object.entries(files)) folder.put(path, text);
    for (const _ of [1, 2]) {
      const { records, problems } = folder.open();
      expect(records.map(({ id, path }) => [id, path])).toEqual([["b", owner]]);
      expect(problems).toHaveLength(1);
    }
  });
});
