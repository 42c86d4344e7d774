// How changes may reach a root: by names, by the real tree, and by the draft's own content. Each protected row has an
// allowed row that differs by one character or one fact.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClassifiedChange, Classifier } from "./classify.ts";
import { LAND_BY_ASK } from "./land-by-ask.ts";
import { NEVER_LAND } from "./never-land.ts";
import { type FakeFile, fakeTree } from "./testing/fake-tree.ts";
import { TriggerFacts, type TriggerOptions } from "./trigger-facts.ts";
import { TriggerTable } from "./trigger-table.ts";

type Files = Readonly<Record<string, FakeFile | string>>;
type Written = string | ClassifiedChange;

const TABLE = new TriggerTable();
const OPTIONS: TriggerOptions = {
  ...{ root: ["h", "w"], home: ["h"], workspaces: [["h", "w"]], table: TABLE },
  ...{ ours: [["h", ".config", "ambit"]], program: ["opt", "ambit"], inner: [] },
};

const names = (path: string): readonly string[] => path.split("/").filter((name) => name !== "");

/** `a/b` is a file, `a/` a folder, `a -> b` a link, `-a` a deletion. */
function change(written: Written): ClassifiedChange {
  if (typeof written !== "string") return written;
  const [path = "", target] = written.split(" -> ");
  if (target !== undefined) return { kind: "link", path: names(path), target, base: null };
  const base = { kind: "file", links: 1n, device: 1n, inode: 1n, mode: 0o644 };
  if (path.startsWith("-")) return { kind: "delete", path: names(path.slice(1)), base };
  return { kind: path.endsWith("/") ? "folder" : "file", path: names(path), base: null };
}

function classes(files: Files, draft: readonly Written[], options: Partial<TriggerOptions> = {}): readonly string[] {
  const changes = draft.map(change);
  const classifier = Classifier.of(new TriggerFacts(fakeTree(files), { ...OPTIONS, ...options }), changes);
  return changes.map((one) => classifier.classify(one).class);
}

function classOf(files: Files, written: Written, options: Partial<TriggerOptions> = {}): string {
  return classes({ "h/w/": "", ...files }, [written], options)[0] ?? "";
}

test("many changes are classified as few are, and other work runs in between", async () => {
  const changes = Array.from({ length: 1_000 }, (_, at) => change(at === 999 ? ".vscode/tasks.json" : `d${at}/f`));
  let turns = 0;
  const facts = new TriggerFacts(fakeTree({ "h/w/": "" }), OPTIONS);
  const classifier = await Classifier.inTurns(facts, changes, async () => {
    turns++;
  });
  expect(turns).toBe(4);
  expect(changes.filter((one) => classifier.classify(one).class === "never")).toEqual([changes[999]]);
});

