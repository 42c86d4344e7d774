// Parses the request of git's credential helper inside a sandbox, and formats the answer.
import { credentialBytesMax } from "./limits.ts";

export interface CredentialRequest {
  readonly protocol: string;
  readonly host: string;
  readonly path: string | null;
}

export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** `text`: the lines including the final empty one. Null for anything but one https host on its default port. */
export function readCredentialRequest(text: string): CredentialRequest | null {
  if (!text.endsWith("\n\n")) return null;
  const fields = new Map<string, string>();
  for (const line of text.slice(0, -2).split("\n")) {
    const field = /^([a-z_]+(?:\[\])?)=([\x20-\x7e]*)$/.exec(line);
    if (field === null) return null;
    const [, key, value] = field as unknown as [string, string, string];
    // Lists and attributes of later git versions are ignored.
    if (!KEYS.includes(key)) continue;
    if (fields.has(key)) return null;
    fields.set(key, value);
  }
  const host = fields.get("host")?.replace(/:443$/, "");
  if (fields.get("protocol") !== "https" || host === undefined || !/^[A-Za-z0-9._-]+$/.test(host)) return null;
  return { protocol: "https", host: host.toLowerCase(), path: fields.get("path") ?? null };
}

const KEYS: readonly string[] = ["protocol", "host", "path"];

/** Empty where a value could be read as another line. */
export function credentialText({ username, password }: Credential): string {
  const isPlain = [username, password].every(
    (value) => /^[^\n\r\0]+$/.test(value) && value.length < credentialBytesMax,
  );
  return isPlain ? `username=${username}\npassword=${password}\n` : "";
}
