// The program that makes a page from outside readable, in one file: a process of its own that loads nothing else.
import { join } from "node:path";
import { root } from "./root.mjs";

export async function buildPage(folder) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/tools/web/page-main.ts"],
    outfile: join(folder, "page.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    // A package's module form first: an old-style wrapper hides its imports from the bundler.
    mainFields: ["module", "main"],
    // Wanted by nobody who draws nothing.
    external: ["canvas"],
    minify: true,
    logLevel: "error",
  });
}
