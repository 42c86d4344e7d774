// The small files and outputs of git that an import reads: refs, packed refs, config, stash log, raw differences.
import { describe, expect, test } from "vitest";
import { parsePackedRefs, parseRefFile } from "./ref-file.ts";
import { parseRepositoryFormat } from "./repository-format.ts";
import { stashPushes } from "./stash-log.ts";
import { parseTreeChanges } from "./tree-changes.ts";

const ID = "12".repeat(20);
const OTHER = "34".repeat(20);

test.each([
  [`${ID}\n`, { kind: "id", id: ID }],
  [ID, { kind: "id", id: ID }],
  ["ref: refs/heads/a\n", { kind: "symbolic", target: "refs/heads/a" }],
  [`${ID}\n\n`, null],
  [`${ID} \n`, null],
  [`${ID.toUpperCase().replaceAll("1", "A")}\n`, null],
  [`${"0".repeat(40)}\n`, null],
  [`${ID}${"12".repeat(12)}\n`, null],
  ["ref: ../config\n", null],
  ["ref: refs/heads/a b\n", null],
  ["ref: refs/heads/a\nx", null],
  ["", null],
])("the ref file %j", (text, expected) => {
  const result = parseRefFile(text, "sha1", "x");
  expect(result.ok ? result.value : null).toEqual(expected);
});

test.each([
  [`# pack-refs with: peeled\n${ID} refs/heads/a\n^${OTHER}\n${OTHER} refs/tags/b\n`, 2],
  ["", 0],
  [`${ID} refs/heads/a`, null],
  [`${ID} refs/heads/a\n${ID} refs/heads/a\n`, null],
  [`${ID}  refs/heads/a\n`, null],
  [`${ID}\n`, null],
  [`xx refs/heads/a\n`, null],
])("the packed refs %j", (text, count) => {
  const result = parsePackedRefs(text, "sha1");
  expect(result.ok ? result.value.size : null).toBe(count);
});

test.each([
  ["[core]\n\trepositoryformatversion = 0\n", "sha1"],
  ["[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n", "sha256"],
  ['[Extensions] ObjectFormat = "sha256" # why\n', "sha256"],
  ["[extensions]\nworktreeConfig = true\n", "sha1"],
  ["[extensions]\nrefStorage = files\n", "sha1"],
  ["[extensions]\nrefStorage = reftable\n", null],
  ["[extensions]\npartialClone = origin\n", "sha1"],
  ["[extensions]\nobjectFormat = md5\n", null],
  ["[extensions]\ncompatObjectFormat = sha1\n", null],
  ["[core]\nrepositoryformatversion = 2\n", null],
  ['[remote "origin"]\n\tpromisor = true\n', "sha1"],
])("the config %j", (text, format) => {
  const { format: found, obstacle } = parseRepositoryFormat(text);
  expect(obstacle === null ? found : null).toBe(format);
});

test.each([
  ['[remote "origin"]\n\tpromisor = true\n', true, false],
  ['[remote "a]b"]\n\tpromisor\n', true, false],
  ["[extensions]\npartialClone = origin\n", true, false],
  ["[core]\n\tbare = true\n", false, true],
  ["[core]\n\tbare\n", false, true],
  ["[core]\n\tbare = false\n", false, false],
])("of the config %j: partial %s, bare %s", (text, isPartial, isBare) => {
  expect(parseRepositoryFormat(text)).toMatchObject({ isPartial, isBare });
});

describe("the stash log", () => {
  const line = (from: string, to: string, message: string): string => `${from} ${to} a <a@b> 1 +0000\t${message}\n`;
  const mine = line("0".repeat(40), ID, "mine");

  test("the entries after the person's own lines were pushed", () => {
    expect(stashPushes(mine, mine + line(ID, OTHER, "On main: \u001b[31mx"), "sha1")).toEqual([
      { id: OTHER, message: "On main: ?[31mx" },
    ]);
    expect(stashPushes(mine, mine, "sha1")).toEqual([]);
  });

  test("a stash that landed has another author and message in the person's log", () => {
    const own = `${"0".repeat(40)} ${ID} z <z@z> 2 +0000\tother\n`;
    expect(stashPushes(mine, own + line(ID, OTHER, "x"), "sha1")).toEqual([{ id: OTHER, message: "x" }]);
  });

  test.each([
    ["a list without one of its lines", line(ID, OTHER, "x")],
    ["a truncated line", `${mine}${ID} `],
    ["a line without an id", `${mine}x y\n`],
    ["too many lines", mine + line(ID, OTHER, "x").repeat(33)],
  ])("%s is not read", (_, draft) => expect(stashPushes(mine, draft, "sha1")).toBeNull());
});

describe("raw differences", () => {
  const raw = (letters: string): string => `:100644 100644 ${ID} ${OTHER} ${letters}`;

  test("of commits, with paths that look like records", () => {
    const output = [
      ID,
      raw("A"),
      ".envrc",
      raw("M"),
      OTHER,
      `:100644 120000 ${ID} ${OTHER} T`,
      "m",
      OTHER,
      raw("D"),
      "gone",
      "",
    ].join("\0");
    expect(parseTreeChanges(output)).toEqual({
      ok: true,
      value: [
        { commit: ID, path: ".envrc", change: "added", mode: 0o100644, id: OTHER },
        { commit: ID, path: OTHER, change: "changed", mode: 0o100644, id: OTHER },
        { commit: ID, path: "m", change: "changed", mode: 0o120000, id: OTHER },
        { commit: OTHER, path: "gone", change: "deleted", mode: 0o100644, id: OTHER },
      ],
    });
  });

  test.each([
    "x\0",
    `${raw("A")}\0a\0`,
    `${ID}\0${raw("A")}\0`,
    `${ID}\0${raw("X")}\0a\0`,
    `${ID}\0:${raw("MM")}\0a\0`,
    ID,
  ])("%j is not valid", (output) => {
    expect(parseTreeChanges(output).ok).toBe(false);
  });
});
