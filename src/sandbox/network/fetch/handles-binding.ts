// Where a secret may be sent: a host it is bound to, on the given port or the default one, over TLS. Without TLS only
// to a loopback address that the binding names.

import { parseHostEntry } from "../../../core/authority/axes/destination.ts";
import type { Url } from "../../../core/authority/axes/url.ts";
import { sequenceMatches } from "../../../core/authority/patterns/sequence.ts";
import { inRange, parseRange } from "../../../core/base/address.ts";
import { toAscii } from "../names/ascii.ts";

/** Why these hosts cannot be bound to; null where they can. */
export function refusesBoundHosts(hosts: readonly string[]): string | null {
  for (const host of hosts) {
    const bound = readBound(host);
    if (bound === null) return `${JSON.stringify(host)} is not a host with an optional port`;
    if (bound.kind === "every") return "a secret is bound to hosts by name: `*` would be every host";
    if (bound.kind === "range" && bound.range.low !== bound.range.high)
      return `${JSON.stringify(host)} is more than one address: bind a secret to single addresses`;
  }
  return null;
}

export function isBoundTo(
  hosts: readonly string[],
  { scheme, host, port }: Pick<Url, "scheme" | "host" | "port">,
): boolean {
  return hosts.some((text) => {
    const bound = readBound(text);
    if (bound === null || bound.kind === "every") return false;
    if (port !== (bound.port ?? (scheme === "https" ? 443 : 80))) return false;
    if (bound.kind === "name")
      return scheme === "https" && host.name !== null && sequenceMatches(bound.name, host.name);
    if (host.name !== null || bound.range.low !== bound.range.high || !inRange(bound.range, host.address)) return false;
    return scheme === "https" || LOOPBACK.some((range) => inRange(range, host.address));
  });
}

const LOOPBACK = ["127.0.0.0/8", "::1"].flatMap((text) => {
  const range = parseRange(text);
  return range.ok ? [range.value] : [];
});

type Bound = { readonly port: number | null } & (ReturnType<typeof parseHostEntry> extends infer R
  ? R extends { readonly ok: true; readonly value: infer V }
    ? V
    : never
  : never);

function readBound(text: string): Bound | null {
  const [, host, digits] = /^(\[[^\]]*\]|[^:[\]]*|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === undefined) return null;
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const entry = parseHostEntry(host, toAscii);
  return entry.ok ? { ...entry.value, port } : null;
}