describe("by name", () => {
  test.each<[string, string]>([
    [".ambit/agents/a.md", "never"],
    [".ambits/agents/a.md", "free"],
    ["deep/er/.ambit/config.yml", "never"],
    [".vscode/tasks.json", "never"],
    ["packages/a/.vscode/tasks.json", "never"],
    [".vscod/tasks.json", "free"],
    ["vscode/tasks.json", "free"],
    [".bashrc", "never"],
    ["sub/.bashrc", "free"],
    [".claude/settings.json", "never"],
    [".claude", "never"],
    [".claud", "free"],
    [".envrc", "ask"],
    ["a/.envrc", "ask"],
    [".envr", "free"],
    [".yarn/releases/yarn.cjs", "ask"],
    [".yarn/cache/a.zip", "free"],
    [".github/workflows/ci.yml", "ask"],
    [".github/workflow/ci.yml", "free"],
    ["a.code-workspace", "ask"],
    ["a.code-workspac", "free"],
    ["AGENTS.md", "ask"],
    ["agents.md", "ask"],
    ["AGENT.mdx", "free"],
    ["Makefile", "free"],
    ["package.json", "free"],
    ["node_modules/ambit/dist/x.js", "never"],
    ["node_modules/ambi/dist/x.js", "free"],
    ["node_modules/.pnpm/ambit@1/node_modules/ambit/x", "never"],
    ["node_modules/.pnpm/ambit@1/node_modules/ambi/x", "free"],
    ["packages/x/node_modules/.bin/ambit", "never"],
    ["packages/x/node_modules/.bin/ambi", "free"],
    [".hg/hgrc", "never"],
    [".jj/repo/config.toml", "never"],
    ["_darcs/prefs/defaults", "never"],
    ["lib/.ocamlinit", "ask"],
    [".gitattributes", "ask"],
    [".gitignore", "free"],
    [".git/hooks/pre-commit", "git"],
    [".gi/hooks/pre-commit", "free"],
    ["sub/.git/config", "git"],
    [".git/", "git"],
    [".git", "never"],
    [".git -> sub", "never"],
    [".GIT/config", "never"],
    [".git /config", "never"],
    ["git~1/config", "never"],
    ["git~/config", "free"],
    ["-.vscode/tasks.json", "never"],
    ["-.vscod/tasks.json", "free"],
    [".cargo/config.toml", "ask"],
    [".cargo/confi.toml", "free"],
    [".cargo -> elsewhere", "ask"],
    [".carg -> elsewhere", "free"],
    [".config/", "free"],
    [".config -> elsewhere", "never"],
    [".confi -> elsewhere", "free"],
    ["node_modules -> deps", "never"],
    ["node_module -> deps", "free"],
  ])("%s: %s", (written, expected) => {
    expect(classOf({}, written)).toBe(expected);
  });

  test("in a home folder that is the root, its own names", () => {
    const home = { root: ["h"], workspaces: [] };
    expect(classOf({}, ".ssh/config", home)).toBe("never");
    expect(classOf({}, ".ssg/config", home)).toBe("free");
    expect(classOf({}, ".local/bin/x", home)).toBe("never");
    expect(classOf({}, "w/.local/bin/x", home)).toBe("free");
    expect(classOf({}, ".local -> x", home)).toBe("never");
  });

  const variants: ((name: string) => string)[] = [
    (name) => name.toUpperCase(),
    (name) => name.toLowerCase(),
    (name) => name.normalize("NFD"),
    (name) => `${name}.`,
    (name) => `${name} `,
    (name) => `${name}::$DATA`,
    (name) => `\u200d${name}`,
    (name) => `${name.slice(0, 2)}\ufeff${name.slice(2)}`,
    (name) => name.replace(/s/g, "\u017f").replace(/k/g, "\u212a"),
  ];
  test("every spelling of a name is in the class of the name", () => {
    const all = [...NEVER_LAND, ...LAND_BY_ASK].filter((one) => !one.names.join().includes("*"));
    expect(all.length).toBeGreaterThan(200);
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.array(fc.constantFrom(...variants), { maxLength: 3 }), (one, chosen) => {
        const root = { root: ["h"], workspaces: [] };
        const spelt = chosen.reduce((path, variant) => path.map(variant), [...one.names]);
        const plain = classOf({}, { kind: "file", path: one.names, base: null }, root);
        expect(plain === one.class || plain === "never").toBe(true);
        expect(classOf({}, { kind: "file", path: spelt, base: null }, root)).toBe(plain);
      }),
    );
  });
});

