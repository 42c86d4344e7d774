// Where the person's own links and git settings lead inside a project: from folders below its top, over `..` and over bytes that
// are not UTF-8. The real git runs what is planted there; nothing of it lands freely.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { segmentsOf } from "../../src/platform/folders.ts";
import { FolderSurvey } from "../../src/sandbox/drafts/triggers/folder-survey.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";
import { type Planted, TriggerFixture } from "./trigger-fixture.ts";

let fixture: TriggerFixture;
beforeEach(() => {
  fixture = new TriggerFixture();
});
afterEach(() => fixture.close());

const script = ({ mark }: TriggerFixture): string => `#!/bin/sh\ntouch '${mark}'\n`;
const commitIn = (folder: string): readonly string[] => [
  "git",
  "-C",
  folder,
  "commit",
  "-q",
  "--allow-empty",
  "-m",
  "y",
];
const repository =
  (folder: string, ...settings: readonly (readonly string[])[]) =>
  (one: TriggerFixture): void => {
    one.write({ [`${folder}/README`]: "x" });
    one.run(["git", "init", "-q", "-b", "main", folder]);
    for (const setting of settings) one.run(["git", "-C", folder, "config", ...setting]);
  };
const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

interface Row {
  /** The person's own project. */
  readonly project: (fixture: TriggerFixture) => void;
  readonly planted: (fixture: TriggerFixture) => Planted;
  /** The person's next command. */
  readonly command: readonly string[];
  readonly classes: Readonly<Record<string, string>>;
}

test.each<[string, Row]>([
  [
    "a hook of a repository inside that is a link out of it",
    {
      project: (one) => {
        repository("packages/one")(one);
        one.write({ "packages/one/.git/hooks/pre-commit": { link: "../../../../scripts/check" } });
      },
      planted: (one) => ({ "scripts/check": script(one) }),
      command: commitIn("packages/one"),
      classes: { "scripts/check": "never" },
    },
  ],
  [
    "core.hooksPath of a repository inside that leads out of it",
    {
      project: repository("packages/one", ["core.hooksPath", "../../hooks"]),
      planted: (one) => ({ "hooks/pre-commit": script(one) }),
      command: commitIn("packages/one"),
      classes: { "hooks/pre-commit": "never" },
    },
  ],
  [
    "include.path of a repository inside that leads out of it",
    {
      project: repository("packages/one", ["include.path", "../../../team.cfg"]),
      planted: ({ evil }) => ({ "team.cfg": `[core]\nfsmonitor = ${evil}\n` }),
      command: ["git", "-C", "packages/one", "status"],
      classes: { "team.cfg": "never" },
    },
  ],
  [
    "a hooks path with `..` after a link",
    {
      project: (one) => {
        repository(".", ["core.hooksPath", "short/../hooks"])(one);
        one.write({ "deep/one/": "", short: { link: "deep/one" } });
      },
      planted: (one) => ({ "deep/hooks/pre-commit": script(one) }),
      command: commitIn("."),
      classes: { "deep/hooks/pre-commit": "never" },
    },
  ],
  [
    "a hooks path with `..` after a missing name",
    {
      project: repository(".", ["core.hooksPath", "short/../hooks"]),
      planted: (one) => ({ "deep/one/": "", "deep/hooks/pre-commit": script(one), short: { link: "deep/one" } }),
      command: commitIn("."),
      classes: { "short": "never", "deep/hooks/pre-commit": "free" },
    },
  ],
  [
    "a hook that is a link with `..` after a missing name",
    {
      project: (one) => {
        repository(".")(one);
        one.write({ ".git/hooks/pre-commit": { link: "../../short/../scripts/check" } });
      },
      planted: (one) => ({ "deep/one/": "", "deep/scripts/check": script(one), short: { link: "deep/one" } }),
      command: commitIn("."),
      classes: { "short": "never", "deep/scripts/check": "free" },
    },
  ],
  [
    "a hook that is a link over a name that is not UTF-8",
    {
      project: (one) => {
        repository(".")(one);
        mkdirSync(bytes(`${one.root}/scripts\xff`));
        one.write({ "scripts/check": "#!/bin/sh\n" });
        symlinkSync(bytes("../../scripts\xff/../scripts/check"), join(one.root, ".git/hooks/pre-commit"));
      },
      planted: (one) => ({ "scripts/check": script(one) }),
      command: commitIn("."),
      classes: { "scripts/check": "never" },
    },
  ],
  [
    "a link that a hook names",
    {
      project: (one) => {
        repository(".")(one);
        one.write({
          ".git/hooks/pre-commit": "#!/bin/sh\nexec tools/check\n",
          "tools/check": { link: "../lib/check" },
          "lib/check": "#!/bin/sh\n",
        });
      },
      planted: (one) => ({ "lib/check": script(one) }),
      command: commitIn("."),
      classes: { "lib/check": "ask" },
    },
  ],
])("%s", (_, { project, planted, command, classes }) => {
  project(fixture);
  const changes = planted(fixture);
  const found = fixture.classes(changes);
  expect(found).toMatchObject(classes);
  expect(fixture.isRun(command), "nothing is planted yet").toBe(false);
  fixture.write(Object.fromEntries(Object.entries(changes).filter(([path]) => found[path] === "free")));
  expect(fixture.isRun(command), "only what lands freely is there").toBe(false);
  fixture.write(changes);
  expect(fixture.isRun(command), "all of it is there: the real git runs it").toBe(true);
});

