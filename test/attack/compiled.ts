// The programs of the attacks, compiled by the system's own compiler: static, so that they run in any sandbox. Compiled once for
// the same sources.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/ambit.ts";

export interface Compiled {
  readonly probe: string;
  readonly keeper: string;
  readonly swapper: string;
}

export function compile(folder: string, from: string = join(root, "test", "attack")): Compiled {
  const one = (name: string): string => compileOne(from, name, folder);
  return { probe: one("probe"), keeper: one("keeper"), swapper: one("swapper") };
}

const COMPILED = join(root, "node_modules", ".cache", "ambit", "attack");

function compileOne(from: string, name: string, folder: string): string {
  const files = readdirSync(join(from, name)).sort();
  const digest = createHash("sha256");
  for (const file of files)
    digest
      .update(`${file}\0`)
      .update(readFileSync(join(from, name, file)))
      .update("\0");
  const made = join(COMPILED, `${name}-${digest.digest("hex")}`);
  if (!existsSync(made)) {
    mkdirSync(COMPILED, { recursive: true });
    const sources = files.filter((file) => file.endsWith(".c")).map((file) => join(from, name, file));
    renameSync(compiled(sources, join(COMPILED, `${name}-${process.pid}`)), made);
  }
  copyFileSync(made, join(folder, name));
  return join(folder, name);
}

function compiled(sources: readonly string[], program: string): string {
  const flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-o", program, ...sources];
  try {
    execFileSync("cc", ["-static", ...flags], { stdio: "pipe" });
  } catch {
    // Without a static C library they use the system's own, which every sandbox shows.
    execFileSync("cc", flags, { stdio: "pipe" });
  }
  return program;
}
