// The scan for ambient authority: known cases, hostile files, and the command over real folders.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, describe, expect, test } from "vitest";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { PLAIN } from "../terminal/paint.ts";
import { AMBIENT, CLEAN } from "../testing/ambient-cases.ts";
import { addTools } from "./command.ts";
import { toolFilesAt } from "./files.ts";
import { ambientUses } from "./scan.ts";

test.each(AMBIENT)("is found: %s", (code) => {
  expect(ambientUses(code)).not.toEqual([]);
});

test.each(CLEAN)("is left alone: %s", (code) => {
  expect(ambientUses(code)).toEqual([]);
});

test.each([
  ['import fs from "node:\\u0066s";', "node:fs"],
  ["const x = pro\\u0063ess.env;", "process.env"],
  ['f`${"a"}`; fetch(u)', "fetch"],
  ["x = `${`${fetch(u)}`}`", "fetch"],
  ["a = b\n/c/g.exec(fetch(u))", "fetch"],
  ["const r = /[/]fetch(x)/; fetch(u)", "fetch"],
  ["// it's\nfetch(u)", "fetch"],
  ["#!/usr/bin/env node\nfetch(u)", "fetch"],
  ["globalThis?.[name](u)", "globalThis[…]"],
  ["import a, { b } from 'net'", "net"],
  ["export * as x from 'net'", "net"],
])("%j is resolved", (code, name) => {
  expect(ambientUses(code)?.map((use) => use.name)).toContain(name);
});

test("hostile files are answered quickly", { timeout: 60_000 }, () => {
  const big = 1_000_000;
  for (const code of [
    "(",
    "[({",
    "=/[",
    "`${",
    "(((]",
    "import{",
    "import(",
    "import(a,",
    "'",
    "/*",
    "\\",
    "\u0000",
    "(a)=>",
    "process[",
    "}",
  ])
    expect(ambientUses(code.repeat(big / code.length))?.length ?? 0).toBeLessThanOrEqual(500);
  expect(ambientUses("a ".repeat(600_000))).toBeNull();
});

describe("ambit tools lint", () => {
  const folder = mkdtempSync(join(tmpdir(), "ambit-lint-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const tools = join(folder, ".ambit", "tools");
  mkdirSync(join(tools, "deep", "node_modules"), { recursive: true });
  writeFileSync(join(tools, "clean.ts"), "export const execute = (input, context) => context.net.fetch(input.url);\n");
  writeFileSync(join(tools, "deep", "dirty.mjs"), 'const a = 1;\nimport fs from "node:fs";\n');
  writeFileSync(join(tools, "deep", "node_modules", "other.js"), "eval(x);\n");
  writeFileSync(join(tools, "notes.md"), "fetch(url)\n");
  symlinkSync("/etc/passwd", join(tools, "link.js"));

  async function lint(...words: readonly string[]): Promise<{ exit: ExitCode; out: string; errors: string }> {
    const out: string[] = [];
    const errors: string[] = [];
    let exit: ExitCode = EXIT.ok;
    const program = new Command("ambit").exitOverride();
    const ports = {
      paint: PLAIN,
      toolFiles: toolFilesAt(folder),
      print: (text: string) => void out.push(text),
      printError: (text: string) => void errors.push(text),
    };
    addTools(program, ports, (code) => {
      exit = code;
    });
    await program.parseAsync(["tools", "lint", ...words], { from: "user" });
    return { exit, out: out.join("\n"), errors: errors.join("\n") };
  }

  test("shows file, line, caret, reason and fix, and exits with 1", async () => {
    const { exit, out, errors } = await lint();
    expect(exit).toBe(EXIT.error);
    expect(out).toContain("error[ambient_authority]: node:fs reaches files outside the tool's declaration");
    expect(out).toContain("--> .ambit/tools/deep/dirty.mjs:2:16");
    expect(out).toContain('2 | import fs from "node:fs";');
    expect(out).toMatch(/\^{9}/);
    expect(out).toContain("fix: use context.files");
    expect(out).toContain("1 finding in 2 files");
    expect(errors).toContain("link.js: symbolic links are not followed");
    expect(out).not.toContain("node_modules");
  });

  test("of clean files exits with 0", async () => {
    expect(await lint(".ambit/tools/clean.ts")).toMatchObject({ exit: EXIT.ok, out: expect.stringContaining("clean") });
  });

  test("as JSON", async () => {
    const { exit, out } = await lint("--json");
    expect(exit).toBe(EXIT.error);
    expect(JSON.parse(out)).toEqual({
      files: 2,
      findings: [
        {
          file: ".ambit/tools/deep/dirty.mjs",
          line: 2,
          column: 16,
          name: "node:fs",
          why: "files outside the tool's declaration",
          use: "context.files",
        },
      ],
      problems: [{ file: ".ambit/tools/link.js", message: "symbolic links are not followed" }],
    });
  });

  test("of a missing file is reported, unless it was not named", async () => {
    expect(await lint("nowhere.js")).toMatchObject({ exit: EXIT.error });
    rmSync(join(folder, ".ambit"), { recursive: true });
    expect(await lint()).toMatchObject({ exit: EXIT.ok, out: expect.stringContaining("no tools") });
  });
});
