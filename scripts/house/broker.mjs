// The network broker in one file: a process of its own that loads nothing else.
import { join } from "node:path";
import { root } from "./root.mjs";

export async function buildBroker(folder) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/broker/main.ts"],
    outfile: join(folder, "broker.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    minify: true,
    logLevel: "error",
  });
}
