// Protected paths on a machine that changes between two calls: no observation is relied on longer than it holds.
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sizeFor } from "../../../test/house/long.ts";
import { pause } from "../../../test/house/pause.ts";
import { segmentsOf } from "../../platform/folders.ts";
import { TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import { ProtectedFiles } from "./protected-files.ts";

let above = "";
let root = "";
beforeEach(() => {
  above = realpathSync(mkdtempSync(join(tmpdir(), "ambit-kept-")));
  root = join(above, "project");
  for (const folder of ["project/settings", "state/trust", "home", "other"])
    mkdirSync(join(above, folder), { recursive: true });
});
afterEach(() => rmSync(above, { recursive: true, force: true }));

function files(
  aheadMilliseconds = 0,
  home = join(above, "home"),
): (path: string, workspace?: string | null) => boolean {
  const folders = { state: join(above, "state"), config: null };
  const options = { home, folders, program: join(above, "program") };
  const kept = new ProtectedFiles(options, () => Date.now() + aheadMilliseconds);
  const table = new TriggerTable();
  const roots = [segmentsOf(above)];
  return (path, workspace = root) => kept.of(roots, { workspace, table })(segmentsOf(join(above, path))) === "never";
}

function classes(paths: readonly string[], table = new TriggerTable()): readonly string[] {
  const folders = { state: join(above, "state"), config: null };
  const kept = new ProtectedFiles({ home: null, folders, program: join(above, "program") });
  const classOf = kept.of([segmentsOf(root)], { workspace: root, table });
  return paths.map((path) => classOf(segmentsOf(join(root, path))));
}

/** All arrived input is read; what comes then is another event-loop turn. */
const arrival = () => new Promise((resolve) => setImmediate(resolve));
/** Longer than two changes can be apart and share a timestamp. */
const tick = () => pause(50, "file times have the resolution of the kernel's tick");

/** With a clock that is ahead, all existing files look old enough to be relied on. */
describe.each([
  ["that has just changed", 0],
  ["that has not changed for long", 60_000],
])("in a folder %s", (_, ahead) => {
  test("a new link is known to the next call, and so is one with a new target", async () => {
    const isKept = files(ahead);
    await tick();
    expect([isKept("project/.vscode/tasks.json"), isKept("project/settings/tasks.json")]).toEqual([true, false]);
    await arrival();
    symlinkSync("settings", join(root, ".vscode"));
    expect(isKept("project/settings/tasks.json")).toBe(true);
    await tick();
    expect(isKept("project/settings/tasks.json")).toBe(true);
    rmSync(join(root, ".vscode"));
    symlinkSync("other", join(root, ".vscode"));
    await arrival();
    expect([isKept("project/settings/tasks.json"), isKept("project/other/tasks.json")]).toEqual([false, true]);
    rmSync(join(root, ".vscode"));
    await arrival();
    expect(isKept("project/other/tasks.json")).toBe(false);
  });

  test("a later link with a new target is followed again", async () => {
    symlinkSync("../current", join(root, ".idea"));
    symlinkSync("settings", join(above, "current"));
    const isKept = files(ahead);
    await tick();
    expect([isKept("settings/x"), isKept("other/x")]).toEqual([true, false]);
    rmSync(join(above, "current"));
    symlinkSync("other", join(above, "current"));
    await arrival();
    expect([isKept("settings/x"), isKept("other/x")]).toEqual([false, true]);
  });

  test("a folder that becomes a link on the way to names deeper down is found", async () => {
    mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
    const isKept = files(ahead);
    await tick();
    expect(isKept("elsewhere/ambit/x")).toBe(false);
    renameSync(join(root, "node_modules"), join(above, "elsewhere"));
    symlinkSync("../elsewhere", join(root, "node_modules"));
    await arrival();
    expect([isKept("elsewhere/ambit/x"), isKept("elsewhere/.bin/ambit")]).toEqual([true, true]);
  });

  test("a newly trusted workspace is known to the next call, and so is a revoked one", async () => {
    const isKept = files(ahead);
    await tick();
    expect(isKept("other/.bashrc")).toBe(false);
    await arrival();
    mkdirSync(join(above, "state/trust/one"));
    writeFileSync(join(above, "state/trust/one/project.json"), JSON.stringify({ workspace: join(above, "other") }));
    expect(isKept("other/.bashrc")).toBe(true);
    await tick();
    expect(isKept("other/.bashrc")).toBe(true);
    writeFileSync(join(above, "state/trust/one/project.json"), JSON.stringify({ workspace: join(above, "third") }));
    await arrival();
    expect([isKept("other/.bashrc"), isKept("third/.bashrc")]).toEqual([false, true]);
    rmSync(join(above, "state/trust/one"), { recursive: true });
    await arrival();
    expect(isKept("third/.bashrc")).toBe(false);
  });

  test("a home folder behind a link is protected at its real path", async () => {
    mkdirSync(join(above, "people/me"), { recursive: true });
    const isKept = files(ahead, join(above, "homes/me"));
    await tick();
    expect([isKept("homes/me/.bashrc"), isKept("people/me/.config/fish/x")]).toEqual([true, false]);
    symlinkSync("people", join(above, "homes"));
    await arrival();
    expect(isKept("people/me/.bashrc")).toBe(true);
    rmSync(join(above, "homes"));
    await arrival();
    expect([isKept("homes/me/.bashrc"), isKept("people/me/.bashrc")]).toEqual([true, false]);
  });
});

test("one scan serves all requests made before it", async () => {
  const isKept = files();
  expect(isKept("project/settings/x")).toBe(false);
  symlinkSync("settings", join(root, ".vscode"));
  // No caller that knew of the link is among those that ask now.
  expect(isKept("project/settings/x")).toBe(false);
  await arrival();
  expect(isKept("project/settings/x")).toBe(true);
});

test("our own folders are protected, and facts about another workspace are requested separately", async () => {
  const isKept = files();
  expect([isKept("state/x"), isKept("program/dist/x"), isKept("program/docs/x"), isKept("home/x")]).toEqual([
    ...[true, true, false, false],
  ]);
  expect([isKept("other/.bashrc"), isKept("other/.bashrc", join(above, "other"))]).toEqual([false, true]);
});

test("where trust cannot be listed, everything stays as it is", () => {
  rmSync(join(above, "state/trust"), { recursive: true });
  writeFileSync(join(above, "state/trust"), "");
  expect(files()("project/settings/x")).toBe(true);
});

describe("what git and our own configuration lead to", () => {
  test("a hooks path, an include and a linked hook are protected as soon as they exist", async () => {
    const isKept = files(60_000);
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
    await tick();
    expect(["ci/hooks/x", "team.cfg", "scripts/x"].map((path) => isKept(`project/${path}`))).toEqual([
      ...[false, false, false],
    ]);
    await arrival();
    writeFileSync(join(root, ".git/config"), "[core]\nhooksPath = ci/hooks\n[include]\npath = ../team.cfg\n");
    symlinkSync("../../scripts/x", join(root, ".git/hooks/pre-commit"));
    expect(["ci/hooks/x", "team.cfg", "scripts/x"].map((path) => isKept(`project/${path}`))).toEqual([
      ...[true, true, true],
    ]);
    expect(["ci/hook/x", "team.cf", "scripts/y"].map((path) => isKept(`project/${path}`))).toEqual([
      ...[false, false, false],
    ]);
  });

  test("a bare repository is protected where it is, and where a file would complete one", () => {
    const isKept = files();
    for (const folder of ["objects", "refs"]) mkdirSync(join(root, "b", folder), { recursive: true });
    expect([isKept("project/b/HEAD"), isKept("project/b/config"), isKept("project/b/HEA")]).toEqual([
      true,
      false,
      false,
    ]);
    writeFileSync(join(root, "b/HEAD"), "ref: refs/heads/main\n");
    expect(files()("project/b/config")).toBe(true);
  });

  test("a configuration that is a link is protected at its real path", () => {
    mkdirSync(join(above, "config/ambit"), { recursive: true });
    mkdirSync(join(root, "dotfiles"));
    symlinkSync(join(root, "dotfiles/ambit.yml"), join(above, "config/ambit/config.yml"));
    const folders = { state: join(above, "state"), config: join(above, "config/ambit") };
    const kept = new ProtectedFiles({ home: null, folders, program: join(above, "program") });
    const isKept = kept.of([segmentsOf(root)], { workspace: null, table: new TriggerTable() });
    const at = (path: string): boolean => isKept(segmentsOf(join(root, path))) === "never";
    expect([at("dotfiles/ambit.yml"), at("dotfiles/other.yml")]).toEqual([true, false]);
  });

  test("other spellings are protected as well", () => {
    const isKept = files();
    expect([".Git/config", ".AMBIT/x", ".VSCODE/x", "git~1/x"].map((path) => isKept(`project/${path}`))).toEqual([
      ...[true, true, true, true],
    ]);
    expect(["Git/config", "AMBIT/x", "VSCODE/x", "git~/x"].map((path) => isKept(`project/${path}`))).toEqual([
      ...[false, false, false, false],
    ]);
  });

  test("more folders of submodules than are searched lock nothing", { timeout: 60_000 }, () => {
    mkdirSync(join(root, ".git/modules"), { recursive: true });
    for (let at = 0; at < sizeFor(700, 10_500); at++) mkdirSync(join(root, ".git/modules", `m${at}`));
    writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(root, "run.sh"), "", { mode: 0o755 });
    writeFileSync(join(root, "a.txt"), "", { mode: 0o644 });
    const isKept = files();
    expect(["a.txt", "new.ts", "run.sh", ".git/modules/m9/config"].map((path) => isKept(`project/${path}`))).toEqual([
      ...[false, false, false, true],
    ]);
    expect(classes(["run.sh", "a.txt"])).toEqual(["ask", "free"]);
  });

  test("names that land by approval need one, and so does what a hook names", () => {
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(root, ".git/hooks/pre-push"), "#!/bin/sh\nsh ci/a.sh\n", { mode: 0o755 });
    mkdirSync(join(root, "ci"));
    for (const name of ["ci/a.sh", "ci/b.sh"]) writeFileSync(join(root, name), "");
    const asked = ["AGENTS.md", ".envrc", ".mcp.json", ".github/workflows/ci.yml", "ci/a.sh"];
    expect(classes(asked)).toEqual(asked.map(() => "ask"));
    expect(classes(["AGENTS.mdx", ".envr", "ci/b.sh"])).toEqual(["free", "free", "free"]);
  });

  test("a configuration moves names between the classes", () => {
    const rule = (of: "allow" | "ask" | "never", name: string) => ({
      ...{ class: of, names: [name], place: "anywhere" as const },
    });
    const table = new TriggerTable({ rules: [rule("allow", ".envrc"), rule("ask", "deploy.sh"), rule("never", "x")] });
    expect(classes([".envrc", "deploy.sh", "x", ".npmrc"], table)).toEqual(["free", "ask", "never", "ask"]);
  });
});
