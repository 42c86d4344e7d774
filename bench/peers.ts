// The engines we compare with: a package of their own, installed on first use, loaded by name from there.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { benchFolder } from "./place.ts";

const stamp = join(benchFolder, "node_modules", ".ambit-stamp");
const install = ["npm", "ci", "--prefix", benchFolder, "--no-audit", "--no-fund", "--prefer-offline"];

/** Installs what the lock file says, unless it is installed already. */
export function installPeers(): void {
  const digest = peersDigest();
  if (stampText() === digest) return;
  console.error(`bench: ${install.join(" ")}`);
  const [program = "", ...rest] = install;
  const { status, error } = spawnSync(program, rest, { cwd: benchFolder, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Error(`the peers could not be installed${error === undefined ? "" : `: ${error.message}`}`);
  writeFileSync(stamp, `${digest}\n`);
}

/** A peer by its CommonJS entry point. The caller declares, by an interface of its own, what it uses. */
export function loadPeer(name: string): unknown {
  return createRequire(join(benchFolder, "package.json"))(name);
}

function peersDigest(): string {
  const sum = createHash("sha256");
  for (const name of ["package.json", "package-lock.json"])
    sum.update(readFileSync(join(benchFolder, name))).update("\0");
  return sum.digest("hex");
}

function stampText(): string | null {
  try {
    return readFileSync(stamp, "utf8").trim();
  } catch {
    return null;
  }
}
