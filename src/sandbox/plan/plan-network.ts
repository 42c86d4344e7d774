// The network of a plan: the chains that may open connections now, as text for the broker's own check, and the ports.

import { destinationMatches } from "../../core/authority/axes/destination.ts";
import { isNothing, type PortRange } from "../../core/authority/axes/scope.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import { type Authority, type Chain, linkState, purposeAt } from "../../core/authority/chain.ts";
import { type CompiledLink, conditionsHold, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { segmentsOf } from "../../core/authority/patterns/sequence.ts";
import { type Address, parseAddress } from "../../core/base/address.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { PlanNetwork } from "./plan.ts";

const CONNECT = verbEntry("net.connect");
const PORT = 1;
const EVERY_PORT: PortRange = { low: 1, high: 65_535 };

/** Null where no chain covers any connection. */
export function networkOf(authority: Authority, moment: Moment): PlanNetwork | null {
  const usable = authority.map((chain) => chainGrants(chain, moment)).filter((chain) => chain !== null);
  const ports = merged(usable.flatMap(chainPorts));
  if (ports.length === 0) return null;
  const loopback = loopbackPorts(
    merged(usable.flatMap((links) => chainPorts(links.map((one) => one.filter(isLoopback))))),
  );
  return { ports, loopback, chains: usable.map((links) => links.map((grants) => grants.map(connectText))) };
}

const LOOPBACK = parseAddress("127.0.0.1") as Address;
const LOCALHOST = segmentsOf(["localhost"]);
const loopbackPortsMax = 64;
/** Of a range too wide to open port by port: databases and development servers. */
const COMMON_LOOPBACK: readonly number[] = [
  ...[3_000, 3_001, 3_306, 4_000, 4_200, 5_000, 5_173, 5_432, 6_379, 8_000, 8_080, 8_081, 8_443, 8_888, 9_000, 9_200],
  ...[11_434, 27_017],
];

/** The host's loopback by its address, or by the one name that means it. */
function isLoopback({ scopes: [host] }: Grant): boolean {
  if (host?.kind !== "destinations") return false;
  const names = [{ name: null, address: LOOPBACK } as const, { name: LOCALHOST, address: LOOPBACK } as const];
  return names.some((value) => destinationMatches(host, value));
}

function loopbackPorts(ranges: readonly PortRange[]): readonly number[] {
  const ports = new Set<number>();
  for (const { low, high } of ranges) {
    const isWide = high - low >= loopbackPortsMax;
    const listed = isWide
      ? COMMON_LOOPBACK.filter((port) => port >= low && port <= high)
      : Array.from({ length: high - low + 1 }, (_, at) => low + at);
    for (const port of listed) if (ports.size < loopbackPortsMax) ports.add(port);
  }
  return [...ports].sort((left, right) => left - right);
}

/** A sandbox acts for one session: whose users it acts for was decided here, and the broker does not know them. */
function connectText(grant: Grant): string {
  return compactText({ ...grant, conditions: { ...grant.conditions, principals: null } });
}

/** The active grants of each link, or null where one link has none. */
function chainGrants(chain: Chain, moment: Moment): readonly (readonly Grant[])[] | null {
  const links = chain.map((compiled, place) => linkGrants(chain, compiled, place, moment));
  return links.every((grants) => grants.length > 0) && chainPorts(links).length > 0 ? links : null;
}

function linkGrants(chain: Chain, compiled: CompiledLink, place: number, moment: Moment): readonly Grant[] {
  if (CONNECT === null || linkState(compiled, moment) !== null) return [];
  const purpose = purposeAt(chain, place, "use");
  return compiled
    .grantsOf(CONNECT)
    .filter((index) => moment.exhausted?.(compiled.link.id, index) !== true)
    .map((index) => compiled.link.grants[index] as Grant)
    .filter((grant) => conditionsHold(grant, moment, purpose) && !grant.scopes.some(isNothing));
}

/** A port that some grant of every link names. */
function chainPorts(links: readonly (readonly Grant[])[]): readonly PortRange[] {
  return links
    .map((grants) => merged(grants.flatMap(grantPorts)))
    .reduce((left, right) => common(left, right), [EVERY_PORT]);
}

function grantPorts({ scopes }: Grant): readonly PortRange[] {
  const scope = scopes[PORT];
  return scope?.kind === "any" ? [EVERY_PORT] : scope?.kind === "ports" ? scope.of : [];
}

function common(left: readonly PortRange[], right: readonly PortRange[]): readonly PortRange[] {
  return left
    .flatMap((one) =>
      right.map((other) => ({ low: Math.max(one.low, other.low), high: Math.min(one.high, other.high) })),
    )
    .filter(({ low, high }) => low <= high);
}

/** Sorted, without overlap; valid ports only. */
function merged(ranges: readonly PortRange[]): readonly PortRange[] {
  const sorted = common(ranges, [EVERY_PORT]).toSorted((left, right) => left.low - right.low);
  const joined: PortRange[] = [];
  for (const range of sorted) {
    const last = joined[joined.length - 1];
    if (last === undefined || range.low > last.high + 1) joined.push(range);
    else if (range.high > last.high) joined[joined.length - 1] = { low: last.low, high: range.high };
  }
  return joined;
}
