// Resolver answers, and the outcome of a page request under `net.get{hosts=["*"]}`.

import type { Destination } from "../../src/core/authority/axes/destination.ts";
import { parseHost } from "../../src/core/authority/axes/destination.ts";
import { parseUrl } from "../../src/core/authority/axes/url.ts";
import { type Address, addressText, parseAddress } from "../../src/core/base/address.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { screenGet } from "./fixture.ts";

export type Answers = readonly string[] | null;

export const publicAnswers: readonly Answers[] = [["93.184.215.14"], ["2606:4700::6810:84e5", "8.8.4.4"]];

/** Answers that refuse a name, whatever it is called. */
export const privateAnswers: readonly Answers[] = [
  ["10.0.0.7"],
  ["127.0.0.1"],
  ["169.254.169.254"],
  ["192.168.1.1"],
  ["::1"],
  ["fd00:ec2::254"],
  ["::ffff:10.0.0.7"],
  ["64:ff9b::a00:7"],
  ["93.184.215.14", "10.0.0.7"],
  [],
  null,
];

/** A requested endpoint: its addresses and its port. */
export interface Target {
  readonly host: Destination;
  readonly port: number;
}

/** Null if our parser refuses the text. */
export function targetOf(input: string, kind: "url" | "host"): Target | null {
  if (kind === "url") {
    const url = parseUrl(input, toAscii);
    return url.ok ? { host: url.value.host, port: url.value.port } : null;
  }
  const host = parseHost(input, toAscii);
  return host.ok ? { host: host.value, port: 80 } : null;
}

export interface RequestOutcome {
  readonly allowed: boolean;
  /** Addresses that may be dialled, as text. */
  readonly pinned: readonly string[];
}

export function requestOutcome({ host, port }: Target, answers: Answers): RequestOutcome {
  const { decision, pinned } = screenGet(host, port, answers);
  return { allowed: decision.outcome === "allow", pinned: pinned.map(addressText) };
}

/** INVARIANT of every case: an allowed request may dial the addresses of the answer and no other. */
export function dialsOnly(pinned: readonly string[], answers: Answers): boolean {
  const decidedOn = (answers ?? [])
    .map(parseAddress)
    .flatMap((each: Address | null) => (each === null ? [] : [addressText(each)]));
  return pinned.every((each) => decidedOn.includes(each));
}

/** Names that no public resolver answers: loopback, link-local, internal networks. */
export function isLocalName(host: string): boolean {
  return /(^|\.)(localhost|localhost6|localdomain|local|internal|home\.arpa|ip6-localhost|ip6-loopback)\.?$/i.test(
    host,
  );
}

/** An answer for a name in a scenario that gives none: local names and names that spell an address resolve to it. */
export function likelyAnswers(host: string): Answers {
  if (isLocalName(host)) return ["127.0.0.1"];
  const spelled = /(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?=[.-])/.exec(host);
  return spelled === null ? ["93.184.215.14"] : [spelled.slice(1).join(".")];
}
