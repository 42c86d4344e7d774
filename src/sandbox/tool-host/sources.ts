// The tools of a project: files in `.ambit/tools`, and the packages its configuration names. Read completely, hashed,
// and listed in one text that a person trusts.
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { sha256 } from "../../platform/digest.ts";
import { isSkipped, PACKAGE_BOUNDS, readPackage } from "./packages.ts";
import { bytesDigest, readTree, type TreeFile, treeStamp } from "./tree.ts";

export const TOOLS = ".ambit/tools";
/** The name of the tools' text among the trusted texts of a project. */
export const TOOLS_TEXT = ".ambit/tools (files and packages, by digest)";
const ENDINGS: readonly string[] = [".mjs", ".js", ".cjs", ".ts", ".mts", ".cts"];
const TYPED: readonly string[] = [".ts", ".mts", ".cts"];
const BOUNDS = { files: 1_000, bytes: 8_388_608 };
export const packagesNamedMax = 64;

/** One module that is loaded into its own host. */
export interface ToolSource {
  /** `weather.mjs`, or the name of a package. */
  readonly name: string;
  readonly kind: "file" | "package";
  /** Digest of everything it could load. */
  readonly digest: string;
  /** Its line in the trusted text. */
  readonly lines: readonly string[];
  /** Below the top of a host's folder. */
  readonly files: readonly TreeFile[];
  readonly links: readonly (readonly [path: string, to: string])[];
  /** The host's import: a path below its folder, or a package's name. */
  readonly entry: string;
}

export interface ToolSources {
  readonly sources: readonly ToolSource[];
  /** Entries that cannot be loaded. */
  readonly problems: readonly { readonly source: string; readonly why: string }[];
  /** Null where there are no tools. */
  readonly text: string | null;
  /** Changes whenever anything that was read does, as far as the file system reports it. */
  isAsBefore(): boolean;
}

export function toolSources(workspace: string, packages: readonly string[]): ToolSources {
  const sources: ToolSource[] = [];
  const problems: { source: string; why: string }[] = [];
  const folder = join(workspace, ...TOOLS.split("/"));
  const nested = (name: string): boolean => name === ".git";
  const before = treeStamp(folder, BOUNDS.files * 2, nested);
  const tree = existsSync(folder) ? readTree(folder, BOUNDS, nested) : { ok: true as const, value: [] };
  const fileLines = tree.ok ? tree.value.map(({ path, bytes }) => `${bytesDigest(bytes)}  ${TOOLS}/${path}`) : [];
  if (tree.ok) {
    const digest = sha256(fileLines.join("\n"));
    const files = tree.value.map(({ path, bytes }) => ({ path: `tools/${path}`, bytes }));
    for (const { path } of tree.value) {
      const ending = extname(path);
      if (path.includes("/") || path.startsWith(".") || !ENDINGS.includes(ending) || path.endsWith(".d.ts")) continue;
      if (TYPED.includes(ending) && !canStripTypes())
        problems.push({
          source: path,
          why: `TypeScript cannot be loaded by Node ${process.versions.node}: compile it to .mjs`,
        });
      else
        sources.push({ name: path, kind: "file", digest, lines: fileLines, files, links: [], entry: `tools/${path}` });
    }
  } else problems.push({ source: TOOLS, why: tree.message });
  const read = packages.slice(0, packagesNamedMax).map((name) => [name, readPackage(workspace, name)] as const);
  for (const name of packages.slice(packagesNamedMax))
    problems.push({ source: name, why: `more than ${packagesNamedMax} packages are named` });
  const marks: (readonly [folder: string, stamp: string | null])[] = [];
  for (const [name, found] of read) {
    if (!found.ok) {
      problems.push({ source: name, why: found.message });
      continue;
    }
    const { version, files, links, folders } = found.value;
    const whole = files.map(({ path, bytes }) => `${bytesDigest(bytes)}  ${path}`);
    const digest = sha256([...whole, ...links.map(([from, to]) => `${from} -> ${to}`)].join("\n"));
    for (const one of folders) marks.push([one, treeStamp(one, PACKAGE_BOUNDS.files * 2, isSkipped)]);
    sources.push({
      ...{ name, kind: "package", digest, entry: name },
      lines: [`${digest}  package ${name} ${version}`],
      files: files.map(({ path, bytes }) => ({ path: `node_modules/${path}`, bytes })),
      links: links.map(([from, to]) => [`node_modules/${from}`, `node_modules/${to}`] as const),
    });
  }
  const lines = [...fileLines, ...sources.flatMap(({ kind, lines: own }) => (kind === "package" ? own : []))];
  return {
    sources,
    problems,
    text: lines.length === 0 ? null : `${lines.join("\n")}\n`,
    isAsBefore: () =>
      before !== null &&
      problems.every(({ source }) => !packages.includes(source)) &&
      treeStamp(folder, BOUNDS.files * 2, nested) === before &&
      marks.every(([one, stamp]) => stamp !== null && treeStamp(one, PACKAGE_BOUNDS.files * 2, isSkipped) === stamp),
  };
}

/** Whether a source is what a person trusted: every line of it, and for files no further line. */
export function isTrustedSource({ kind, lines }: ToolSource, trusted: string | null): boolean {
  if (trusted === null) return false;
  const known = trusted.split("\n").filter((line) => line !== "");
  const isFile = (line: string): boolean => line.slice(66).startsWith(`${TOOLS}/`);
  if (kind === "package") return lines.every((line) => known.includes(line));
  const files = known.filter(isFile);
  return files.length === lines.length && files.every((line, at) => line === lines[at]);
}

/** Node strips types by itself from 22.18 on. */
function canStripTypes(): boolean {
  return (process.features as { readonly typescript?: unknown }).typescript === "strip";
}