describe("git by the existing files", () => {
  const config = (text: string): Files => ({ "h/w/.git/HEAD": "ref: refs/heads/main", "h/w/.git/config": text });
  test.each<[string, Files, Written, string]>([
    ["hooksPath", config("[core]\nhooksPath = ci/hooks"), "ci/hooks/pre-commit", "never"],
    ["beside hooksPath", config("[core]\nhooksPath = ci/hooks"), "ci/hook/pre-commit", "free"],
    ["hooksPath in another case", config("[core]\nhooksPath = ci/hooks"), "CI/Hooks/pre-commit", "never"],
    ["no hooksPath", config("[core]\nhooksPat = ci/hooks"), "ci/hooks/pre-commit", "free"],
    ["a link on the way to hooksPath", config("[core]\nhooksPath = ci/hooks"), "ci -> other", "never"],
    ["a link beside that way", config("[core]\nhooksPath = ci/hooks"), "cj -> other", "free"],
    ["an absolute hooksPath", config("[core]\nhooksPath = /h/w/x"), "x/pre-push", "never"],
    ["a hooksPath below home", config("[core]\nhooksPath = ~/w/x"), "x/pre-push", "never"],
    ["a hook where hooksPath is the project", config("[core]\nhooksPath = ."), "pre-commit", "never"],
    ["another file where hooksPath is the project", config("[core]\nhooksPath = ."), "pre-commi", "free"],
    ["a hook below core.worktree", config("[core]\nworktree = ../t\nhooksPath = hk"), "t/hk/pre-commit", "never"],
    ["an include", config("[include]\npath = ../team.cfg"), "team.cfg", "never"],
    ["no include", config("[include]\npath = ../team.cfg"), "team.cf", "free"],
    ["a conditional include", config('[includeIf "onbranch:x"]\npath = ../team.cfg'), "team.cfg", "never"],
    [
      "what an include includes",
      { ...config("[include]\npath = ../a.cfg"), "h/w/a.cfg": "[include]\npath = b.cfg" },
      "b.cfg",
      "never",
    ],
    [
      "the file an included hooksPath names",
      { ...config("[include]\npath = ../a.cfg"), "h/w/a.cfg": "[core]\nhooksPath = hk" },
      "hk/x",
      "never",
    ],
    ["attributesFile", config("[core]\nattributesFile = at"), "at", "ask"],
    [
      "a filter's program",
      { ...config('[filter "x"]\nclean = sh tools/clean.sh'), "h/w/tools/clean.sh": "" },
      "tools/clean.sh",
      "ask",
    ],
    [
      "another program",
      { ...config('[filter "x"]\nclean = sh tools/clean.sh'), "h/w/tools/cleam.sh": "" },
      "tools/cleam.sh",
      "free",
    ],
    [
      "the file the user's settings name",
      { "h/.gitconfig": "[core]\nhooksPath = .hk", "h/w/.git/HEAD": "" },
      ".hk/x",
      "never",
    ],
    ["the same before there is a repository", { "h/.gitconfig": "[core]\nhooksPath = .hk" }, ".hk/x", "never"],
    ["the same in a folder that may become one", { "h/.gitconfig": "[core]\nhooksPath = a/hk" }, "s/A/hk/x", "never"],
    ["beside it", { "h/.gitconfig": "[core]\nhooksPath = a/hk" }, "s/b/hk/x", "free"],
    ["a link on the way to it", { "h/.gitconfig": "[core]\nhooksPath = a/hk" }, "s/a -> ../b", "never"],
    ["a link beside the way to it", { "h/.gitconfig": "[core]\nhooksPath = a/hk" }, "s/c -> ../b", "free"],
    ["a hook anywhere", { "h/.gitconfig": "[core]\nhooksPath = ." }, "s/pre-commit", "never"],
    ["no hook", { "h/.gitconfig": "[core]\nhooksPath = ." }, "s/pre-commi", "free"],
    ["a gitdir file's folder", { "h/w/sub/.git": "gitdir: git\n" }, "sub/git/config", "git"],
    ["beside it", { "h/w/sub/.git": "gitdir: git\n" }, "sub/gi/config", "free"],
    ["a gitdir file", { "h/w/.git": "gitdir: store\n" }, ".git", "never"],
    ["the folder it names at the top", { "h/w/.git": "gitdir: store\n" }, "store/hooks/x", "git"],
    ["the same in another case", { "h/w/.git": "gitdir: store\n" }, "Store/hooks/x", "never"],
    ["below a gitdir file", { "h/w/sub/.git": "gitdir: ../store\n" }, "sub/.git/config", "never"],
    ["a commondir", { "h/w/.git/HEAD": "", "h/w/.git/commondir": "../main\n" }, "main/config", "git"],
    ["a repository around the root", { "h/.git/config": "[core]\nhooksPath = w/hk" }, "hk/x", "never"],
    ["a bare repository", { "h/w/b/HEAD": "", "h/w/b/objects/": "", "h/w/b/refs/": "" }, "b/config", "git"],
    ["no bare repository", { "h/w/b/HEAD": "", "h/w/b/objects/": "" }, "b/config", "free"],
    ["a bare root", { "h/w/HEAD": "", "h/w/objects/": "", "h/w/refs/": "" }, "hooks/x", "git"],
    [
      "a project with a bare repository's names",
      { "h/w/.git/HEAD": "", "h/w/HEAD": "", "h/w/objects/": "", "h/w/refs/": "" },
      "config",
      "never",
    ],
    [
      "and its other files",
      { "h/w/.git/HEAD": "", "h/w/HEAD": "", "h/w/objects/": "", "h/w/refs/": "" },
      "src/a.ts",
      "free",
    ],
    [
      "a linked hook",
      { ...config(""), "h/w/.git/hooks/pre-commit": { link: "../../scripts/x" } },
      "scripts/x",
      "never",
    ],
    [
      "beside a linked hook",
      { ...config(""), "h/w/.git/hooks/pre-commit": { link: "../../scripts/x" } },
      "scripts/y",
      "free",
    ],
    ["a linked config", { "h/w/.git/HEAD": "", "h/w/.git/config": { link: "../cfg" } }, "cfg", "never"],
    [
      "the script that a hook runs",
      { ...config(""), "h/w/.git/hooks/pre-push": "#!/bin/sh\nsh ci/a.sh", "h/w/ci/a.sh": "" },
      "ci/a.sh",
      "ask",
    ],
    [
      "the script that a hook runs once it exists",
      { ...config(""), "h/w/.git/hooks/pre-push": "[ -x ci/a.sh ] && ci/a.sh" },
      "ci/a.sh",
      "ask",
    ],
    ["a word of a hook that is not a path", { ...config(""), "h/w/.git/hooks/pre-push": "echo done" }, "done", "free"],
    [
      "the script that a sample runs",
      { ...config(""), "h/w/.git/hooks/pre-push.sample": "sh ci/a.sh", "h/w/ci/a.sh": "" },
      "ci/a.sh",
      "free",
    ],
    [
      "a submodule's linked hook",
      {
        ...config(""),
        "h/w/.git/modules/a/b/HEAD": "",
        "h/w/.git/modules/a/b/hooks/x": { link: "../../../../../s/x" },
      },
      "s/x",
      "never",
    ],
    [
      "a worktree's hooksPath",
      { ...config("[core]\nhooksPath = hk"), "h/w/.git/worktrees/t/gitdir": "/h/w/tree/.git\n" },
      "tree/hk/x",
      "never",
    ],
  ])("%s", (_, files, written, expected) => {
    expect(classOf(files, written)).toBe(expected);
  });

  test("a repository that the draft completes never lands, whichever side has which part", () => {
    const parts = ["b/HEAD", "b/objects/", "b/refs/"];
    expect(classes({}, parts)).toEqual(["never", "never", "never"]);
    expect(classes({}, parts.slice(0, 2))).toEqual(["free", "free"]);
    expect(classes({ "h/w/b/HEAD": "" }, parts.slice(1))).toEqual(["never", "never"]);
    expect(classes({ "h/w/b/refs/": "", "h/w/b/objects/": "" }, ["b/HEAD", "b/src/x"])).toEqual(["never", "free"]);
    expect(classes({ "h/w/b/refs/": "", "h/w/b/objects/": "" }, ["b/head"])).toEqual(["never"]);
    expect(classes({}, ["b/HEAD", "b/commondir"])).toEqual(["never", "never"]);
    expect(classes({ "h/w/HEAD": "", "h/w/refs/": "" }, ["objects/", "src/a"])).toEqual(["never", "free"]);
    expect(classes({ "h/w/b/HEAD": "", "h/w/b/refs/": "" }, ["b/objects/", "-b/HEAD"])).toEqual(["never", "free"]);
  });

  test("ten thousand submodules refuse nothing; programs with unknown callers wait for approval", () => {
    const modules = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`h/w/.git/modules/m${at}/HEAD`, ""] as const),
    );
    const files = { ...modules, "h/w/.git/HEAD": "" };
    const base = { kind: "file", links: 1n, device: 1n, inode: 1n };
    expect(
      classes(files, [
        "src/a.ts",
        ".git/modules/m999/hooks/x",
        { kind: "file", path: ["run.sh"], base: { ...base, mode: 0o755 } },
        { kind: "file", path: ["a.txt"], base: { ...base, mode: 0o644 } },
      ]),
    ).toEqual(["free", "git", "ask", "free"]);
  });
});

