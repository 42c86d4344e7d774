// Toolchains of a real home: shown in the order of the search path, and nothing beside them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ClientToolchains, toolchainsOn } from "./toolchains.ts";

let home = "";
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "ambit-toolchains-")));
  for (const name of [".cargo/bin", ".rustup", ".nvm/versions/node/v20/bin", ".local/bin", "private/bin", ".ssh"])
    mkdirSync(join(home, name), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function found(...folders: readonly string[]): ClientToolchains {
  const path = folders.map((folder) => (folder.startsWith("/") ? folder : join(home, folder))).join(":");
  const segments = home.slice(1).split("/");
  return toolchainsOn(path, { home: segments, ours: [], protectedPaths: [[...segments, ".ssh"]] });
}

const texts = (paths: ClientToolchains["trees"]): readonly string[] =>
  paths.map((path) => `/${path.join("/")}`.replace(home, "~"));

test("known folders are shown in order, with what their programs need", () => {
  const { folders, trees, variables } = found(".cargo/bin", "/usr/bin", ".nvm/versions/node/v20/bin", ".local/bin");
  expect(texts(folders)).toEqual(["~/.cargo/bin", "/usr/bin", "~/.nvm/versions/node/v20/bin", "~/.local/bin"]);
  expect(texts(trees)).toEqual(["~/.cargo/bin", "~/.rustup", "~/.nvm/versions/node/v20", "~/.local/bin"]);
  expect(variables).toEqual([["RUSTUP_HOME", join(home, ".rustup")]]);
});

test("unknown, missing, relative and protected folders show nothing", () => {
  expect(found("private/bin", ".ssh", ".volta/bin", "", "/proc/self/cwd").trees).toEqual([]);
  expect(toolchainsOn("bin:.:..", { home: null, ours: [], protectedPaths: [] }).folders).toEqual([]);
});

test("a link to a toolchain is the toolchain; a tree that is a link elsewhere is not shown", () => {
  symlinkSync(join(home, ".nvm/versions/node/v20"), join(home, "current"));
  expect(texts(found("current/bin").folders)).toEqual(["~/.nvm/versions/node/v20/bin"]);
  rmSync(join(home, ".rustup"), { recursive: true });
  symlinkSync(join(home, ".ssh"), join(home, ".rustup"));
  expect(texts(found(".cargo/bin").trees)).toEqual(["~/.cargo/bin"]);
});

test("the user's configuration adds folders, on their place in the path or last, and removes folders with what is below", () => {
  const segments = home.slice(1).split("/");
  const of = (path: string): readonly string[] => [...segments, ...path.split("/")];
  const facts = { home: segments, ours: [], protectedPaths: [of(".ssh")] };
  const path = [".cargo/bin", "private/bin", ".local/bin"].map((folder) => join(home, folder)).join(":");
  const written = { add: [of("private/bin"), of("missing"), of(".ssh"), of(".nvm")], remove: [of(".local")] };
  const { folders, trees } = toolchainsOn(path, facts, written);
  expect(texts(folders)).toEqual(["~/.cargo/bin", "~/private/bin", "~/.nvm"]);
  expect(texts(trees)).toEqual(["~/.cargo/bin", "~/.rustup", "~/private/bin", "~/.nvm"]);
  // One character away: not added, so not shown.
  expect(texts(toolchainsOn(path, facts, { add: [of("private/bi")], remove: [] }).folders)).not.toContain(
    "~/private/bin",
  );
  expect(texts(toolchainsOn(path, facts, { add: [of("private/bin")], remove: [of("private")] }).folders)).not.toContain(
    "~/private/bin",
  );
});
