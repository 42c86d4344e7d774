// A process of its own in one file, which loads nothing else.
import { join } from "node:path";
import { root } from "./root.mjs";

export async function buildOneFile(folder, entry, name) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: join(folder, name),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    minify: true,
    logLevel: "error",
  });
}
