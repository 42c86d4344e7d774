// What git runs automatically, planted in a project with the real git: each runs if everything lands, does not run if only
// changes classified as free land, and has the class the rules give it.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Planted, TriggerFixture } from "./trigger-fixture.ts";

let fixture: TriggerFixture;
beforeEach(() => {
  fixture = new TriggerFixture();
});
afterEach(() => fixture.close());

interface Row {
  /** The person's own project, before. */
  readonly project?: (fixture: TriggerFixture) => void;
  readonly planted: (fixture: TriggerFixture) => Planted;
  /** The person's next command. */
  readonly command: readonly string[];
  readonly classes: Readonly<Record<string, string>>;
}

const repository = (one: TriggerFixture): void => {
  one.run(["git", "init", "-q", "-b", "main", "."]);
  one.write({ "README": "x" });
  one.run(["git", "add", "README"]);
  one.run(["git", "commit", "-q", "-m", "x"]);
};
const withSetting =
  (...settings: readonly (readonly string[])[]) =>
  (one: TriggerFixture): void => {
    repository(one);
    for (const setting of settings) one.run(["git", "config", ...setting]);
  };
const script = ({ mark }: TriggerFixture): string => `#!/bin/sh\ntouch '${mark}'\n`;
const fsmonitor = ({ evil }: TriggerFixture, more = ""): string => `[core]\nfsmonitor = ${evil}\n${more}`;
const bare = (one: TriggerFixture): string =>
  fsmonitor(one, "bare = false\nworktree = ..\nrepositoryformatversion = 0\n");

const COMMIT = ["git", "commit", "-q", "--allow-empty", "-m", "y"];
const STATUS = ["git", "status"];
const HEAD = "ref: refs/heads/main\n";

