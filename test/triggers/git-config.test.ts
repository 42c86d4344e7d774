// Our reader of git configuration beside the real git: the same settings from the same text, and no text that only git reads.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readGitConfig } from "../../src/sandbox/plan/triggers/git-config.ts";
import { TriggerWorld } from "./trigger-world.ts";

const world = new TriggerWorld();
afterAll(() => world.close());
const file = join(world.root, "config");

/** Null where git refuses the text. */
function byGit(text: string): readonly string[] | null {
  writeFileSync(file, text);
  const output = world.run(["git", "config", "--file", file, "--null", "--list"]);
  if (output.startsWith("fatal:") || output.startsWith("error:")) return null;
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

/** Before 2.45 git reads white space between words as so many spaces, later as it stands. */
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

test("whatever git reads is read the same, or refused", () => {
  let count = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), fc.boolean(), (pieces, isPlain) => {
      const text = `${isPlain ? "[core]\nkey = " : ""}${pieces.join("")}\n`;
      const [git, ours] = [byGit(text), byUs(text)];
      if (ours !== null && ours.length > 0) count++;
      // Refusing what git reads is told as facts that are partial; reading something else would be a hole.
      if (ours !== null && git !== null) expect(ours.map(asSpaces)).toEqual(git.map(asSpaces));
    }),
    { numRuns: 400 },
  );
  expect(count).toBeGreaterThan(50);
});