describe("links and identities", () => {
  test.each<[string, Files, Written, string]>([
    ["below a trigger", { "h/w/.claude/settings.json": { link: "../conf/s.json" } }, "conf/s.json", "never"],
    ["beside its target", { "h/w/.claude/settings.json": { link: "../conf/s.json" } }, "conf/t.json", "free"],
    ["a trigger that is a link", { "h/w/.vscode": { link: "ed" } }, "ed/tasks.json", "never"],
    ["through another link", { "h/w/.vscode": { link: "ed" }, "h/w/ed": { link: "real" } }, "real/tasks.json", "never"],
    ["the other link itself", { "h/w/.vscode": { link: "ed" }, "h/w/ed": { link: "real" } }, "ed -> x", "never"],
    ["a trigger that needs approval and is a link", { "h/w/CLAUDE.md": { link: "docs/a.md" } }, "docs/a.md", "ask"],
    ["a link on the way to triggers", { "h/w/.cargo": { link: "cg" } }, "cg/config.toml", "ask"],
    ["and to others", { "h/w/.cargo": { link: "cg" } }, "cg/registry", "free"],
    ["a shell file of the home folder", { "h/.bashrc": { link: "w/dot/bashrc" } }, "dot/bashrc", "never"],
    ["our configuration", { "h/.config/ambit/config.yml": { link: "/h/w/dot/config.yml" } }, "dot/config.yml", "never"],
    [
      "beside our configuration",
      { "h/.config/ambit/config.yml": { link: "/h/w/dot/config.yml" } },
      "dot/confif.yml",
      "free",
    ],
    ["our folder", { "h/.config/ambit": { link: "/h/w/dot" } }, "dot/users/a.md", "never"],
    [
      "a hard link",
      { "h/w/.vscode/tasks.json": { identity: "1:7" } },
      { kind: "file", path: ["x"], base: { kind: "file", links: 2n, device: 1n, inode: 7n } },
      "never",
    ],
    [
      "another file",
      { "h/w/.vscode/tasks.json": { identity: "1:7" } },
      { kind: "file", path: ["x"], base: { kind: "file", links: 2n, device: 1n, inode: 8n } },
      "free",
    ],
  ])("%s", (_, files, written, expected) => {
    expect(classOf(files, written)).toBe(expected);
  });

  test.each<[string, string]>([
    ["a -> b", "free"],
    ["a -> b/../c", "ask"],
    ["d/a -> ../b", "free"],
    ["a -> ../b", "never"],
    ["d/a -> ../../b", "never"],
    ["a -> ../w/b", "never"],
    ["a -> /h/w/b", "free"],
    ["a -> /h/v/b", "never"],
    ["a -> /h", "never"],
    ["a -> /", "never"],
    ["a -> /h/w", "free"],
    ["a -> .git/hooks", "never"],
    ["a -> .gi/hooks", "free"],
    ["a -> .vscode", "never"],
    ["a -> .vscod", "free"],
    ["a -> b/.GIT/config", "never"],
    ["a -> .", "free"],
    ["CLAUDE.md -> AGENTS.md", "ask"],
    ["x.md -> AGENTS.md", "ask"],
    ["x.md -> AGENT5.md", "free"],
    ["a -> out/b", "never"],
    ["a -> in/b", "free"],
    ["a -> ring", "free"],
    [`a -> ${"x/".repeat(3_000)}`, "never"],
  ])("a new link %s: %s", (written, expected) => {
    const files = { "h/w/out": { link: "/etc" }, "h/w/in": { link: "deep" }, "h/w/ring": { link: "ring" } };
    expect(classOf(files, written)).toBe(expected);
  });

  test.each(["a -> b/c b -> ..", "a -> b/hooks b -> .git", "a -> b b -> a/../.."])("links of one draft: %s", (both) => {
    expect(classes({}, both.split(/ (?=b -> )/))).toEqual(["never", "never"]);
  });

  test("our program, and program trees inside the root", () => {
    for (const part of ["dist/x", "bin/ambit", "node_modules/y/z", "package.json"])
      expect(classOf({}, `p/${part}`, { program: ["h", "w", "p"] })).toBe("never");
    expect(classOf({}, "p/examples/x", { program: ["h", "w", "p"] })).toBe("free");
    expect(classOf({}, "q/x", { program: ["h", "w", "p"] })).toBe("free");
    expect(classOf({}, "t/x", { table: new TriggerTable(undefined, undefined, [["h", "w", "t"]]) })).toBe("never");
    expect(classOf({}, "s/x", { table: new TriggerTable(undefined, undefined, [["h", "w", "t"], ["h"]]) })).toBe(
      "free",
    );
  });
});

test("every class but free has a reason", () => {
  const facts = new TriggerFacts(fakeTree({ "h/w/": "" }), OPTIONS);
  for (const written of [".vscode/a", "AGENTS.md", ".git/x", "a -> /"]) {
    const one = change(written);
    expect(Classifier.of(facts, [one]).classify(one).why).toMatch(/\w/);
  }
});
