// The program inside a tool host, in one file: it is copied to where a sandbox sees it, and loads nothing but the tool.
import { join } from "node:path";
import { root } from "./root.mjs";

export async function buildToolHost(folder) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/compose/tool-host-main.ts"],
    outfile: join(folder, "tool-host.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    minify: true,
    logLevel: "error",
  });
}
