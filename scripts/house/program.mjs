// What is built from the sources: the package's entry points with their declarations, and one bundle for each program.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildBundles, buildDoors } from "./bundles.mjs";
import { run } from "./child.mjs";
import { warmCodeCache } from "./code-cache.mjs";
import { programDigest, stampAt } from "./digest.mjs";
import { root } from "./root.mjs";

const dist = join(root, "dist");
const building = join(root, ".building");
const next = join(building, "next");

export function programMissing() {
  return stampAt(join(dist, ".stamp")) !== programDigest();
}

/** Builds beside dist and then replaces it, so that a process that runs the program meanwhile finds a complete one. */
export async function buildProgram() {
  // Taken before the sources are read: edits during the build are built next time.
  const digest = programDigest();
  rmSync(building, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  await Promise.all([declareDoors(), buildDoors(next), buildBundles(next)]);
  writeFileSync(join(next, ".stamp"), `${digest}\n`);
  replaceDist();
  await warmCodeCache();
}

async function declareDoors() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const built = await run([process.execPath, tsc, "-p", "tsconfig.build.json", "--outDir", next]);
  if (!built.ok) throw new Error(`the declarations do not build:\n${built.output}`);
}

function replaceDist() {
  // The runners' own bundles are kept: one of them may be about to start. The native program is built separately.
  for (const kept of ["dev", "native"])
    if (existsSync(join(dist, kept))) renameSync(join(dist, kept), join(next, kept));
  if (existsSync(dist)) renameSync(dist, join(building, "replaced"));
  renameSync(next, dist);
  rmSync(building, { recursive: true, force: true });
}
