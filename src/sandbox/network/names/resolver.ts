// Resolves names to addresses. The screened answer is the dialled one; nothing is looked up twice in between.
import dns from "node:dns";
import type { Resolver } from "../../../core/ports/resolver.ts";
import { cachedMillisecondsMax, cachedNamesMax, lookupMilliseconds, lookupsMax, lookupsWaitingMax } from "../limits.ts";

/** The system's resolver, or these servers (`address` or `address:port`). */
export type ResolverChoice = { readonly servers: readonly string[] } | null;

interface Answer {
  readonly addresses: readonly string[];
  /** How long it may be cached. */
  readonly milliseconds: number;
}

type Lookup = (host: string) => Promise<Answer | null>;

/** The system's resolver does not report a time to live. */
const systemMilliseconds = 5_000;

/** Null for invalid servers. */
export function resolverOf(choice: ResolverChoice, now: () => number): Resolver | null {
  const lookup = choice === null ? systemLookup : serversLookup(choice.servers);
  return lookup === null ? null : cached(limited(lookup), now);
}

const systemLookup: Lookup = async (host) => {
  const found = await dns.promises.lookup(host, { all: true, verbatim: true });
  return { addresses: found.map((one) => one.address), milliseconds: systemMilliseconds };
};

function serversLookup(servers: readonly string[]): Lookup | null {
  const resolver = new dns.promises.Resolver({ timeout: lookupMilliseconds / 4, tries: 2 });
  try {
    resolver.setServers(servers);
  } catch {
    return null;
  }
  return async (host) => {
    const found = await Promise.allSettled([
      resolver.resolve4(host, { ttl: true }),
      resolver.resolve6(host, { ttl: true }),
    ]);
    const records = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const seconds = Math.min(...records.map((one) => one.ttl));
    return records.length === 0
      ? null
      : { addresses: records.map((one) => one.address), milliseconds: Math.max(0, seconds * 1000) };
  };
}

/** Limits concurrency, queues the rest in order, and bounds each lookup in time. */
function limited(lookup: Lookup): Lookup {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (host) => {
    if (running >= lookupsMax) {
      if (waiting.length >= lookupsWaitingMax) return null;
      await new Promise<void>((go) => waiting.push(go));
    } else running++;
    const asked = lookup(host).catch(() => null);
    // The slot is released when the answer arrives, not at our timeout: the thread is busy until then.
    void asked.then(() => {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    });
    return inTime(asked, lookupMilliseconds);
  };
}

async function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((give) => {
    timer = setTimeout(() => give(null), milliseconds);
  });
  const first = await Promise.race([promise, late]);
  clearTimeout(timer);
  return first;
}

/** Caches answers, never decisions: a cached answer is screened again. */
function cached(lookup: Lookup, now: () => number): Resolver {
  const known = new Map<string, { readonly addresses: Promise<Answer | null>; until: number }>();
  return async (host) => {
    const before = known.get(host);
    if (before !== undefined && now() < before.until) return (await before.addresses)?.addresses ?? null;
    const entry = { addresses: lookup(host), until: Number.POSITIVE_INFINITY };
    known.delete(host);
    known.set(host, entry);
    for (const oldest of known.keys()) {
      if (known.size <= cachedNamesMax) break;
      known.delete(oldest);
    }
    const answer = await entry.addresses;
    // Failures are not cached.
    entry.until = answer === null ? 0 : now() + Math.min(answer.milliseconds, cachedMillisecondsMax);
    return answer?.addresses ?? null;
  };
}
