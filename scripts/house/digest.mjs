// Fingerprints of installed and built files, so that setup does nothing twice.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

/** What determines the installed packages. A renamed script does not. */
export function packagesDigest() {
  const { engines, dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(read("package.json"));
  const wanted = { engines, dependencies, devDependencies, optionalDependencies, overrides };
  // Some packages contain native code, so a checkout used from another machine needs its own install.
  const machine = [process.platform, process.arch];
  return hash([JSON.stringify(wanted), read("package-lock.json"), read(".npmrc"), ...machine]);
}

/** What determines the contents of dist: sources without their tests, the build's own files, the bundled packages. */
export function programDigest() {
  const files = [
    ...walk("src").filter((path) => !path.endsWith(".test.ts")),
    "bin/ambit",
    "scripts/house/bundles.mjs",
    "scripts/house/code-cache.mjs",
    "scripts/house/program.mjs",
    "tsconfig.base.json",
    "tsconfig.build.json",
  ];
  return hash([packagesDigest(), ...files.flatMap((path) => [path, read(path)])]);
}

/** The stamp stored at a path, or nothing if there is none. */
export function stampAt(path) {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function walk(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const paths = entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
  return paths.sort();
}

function read(path) {
  return readFileSync(join(root, path));
}

function hash(parts) {
  const sum = createHash("sha256");
  // Each part has its length, so that no two lists of parts give the same bytes.
  for (const part of parts) sum.update(`${Buffer.byteLength(part)}:`).update(part);
  return sum.digest("hex");
}
