// Bundles one TypeScript file into a program that Node runs, built as the command line is.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";

export interface Program {
  readonly path: string;
  remove(): void;
}

export async function bundled(entry: string): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), "ambit-program-"));
  const path = join(folder, "program.cjs");
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
  return { path, remove: () => removeState(folder) };
}
