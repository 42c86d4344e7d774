// What npm resolved, from its lock file: the version of a package, everything that is installed with it, and which of these have
// install scripts. INVARIANT: every package is from the registry that was asked, and has an integrity, or the lock is refused.

import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { Failure, Result } from "../core/base/result.ts";
import { INTEGRITY } from "../core/notation/servers/server-package.ts";
import type { ResolvedPackage } from "./resolved-package.ts";

export type NpmLockResult = Result<ResolvedPackage, Failure>;

const packagesMax = 10_000;
const TOP = "node_modules/";

/** `registry`: the address that the packages are from. `isThere`: whether npm wrote the folder of a package. */
export function readNpmLock(
  lock: Json,
  name: string,
  registry: string,
  isThere: (path: string) => boolean,
): NpmLockResult {
  const packages = isJsonObject(lock) ? member(lock, "packages") : undefined;
  if (!isJsonObject(packages)) return refuse("the lock file that npm wrote cannot be parsed");
  const paths = Object.keys(packages).filter((path) => path !== "");
  if (paths.length > packagesMax) return refuse(`it needs more than ${packagesMax} packages`);
  const found = packages[TOP + name];
  if (!isJsonObject(found)) return refuse(`npm did not install ${name}`);
  const lines: string[] = [];
  const scripts: string[] = [];
  for (const path of paths.toSorted()) {
    const entry = packages[path];
    if (!isJsonObject(entry)) return refuse("the lock file that npm wrote cannot be parsed");
    const { version, integrity, resolved, link, inBundle } = entry as Readonly<Record<string, Json | undefined>>;
    const called = path.slice(path.lastIndexOf(TOP) + TOP.length);
    const isBundled = inBundle === true;
    if (link === true || typeof version !== "string" || !isFrom(resolved, registry))
      return refuse(`it needs ${called} from outside the registry, which cannot be pinned`);
    // npm fetches what an archive should bundle and lacks, and such a package has no integrity.
    if (isBundled && isThere(path))
      return refuse(`it needs ${called}@${version} from inside the archive of another package, which cannot be pinned`);
    if (!isBundled && (typeof integrity !== "string" || !INTEGRITY.test(integrity)))
      return refuse(`the registry has no SHA-2 integrity for ${called}@${version}`);
    lines.push(`${path} ${version} ${isBundled ? "absent" : String(integrity)}`);
    if (entry["hasInstallScript"] === true) scripts.push(`${called}@${version}`);
  }
  const { version, integrity } = found as { readonly version: string; readonly integrity?: Json };
  if (typeof integrity !== "string") return refuse(`the registry has no integrity for ${name}`);
  const programs = programsOf(found, name);
  return {
    ok: true,
    value: { version, integrity, lines: `${lines.join("\n")}\n`, packages: paths.length, scripts, programs },
  };
}

/** npm leaves addresses of the registry out of a lock; those that it writes are of the same host. */
function isFrom(resolved: Json | undefined, registry: string): boolean {
  return resolved === undefined || (typeof resolved === "string" && resolved.startsWith(originOf(registry)));
}

export function originOf(address: string): string {
  return `${/^https?:\/\/[^/]+/.exec(address)?.[0] ?? address}/`;
}

function programsOf(entry: JsonObject, name: string): readonly string[] {
  const bin = member(entry, "bin");
  if (isJsonObject(bin)) return Object.keys(bin).toSorted();
  return typeof bin === "string" ? [name.slice(name.indexOf("/") + 1)] : [];
}

function refuse(message: string): Extract<NpmLockResult, { ok: false }> {
  return { ok: false, message };
}
