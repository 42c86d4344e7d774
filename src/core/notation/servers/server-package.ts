// `package` of a server: which package of a registry its program is from, by version, integrity and the digest of its lock.
// Nothing is fetched because a file says so: a person fetches it.
import type { Diagnostics } from "../diagnostic.ts";
import { quoteText } from "../quote-text.ts";
import { flagOf, kindName } from "../scope/scope-values.ts";
import { type Entry, entryOf, type TreeNode } from "../tree.ts";
import { LATEST, type PackageKind, packageRequest, versionSpec } from "./package-request.ts";

export interface PinnedPackage {
  readonly kind: PackageKind;
  readonly name: string;
  readonly version: string;
  /** Of the package itself, as its registry says. */
  readonly integrity: string;
  /** Of every package that is installed with it: path, version, integrity. */
  readonly lock: string;
  /** Install scripts have run, in a sandbox without network. */
  readonly hasScripts: boolean;
}

const KINDS: readonly PackageKind[] = ["npm", "pypi"];
const KEYS: readonly string[] = [...KINDS, "integrity", "lock", "scripts"];
const VERSIONS: Readonly<Record<PackageKind, RegExp>> = {
  npm: /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/,
  pypi: /^==[0-9][0-9A-Za-z.!+_]*$/,
};
export const INTEGRITY: RegExp = /^sha(?:256|384|512)-[A-Za-z0-9+/]{43,86}={0,2}$/;
const LOCK = /^sha256-[0-9a-f]{64}$/;
const versionCharactersMax = 128;

/** A program of a package is called by its name: it is looked for in the package alone. */
const PROGRAM = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export function isPackageProgram(word: string): boolean {
  return PROGRAM.test(word);
}

export function packageText({ kind, name, version }: Pick<PinnedPackage, "kind" | "name" | "version">): string {
  return versionSpec({ kind, name }, version);
}

export function readPackage({ value, keySpan }: Entry, diagnostics: Diagnostics): PinnedPackage | null {
  const fix = { fix: "ambit mcp add NAME -- npx -y PACKAGE@VERSION" };
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`package\` is a map, not ${kindName(value)}`, fix);
    return null;
  }
  const odd = value.entries.find(({ key }) => !KEYS.includes(key));
  if (odd !== undefined) {
    diagnostics.error("unknown_key", odd.keySpan, `unknown key ${quoteText(odd.key)}`, fix);
    return null;
  }
  const text = (key: string): string => textOf(entryOf(value, key)?.value ?? null);
  const kinds = KINDS.filter((one) => entryOf(value, one) !== null);
  const [kind = "npm"] = kinds;
  const request = packageRequest(kind, text(kind));
  const [integrity, lock] = [text("integrity"), text("lock")];
  const scripts = entryOf(value, "scripts");
  const range = request.ok ? request.value.range : LATEST;
  if (kinds.length > 1) {
    diagnostics.error("bad_value", value.span, "a package is of `npm` or of `pypi`, not of both", fix);
  } else if (!request.ok || !VERSIONS[kind].test(range) || range.length > versionCharactersMax) {
    const message = `\`${kind}\` is a package with its exact version: ${versionSpec({ kind, name: "name" }, "1.2.3")}`;
    diagnostics.error("bad_value", entryOf(value, kind)?.value.span ?? keySpan, message, fix);
  } else if (kind === "pypi" && scripts !== null) {
    diagnostics.error("bad_value", scripts.keySpan, "packages of Python have no install scripts", fix);
  } else if (!INTEGRITY.test(integrity) || !LOCK.test(lock)) {
    const message = "a package is pinned by `integrity` and `lock`, which ambit writes";
    diagnostics.error("bad_value", value.span, message, fix);
  } else {
    const hasScripts = scripts === null ? false : flagOf(scripts, diagnostics, false);
    const version = range.replace(/^==/, "");
    return { kind, name: request.value.name, version, integrity, lock, hasScripts: hasScripts === true };
  }
  return null;
}

function textOf(node: TreeNode | null): string {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : "";
}
