// Credentials for git: looked up by host, decided like any use of a secret, read only then. The broker's git relay adds them
// outside the sandbox, for a client or for a git that was decided on.
import { readFileSync, statSync } from "node:fs";
import { parseHost } from "../../core/authority/axes/destination.ts";
import { parseName, parseTool } from "../../core/authority/axes/name.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { WrittenSecret } from "../../core/notation/config/run-settings.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { toAscii } from "../../platform/ascii.ts";
import { trustedAuthorities } from "../../platform/certificate-files.ts";
import type { GitHosts } from "../../sandbox/network/git/git-messages.ts";
import { isGitHost } from "../../sandbox/network/git/git-request.ts";
import { authoritiesCharactersMax, gitHostsMax } from "../../sandbox/network/limits.ts";
import { connectRequest } from "../../sandbox/network/network-grants.ts";
import type { Plan } from "../../sandbox/plan/plan.ts";
import type { CredentialSource } from "../../sandbox/plan/sandboxes.ts";
import { takesCredential } from "../../tools/git/credential-command.ts";
import type { ProgramContext } from "../parts.ts";
import type { RunEnvironment } from "./run-plan.ts";

const secretBytesMax = 65_536;
const TOOL = "git";
const httpsPort = 443;
/** The user name that forges accept with a token. */
const USERNAME = "x-access-token";

/** A stored secret that is bound to a tool and a host: its name, and its value once its use is decided. */
export type AskSecret = (
  tool: string,
  host: string,
) => { readonly name: string; readonly username: string | null; read(): Promise<string | null> } | null;

/** The hosts that stored secrets of a tool are bound to. */
export type SecretHosts = (tool: string) => readonly string[];

/** With the hosts that git reaches through the relay: a secret for git is bound to them, and a connection is granted. */
export function withGit(
  plan: Plan,
  authority: Authority,
  { user }: Pick<RunEnvironment, "user">,
  kept: SecretHosts,
  moment: Moment,
): Plan {
  const { network } = plan;
  const bound = new Set([...(user?.secrets ?? []).flatMap(({ hosts }) => hosts), ...kept(TOOL)]);
  const reached = [...bound].filter((host) => {
    const at = isGitHost(host) ? parseHost(host, toAscii) : null;
    return at?.ok === true && judge(authority, connectRequest(at.value, httpsPort, "sni"), moment).outcome === "allow";
  });
  const git = reached.toSorted().slice(0, gitHostsMax);
  return network === null || git.length === 0 ? plan : { ...plan, network: { ...network, git } };
}

/** Null where it serves no host. */
export function gitRelay(hosts: readonly string[], user: RunEnvironment["user"]): GitHosts | null {
  if (hosts.length === 0) return null;
  const own = (user?.certificates ?? []).map(pathText);
  return { hosts, authorities: trustedAuthorities(own, authoritiesCharactersMax) };
}

export interface CredentialRun {
  readonly run: Pick<ProgramContext, "useSecret" | "environment" | "refused">;
  readonly environment: Pick<RunEnvironment, "user" | "home">;
  /** What was decided, and the arguments that run by it. */
  readonly request: Request;
  readonly argv: readonly string[];
  /** A whole client: its programs use what the agent's record grants. */
  readonly isClient: boolean;
}

/** INVARIANT: a secret is used for a client, or for a git whose arguments were decided on, and for no other program. */
export function credentialsFor(
  { run, environment, request, argv, isClient }: CredentialRun,
  secret: AskSecret,
): CredentialSource {
  const isUsable = isClient || (isDecided(request, argv) && takesCredential(argv));
  // A program that asks in a loop gets one entry per host.
  const noted = new Set<string>();
  const refused = (message: string): Awaited<ReturnType<CredentialSource>> => ({
    ...{ credential: null, code: "secret_refused", message },
  });
  return async ({ host, repository, service }) => {
    const written = (environment.user?.secrets ?? []).find(({ hosts }) => hosts.includes(host));
    const kept = written === undefined ? secret(TOOL, host) : null;
    const name = written?.name ?? kept?.name;
    const use = name === undefined ? null : secretUseRequest(name, host);
    if (name === undefined || use === null)
      return refused(`no secret is kept for ${host}: ambit secrets set NAME --tool git --host ${host}`);
    if (!isUsable) {
      if (!noted.has(host)) run.refused({ code: "secret_refused", request: requestText(use), times: 1 }, NOT_GIT);
      noted.add(host);
      return refused(NOT_GIT);
    }
    const used = await run.useSecret(use, { secret: name, host, repository, service });
    if (!used.ok)
      return { credential: null, code: used.code, message: `${requestText(use)} is denied; ambit why ${used.id}` };
    const password =
      written === undefined ? await kept?.read() : secretText(written, run.environment, environment.home);
    const username = (written === undefined ? kept?.username : written.username) ?? USERNAME;
    if (password !== null && password !== undefined) return { credential: { username, password } };
    const fix = written === undefined ? "ambit secrets unlock" : "ambit doctor";
    return refused(`the kept secret ${name} cannot be read: ${fix}`);
  };
}

const NOT_GIT = "a git secret is only available to `git fetch`, `git push` and similar commands, run directly";

/** A shell line or another command under the same grants is not what was decided on. */
function isDecided({ verb, values }: Request, argv: readonly string[]): boolean {
  const words = values[verb.axes.findIndex(({ name }) => name === "argv")];
  if (verb.verb !== "proc.exec" || words === undefined || !isSegments(words)) return false;
  return words.segments.length === argv.length && words.segments.every((word, at) => word === argv[at]);
}

function secretUseRequest(name: string, host: string): Request | null {
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