test("links below triggers of every folder, and links with names that are not UTF-8, protect their targets", () => {
  fixture.write({
    "packages/one/.vscode/tasks.json": { link: "../../../shared/tasks.json" },
    "packages/two/.claude": { link: "../../agents" },
    ".claude/commands/": "",
  });
  symlinkSync("../../texts/one.md", bytes(`${fixture.root}/.claude/commands/\xff.md`));
  expect(fixture.classes({ "shared/tasks.json": "x", "agents/hooks.json": "x", "texts/one.md": "x" })).toEqual({
    ...{ "shared/tasks.json": "never", "agents/hooks.json": "never", "texts/one.md": "never" },
  });
  expect(fixture.classes({ "shared/other.json": "x", "texts/two.md": "x" })).toEqual({
    ...{ "shared/other.json": "free", "texts/two.md": "free" },
  });
});

test("start-up files of a home folder that are links into a project elsewhere protect their targets", () => {
  mkdirSync(join(fixture.above, "home", ".config"), { recursive: true });
  symlinkSync("../root/bash/rc", join(fixture.above, "home", ".bashrc"));
  symlinkSync("../../root/editor", join(fixture.above, "home", ".config", "nvim"));
  expect(fixture.classes({ "bash/rc": "x", "editor/init.lua": "x", "bash/other": "x" })).toEqual({
    ...{ "bash/rc": "never", "editor/init.lua": "never", "bash/other": "free" },
  });
});

test("a script that `.envrc` or a file of a hook runner names waits for a person", () => {
  fixture.write({
    ".envrc": "source_env_if_exists ci/local.sh\n. scripts/env.sh\n",
    "scripts/env.sh": "",
    "web/.husky/pre-commit": "node tools/check.js\n",
    "web/tools/check.js": "",
  });
  const planted = { "ci/local.sh": "x", "scripts/env.sh": "x", "web/tools/check.js": "x", "scripts/other.sh": "x" };
  expect(Object.values(fixture.classes(planted))).toEqual(["ask", "ask", "ask", "free"]);
});

describe("the survey of a root's folders", () => {
  const table = new TriggerTable();
  const found = (survey: FolderSurvey): readonly string[] =>
    survey
      .folders(segmentsOf(fixture.root), table)
      .map((path) => path.slice(segmentsOf(fixture.root).length).join("/"));

  test("names folders with a repository, with a HEAD and with triggers, and no others", () => {
    fixture.write({
      ...{ "a/.git/": "", "b/HEAD": "x", "c/.vscode/": "", "d/e/.husky": { link: "x" }, "f/src/one.ts": "x" },
      ...{ "node_modules/x/.git/": "", ".git/modules/x/HEAD": "x" },
    });
    expect([...found(new FolderSurvey())].sort()).toEqual(["a", "b", "c", "d/e"]);
  });

  test.each([
    ["that has just changed", 0],
    ["that has not changed for long", 60_000],
  ])("finds what is created later in a folder %s", (_, ahead) => {
    const survey = new FolderSurvey(() => Date.now() + ahead);
    fixture.write({ "a/b/": "" });
    expect(found(survey)).toEqual([]);
    const before = survey.folders(segmentsOf(fixture.root), table);
    expect(survey.folders(segmentsOf(fixture.root), table)).toBe(before);
    fixture.run(["sleep", "0.05"]);
    writeFileSync(join(fixture.root, "a/b/HEAD"), "x");
    expect(found(survey)).toEqual(["a/b"]);
  });

  test("reads the shallow folders of a very large project", () => {
    for (let at = 0; at < 6; at++) for (let below = 0; below < 5; below++) fixture.write({ [`d${at}/e${below}/`]: "" });
    for (let at = 0; at < 6; at++) fixture.write({ [`d${at}/.git/`]: "", [`d${at}/e4/.git/`]: "" });
    expect([...found(new FolderSurvey(Date.now, 8))].sort()).toEqual(["d0", "d1", "d2", "d3", "d4", "d5"]);
  });
});