test.each<[string, Row]>([
  [
    "a hook",
    {
      project: repository,
      planted: (one) => ({ ".git/hooks/pre-commit": script(one) }),
      command: COMMIT,
      classes: { ".git/hooks/pre-commit": "git" },
    },
  ],
  [
    "settings",
    {
      project: repository,
      planted: (one) => ({ ".git/config": fsmonitor(one) }),
      command: STATUS,
      classes: { ".git/config": "git" },
    },
  ],
  [
    "a hook in the folder that core.hooksPath names",
    {
      project: withSetting(["core.hooksPath", "ci/hooks"]),
      planted: (one) => ({ "ci/hooks/pre-commit": script(one) }),
      command: COMMIT,
      classes: { "ci/hooks/pre-commit": "never" },
    },
  ],
  [
    "a link in place of that folder",
    {
      project: withSetting(["core.hooksPath", "ci/hooks"]),
      planted: (one) => ({ ci: { link: "data" }, "data/hooks/pre-commit": script(one) }),
      command: COMMIT,
      classes: { ci: "never", "data/hooks/pre-commit": "free" },
    },
  ],
  [
    "a file that include.path names",
    {
      project: withSetting(["include.path", "../team.cfg"]),
      planted: (one) => ({ "team.cfg": fsmonitor(one) }),
      command: STATUS,
      classes: { "team.cfg": "never" },
    },
  ],
  [
    "a file that includeIf names",
    {
      project: withSetting(["includeIf.onbranch:main.path", "../team.cfg"]),
      planted: (one) => ({ "team.cfg": fsmonitor(one) }),
      command: STATUS,
      classes: { "team.cfg": "never" },
    },
  ],
  [
    "a file that an included file includes",
    {
      project: (one) => {
        withSetting(["include.path", "../team.cfg"])(one);
        one.write({ "team.cfg": "[include]\npath = more/own.cfg\n" });
      },
      planted: (one) => ({ "more/own.cfg": fsmonitor(one) }),
      command: STATUS,
      classes: { "more/own.cfg": "never" },
    },
  ],
  [
    "a `.git` file and the folder it names",
    {
      planted: (one) => ({
        "sub/.git": "gitdir: ../data\n",
        ...{ "data/HEAD": HEAD, "data/objects/": "", "data/refs/": "", "data/config": fsmonitor(one) },
      }),
      command: ["git", "-C", "sub", "status"],
      classes: { "sub/.git": "never", "data/HEAD": "never", "data/objects/": "never", "data/config": "never" },
    },
  ],
  [
    "a repository in a repository",
    {
      project: repository,
      planted: (one) => ({
        ...{ "sub/.git/HEAD": HEAD, "sub/.git/objects/": "", "sub/.git/refs/": "" },
        "sub/.git/config": fsmonitor(one),
      }),
      command: ["git", "-C", "sub", "status"],
      classes: { "sub/.git/HEAD": "git", "sub/.git/config": "git" },
    },
  ],
  [
    "a folder with the shape of a bare repository",
    {
      project: repository,
      planted: (one) => ({ "b/HEAD": HEAD, "b/objects/": "", "b/refs/": "", "b/config": bare(one) }),
      command: ["git", "-C", "b", "status"],
      classes: { "b/HEAD": "never", "b/objects/": "never", "b/refs/": "never", "b/config": "never" },
    },
  ],
  [
    "a shape that the project has in part",
    {
      project: (one) => one.write({ "b/HEAD": HEAD, "b/refs/": "", "b/config": bare(one) }),
      planted: () => ({ "b/objects/": "" }),
      command: ["git", "-C", "b", "status"],
      classes: { "b/objects/": "never" },
    },
  ],
  [
    "a shape completed by commondir",
    {
      planted: (one) => ({
        ...{ "b/HEAD": HEAD, "b/commondir": "../c\n", "c/objects/": "", "c/refs/": "" },
        "c/config": `[core]\nsshCommand = ${one.evil}\n`,
      }),
      command: ["git", "-C", "b", "fetch", "ssh://127.0.0.1/x"],
      classes: { "b/HEAD": "never", "b/commondir": "never", "c/config": "free" },
    },
  ],
  [
    "a shape at the top, with `.git/HEAD` taken away",
    {
      project: repository,
      planted: (one) => ({
        ...{ ".git/HEAD": null, HEAD, "objects/": "", "refs/": "" },
        config: fsmonitor(one, "bare = false\nworktree = .\nrepositoryformatversion = 0\n"),
      }),
      command: STATUS,
      classes: { ".git/HEAD": "git", HEAD: "never", "objects/": "never", config: "never" },
    },
  ],
  [
    "the script that a hook links to",
    {
      project: (one) => {
        repository(one);
        one.write({ "scripts/x": "#!/bin/sh\n", ".git/hooks/pre-commit": { link: "../../scripts/x" } });
      },
      planted: (one) => ({ "scripts/x": script(one) }),
      command: COMMIT,
      classes: { "scripts/x": "never" },
    },
  ],
  [
    "the script that a hook calls",
    {
      project: (one) => {
        repository(one);
        one.write({ "scripts/x": "#!/bin/sh\n", ".git/hooks/pre-commit": "#!/bin/sh\nexec ./scripts/x\n" });
      },
      planted: (one) => ({ "scripts/x": script(one) }),
      command: COMMIT,
      classes: { "scripts/x": "ask" },
    },
  ],
  [
    "the program that a filter names",
    {
      project: (one) => {
        withSetting(["core.fsmonitor", "tools/watch.sh"])(one);
        one.write({ "tools/watch.sh": "#!/bin/sh\n" });
      },
      planted: (one) => ({ "tools/watch.sh": script(one) }),
      command: STATUS,
      classes: { "tools/watch.sh": "ask" },
    },
  ],
  [
    "attributes that select a configured driver",
    {
      project: (one) => withSetting(["filter.x.clean", one.evil])(one),
      planted: () => ({ ".gitattributes": "new filter=x\n", new: "text\n" }),
      command: ["git", "add", "new"],
      classes: { ".gitattributes": "ask", new: "free" },
    },
  ],
  [
    "the file that core.attributesFile names",
    {
      project: (one) => withSetting(["filter.x.clean", one.evil], ["core.attributesFile", "at"])(one),
      planted: () => ({ at: "new filter=x\n", new: "text\n" }),
      command: ["git", "add", "new"],
      classes: { at: "ask", new: "free" },
    },
  ],
  [
    "a worktree's `.git` file",
    {
      project: (one) => {
        repository(one);
        one.run(["git", "worktree", "add", "-q", "tree"]);
      },
      planted: (one) => ({
        "tree/.git": "gitdir: ../data\n",
        ...{ "data/HEAD": HEAD, "data/objects/": "", "data/refs/": "", "data/config": fsmonitor(one) },
      }),
      command: ["git", "-C", "tree", "status"],
      classes: { "tree/.git": "never", "data/config": "never" },
    },
  ],
  [
    "a hook in a worktree's hooks path",
    {
      project: (one) => {
        withSetting(["core.hooksPath", "hk"])(one);
        one.run(["git", "worktree", "add", "-q", "tree"]);
      },
      planted: (one) => ({ "tree/hk/pre-commit": script(one) }),
      command: ["git", "-C", "tree", "commit", "-q", "--allow-empty", "-m", "z"],
      classes: { "tree/hk/pre-commit": "never" },
    },
  ],
  [
    "settings in a folder that `.git` leads to",
    {
      project: (one) => void one.run(["git", "init", "-q", "--separate-git-dir", "store", "."]),
      planted: (one) => ({ "store/config": fsmonitor(one) }),
      command: STATUS,
      classes: { "store/config": "git" },
    },
  ],
  [
    "settings that are a link into the project",
    {
      project: (one) => {
        repository(one);
        one.write({ "dot/config": "[core]\n", ".git/config": { link: "../dot/config" } });
      },
      planted: (one) => ({ "dot/config": fsmonitor(one) }),
      command: STATUS,
      classes: { "dot/config": "never" },
    },
  ],
  [
    "a link named `.git`",
    {
      planted: (one) => ({
        "sub/.git": { link: "../data" },
        ...{ "data/HEAD": HEAD, "data/objects/": "", "data/refs/": "", "data/config": fsmonitor(one) },
      }),
      command: ["git", "-C", "sub", "status"],
      classes: { "sub/.git": "never" },
    },
  ],
])("%s", (_, { project, planted, command, classes }) => {
  project?.(fixture);
  const changes = planted(fixture);
  const found = fixture.classes(changes);
  expect(found).toMatchObject(classes);
  expect(fixture.isRun(command), "nothing is planted yet").toBe(false);
  fixture.write(Object.fromEntries(Object.entries(changes).filter(([path]) => found[path] === "free")));
  expect(fixture.isRun(command), "only what lands freely is there").toBe(false);
  fixture.write(changes);
  expect(fixture.isRun(command), "all of it is there: the real git runs it").toBe(true);
});

test("two drafts that are harmless alone make no repository together", () => {
  const first: Planted = { "b/HEAD": HEAD, "b/config": bare(fixture) };
  const second: Planted = { "b/objects/": "", "b/refs/": "" };
  expect(Object.values(fixture.classes(first))).toEqual(["free", "free"]);
  expect(Object.values(fixture.classes(second))).toEqual(["free", "free"]);
  fixture.write(first);
  expect(Object.values(fixture.classes(second))).toEqual(["never", "never"]);
});
