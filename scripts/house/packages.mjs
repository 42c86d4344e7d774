// The packages in node_modules, kept equal to the lock file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "./child.mjs";
import { packagesDigest, stampAt } from "./digest.mjs";
import { root, say } from "./root.mjs";

const stamp = join(root, "node_modules", ".ambit-stamp");

export function packagesMissing() {
  return stampAt(stamp) !== packagesDigest();
}

/** Installs exactly what the lock file says. The stamp is written last, so an interrupted install is repeated. */
export async function installPackages() {
  const digest = packagesDigest();
  if (!installedByHand()) {
    say("installing packages (npm ci)");
    const installed = await run([
      ...npm(),
      "ci",
      "--include=dev",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
      "--ignore-scripts",
    ]);
    if (!installed.ok) {
      throw new Error(`npm ci failed:\n${installed.output}`);
    }
  }
  writeFileSync(stamp, `${digest}\n`);
}

/**
 * Whether a person already ran npm here and it finished: npm writes its own list of node_modules last, and that list names every
 * package of our lock at the same version.
 */
function installedByHand() {
  try {
    const locked = packagesIn("package-lock.json");
    const present = packagesIn("node_modules/.package-lock.json");
    const complete = Object.entries(locked).every(([path, entry]) => path === "" || entry.optional || path in present);
    const same = Object.entries(present).every(
      ([path, entry]) =>
        entry.version === locked[path]?.version &&
        entry.integrity === locked[path]?.integrity &&
        existsSync(join(root, path, "package.json")),
    );
    // Native code comes as optional packages, one for each platform; if esbuild's is installed, so are the others.
    return complete && same && `node_modules/@esbuild/${process.platform}-${process.arch}` in present;
  } catch {
    return false;
  }
}

function packagesIn(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8")).packages;
}

/** The npm that started us, when one did; else the one on PATH. */
function npm() {
  const started = process.env.npm_execpath ?? "";
  return basename(started) === "npm-cli.js" ? [process.execPath, started] : ["npm"];
}
