// What is built from the sources: the package's entry points with their declarations, and one bundle for each program.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buildBundles, buildDoors } from "./bundles.mjs";
import { run } from "./child.mjs";
import { warmCodeCache } from "./code-cache.mjs";
import { programDigest, stampAt } from "./digest.mjs";
import { architectures } from "./native.mjs";
import { root } from "./root.mjs";

const dist = join(root, "dist");
const building = join(root, ".building");
const next = join(building, "next");
const databasePackage = "node_modules/@photostructure/sqlite";

export function programMissing() {
  return stampAt(join(dist, ".stamp")) !== programDigest();
}

/** Builds beside dist and then replaces it, so that a process that runs the program meanwhile finds a complete one. */
export async function buildProgram() {
  // Taken before the sources are read: edits during the build are built next time.
  const digest = programDigest();
  rmSync(building, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  const [packages] = await Promise.all([buildBundles(next), declareDoors(), buildDoors(next)]);
  copyDatabase();
  writeFileSync(join(next, "third-party.txt"), noticesOf([...packages, databasePackage]));
  writeFileSync(join(next, ".stamp"), `${digest}\n`);
  replaceDist();
  await warmCodeCache();
}

async function declareDoors() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const built = await run([process.execPath, tsc, "-p", "tsconfig.build.json", "--outDir", next]);
  if (!built.ok) throw new Error(`the declarations do not build:\n${built.output}`);
}

/** SQLite for Node 20, for the platforms that the package is for. The package has more of them, and the sources: 29 MB. */
function copyDatabase() {
  mkdirSync(join(next, "sqlite"));
  for (const architecture of architectures)
    for (const library of ["glibc", "musl"])
      copyFileSync(
        join(root, databasePackage, "prebuilds", `linux-${architecture}`, `@photostructure+sqlite.${library}.node`),
        join(next, "sqlite", `linux-${architecture}-${library}.node`),
      );
}

/** The licences of what is copied into dist: their authors ask that the text goes with every copy. */
function noticesOf(packages) {
  return [...new Set(packages)].sort().map(noticeOf).join("\n");
}

function noticeOf(path) {
  const folder = join(root, path);
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text =
    file === undefined ? "(the package has no file with the text)" : readFileSync(join(folder, file), "utf8").trim();
  return `${"=".repeat(80)}\n${name} ${version}, ${license}\n\n${text}\n`;
}

function replaceDist() {
  // The runners' own bundles are kept: one of them may be about to start. The native program is built separately.
  for (const kept of ["dev", "native"])
    if (existsSync(join(dist, kept))) renameSync(join(dist, kept), join(next, kept));
  if (existsSync(dist)) renameSync(dist, join(building, "replaced"));
  renameSync(next, dist);
  rmSync(building, { recursive: true, force: true });
}
