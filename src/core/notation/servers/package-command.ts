// Commands that fetch a package and run it (`npx -y NAME@VERSION`, `uvx NAME`): which package, which of its programs, with which
// arguments. INVARIANT: an option that is not known refuses the command, as it may name another package or another registry.

import type { FixableFailure, Result } from "../../base/result.ts";
import { type PackageKind, type PackageRequest, packageRequest } from "./package-request.ts";

export interface PackageCommand {
  readonly package: PackageRequest;
  /** Null: the package's own choice. */
  readonly program: string | null;
  readonly rest: readonly string[];
}

export type PackageCommandResult = Result<PackageCommand, FixableFailure>;

interface Launcher {
  /** The words that follow its name, such as `dlx`. */
  readonly words: readonly string[];
  readonly options: LauncherOptions;
}

interface LauncherOptions {
  readonly kind: PackageKind;
  /** Options that name the package; the program then follows. */
  readonly naming: ReadonlySet<string>;
  /** Options without a value that change neither the package nor where it is from. */
  readonly ignored: ReadonlySet<string>;
}

const NPM: LauncherOptions = {
  kind: "npm",
  naming: new Set(["-p", "--package"]),
  ignored: new Set(["-y", "--yes", "-q", "--quiet", "--silent", "--bun"]),
};
const UV: LauncherOptions = {
  kind: "pypi",
  naming: new Set(["--from"]),
  ignored: new Set(["-q", "--quiet", "-n", "--no-cache", "--refresh", "--isolated", "--no-progress"]),
};
const PIPX: LauncherOptions = {
  kind: "pypi",
  naming: new Set(["--spec"]),
  ignored: new Set(["-q", "--quiet", "--no-cache"]),
};

const LAUNCHERS: Readonly<Record<string, readonly Launcher[]>> = {
  npx: [{ words: [], options: NPM }],
  pnpx: [{ words: [], options: NPM }],
  bunx: [{ words: [], options: NPM }],
  npm: [
    { words: ["exec"], options: NPM },
    { words: ["x"], options: NPM },
  ],
  pnpm: [{ words: ["dlx"], options: NPM }],
  yarn: [{ words: ["dlx"], options: NPM }],
  bun: [{ words: ["x"], options: NPM }],
  uvx: [{ words: [], options: UV }],
  uv: [
    { words: ["tool", "run"], options: UV },
    { words: ["x"], options: UV },
  ],
  pipx: [{ words: ["run"], options: PIPX }],
};

/** Null: the command fetches nothing. */
export function packageCommand([program = "", ...words]: readonly string[]): PackageCommandResult | null {
  const called = program.slice(program.lastIndexOf("/") + 1);
  const launchers = Object.hasOwn(LAUNCHERS, called) ? (LAUNCHERS[called] ?? []) : [];
  const launcher = launchers.find((one) => one.words.every((word, at) => words[at] === word));
  return launcher === undefined ? null : launched(called, words.slice(launcher.words.length), launcher.options);
}

function launched(
  called: string,
  words: readonly string[],
  { kind, naming, ignored }: LauncherOptions,
): PackageCommandResult {
  const fix = `ambit mcp add NAME -- ${kind === "npm" ? "npx -y PACKAGE@VERSION" : "uvx PACKAGE==VERSION"}`;
  const named: string[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      at++;
      break;
    }
    if (!word.startsWith("-")) break;
    const [option = "", value] = word.split(/=(.*)/s);
    if (naming.has(option)) {
      if (value === undefined) at++;
      named.push(value ?? words[at] ?? "");
    } else if (!ignored.has(word)) return refuse(`\`${called} ${word}\` is not supported here`, fix);
  }
  const [first, ...others] = words.slice(at);
  if (named.length > 1) return refuse("a server is one package: name it with its dependencies in one", null);
  const [spec] = named.length === 1 ? named : [first];
  if (spec === undefined || (named.length === 1 && first === undefined))
    return refuse(`\`${called}\` names no package`, fix);
  const request = packageRequest(kind, spec);
  if (!request.ok) return request;
  const isNamed = named.length === 1;
  return { ok: true, value: { package: request.value, program: isNamed ? (first ?? null) : null, rest: others } };
}

function refuse(message: string, fix: string | null): Extract<PackageCommandResult, { ok: false }> {
  return { ok: false, message, fix };
}
