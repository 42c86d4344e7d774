// The person's own settings of a client, read from their home for the client's home in a sandbox: bounded, plain files
// only, nothing protected, nothing with a credential in it.

import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type ParseError, parse } from "jsonc-parser";
import { holdsCredential } from "../../clients/credential-patterns.ts";
import type { ClientSetting } from "../../clients/profile.ts";
import { type InsidePaths, plainLines, sandboxSettings, tomlText } from "../../clients/settings.ts";
import { errorCode } from "../../core/base/error-code.ts";
import { copyJson, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import { CERTIFICATE_VARIABLES, readCertificates } from "../../platform/certificate-files.ts";
import { readToml } from "../../text/toml.ts";

export interface SettingFile {
  /** Below the home folder. */
  readonly path: readonly string[];
  readonly content: Buffer;
}

export interface ReadSettings {
  readonly files: readonly SettingFile[];
  /** For a person: what was left out, and why. */
  readonly notes: readonly string[];
}

export interface RealHome {
  /** Null: the user has none. */
  readonly folder: string | null;
  /** Whether no program may see this real path. Checked for targets of links and files found in folders, not for files that a profile names. */
  isProtected(path: string): boolean;
}

/** Where certificates of the person's own are, below the home folder. */
export const CERTIFICATES: readonly string[] = [".ambit", "certificates"];

const fileBytesMax = 1_048_576;
const filesMax = 500;
const depthMax = 4;
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function readSettings(setting: ClientSetting, home: RealHome, paths: InsidePaths): ReadSettings {
  const names = setting.path.split("/");
  switch (setting.kind) {
    case "json":
    case "toml": {
      const found = textOf(names, home);
      const own = found.text === null ? null : objectIn(found.text, setting.kind);
      const unread =
        found.text !== null && own === null
          ? [`${setting.path} is not copied: it cannot be read as ${setting.kind}`]
          : [];
      const { value, dropped } = sandboxSettings(own, setting, paths);
      const left = dropped.length === 0 ? [] : [`${setting.path}: left out ${dropped.slice(0, 8).join(", ")}`];
      const notes = [...found.notes, ...unread, ...left];
      // A file that neither exists nor has anything to say is not made.
      if (Object.keys(value).length === 0) return { files: [], notes };
      const text = setting.kind === "toml" ? tomlText(value) : `${JSON.stringify(value, null, 2)}\n`;
      return { files: [{ path: names, content: Buffer.from(text) }], notes };
    }
    case "text":
      return plainFile(names, home);
    case "lines":
      return plainLinesOf(setting, home, paths);
    case "folder":
      return folderFiles(names, setting.endings, home);
    default:
      return setting satisfies never;
  }
}

/** The file of certificates that a line names is copied, and the line names the copy. */
function plainLinesOf(
  { path, authorities }: Extract<ClientSetting, { readonly kind: "lines" }>,
  home: RealHome,
  paths: InsidePaths,
): ReadSettings {
  const names = path.split("/");
  const found = textOf(names, home);
  if (found.text === null) return { files: [], notes: found.notes };
  const { lines, dropped } = plainLines(found.text, authorities ?? null);
  const notes = [
    ...found.notes,
    ...(dropped.length === 0 ? [] : [`${path}: left out ${dropped.slice(0, 8).join(", ")}`]),
  ];
  const files: SettingFile[] = [];
  const kept = lines.flatMap((line) => {
    if (typeof line === "string") return [line];
    const read = readCertificates(line.authorities.replace(/^~(?=\/)/, home.folder ?? "~"));
    if (!read.ok) {
      notes.push(`${path}: left out ${authorities}: ${read.why}`);
      return [];
    }
    const copy = certificatePath(names.join("-").replace(/^\./, ""));
    files.push({ path: copy, content: Buffer.from(read.text) });
    return [`${authorities} = ${[paths.home, ...copy].join("/")}`];
  });
  return { files: [{ path: names, content: Buffer.from(kept.join("\n")) }, ...files], notes };
}

/** Below the home folder. */
function certificatePath(name: string): readonly string[] {
  return [...CERTIFICATES, `${name}.pem`];
}

/** Files of certificates that variables name, and the same variables as they are inside. */
export function readAuthorities(
  environment: Readonly<Record<string, string | undefined>>,
  paths: Pick<InsidePaths, "home">,
): ReadSettings & { readonly variables: readonly (readonly [name: string, value: string])[] } {
  const files: SettingFile[] = [];
  const notes: string[] = [];
  const variables: (readonly [string, string])[] = [];
  /** Most machines name one file in all of the variables: it is read and copied once. */
  const read = new Map<string, { readonly result: ReturnType<typeof readCertificates>; readonly path: string }>();
  for (const name of CERTIFICATE_VARIABLES) {
    const value = environment[name] ?? "";
    if (value === "") continue;
    let one = read.get(value);
    if (one === undefined) {
      const path = certificatePath(name.toLowerCase());
      one = { result: readCertificates(value), path: [paths.home, ...path].join("/") };
      read.set(value, one);
      if (one.result.ok) files.push({ path, content: Buffer.from(one.result.text) });
    }
    if (one.result.ok) variables.push([name, one.path]);
    else notes.push(`${name} is not passed on: ${one.result.why}`);
  }
  return { files, notes, variables };
}

function plainFile(path: readonly string[], home: RealHome, isNamed = true): ReadSettings {
  const { text, notes } = textOf(path, home, isNamed);
  if (text === null) return { files: [], notes };
  if (holdsCredential(text)) return { files: [], notes: [`${path.join("/")} is not copied: it contains a credential`] };
  return { files: [{ path, content: Buffer.from(text) }], notes };
}

function folderFiles(path: readonly string[], endings: readonly string[], home: RealHome): ReadSettings {
  const files: SettingFile[] = [];
  const notes: string[] = [];
  const waiting: (readonly string[])[] = [path];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const name of namesIn(at, home)) {
      const below = [...at, name];
      if (!endings.some((ending) => name.endsWith(ending))) {
        if (below.length - path.length < depthMax && !name.includes(".")) waiting.push(below);
        continue;
      }
      const read = plainFile(below, home, false);
      notes.push(...read.notes);
      files.push(...read.files);
      if (files.length < filesMax) continue;
      return { files, notes: [...notes, `${path.join("/")}: only ${filesMax} files are copied`] };
    }
  }
  return { files, notes };
}

