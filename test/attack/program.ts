// ambit as installed, built from the current sources: the command line, the daemon, the broker, the native program.
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "../e2e/ambit.ts";

/** Installs it in the folder and returns the file to start. Every user who may read the folder may run it. */
export async function installInto(folder: string): Promise<string> {
  const dist = join(folder, "dist");
  mkdirSync(join(dist, "native", process.arch), { recursive: true });
  const bundle = (entry: string, name: string): Promise<unknown> =>
    build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: join(dist, name),
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      mainFields: ["module", "main"],
      logLevel: "error",
    });
  await Promise.all([
    bundle("src/main/cli.ts", "ambit.cjs"),
    bundle("src/sandbox/network/main.ts", "broker.cjs"),
    bundle("src/main/daemon-main.ts", "daemon.cjs"),
  ]);
  // The database driver's native code is in a package of its own.
  writeFileSync(join(folder, "package.json"), "{}\n");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  copyFileSync(await nativeProgram(), join(dist, "native", process.arch, "ambit-native"));
  const start = join(folder, "start.cjs");
  writeFileSync(start, 'require("./dist/ambit.cjs").start(process.argv.slice(2));\n');
  return start;
}

/** Built if missing, by the same rules as for use. */
async function nativeProgram(): Promise<string> {
  const house = pathToFileURL(join(root, "scripts", "house", "native.mjs")).href;
  const { buildNative } = (await import(house)) as { buildNative(): Promise<string | undefined> };
  const path = await buildNative();
  if (path === undefined) throw new Error("there is no C compiler, so there is nothing to attack");
  return path;
}
