// Projects for ordinary work: a repository, a lock file with packages in a folder beside it, TypeScript, C.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootFolder } from "../place.ts";
import type { Argv } from "./draft-programs.ts";

export interface Work {
  readonly name: string;
  readonly turnsCount: number;
  readonly argv: Argv;
  make(project: string): void;
  /** Before each turn, not timed: resets the work. `turn`: another number each time. */
  reset(project: string, turn: number): void;
  /** After each turn, not timed. Throws if the work was not done. */
  check(project: string): void;
}

const repositoryFilesCount = 1_000;
const packagesCount = 300;
const sourcesCount = 36;
const tenFilesCount = 10;

export const NEW_FILES = "10,000 new files";
export const TEN_FILES = "ten new files";
export const NOTHING = "nothing written";

const AUTHOR = ["-c", "user.name=bench", "-c", "user.email=bench@example.test"];

export const WORKS: readonly Work[] = [
  {
    name: "git status, 1,000 files",
    turnsCount: 9,
    argv: ["git", "status", "--porcelain"],
    make: makeRepository,
    reset: () => undefined,
    check: () => undefined,
  },
  {
    name: "git commit of one file",
    turnsCount: 9,
    argv: ["git", ...AUTHOR, "commit", "-q", "-m", "another", "folder-0/file-0.txt"],
    make: makeRepository,
    reset: (project, turn) => writeFileSync(join(project, "folder-0", "file-0.txt"), `turn ${turn}\n`),
    check: (project) => {
      const left = git(project, "status", "--porcelain");
      if (left !== "") throw new Error(`not committed: ${left}`);
    },
  },
  {
    name: `npm ci, ${packagesCount} packages`,
    turnsCount: 3,
    argv: ["npm", "ci", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"],
    make: makePackages,
    reset: (project) => remove(project, "node_modules"),
    check: (project) => void readFileSync(join(project, "node_modules", `p${packagesCount - 1}`, "index.js")),
  },
  {
    name: `tsc, ${sourcesCount} files`,
    turnsCount: 3,
    argv: ["node", "node_modules/typescript/lib/tsc.js", "-p", "."],
    make: makeTypeScript,
    reset: (project) => remove(project, "out"),
    check: (project) => void readFileSync(join(project, "out", `part-${sourcesCount - 1}.js`)),
  },
  {
    name: `C build, ${sourcesCount} files`,
    turnsCount: 3,
    argv: ["sh", "-c", "mkdir out && for one in *.c; do cc -O1 -c $one -o out/$one.o; done && cc out/*.o -o out/all"],
    make: makeC,
    reset: (project) => remove(project, "out"),
    check: (project) => void execFileSync(join(project, "out", "all")),
  },
  {
    name: NEW_FILES,
    turnsCount: 3,
    argv: [
      "sh",
      "-c",
      'at=0; while [ $at -lt 100 ]; do mkdir -p new/$at; in=0; while [ $in -lt 100 ]; do echo "$at $in" > new/$at/$in; in=$((in+1)); done; at=$((at+1)); done',
    ],
    make: () => undefined,
    reset: (project) => remove(project, "new"),
    check: (project) => {
      if (readFileSync(join(project, "new", "99", "99"), "latin1") !== "99 99\n") throw new Error(NEW_FILES);
    },
  },
];

/** Besides `ro`, which has no draft: the cost of a writable root. */
export const SMALL_WORKS: readonly Work[] = [
  {
    name: NOTHING,
    turnsCount: 20,
    argv: ["true"],
    make: () => undefined,
    reset: () => undefined,
    check: () => undefined,
  },
  {
    name: TEN_FILES,
    turnsCount: 20,
    argv: ["sh", "-c", "for one in 0 1 2 3 4 5 6 7 8 9; do echo $one > new-$one.txt; done"],
    make: () => undefined,
    reset: (project) => {
      for (let at = 0; at < tenFilesCount; at++) remove(project, `new-${at}.txt`);
    },
    check: (project) => {
      for (let at = 0; at < tenFilesCount; at++) readFileSync(join(project, `new-${at}.txt`));
    },
  },
];

function remove(project: string, name: string): void {
  rmSync(join(project, name), { recursive: true, force: true });
}

function git(project: string, ...words: readonly string[]): string {
  return execFileSync("git", [...words], { cwd: project, encoding: "utf8" });
}

function makeRepository(project: string): void {
  git(project, "init", "-q");
  // Otherwise some commits start a garbage collection in the background.
  git(project, "config", "gc.auto", "0");
  for (let at = 0; at < repositoryFilesCount; at++) {
    const folder = join(project, `folder-${at % 50}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${Math.floor(at / 50)}.txt`), `file ${at}\n`.repeat(20));
  }
  git(project, "add", ".");
  git(project, ...AUTHOR, "commit", "-q", "-m", "first");
}

