// The broker's own copy of the network grants of a sandbox, parsed from the plan's specs only.

import type { Destination } from "../../core/authority/axes/destination.ts";
import { type ScreenedAddress, screen } from "../../core/authority/axes/screen.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority, Chain } from "../../core/authority/chain.ts";
import { type CompiledLink, compile, type Moment } from "../../core/authority/compiled.ts";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { coveredUntil } from "../../core/authority/until.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { toAscii } from "./names/ascii.ts";

export type Chains = readonly (readonly (readonly string[])[])[];

const CONNECT = verbEntry("net.connect");
const READING: Reading = { pathSettings: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };

/** Ports that are tried first, and shown where no port is known. */
export const usualPort = 443;

/** No grant covers it. */
const OUTSIDE: readonly DenialCode[] = ["capability_absent", "scope_violation"];

/** `sni`: on 443 and 80 the name must be visible in the traffic. `raw`: any protocol. */
export type InspectionMode = "sni" | "raw";

export function connectRequest(host: Destination, port: number, manner: InspectionMode): Request {
  if (CONNECT === null) throw new Error("the catalog has no net.connect");
  return { verb: CONNECT, values: [host, port, manner] };
}

/** The connections one sandbox may open. Budgets, approvals and revocation are the daemon's. */
export class NetworkGrants {
  readonly #authority: Authority;
  readonly #ports: readonly number[];
  readonly #now: () => number;

  constructor(authority: Authority, now: () => number) {
    this.#authority = authority;
    this.#now = now;
    this.#ports = portsToTry(authority);
  }

  judge(request: Request): Decision {
    return judge(this.#authority, request, this.#moment());
  }

  screen(request: Request, answers: readonly string[] | null): ScreenedAddress {
    return screen(this.#authority, request, answers, this.#moment());
  }

  /** How long the current permission holds; null for ever. */
  millisecondsLeft(request: Request): number | null {
    const moment = this.#moment();
    const end = coveredUntil(this.#authority, request, moment);
    return end === null ? null : end - moment.now;
  }

  /** Whether some port of this name may be connected to, with or without approval. */
  reaches(host: Destination): boolean {
    return this.#ports.some((port) => this.judge(connectRequest(host, port, "sni")).outcome !== "deny");
  }

  /**
   * The port to report for a DNS question, which names none: an open one, else one that some grant names for it, else
   * the default one.
   */
  spokenOf(host: Destination): Request {
    const requests = this.#ports.map((port) => connectRequest(host, port, "sni"));
    const isOpen = (one: Request): boolean => this.judge(one).outcome !== "deny";
    const isNamed = (one: Request): boolean => {
      const decision = this.judge(one);
      return decision.outcome === "deny" && !OUTSIDE.includes(decision.code);
    };
    return requests.find(isOpen) ?? requests.find(isNamed) ?? connectRequest(host, usualPort, "sni");
  }

  /** Whether the session is clean is known to the daemon only: here nothing contradicts it. */
  #moment(): Moment {
    return { now: this.#now(), clean: true, generation: 0, revoked: null, exhausted: null };
  }
}

/** Null when any spec does not parse: then nothing is granted. */
export function readChains(chains: Chains): Authority | null {
  const authority: Chain[] = [];
  for (const specs of chains) {
    const links: CompiledLink[] = [];
    for (const link of specs) {
      const grants = readLink(link);
      if (grants === null) return null;
      links.push(
        compile({
          id: `${links.length}`,
          role: "limit",
          issuer: "daemon",
          holder: "sandbox",
          grants,
          validity: ALWAYS,
          calls: null,
        }),
      );
    }
    const [first, ...rest] = links;
    // A chain without links would cover everything.
    if (first === undefined) return null;
    authority.push([first, ...rest]);
  }
  return authority;
}

function readLink(specs: readonly string[]): readonly Grant[] | null {
  const grants: Grant[] = [];
  for (const text of specs) {
    const diagnostics = new Diagnostics();
    const span = { source: "plan", start: 0, end: text.length };
    const grant = readCompact(text, { reading: READING, diagnostics, span, root: null });
    if (grant === null || grant.verb !== CONNECT) return null;
    if (diagnostics.list.some((one) => one.severity === "error")) return null;
    grants.push(grant);
  }
  return grants;
}

/** Where ranges intersect, they intersect at the lower end of one of them. */
function portsToTry(authority: Authority): readonly number[] {
  const ports = new Set<number>([usualPort]);
  for (const chain of authority)
    for (const { link } of chain)
      for (const { scopes } of link.grants) {
        const scope = scopes[1];
        if (scope?.kind === "ports") for (const { low } of scope.of) ports.add(Math.max(1, low));
      }
  return [...ports];
}
