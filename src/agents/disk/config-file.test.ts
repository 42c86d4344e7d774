// Which configuration a folder has. Only a missing file counts as none: a file that cannot be read is a broken
// configuration.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { outOfReach } from "../../platform/path-target.ts";
import { authorityFiles } from "./authority-files.ts";
import { readConfigFile } from "./config-file.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-config-"));
  mkdirSync(join(base, "there"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (name: string): string => join(base, name);
const link = (name: string, target: string): void => symlinkSync(target, at(name));

function found(folder: string): string | null {
  const read = readConfigFile(at(folder), 1000, (path) => path.slice(base.length + 1));
  return read === null ? null : `${read.source.name} ${read.problem ?? `says ${read.source.text}`}`;
}

describe("none", () => {
  test.each<[string, string, () => void]>([
    ["the folder is empty", "there", () => undefined],
    ["there is no folder", "no/such", () => undefined],
    ["a link leads to a folder without one", "dotfiles", () => link("dotfiles", at("there"))],
    ["a link leads to a folder without the folder", "dotfiles/ambit", () => link("dotfiles", "there")],
  ])("if %s", (_, folder, make) => {
    make();
    expect(found(folder)).toBe(null);
    expect(outOfReach(at(`${folder}/config.yml`))).toBe(null);
  });
});

describe("one that cannot be read", () => {
  const AWAY = "is a broken link";

  test.each<[string, string, () => void, string]>([
    ["is a dangling link", "there", () => link("there/config.yml", at("disk/x.yml")), `there/config.yml ${AWAY}`],
    [
      "is a link to a dangling link",
      "there",
      () => {
        link("other", "disk/x.yml");
        link("there/config.yml", "../other");
      },
      `there/config.yml ${AWAY}`,
    ],
    [
      "is a link cycle",
      "there",
      () => link("there/config.yml", "config.yml"),
      "there/config.yml cannot be read (ELOOP)",
    ],
    ["is a folder", "there", () => mkdirSync(at("there/config.yml")), "there/config.yml is not a plain file"],
    [
      "has another name",
      "there",
      () => writeFileSync(at("there/config.yaml"), ""),
      "there/config.yaml is ignored: the file must be named config.yml",
    ],
    [
      "has another name and is a dangling link",
      "there",
      () => link("there/config.yaml", "disk/x.yml"),
      "there/config.yaml is ignored: the file must be named config.yml",
    ],
    [
      "has another name and is a link cycle",
      "there",
      () => link("there/config.yaml", "config.yaml"),
      "there/config.yaml is ignored: the file must be named config.yml",
    ],
  ])("%s", (_, folder, make, expected) => {
    make();
    expect(found(folder)).toBe(expected);
    rmSync(at(`${folder}/config.yml`), { recursive: true, force: true });
    rmSync(at(`${folder}/config.yaml`), { force: true });
    writeFileSync(at(`${folder}/config.yml`), "mode: enforce");
    expect(found(folder)).toBe(`${folder}/config.yml says mode: enforce`);
  });

  test.each(["dotfiles", "dotfiles/ambit"])("is behind a dangling link: %s", (folder) => {
    link("dotfiles", "disk");
    expect(found(folder)).toBe(`${folder}/config.yml cannot be reached: the link ${at("dotfiles")} is broken`);
    // The target of a link is not revealed to a user who cannot read it.
    expect(found(folder)).not.toContain("disk");
    mkdirSync(at("disk/ambit"), { recursive: true });
    writeFileSync(at(`${folder}/config.yml`), "");
    expect(found(folder)).toBe(`${folder}/config.yml says `);
  });
});

test.each(["file", "file/ambit"])("or is below a file: %s", (folder) => {
  writeFileSync(at("file"), "");
  expect(found(folder)).toBe(`${folder}/config.yml cannot be reached: ${at("file")} is not a folder`);
});

test("an unreadable file of a project is reported", () => {
  mkdirSync(at("there/.ambit"));
  expect(authorityFiles(at("there"), 1000)).toEqual({ files: [], problems: [] });
  link("there/.ambit/config.yml", "disk");
  link("there/.ambit/mcp.yml", "disk");
  expect(authorityFiles(at("there"), 1000).problems).toEqual([
    ".ambit/config.yml is a broken link",
    ".ambit/mcp.yml is a broken link",
  ]);
});
