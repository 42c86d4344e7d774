// A secret for git: found by the host it is for, decided like any use of a secret, read only then.
import { readFileSync, statSync } from "node:fs";
import { verbEntry } from "../authority/catalog.ts";
import { parseHost } from "../authority/destination.ts";
import { parseName, parseTool } from "../authority/name.ts";
import type { Request } from "../authority/request.ts";
import type { AskCredential } from "../broker/credential-endpoint.ts";
import { toAscii } from "../node/ascii.ts";
import type { WrittenSecret } from "../notation/run-settings.ts";

const secretBytesMax = 65_536;
const TOOL = "git";
/** What forges take where only the token counts. */
const USERNAME = "x-access-token";

/** Decided and written down: whether the secret may be handed over. */
export type UseOfSecret = (request: Request) => Promise<boolean>;

export function credentialsOf(
  secrets: readonly WrittenSecret[],
  environment: Readonly<Record<string, string | undefined>>,
  home: string | null,
  use: () => UseOfSecret | null,
): AskCredential {
  return async ({ host }) => {
    const secret = secrets.find(({ hosts }) => hosts.includes(host));
    const request = secret === undefined ? null : useOf(secret.name, host);
    if (secret === undefined || request === null || (await use()?.(request)) !== true) return null;
    const password = secretText(secret, environment, home);
    return password === null ? null : { username: secret.username ?? USERNAME, password };
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
