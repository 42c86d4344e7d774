// The examples of the references for `shell` and `git`, run as they are printed, by the real program.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-shell-docs-")));
const project = join(base, "project");

/** The lines of the fenced examples of a page: those that work, and after the word "Refused" those that do not. */
function examples(page: string): readonly (readonly [line: string, works: boolean])[] {
  const [, text = ""] = readFileSync(join(root, "docs", "reference", `${page}.md`), "utf8").split("## Examples");
  const refused = text.indexOf("Refused");
  return [...text.matchAll(/^ambit call .*$/gm)].map(({ 0: line, index }) => [line, index < refused]);
}

function run(line: string) {
  const folders = { HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
  const script = `ambit() { "${process.execPath}" "${join(root, "bin", "ambit")}" "$@"; }\n${line}`;
  const env = { PATH: process.env["PATH"], NO_COLOR: "1", ...folders };
  return spawnSync("sh", ["-c", script], { cwd: project, encoding: "utf8", env, timeout: 60_000 });
}

beforeAll(() => {
  prepareState(join(base, "state"), join(base, "config"));
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  mkdirSync(join(project, "src"));
  writeAgent(project, "coder", "fs.read", "fs.write", "proc.exec");
  writeFileSync(join(project, "names"), "two\none\ntwo\n");
  writeFileSync(join(project, "notes.txt"), "text\n");
  expect(spawnSync("git", ["init", "--quiet", project]).status).toBe(0);
  expect(run("ambit trust --yes").status).toBe(0);
}, 60_000);
afterAll(() => removeState(base));

test.each([...examples("shell"), ...examples("git")])("%s", (line, works) => {
  const { status, stderr } = run(line);
  expect([status, stderr]).toEqual(works ? [0, ""] : [10, expect.stringMatching(/^denied {2}/)]);
});

test("both pages have examples of both kinds", () => {
  for (const page of ["shell", "git"]) {
    const kinds = examples(page).map(([, works]) => works);
    expect([kinds.includes(true), kinds.includes(false)]).toEqual([true, true]);
  }
});
