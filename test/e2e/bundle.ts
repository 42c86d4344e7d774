// Bundles one TypeScript file into a program that Node runs, built as the command line is. Once for each test file that needs it.
import { join } from "node:path";
import { build } from "esbuild";
import { ownFolder } from "../house/own-folder.ts";
import { root } from "./ambit.ts";

const programs = new Map<string, Promise<string>>();

/** The path of the program, which is removed at the end of the test file. */
export function bundleProgram(entry: string): Promise<string> {
  const made = programs.get(entry) ?? bundle(entry);
  programs.set(entry, made);
  return made;
}

async function bundle(entry: string): Promise<string> {
  const path = join(ownFolder("ambit-program-"), "program.cjs");
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    mainFields: ["module", "main"],
    logLevel: "error",
  });
  return path;
}
