// Grants that name this machine's loopback and cannot reach it: a name where an address is needed, an address that has no
// listener in the sandbox, or connections for an agent that runs no program.
import { type DestinationScope, destinationMatches } from "../core/authority/axes/destination.ts";
import type { Grant } from "../core/authority/grant.ts";
import { type Sequence, segmentsOf } from "../core/authority/patterns/sequence.ts";
import { type Address, type AddressRange, parseAddress, parseRange, rangeText } from "../core/base/address.ts";
import { literalPrefix } from "../core/notation/policy/ceiling.ts";
import { compactText } from "../core/notation/printer.ts";
import { isLive, scopeOf } from "./breadth.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

const LOOPBACK = parseAddress("127.0.0.1") as Address;
const LOOPBACK_6 = parseAddress("::1") as Address;
const LOCALHOST = segmentsOf(["localhost"]);
const RUNS = ["proc.exec", "proc.eval"];

export function unreachableLoopback(grants: readonly Grant[], about: FindingSubject, now: number): readonly Finding[] {
  const live = grants.filter((grant) => isLive(grant, now));
  const isRunning = live.some(({ verb }) => RUNS.includes(verb.verb));
  return live.flatMap((grant) => {
    const host = scopeOf(grant, "host");
    if (host?.kind !== "destinations" || !grant.verb.verb.startsWith("net.")) return [];
    const reason = grant.verb.verb === "net.connect" ? connectionReason(host, isRunning) : namesReason(host);
    if (reason === null) return [];
    const [message, fix] = reason;
    return [
      newFinding("unreachable_loopback", about, { message: `${compactText(grant)}: ${message}`, fix, grants: [grant] }),
    ];
  });
}

type Reason = readonly [message: string, fix: string];

/** Programs: the sandbox listens on its own 127.0.0.1 for ports granted as `localhost` or 127.0.0.1. */
function connectionReason(host: DestinationScope, isRunning: boolean): Reason | null {
  const isOpen =
    destinationMatches(host, { name: null, address: LOOPBACK }) ||
    destinationMatches(host, { name: LOCALHOST, address: LOOPBACK });
  if (isOpen && isLocalOnly(host) && !isRunning)
    return ["only programs open connections, and the agent cannot run programs", "proc.exec{in=.,cmds=[npm]}"];
  if (isOpen) return null;
  const range = host.ranges.find(isLoopbackRange);
  if (range !== undefined)
    return [`programs reach 127.0.0.1 of this machine, not ${rangeText(range)}`, "hosts: [localhost]"];
  const name = host.names.find(isBelowLocalhost);
  return name === undefined ? null : ["only `localhost` itself names this machine", "hosts: [localhost]"];
}

/** Our own tools: a name that resolves to a special address is refused, unless `private` opens it. */
function namesReason(host: DestinationScope): Reason | null {
  const isNamed = host.names.some((name) => isBelowLocalhost(name) || isLocalhost(name));
  const isOpen = [LOOPBACK, LOOPBACK_6].some((address) => destinationMatches(host, { name: LOCALHOST, address }));
  if (!isNamed || isOpen) return null;
  return ["names that resolve to this machine are refused", "hosts: [127.0.0.1]"];
}

function isLocalOnly({ names, ranges, everyPublic }: DestinationScope): boolean {
  return !everyPublic && names.every(isLocalhost) && ranges.every(isLoopbackRange);
}

function isLocalhost(name: Sequence): boolean {
  return name.length === 1 && literalPrefix(name)[0] === "localhost";
}

/** `*.localhost` and `x.localhost`. */
function isBelowLocalhost(name: Sequence): boolean {
  return name.length > 1 && literalPrefix(name)[0] === "localhost";
}

const LOOPBACK_RANGES: readonly AddressRange[] = ["127.0.0.0/8", "::1"]
  .map(parseRange)
  .flatMap((range) => (range.ok ? [range.value] : []));

function isLoopbackRange(range: AddressRange): boolean {
  return LOOPBACK_RANGES.some((one) => range.family === one.family && range.low >= one.low && range.high <= one.high);
}
