// Reads one public JSON document of an authorization server, through the broker: from the host and the port that its address names,
// without redirects, within limits.

import { destinationText } from "../../core/authority/axes/destination.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { Failure, Result } from "../../core/base/result.ts";
import type { FetchOptions, FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import { toAscii } from "../../sandbox/network/names/ascii.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import { connectRequest, NetworkGrants, readChains } from "../../sandbox/network/network-grants.ts";

export interface DocumentPorts {
  fetch(wish: FetchOptions): Promise<FetchResult>;
  resolver(): ResolverChoice;
  now(): number;
}

export type DocumentResult = Result<JsonObject, Failure>;

const documentBytesMax = 65_536;
const documentMilliseconds = 5_000;
const headerBytes = 16_384;

export async function readDocument(ports: DocumentPorts, address: string): Promise<DocumentResult> {
  const url = parseUrl(address, toAscii);
  if (!url.ok) return { ok: false, message: url.message };
  const { host, port } = url.value;
  const fetched = await ports.fetch({
    ...{ method: "GET", url: address, body: null, sign: null, stop: null, secrets: [] },
    headers: [["Accept", "application/json"]],
    limits: { headerBytes, bodyBytes: documentBytesMax, milliseconds: documentMilliseconds, redirects: 0 },
    resolver: ports.resolver(),
    judge: hostJudge(destinationText(host), port, ports.now),
  });
  if (!fetched.ok) return { ok: false, message: fetched.message };
  const pieces: Uint8Array[] = [];
  for await (const piece of fetched.body) pieces.push(piece);
  const end = await fetched.end;
  if (!end.ok) return { ok: false, message: end.message };
  if (fetched.status !== 200) return { ok: false, message: `it responds with status ${fetched.status}` };
  const value = parsed(Buffer.concat(pieces).toString("utf8"));
  return isJsonObject(value) ? { ok: true, value } : { ok: false, message: "its response is not a JSON object" };
}

/** Allows connections to this host and port; a name that leads to a special address is refused. */
function hostJudge(host: string, port: number, now: () => number): (request: Request) => Decision {
  const chains = readChains([[[`net.connect{hosts=[${JSON.stringify(host)}],ports=[${port}]}`]]]);
  const grants = chains === null ? null : new NetworkGrants(chains, now);
  return ({ values: [to, at] }) =>
    grants === null || !isDestination(to) || typeof at !== "number"
      ? { outcome: "deny", code: "address_refused", at: null }
      : grants.judge(connectRequest(to, at, "sni"));
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
