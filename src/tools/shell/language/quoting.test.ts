// Quotes and backslashes mean the same as in a real shell. Only words of letters, blanks, quotes and backslashes,
// passed to `printf`: nothing in them can be anything but an argument.
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseScript } from "./parse.ts";
import { literalText } from "./script.ts";

const FORMAT = "printf '<%s>' ";

test("words are split and unquoted as /bin/sh does it", () => {
  const words = fc.string({
    unit: fc.constantFrom("a", "b", " ", "'", '"', "\\", "\\'", '\\"', "\\\\", "''"),
    maxLength: 14,
  });
  const texts = fc.sample(words, { seed: 7, numRuns: 1000 });
  const compared: { readonly text: string; readonly ours: string }[] = [];
  for (const text of texts) {
    const parsed = parseScript(`${FORMAT}${text}`);
    if (!parsed.ok) continue;
    const argv = parsed.script[0]?.stages[0]?.words.map(literalText) ?? [];
    if (argv.length > 2)
      compared.push({
        text,
        ours: argv
          .slice(2)
          .map((word) => `<${word}>`)
          .join(""),
      });
  }
  expect(compared.length).toBeGreaterThan(200);
  const script = compared.map(({ text }) => `${FORMAT}${text}\necho`).join("\n");
  const said = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env: {} });
  expect(said.trimEnd().split("\n")).toEqual(compared.map(({ ours }) => ours));
});