/** Each package is a folder of five small files, packed beside the lock file. */
function makePackages(project: string): void {
  const packs = join(project, "packs");
  const source = join(packs, "package");
  mkdirSync(join(source, "lib"), { recursive: true });
  const dependencies: Record<string, string> = {};
  const packages: Record<string, object> = {};
  for (let at = 0; at < packagesCount; at++) {
    const name = `p${at}`;
    writeFileSync(join(source, "package.json"), JSON.stringify({ name, version: "1.0.0", main: "index.js" }));
    for (const file of ["index.js", "lib/a.js", "lib/b.js", "README.md"])
      writeFileSync(join(source, file), `// ${name} ${file}\n`.repeat(40));
    const pack = `${name}.tgz`;
    execFileSync("tar", ["czf", pack, "package"], { cwd: packs });
    const integrity = `sha512-${createHash("sha512")
      .update(readFileSync(join(packs, pack)))
      .digest("base64")}`;
    dependencies[name] = `file:packs/${pack}`;
    packages[`node_modules/${name}`] = { version: "1.0.0", resolved: `file:packs/${pack}`, integrity };
  }
  rmSync(source, { recursive: true });
  const own = { name: "work", version: "1.0.0", dependencies };
  writeFileSync(join(project, "package.json"), JSON.stringify(own));
  const lock = { name: "work", version: "1.0.0", lockfileVersion: 3, packages: { "": own, ...packages } };
  writeFileSync(join(project, "package-lock.json"), JSON.stringify(lock));
}

function makeTypeScript(project: string): void {
  cpSync(join(rootFolder, "node_modules", "typescript"), join(project, "node_modules", "typescript"), {
    recursive: true,
    dereference: true,
  });
  const compilerOptions = { outDir: "out", declaration: true, strict: true, module: "nodenext", types: [] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: sources("ts") }));
  for (let at = 0; at < sourcesCount; at++) {
    const lines = [at === 0 ? "" : `import { type Shape0 } from "./part-${at - 1}.js";`];
    for (let part = 0; part < 20; part++)
      lines.push(
        `export interface Shape${part} { readonly name: string; readonly sizes: readonly number[] }`,
        `export function sum${part}(one: Shape${part}): number { return one.sizes.reduce((a, b) => a + b, ${at}); }`,
      );
    if (at > 0) lines[0] = lines[0]?.replace("Shape0", "Shape0 as Before") ?? "";
    if (at > 0) lines.push("export const before: Before | null = null;");
    writeFileSync(join(project, `part-${at}.ts`), `${lines.join("\n")}\n`);
  }
}

function makeC(project: string): void {
  for (let at = 0; at < sourcesCount; at++) {
    const body = Array.from(
      { length: 20 },
      (_, part) =>
        `int part_${at}_${part}(int value) { char text[64]; return snprintf(text, 64, "%d", value + ${part}); }`,
    );
    const main = at === 0 ? ["int main(void) { return part_0_0(1) != 1; }"] : [];
    writeFileSync(
      join(project, `part-${at}.c`),
      `#include <stdio.h>\n#include <stdlib.h>\n${[...body, ...main].join("\n")}\n`,
    );
  }
}

function sources(ending: string): readonly string[] {
  return Array.from({ length: sourcesCount }, (_, at) => `part-${at}.${ending}`);
}
