// How the README opens: one sentence, and eight lines that are what the program really prints.
import { join } from "node:path";
import { expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { openingLines, walkOpening, walkProgram } from "../e2e/first-five-minutes.ts";
import { read } from "./markdown.ts";

const page = read(root, "README.md");
const lines = openingLines();

test("one sentence, then eight lines with an allow and a deny, then how to install, then the first five minutes, then a table of guides", () => {
  const [, opening = ""] = page.split("\n\n");
  expect(opening.match(/[.!?](\s|$)/g)?.length).toBe(1);
  expect(lines.length).toBe(8);
  expect(lines.filter((line) => /^(allow|deny) /.test(line)).length).toBe(2);
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings.slice(0, 3)).toEqual(["Install", "The first five minutes", "Guides"]);
});

test("the eight lines are what is printed", () => {
  walkOpening({ environment: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` } });
});

test("the program runs", () => {
  walkProgram({ environment: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` } }, root);
});
