// A secret for git: found by the host it is for, decided like any use of a secret, read only then.
import { readFileSync, statSync } from "node:fs";
import { verbEntry } from "../authority/catalog.ts";
import { parseHost } from "../authority/destination.ts";
import { parseName, parseTool } from "../authority/name.ts";
import type { Request } from "../authority/request.ts";
import type { AskCredential } from "../broker/credential-endpoint.ts";
import type { ProgramGround } from "../daemon/parts.ts";
import { toAscii } from "../node/ascii.ts";
import type { WrittenSecret } from "../notation/run-settings.ts";
import type { RunGround } from "./plan-facts.ts";

const secretBytesMax = 65_536;
const TOOL = "git";
/** What forges take where only the token counts. */
const USERNAME = "x-access-token";

/** A secret that is kept here and bound to a tool and a host: its name, and its value once its use is decided. */
export type AskSecret = (
  tool: string,
  host: string,
) => { readonly name: string; readonly username: string | null; read(): Promise<string | null> } | null;

export interface CredentialRun {
  readonly run: Pick<ProgramGround, "useSecret" | "environment">;
  readonly ground: Pick<RunGround, "user" | "home">;
}

/** `current`: whoever runs in the sandbox that asks; null where nobody does. */
export function credentialsOf(current: () => CredentialRun | null, secret: AskSecret): AskCredential {
  return async ({ host }) => {
    const session = current();
    if (session === null) return null;
    const { run, ground } = session;
    const written = (ground.user?.secrets ?? []).find(({ hosts }) => hosts.includes(host));
    const kept = written === undefined ? secret(TOOL, host) : null;
    const name = written?.name ?? kept?.name;
    const request = name === undefined ? null : useOf(name, host);
    if (request === null || !(await run.useSecret(request))) return null;
    const password = written === undefined ? await kept?.read() : secretText(written, run.environment, ground.home);
    const username = (written === undefined ? kept?.username : written.username) ?? USERNAME;
    return password === null || password === undefined ? null : { username, password };
  };
}

function useOf(name: string, host: string): Request | null {
  const verb = verbEntry("secret.use");
  const [secret, tool, at] = [parseName(name), parseTool(TOOL), parseHost(host, toAscii)];
  if (verb === null || !secret.ok || !tool.ok || !at.ok) return null;
  return { verb, values: [secret.value, tool.value, at.value] };
}

/** One line; a file that others may read is no place for a secret. */
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
