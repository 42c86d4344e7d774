// Credentials for git: looked up by host, decided like any use of a secret, read only then, and only for git.
import { readFileSync, statSync } from "node:fs";
import { parseHost } from "../../core/authority/axes/destination.ts";
import { parseName, parseTool } from "../../core/authority/axes/name.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import type { WrittenSecret } from "../../core/notation/config/run-settings.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { toAscii } from "../../platform/ascii.ts";
import type { CredentialSource } from "../../sandbox/plan/sandboxes.ts";
import { takesCredential } from "../../tools/git/credential-command.ts";
import type { ProgramContext } from "../parts.ts";
import type { RunEnvironment } from "./plan-facts.ts";

const secretBytesMax = 65_536;
const TOOL = "git";
/** The user name that forges accept with a token. */
const USERNAME = "x-access-token";

/** A stored secret that is bound to a tool and a host: its name, and its value once its use is decided. */
export type AskSecret = (
  tool: string,
  host: string,
) => { readonly name: string; readonly username: string | null; read(): Promise<string | null> } | null;

export interface CredentialRun {
  readonly run: Pick<ProgramContext, "useSecret" | "environment" | "refused">;
  readonly environment: Pick<RunEnvironment, "user" | "home">;
  /** What was decided, and the arguments that run by it. */
  readonly request: Request;
  readonly argv: readonly string[];
}

/** INVARIANT: a secret goes only to a git whose arguments were decided on, and to no other program that calls the helper. */
export function credentialsFor(
  { run, environment, request, argv }: CredentialRun,
  secret: AskSecret,
): CredentialSource {
  const isGit = isDecided(request, argv) && takesCredential(argv);
  // A program that asks in a loop gets one result per host.
  const noted = new Set<string>();
  return async ({ host }) => {
    const written = (environment.user?.secrets ?? []).find(({ hosts }) => hosts.includes(host));
    const kept = written === undefined ? secret(TOOL, host) : null;
    const name = written?.name ?? kept?.name;
    const use = name === undefined ? null : useOf(name, host);
    if (use === null) return null;
    if (!isGit) {
      if (!noted.has(host)) run.refused({ code: "secret_refused", request: requestText(use), times: 1 }, NOT_GIT);
      noted.add(host);
      return null;
    }
    if (!(await run.useSecret(use))) return null;
    const password =
      written === undefined ? await kept?.read() : secretText(written, run.environment, environment.home);
    const username = (written === undefined ? kept?.username : written.username) ?? USERNAME;
    return password === null || password === undefined ? null : { username, password };
  };
}

const NOT_GIT = "a git secret is only available to `git fetch`, `git push` and similar commands, run directly";

/** A shell line or another command under the same grants is not what was decided on. */
function isDecided({ verb, values }: Request, argv: readonly string[]): boolean {
  const words = values[verb.axes.findIndex(({ name }) => name === "argv")];
  if (verb.verb !== "proc.exec" || words === undefined || !isSegments(words)) return false;
  return words.segments.length === argv.length && words.segments.every((word, at) => word === argv[at]);
}

function useOf(name: string, host: string): Request | null {
  const verb = verbEntry("secret.use");
  const [secret, tool, at] = [parseName(name), parseTool(TOOL), parseHost(host, toAscii)];
  if (verb === null || !secret.ok || !tool.ok || !at.ok) return null;
  return { verb, values: [secret.value, tool.value, at.value] };
}

/** Reads one line; a file that others may read is refused. */
function secretText(
  { from }: WrittenSecret,
  environment: Readonly<Record<string, string | undefined>>,
  home: string | null,
): string | null {
  const text = from.kind === "env" ? environment[from.at] : fileText(from.at, home);
  const value = text?.replace(/\r?\n$/, "");
  return value === undefined || !/^[\x21-\x7e]{1,4096}$/.test(value) ? null : value;
}

function fileText(path: string, home: string | null): string | undefined {
  const full = path.startsWith("~/") && home !== null ? `${home}/${path.slice(2)}` : path;
  try {
    const found = statSync(full);
    if (!full.startsWith("/") || !found.isFile() || found.size > secretBytesMax || (found.mode & 0o077) !== 0)
      return undefined;
    return readFileSync(full, "utf8");
  } catch {
    return undefined;
  }
}
