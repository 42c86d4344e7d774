// The destination of a request: an address of the web, or a host with its port.

import { type Destination, parseHost } from "../../authority/axes/destination.ts";
import type { Value } from "../../authority/axes/scope.ts";
import { parseUrl } from "../../authority/axes/url.ts";
import { parseAddress } from "../../base/address.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { parsePort, splitEndpoint } from "../tools/foreign-host.ts";

type NamedValues = ReadonlyMap<string, string>;

export function readUrl(text: string, named: NamedValues, { toAscii }: Reading): Result<readonly Value[]> {
  const url = parseUrl(text, toAscii);
  if (!url.ok) return url;
  const host = resolved(url.value.host, named.get("address"));
  return host.ok ? done([host.value, url.value.port]) : host;
}

export function readConnection(text: string, named: NamedValues, { toAscii }: Reading): Result<readonly Value[]> {
  const raw = named.get("raw") ?? "false";
  if (raw !== "true" && raw !== "false") return refuse("bad_value", "raw= is true or false", "raw=true");
  const endpoint = splitEndpoint(text);
  if (!endpoint.ok) return endpoint;
  if (endpoint.value.port === null)
    return refuse("bad_value", `${quoteText(text)} names no port`, `net.connect ${endpoint.value.host}:443`);
  const port = parsePort(endpoint.value.port);
  if (!port.ok) return port;
  const parsed = parseHost(endpoint.value.host, toAscii);
  if (!parsed.ok) return parsed;
  const host = resolved(parsed.value, named.get("address"));
  return host.ok ? done([host.value, port.value, raw === "true" ? "raw" : "sni"]) : host;
}

/** A name with the address it would lead to; a literal address leads to itself. */
function resolved(host: Destination, text: string | undefined): Result<Destination> {
  if (text === undefined) return done(host);
  const address = parseAddress(text);
  if (address === null || host.name === null)
    return refuse(
      "bad_value",
      `address= is the IP address that the host resolves to, not ${quoteText(text)}`,
      "address=10.0.0.1",
    );
  return done({ name: host.name, address });
}
