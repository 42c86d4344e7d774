// The programs of the attacks, compiled by the system's own compiler: static, so that they run in any sandbox.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
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

function compileOne(from: string, name: string, folder: string): string {
  const sources = readdirSync(join(from, name))
    .filter((file) => file.endsWith(".c"))
    .map((file) => join(from, name, file));
  const program = join(folder, name);
  const flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-o", program, ...sources];
  try {
    execFileSync("cc", ["-static", ...flags], { stdio: "pipe" });
  } catch {
    // Without a static C library they use the system's own, which every sandbox shows.
    execFileSync("cc", flags, { stdio: "pipe" });
  }
  return program;
}
