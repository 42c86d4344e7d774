// Hosts as tokens and tool declarations write them: there `*.x` means strictly below x, and `+` is no sign at all.
import { type HostEntry, parseHostEntry, type ToAscii } from "../../authority/axes/destination.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { quoteText } from "../quote-text.ts";

export function parseForeignHost(text: string, toAscii: ToAscii): Result<HostEntry> {
  if (text.startsWith("+"))
    return refuse("bad_pattern", `${quoteText(text)} is not a host of this notation`, "*.example.com");
  return parseHostEntry(text.startsWith("*.") ? `+.${text.slice(2)}` : text, toAscii);
}

export interface Endpoint {
  readonly host: string;
  /** As written behind the last colon; null where there is none. */
  readonly port: string | null;
}

/** `host`, `host:port`, `10.0.0.0/8:port`, `[v6]:port`. An address with colons needs its brackets. */
export function splitEndpoint(text: string): Result<Endpoint> {
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/s.exec(text);
  if (match === null || match[1] === "")
    return refuse("bad_value", `${quoteText(text)} is not a host with a port`, "[2001:db8::1]:443");
  return done({ host: match[1] as string, port: match[2] ?? null });
}

export function parsePort(text: string): Result<number> {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? done(port) : refuse("bad_value", `${quoteText(text)} is not a port`, "443");
}