function namesIn(path: readonly string[], { folder, isProtected }: RealHome): readonly string[] {
  if (folder === null) return [];
  try {
    const real = realPathOf(folder, path, isProtected, false);
    return real === null ? [] : readdirSync(real).sort();
  } catch {
    return [];
  }
}

/** Null: it is protected, and not named by the profile itself. */
function realPathOf(
  folder: string,
  path: readonly string[],
  isProtected: RealHome["isProtected"],
  isNamed: boolean,
): string | null {
  const real = realpathSync.native(join(folder, ...path));
  const isLinked = real !== join(realpathSync.native(folder), ...path);
  return (isLinked || !isNamed) && isProtected(real) ? null : real;
}

/** A link of the person's own is followed; never to a protected file. */
function textOf(
  path: readonly string[],
  { folder, isProtected }: RealHome,
  isNamed = true,
): { readonly text: string | null; readonly notes: readonly string[] } {
  if (folder === null) return { text: null, notes: [] };
  const none = (why: string): { text: null; notes: readonly string[] } => ({
    text: null,
    notes: [`${path.join("/")} is not copied: ${why}`],
  });
  let descriptor: number;
  try {
    const real = realPathOf(folder, path, isProtected, isNamed);
    if (real === null) return none("it is or leads to a protected path");
    descriptor = openSync(real, FILE_FLAGS);
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? { text: null, notes: [] } : none(`it cannot be read (${code})`);
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return none("it is not a file");
    if (found.size > fileBytesMax) return none("it is larger than 1 MiB");
    const bytes = readFileSync(descriptor);
    const text = bytes.toString("utf8");
    return Buffer.from(text).equals(bytes) ? { text, notes: [] } : none("it is not UTF-8");
  } catch {
    return none("it cannot be read");
  } finally {
    closeSync(descriptor);
  }
}

/** Null where the text is not a map of this format. */
function objectIn(text: string, kind: "json" | "toml"): JsonObject | null {
  const value = kind === "json" ? jsonIn(text) : tomlIn(text);
  return isJsonObject(value) ? value : null;
}

/** With comments and trailing commas, as the clients read it. */
function jsonIn(text: string): Json | undefined {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length > 0 ? undefined : copyJson(value);
}

function tomlIn(text: string): Json | undefined {
  const { tree } = readToml({ name: "config.toml", text });
  return tree === null ? undefined : jsonOf(tree);
}

function jsonOf(node: TreeNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(jsonOf);
    case "map": {
      const made = Object.create(null) as Record<string, Json>;
      for (const { key, value } of node.entries) made[key] = jsonOf(value);
      return made;
    }
    default:
      return node satisfies never;
  }
}
