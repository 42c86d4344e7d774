// Our parser of git configuration against the real git: the same settings from the same text, and no text that only git accepts.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { segmentsOf } from "../../src/platform/folders.ts";
import { DiskTree } from "../../src/sandbox/drafts/triggers/disk-tree.ts";
import { readGitConfig } from "../../src/sandbox/plan/triggers/git-config.ts";
import { settingsFrom } from "../../src/sandbox/plan/triggers/git-repository.ts";
import { TriggerFixture } from "./trigger-fixture.ts";

const fixture = new TriggerFixture();
afterAll(() => fixture.close());
const file = join(fixture.root, "config");

/** Null if git refuses the text. */
function byGit(text: string): readonly string[] | null {
  writeFileSync(file, text);
  const output = fixture.run(["git", "config", "--file", file, "--null", "--list"]);
  // Its error comes after the settings that it printed before.
  if (/(?:^|[\0\n])(?:fatal|error): /.test(output)) return null;
  return output.split("\0").slice(0, -1);
}

function byUs(text: string): readonly string[] | null {
  const read = readGitConfig(text);
  if (!read.ok) return null;
  return read.value.map(({ section, subsection, key, value }) => {
    const name = [section, subsection, key].filter((one) => one !== null).join(".");
    return value === null ? name : `${name}\n${value}`;
  });
}

/** Before 2.45 git reads white space between words as that many spaces, later unchanged. */
function asSpaces(setting: string): string {
  return setting.replace(/[\t\r]/g, " ");
}

const piece = fc.constantFrom(
  ...["[core]", "[a.B]", '[a "B c"]', '[a "\\"x"]', "[A]", "[a", "]", "hooksPath", "key", "-k", "=", " = ", "\t", " "],
  ...[
    '"',
    "\\",
    "\\\n",
    "\\n",
    "\\t",
    "\\\\",
    '\\"',
    "\\q",
    "#",
    ";",
    "\n",
    "\r\n",
    "\r",
    "value",
    "a b",
    "é",
    "1",
    "\u000b",
  ],
);

test("whatever git reads is parsed the same, or refused", () => {
  let count = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), fc.boolean(), (pieces, isPlain) => {
      const text = `${isPlain ? "[core]\nkey = " : ""}${pieces.join("")}\n`;
      const [git, ours] = [byGit(text), byUs(text)];
      if (ours !== null && ours.length > 0) count++;
      // A refused text is reported as partial facts; a different result would be a hole.
      if (ours !== null && git !== null) expect(ours.map(asSpaces)).toEqual(git.map(asSpaces));
    }),
    { numRuns: 400 },
  );
  expect(count).toBeGreaterThan(50);
});

const line = fc.constantFrom(
  ...["[include]\npath = b\n", "[include]\npath = ./c\n", "[include]\npath = missing\n", "[core]\nhooksPath = one\n"],
  ...["[core]\nhooksPath = two\n", "[core]\nworktree = x\n", '[include]\npath = "./b" ; comment\n', "# a comment\n"],
  ...["[Alias]\nx = é\n", "[user]\nname = Jos\u{fffff}\n", "# \u{fffff}\n", "[core]\nhooksPath = \u{fffff}é\n"],
);
const LATIN = Buffer.from("\u{fffff}");

/** The placeholder becomes a byte that no UTF-8 text has. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(LATIN); at >= 0; at = bytes.indexOf(LATIN, start)) {
    parts.push(bytes.subarray(start, at), Buffer.from([0xe9]));
    start = at + LATIN.length;
  }
  return Buffer.concat([...parts, bytes.subarray(start)]);
}

test("included settings take effect where they are included, and bytes that are not UTF-8 change no other value", () => {
  const seen = { included: 0, unread: 0 };
  fc.assert(
    fc.property(fc.tuple(...[line, line, line].map((one) => fc.array(one, { maxLength: 5 }))), (texts) => {
      // Only the first file includes both others, and the second the third: git stops at a cycle.
      const [a, b, c] = texts.map((one) => one.join("")) as [string, string, string];
      const plain = (text: string): string => text.replaceAll("[include]", "[other]");
      const files = { a, b: plain(b) + (b === "" ? "" : "[include]\npath = c\n"), c: plain(c) };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(fixture.root, name), bytesOf(text));
      const git = spawnSync("git", ["config", "--file", "a", "--includes", "--null", "--list"], { cwd: fixture.root });
      const read = settingsFrom(new DiskTree(), [segmentsOf(join(fixture.root, "a"))], null);
      const ours = read.settings.map(
        ({ section, subsection, key, value }) =>
          `${[section, subsection, key].filter((one) => one !== null).join(".")}\n${value ?? ""}`,
      );
      const theirs = git.stdout.toString("latin1").split("\0").slice(0, -1);
      const asBytes = (text: string): string =>
        [...text]
          .map((sign) => (/[\udc80-\udcff]/.test(sign) ? String.fromCharCode(sign.charCodeAt(0) - 0xdc00) : utf8(sign)))
          .join("");
      expect(git.status).toBe(0);
      expect(ours.map(asBytes)).toEqual(theirs);
      const isUnnamed = ours.some((one) => one.startsWith("core.hookspath") && asBytes(one).includes("\u00e9\u00c3"));
      expect(read.unread !== null).toBe(isUnnamed);
      if (isUnnamed) seen.unread++;
      if (ours.length > 3 && a.includes("[include]")) seen.included++;
    }),
    { numRuns: 200 },
  );
  expect(Math.min(seen.included, seen.unread)).toBeGreaterThan(10);
});

function utf8(sign: string): string {
  return Buffer.from(sign).toString("latin1");
}
