// An npm package of a workspace with all its dependencies, resolved by Node's own rules: each package's files, and the
// links between them. Nothing outside of the workspace's node_modules.

import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { Failure } from "../../core/base/result.ts";
import { readTextFile } from "../../platform/files.ts";
import { readTree, type TreeFile, type TreeResult } from "./tree.ts";

const packagesMax = 500;
export const PACKAGE_BOUNDS = { files: 5_000, bytes: 33_554_432 } as const;
const manifestCharactersMax = 1_048_576;

/** Names that npm accepts, without those that lead elsewhere. */
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

export interface PackageFiles {
  readonly version: string;
  /** Below node_modules. */
  readonly files: readonly TreeFile[];
  /** Below node_modules, and the target of each, also below it. */
  readonly links: readonly (readonly [path: string, to: string])[];
  /** The folders that were read. */
  readonly folders: readonly string[];
}

export function readPackage(workspace: string, name: string): TreeResult<PackageFiles> {
  if (!NAME.test(name) || name.length > 214)
    return no(`${JSON.stringify(name.slice(0, 100))} is not a valid package name`);
  const top = realOf(join(workspace, "node_modules"));
  if (top === null) return no("node_modules is missing: install the package first");
  const inner = (path: string): string | null => {
    const below = relative(top, path);
    return below === "" || below.startsWith("..") ? null : below.split(sep).join("/");
  };
  const files: TreeFile[] = [];
  const links = new Map<string, string>();
  const seen = new Set<string>();
  let version = "";
  let left: number = PACKAGE_BOUNDS.bytes;
  const waiting: string[] = [];
  /** True where it exists. */
  const meet = (at: string): TreeResult<boolean> => {
    const real = realOf(at);
    if (real === null) return { ok: true, value: false };
    const [from, to] = [inner(at), inner(real)];
    if (from === null || to === null) return no(`${relative(workspace, at)} leads out of node_modules`);
    if (from !== to) links.set(from, to);
    if (!seen.has(real)) waiting.push(real);
    seen.add(real);
    return { ok: true, value: true };
  };
  const first = meet(join(top, name));
  if (!first.ok) return first;
  if (!first.value) return no("it is not installed in this workspace's node_modules");
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    if (seen.size > packagesMax) return no(`it depends on more than ${packagesMax} packages`);
    const manifest = manifestOf(folder);
    if (manifest === null) return no(`${relative(workspace, folder)} has no valid package.json`);
    version ||= manifest.version;
    const tree = readTree(folder, { files: PACKAGE_BOUNDS.files - files.length, bytes: left }, isSkipped);
    if (!tree.ok) return no(`${relative(workspace, folder)}: ${tree.message}`);
    const below = inner(folder) as string;
    for (const { path, bytes } of tree.value) {
      files.push({ path: `${below}/${path}`, bytes });
      left -= bytes.length;
    }
    for (const needed of manifest.needs) {
      const found = meetNeeded(folder, needed, top, meet);
      if (!found.ok) return found;
    }
  }
  return { ok: true, value: { version, files, links: [...links].sort(), folders: [...seen] } };
}

/** Like Node: beside the package, then one folder further up, as far as node_modules itself. */
function meetNeeded(
  folder: string,
  name: string,
  top: string,
  meet: (at: string) => TreeResult<boolean>,
): TreeResult<boolean> {
  for (let at = folder; at.startsWith(top); at = dirname(at)) {
    if (at.endsWith(`${sep}node_modules`)) continue;
    const found = meet(at === top ? join(top, name) : join(at, "node_modules", name));
    if (!found.ok || found.value || at === top) return found;
  }
  return meet(join(top, name));
}

/** Nested packages are found when they are needed. */
export function isSkipped(name: string): boolean {
  return name === "node_modules" || name === ".git" || name === ".cache";
}

interface Manifest {
  readonly version: string;
  readonly needs: readonly string[];
}

function manifestOf(folder: string): Manifest | null {
  const content = readTextFile(join(folder, "package.json"), manifestCharactersMax);
  try {
    const value: unknown = content.ok ? JSON.parse(content.text) : null;
    if (typeof value !== "object" || value === null) return null;
    const map = value as Readonly<Record<string, unknown>>;
    const needs = ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((key) => {
      const list = map[key];
      return typeof list === "object" && list !== null ? Object.keys(list) : [];
    });
    const version = typeof map["version"] === "string" ? map["version"].slice(0, 64) : "";
    return { version: version || "0", needs: [...new Set(needs)].filter((one) => NAME.test(one)) };
  } catch {
    return null;
  }
}

function realOf(path: string): string | null {
  try {
    lstatSync(path);
    return realpathSync(path);
  } catch {
    return null;
  }
}

function no(message: string): Failure {
  return { ok: false, message };
}
