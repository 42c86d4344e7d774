// ambit as installed: the built programs of this checkout, in a folder that any caller may read.
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../e2e/ambit.ts";

/** Installs it in the folder and returns the file to start. Every user who may read the folder may run it. */
export function installInto(folder: string): string {
  const native = join("dist", "native", process.arch, "ambit-native");
  if (!existsSync(join(root, native))) throw new Error("there is no native program, so there is nothing to attack");
  for (const below of ["bin", dirname(native)]) mkdirSync(join(folder, below), { recursive: true });
  // With the code cache, as an installation has it after its first start.
  const programs = readdirSync(join(root, "dist")).filter((name) => /\.(cjs|compiled)$/.test(name));
  const files = [
    native,
    join("bin", "ambit"),
    join("bin", "package.json"),
    ...programs.map((name) => join("dist", name)),
  ];
  for (const file of files) copyFileSync(join(root, file), join(folder, file));
  // The database driver's native code is in a package of its own.
  writeFileSync(join(folder, "package.json"), "{}\n");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return join(folder, "bin", "ambit");
}
