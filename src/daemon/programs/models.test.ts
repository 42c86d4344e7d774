// Which connections lead past the relay to a provider, however the program spells its address.
import { expect, test } from "vitest";
import { type Destination, parseHost } from "../../core/authority/axes/destination.ts";
import type { Authority } from "../../core/authority/chain.ts";
import { compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { parseAddress } from "../../core/base/address.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { readCapabilityList } from "../../core/notation/record/capabilities.ts";
import { READING, treeOf } from "../../core/notation/testing/notation.ts";
import { toAscii } from "../../platform/ascii.ts";
import { connectRequest } from "../../sandbox/network/network-grants.ts";
import { relayedOnly } from "./models.ts";

const { grants } = readCapabilityList(treeOf(["model.use{providers=[openai]}"]), {
  ...{ reading: READING, diagnostics: new Diagnostics(), root: ["work"] },
});
const OWN = { id: "own", role: "own", issuer: "a", holder: "a", grants, validity: ALWAYS, calls: null } as const;
const AUTHORITY: Authority = [[compile(OWN)]];

function hostOf(text: string, resolved: string | null): Destination {
  const host = parseHost(text, toAscii);
  if (!host.ok) throw new Error(host.message);
  if (host.value.name === null) return host.value;
  return { name: host.value.name, address: resolved === null ? null : parseAddress(resolved) };
}

test.each<[url: string, host: string, port: number, resolved: string | null, isRelayed: boolean]>([
  ["https://gateway.example/v1", "Gateway.Example.", 443, "203.0.113.7", true],
  ["https://gateway.example/v1", "gateway.example", 8443, "203.0.113.7", false],
  ["https://gateway.example/v1", "git.example", 443, "203.0.113.7", false],
  ["https://gateway.example/v1", "api.openai.com", 443, "203.0.113.7", true],
  ["http://127.0.0.1:8000", "localhost", 8000, "127.0.0.1", true],
  ["http://localhost:8000", "127.0.0.1", 8000, null, true],
  ["http://localhost:8000", "::1", 8000, null, true],
  ["http://127.0.0.1:8000", "127.0.0.2", 8000, null, true],
  ["http://127.0.0.1:8000", "0.0.0.0", 8000, null, true],
  ["http://127.0.0.1:8000", "::", 8000, null, true],
  ["http://127.0.0.1:8000", "::ffff:127.0.0.1", 8000, null, true],
  ["http://127.0.0.1:8000", "db.internal", 8000, "127.0.0.1", true],
  ["http://models.localhost:8000", "127.0.0.1", 8000, null, true],
  ["http://127.0.0.1:8000", "127.0.0.1", 5432, null, false],
  ["http://127.0.0.1:8000", "10.0.0.1", 8000, null, false],
])("with a provider at %s, a connection to %s port %i (%s)", (url, host, port, resolved, isRelayed) => {
  const isPast = relayedOnly(AUTHORITY, [{ provider: "openai", url, prices: [] }]);
  expect(isPast(connectRequest(hostOf(host, resolved), port, "sni"))).toBe(isRelayed);
});
