// What is asked for of a registry: a package by name, and what its version has to be. INVARIANT: nothing that is read here names a
// place that a package could be taken from.
import type { FixableFailure, Result } from "../../base/result.ts";

/** npm's registry, or an index of Python packages. */
export type PackageKind = "npm" | "pypi";

/** A package by name, and what is asked of its version. */
export interface PackageRequest {
  readonly kind: PackageKind;
  /** For Python in its normal form, with its extras: `mcp[cli]`. */
  readonly name: string;
  /** A version, a range or a tag; for Python `latest` or specifiers such as `==1.2.3`. */
  readonly range: string;
}

export type PackageRequestResult = Result<PackageRequest, FixableFailure>;

export const LATEST = "latest";
const rangeCharactersMax = 128;

const NPM_NAME = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/;
const npmNameCharactersMax = 214;
/** Versions, ranges and tags. */
const NPM_RANGE = /^[\w.+~^<>=*| -]+$/;

/** A name, its extras, and a version after `@` (as uvx has it) or specifiers. */
const PYTHON_SPEC = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[([\w.,-]*)\])?(?:@(.+)|([=!<>~].*))?$/;
const pythonNameCharactersMax = 100;
const extrasMax = 16;
const PYTHON_VERSION = /^[0-9][0-9A-Za-z.!+_-]*$/;
const PYTHON_SPECIFIER = /^(?:==|!=|>=|<=|<|>|~=)[0-9][0-9A-Za-z.!+_-]*(?:\.\*)?$/;

/** `name@version`; for Python `name[extra]==version`. A place other than a registry has no version that could be pinned. */
export function packageRequest(kind: PackageKind, spec: string): PackageRequestResult {
  const request = kind === "npm" ? npmRequest(spec) : pythonRequest(spec);
  if (request !== null && request.range.length <= rangeCharactersMax) return { ok: true, value: request };
  const text = JSON.stringify(spec.slice(0, 200));
  return {
    ok: false,
    message: `${text} is not a registry package: an address, a repository, a folder and an alias cannot be pinned`,
    fix: "publish it, or install it yourself and add its program with `--runtime FOLDER`",
  };
}

export function requestText({ kind, name, range }: PackageRequest): string {
  if (kind === "npm") return `${name}@${range}`;
  return range === LATEST ? name : `${name}${range}`;
}

/** One version of a package, as it is asked for; `to`: null for the newest. */
export function versionSpec({ kind, name }: Pick<PackageRequest, "kind" | "name">, to: string | null): string {
  if (kind === "npm") return `${name}@${to ?? LATEST}`;
  return to === null || to === LATEST ? name : `${name}${PYTHON_VERSION.test(to) ? "==" : ""}${to}`;
}

/** Without a scope, and without extras. */
export function bareName({ kind, name }: Pick<PackageRequest, "kind" | "name">): string {
  return kind === "npm" ? name.slice(name.indexOf("/") + 1) : (name.split("[", 1)[0] ?? name);
}

/** Names of Python packages that differ in case, or in what stands between words, are one name. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

function npmRequest(spec: string): PackageRequest | null {
  const split = spec.lastIndexOf("@");
  const [name, range] = split > 0 ? [spec.slice(0, split), spec.slice(split + 1)] : [spec, LATEST];
  const isRead = NPM_NAME.test(name) && name.length <= npmNameCharactersMax && NPM_RANGE.test(range);
  return isRead ? { kind: "npm", name, range } : null;
}

function pythonRequest(spec: string): PackageRequest | null {
  const [, bare, extras, version, specifiers] = PYTHON_SPEC.exec(spec.replaceAll(/ *([[\],<>=!~]) */g, "$1")) ?? [];
  if (bare === undefined || bare.length > pythonNameCharactersMax) return null;
  const names = [
    ...new Set(
      (extras ?? "")
        .split(",")
        .filter((one) => one !== "")
        .map(normalName),
    ),
  ].toSorted();
  if (names.length > extrasMax || names.some((one) => !/^[a-z0-9]/.test(one))) return null;
  const name = `${normalName(bare)}${names.length === 0 ? "" : `[${names.join(",")}]`}`;
  if (version !== undefined && version !== LATEST)
    return PYTHON_VERSION.test(version) ? { kind: "pypi", name, range: `==${version}` } : null;
  if (specifiers === undefined) return { kind: "pypi", name, range: LATEST };
  const isRead = specifiers.split(",").every((one) => PYTHON_SPECIFIER.test(one));
  return isRead ? { kind: "pypi", name, range: specifiers } : null;
}
