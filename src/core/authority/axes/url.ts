// Reads an http or https address strictly. What is odd is refused, not repaired: the host that is decided on
// is the host that is dialled, so two readers can never disagree about it.

import { urlCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { isPlainText } from "../patterns/reserved.ts";
import { type Destination, parseHost, type ToAscii } from "./destination.ts";

export type Scheme = "http" | "https";

export interface Url {
  readonly scheme: Scheme;
  readonly host: Destination;
  readonly port: number;
  /** Path, query and fragment as written; at least `/`. */
  readonly rest: string;
}

/** Of what reads as an address; null for any other text. */
export function schemeOf(text: string): Scheme | null {
  const scheme = /^(https?):\/\//i.exec(text)?.[1];
  return scheme === undefined ? null : (scheme.toLowerCase() as Scheme);
}

export function parseUrl(text: string, toAscii: ToAscii): Result<Url> {
  if (text.length > urlCharactersMax)
    return refuse("too_long", `the URL is longer than ${urlCharactersMax} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!isPlainText(text) || /[\u0000-\u0020\u007f]/.test(text))
    return refuse("bad_value", "the URL contains a space or a control character");
  const match = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(text);
  if (match === null)
    return refuse(
      "bad_value",
      `${JSON.stringify(text.slice(0, 80))} is not an http or https URL`,
      "https://example.com/",
    );
  const [, schemeText, authority, rest] = match as unknown as [string, string, string, string];
  const scheme = schemeText.toLowerCase() as Scheme;
  if (authority.includes("@")) return refuse("bad_value", "a URL must not contain a username or password");
  if (authority.includes("\\") || rest.startsWith("\\"))
    return refuse("bad_value", "a URL must not contain a backslash before its path");
  const parts = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{0,5}))?$/.exec(authority);
  if (parts === null) return refuse("bad_value", `${JSON.stringify(authority)} is not a host with a port`);
  const host = parseHost(parts[1] as string, toAscii);
  if (!host.ok) return host;
  if ((parts[1] as string).startsWith("[") && host.value.name !== null)
    return refuse("bad_value", "brackets must contain an IPv6 address");
  const digits = parts[2];
  const port = digits === undefined || digits === "" ? (scheme === "http" ? 80 : 443) : Number(digits);
  if (port < 1 || port > 65_535) return refuse("bad_value", `${port} is not a port`);
  return done({ scheme, host: host.value, port, rest: rest.startsWith("/") ? rest : `/${rest}` });
}
