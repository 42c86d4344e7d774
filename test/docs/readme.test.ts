// How the README opens: one sentence, and eight lines that are what the program really prints.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { ownFolder } from "../house/own-folder.ts";
import { blocksOf, read } from "./markdown.ts";

const page = read(root, "README.md");
const [session = ""] = blocksOf(page, "console");
const lines = session.trimEnd().split("\n");

test("one sentence, then eight lines with an allow and a deny, then how to install, then a table of guides", () => {
  const [, opening = ""] = page.split("\n\n");
  expect(opening.match(/[.!?](\s|$)/g)?.length).toBe(1);
  expect(lines.length).toBe(8);
  expect(lines.filter((line) => /^(allow|deny) /.test(line)).length).toBe(2);
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings.slice(0, 3)).toEqual(["Install", "Guides", "The first five minutes"]);
});

test("the eight lines are what is printed", () => {
  const folder = ownFolder("ambit-opening-");
  const project = join(folder, "first");
  mkdirSync(project);
  const run = (script: string): string => {
    const { stdout, stderr } = spawnSync("bash", ["-c", script.replaceAll("/tmp/first", project)], {
      cwd: project,
      encoding: "utf8",
      env: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` },
      timeout: 60_000,
    });
    return stdout + stderr;
  };
  const record = blocksOf(page, "sh").find((block) => block.includes("agents/scout.md <<"));
  run(`${record}\nambit trust --yes`);
  let printed = "";
  let commands = 0;
  for (const line of lines) {
    if (line.startsWith("$ ")) {
      printed = run(line.slice(2));
      commands++;
    } else expect(printed.split("\n")).toContain(line);
  }
  expect(commands).toBe(3);
});
