// Commands that fetch a package and run it (`npx -y NAME@VERSION`): which package, which of its programs, with which arguments.
// INVARIANT: an option that is not known refuses the command, as it may name another package or another registry.

import type { FixableFailure, Result } from "../../base/result.ts";
/** A package by name, and what is asked of its version. */
export interface PackageRequest {
  readonly name: string;
  /** A version, a range or a tag. */
  readonly range: string;
}

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
  readonly isPython?: true;
}

const LAUNCHERS: Readonly<Record<string, readonly Launcher[]>> = {
  npx: [{ words: [] }],
  pnpx: [{ words: [] }],
  bunx: [{ words: [] }],
  npm: [{ words: ["exec"] }, { words: ["x"] }],
  pnpm: [{ words: ["dlx"] }],
  yarn: [{ words: ["dlx"] }],
  bun: [{ words: ["x"] }],
  uvx: [{ words: [], isPython: true }],
  uv: [
    { words: ["tool", "run"], isPython: true },
    { words: ["x"], isPython: true },
  ],
  pipx: [{ words: ["run"], isPython: true }],
};

const ANSWERS: ReadonlySet<string> = new Set(["-y", "--yes", "-q", "--quiet", "--silent", "--bun"]);
const PACKAGE_OPTIONS: ReadonlySet<string> = new Set(["-p", "--package"]);

/** Null: the command fetches nothing. */
export function packageCommand([program = "", ...words]: readonly string[]): PackageCommandResult | null {
  const called = program.slice(program.lastIndexOf("/") + 1);
  const launchers = Object.hasOwn(LAUNCHERS, called) ? (LAUNCHERS[called] ?? []) : [];
  const launcher = launchers.find((one) => one.words.every((word, at) => words[at] === word));
  if (launcher === undefined) return null;
  if (launcher.isPython === true)
    return refuse(
      `Python packages cannot be fetched and pinned: \`${called}\` would need the registry at each start`,
      "install it (`uv tool install NAME`), and add its program with `--runtime FOLDER`",
    );
  return npmCommand(called, words.slice(launcher.words.length));
}

function npmCommand(called: string, words: readonly string[]): PackageCommandResult {
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
    if (PACKAGE_OPTIONS.has(option)) {
      if (value === undefined) at++;
      named.push(value ?? words[at] ?? "");
    } else if (!ANSWERS.has(word))
      return refuse(`\`${called} ${word}\` is not supported here`, `ambit mcp add NAME -- npx -y PACKAGE@VERSION`);
  }
  const [first, ...others] = words.slice(at);
  if (named.length > 1) return refuse("a server is one package: name it with its dependencies in one", null);
  const [spec] = named.length === 1 ? named : [first];
  if (spec === undefined || (named.length === 1 && first === undefined))
    return refuse(`\`${called}\` names no package`, "ambit mcp add NAME -- npx -y PACKAGE@VERSION");
  const request = packageRequest(spec);
  if (!request.ok) return request;
  const isNamed = named.length === 1;
  return { ok: true, value: { package: request.value, program: isNamed ? (first ?? null) : null, rest: others } };
}

const NAME = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/;
/** Versions, ranges and tags; no place that a package could be taken from. */
const RANGE = /^[\w.+~^<>=*| -]{1,128}$/;
const nameCharactersMax = 214;

/** `name`, `name@version`. A place other than a registry has no version that could be pinned. */
export function packageRequest(
  spec: string,
): { readonly ok: true; readonly value: PackageRequest } | Extract<PackageCommandResult, { ok: false }> {
  const split = spec.lastIndexOf("@");
  const [name, range] = split > 0 ? [spec.slice(0, split), spec.slice(split + 1)] : [spec, "latest"];
  if (NAME.test(name) && name.length <= nameCharactersMax && RANGE.test(range))
    return { ok: true, value: { name, range } };
  return refuse(
    `${JSON.stringify(spec.slice(0, 200))} is not a registry package: URLs, repositories, folders and aliases cannot be pinned`,
    "publish it, or install it yourself and add its program with `--runtime FOLDER`",
  );
}

function refuse(message: string, fix: string | null): Extract<PackageCommandResult, { ok: false }> {
  return { ok: false, message, fix };
}
