// Names of which it is not obvious whether tools run them by themselves, with the reason for the class of each.
import { expect, test } from "vitest";
import { CONNECTIONS } from "../../src/clients/connect/connections.ts";
import { hookGaps } from "../../src/clients/connect/hook-gaps.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";

const root = ["home", "u", "project"];
const table = new TriggerTable();
const classOf = (path: string, base: readonly string[] = root): string =>
  table.find([...base, ...path.split("/")], { root: base, home: ["home", "u"], workspaces: [] })?.class ?? "free";

test.each([
  [".pijul/config", "never", "hooks of `pijul record`"],
  [".bzr/branch/branch.conf", "never", "`post_commit` is a program"],
  ["_MTN/monotonerc", "never", "Lua that mtn runs"],
  [".repo/repo/main.py", "never", "the repo launcher runs it"],
  [".hg/hgrc", "never", "hooks of every hg command"],
  [".vscode/settings.json", "never", "paths of programs that extensions start"],
  [".idea/workspace.xml", "never", "run configurations"],
  [".devcontainer/devcontainer.json", "never", "initializeCommand runs on the host"],
  [".github/copilot/settings.json", "never", "switches hooks of Copilot CLI off"],
  [".github/lsp.json", "never", "programs that Copilot CLI starts"],
  [".github/extensions/x/extension.mjs", "never", "code that Copilot CLI loads"],
  ["lsp.json", "ask", "programs that Copilot CLI starts"],
  ["ansible.cfg", "ask", "plugin folders of every ansible command in this folder"],
  [".simple-git-hooks.json", "ask", "becomes git hooks at the next install"],
  ["lefthook.yml", "ask", "git hooks read it"],
  [".pre-commit-config.yaml", "ask", "git hooks read it"],
  [".husky/pre-commit", "ask", "a git hook runs it"],
  ["commitlint.config.mjs", "ask", "a git hook runs it"],
  [".github/workflows/ci.yml", "ask", "runs with the secrets of the repository"],
  [".gitlab-ci.yml", "ask", "runs with the secrets of the repository"],
  [".envrc", "ask", "direnv runs it when the folder is entered"],
  [".env", "ask", "autoenv and shell plugins load it as shell code"],
  ["flake.nix", "ask", "direnv's `use flake` evaluates it when it changes, without another question"],
  [".npmrc", "ask", "script-shell, registries"],
  [".yarnrc.yml", "ask", "yarnPath is the program that `yarn` runs"],
  [".pnp.cjs", "ask", "loaded before every program"],
  ["bunfig.toml", "ask", "preload runs before every program"],
  [".bazelversion", "ask", "may name the build of another publisher"],
  [".bsp/sbt.json", "ask", "editors run its `argv` when the folder is opened"],
  [".vimrc", "ask", "read where `exrc` is set"],
  [".exrc", "ask", "read where `exrc` is set"],
  [".nvimrc", "ask", "read where `exrc` is set"],
  ["Makefile", "free", "a person runs it knowingly"],
  ["justfile", "free", "a person runs it knowingly"],
  [".justfile", "free", "a person runs it knowingly"],
  ["package.json", "free", "a person runs it knowingly"],
  [".python-version", "free", "selects an installed version"],
  [".nvmrc", "free", "selects an official version"],
  ["pyrightconfig.json", "free", "names folders, no programs"],
  [".env.example", "free", "no tool loads it"],
  [".ssh/config", "free", "ssh reads it in the home folder alone"],
  [".config/git/config", "free", "git reads it in the home folder alone"],
  [".tmux.conf", "free", "tmux reads it in the home folder alone"],
  [".psqlrc", "free", "psql reads it in the home folder alone"],
])("%s in a project: %s (%s)", (path, expected) => {
  expect(classOf(path)).toBe(expected);
});

test.each(CONNECTIONS.map(({ client }) => client))("an agent cannot switch off the hook of %s", (client) => {
  const read: string[] = [];
  const noted = (scope: string, path: string): void => {
    if (scope === "project") read.push(path);
  };
  const value = (scope: string, path: string): undefined => void noted(scope, path);
  const text = (scope: string, path: string): null => {
    noted(scope, path);
    return null;
  };
  hookGaps({ client, scope: "project", path: "x", version: null, value, text });
  expect(read.filter((path) => classOf(path) === "free")).toEqual([]);
});

test.each([".ssh/config", ".config/git/config", ".tmux.conf", ".psqlrc", ".netrc", ".nvm/nvm.sh", ".aws/config"])(
  "%s in the home folder: never",
  (path) => {
    expect(classOf(path, ["home", "u"])).toBe("never");
  },
);
