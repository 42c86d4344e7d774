// The version of an installed client, read from its files. The client is not started for it: outside it would be unconfined.
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readTextFile } from "../../platform/files.ts";
import { isVersion } from "../client-version.ts";

export interface InstalledClient {
  /** As it was written: a name that is searched for, or a path. */
  readonly program: string;
  /** The folder that a relative path begins in. */
  readonly cwd: string;
  /** The search path inside. */
  readonly path: string;
  /** Names of packages whose version is the client's; also with a machine behind it, `NAME-linux-x64`. */
  readonly packages: readonly string[];
}

const packageCharactersMax = 262_144;
const levelsMax = 8;

/** Null where it cannot be told: then the client runs. */
export function installedVersion({ program, cwd, path, packages }: InstalledClient): string | null {
  const places = program.includes("/")
    ? [resolve(cwd, program)]
    : path.split(":").flatMap((folder) => (isAbsolute(folder) ? [join(folder, program)] : []));
  for (const place of places) {
    const real = realFile(place);
    if (real !== null) return versionAt(real, packages);
  }
  return null;
}

function realFile(path: string): string | null {
  try {
    const real = realpathSync(path);
    const facts = statSync(real);
    return facts.isFile() && (facts.mode & 0o111) !== 0 ? real : null;
  } catch {
    return null;
  }
}

/** Native installers name the file, or its folder, by its version; packages say it in their `package.json`. */
function versionAt(real: string, packages: readonly string[]): string | null {
  const named = [basename(real), basename(dirname(real))].find(isVersion);
  if (named !== undefined) return named;
  let folder = dirname(real);
  for (let level = 0; level < levelsMax && dirname(folder) !== folder; level++, folder = dirname(folder)) {
    const read = readTextFile(join(folder, "package.json"), packageCharactersMax);
    if (!read.ok) continue;
    const { name, version } = fieldsOf(read.text);
    const isOne = packages.some((one) => name === one || name.startsWith(`${one}-`));
    if (isOne && isVersion(version)) return version;
  }
  return null;
}

function fieldsOf(text: string): { readonly name: string; readonly version: string } {
  try {
    const read = JSON.parse(text) as { readonly name?: unknown; readonly version?: unknown } | null;
    return { name: String(read?.name ?? ""), version: String(read?.version ?? "") };
  } catch {
    return { name: "", version: "" };
  }
}
