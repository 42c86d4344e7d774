// The build fallback on a system with musl: the sources use no function that only glibc has, and the program runs.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { ownFolder } from "../house/own-folder.ts";

const hasCompiler = spawnSync("musl-gcc", ["--version"]).status === 0;

test.skipIf(!hasCompiler)("the native program builds with musl, and runs without a C library beside it", () => {
  const sources = join(root, "native");
  const files = readdirSync(sources).filter((name) => name.endsWith(".c"));
  const program = join(ownFolder("ambit-musl-"), "ambit-native");
  // musl-gcc leaves out the kernel's headers, which a system with musl has beside its own.
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  const headers = ["/usr/include", `/usr/include/${machine}-linux-gnu`].flatMap((folder) => ["-idirafter", folder]);
  const flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-static", "-Werror=implicit-function-declaration", ...headers];
  execFileSync("musl-gcc", [...flags, "-o", program, ...files.map((name) => join(sources, name))], { stdio: "pipe" });
  const facts: unknown = JSON.parse(execFileSync(program, ["facts"], { encoding: "utf8" }));
  expect(facts).toMatchObject({ protocol: 1, arch: machine });
});
