// ambit as installed: the built programs of this checkout, in a folder that any caller may read.
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../e2e/ambit.ts";

const DATABASE = join("dist", "sqlite");

/** Installs it in the folder and returns the file to start. Every user who may read the folder may run it. */
export function installInto(folder: string): string {
  const native = join("dist", "native", process.arch, "ambit-native");
  if (!existsSync(join(root, native))) throw new Error("there is no native program, so there is nothing to attack");
  for (const below of ["bin", dirname(native), DATABASE]) mkdirSync(join(folder, below), { recursive: true });
  // With the code cache, as an installation has it after its first start.
  const programs = readdirSync(join(root, "dist")).filter((name) => /\.(cjs|compiled)$/.test(name));
  const files = [
    native,
    join("bin", "ambit"),
    join("bin", "package.json"),
    ...programs.map((name) => join("dist", name)),
    ...readdirSync(join(root, DATABASE)).map((name) => join(DATABASE, name)),
  ];
  for (const file of files) copyFileSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, "package.json"), "{}\n");
  return join(folder, "bin", "ambit");
}
