// The daemon in one file: a process of its own. The database's machine code stays where it was installed.
import { join } from "node:path";
import { root } from "./root.mjs";

export async function buildDaemon(folder) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/compose/daemon-main.ts"],
    outfile: join(folder, "daemon.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    // A package's module form first: an old-style wrapper hides its imports from the bundler.
    mainFields: ["module", "main"],
    // age is loaded from where it was installed, by the few who have a key for it, and costs nobody else a start.
    external: ["@photostructure/sqlite", "age-encryption"],
    minifyWhitespace: true,
    minifySyntax: true,
    // Names stay as they are, for the log, where a mistake is told with its trace. To put them back by code (`keepNames`) would
    // define a property of every function that is made, a dozen for each call.
    minifyIdentifiers: false,
    logLevel: "error",
  });
}
