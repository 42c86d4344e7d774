// The same grants and the same requests for every engine, as plain data: each engine writes them in its own notation.

export type Verb = "net.get" | "fs.read" | "proc.exec";

export type WrittenGrant =
  /** The subdomains of a domain. */
  | { readonly verb: "net.get"; readonly kind: "below"; readonly value: string }
  | { readonly verb: "net.get"; readonly kind: "exact"; readonly value: string }
  /** The paths below a folder. */
  | { readonly verb: "fs.read"; readonly kind: "tree"; readonly value: string }
  /** A program by its name, with any arguments. */
  | { readonly verb: "proc.exec"; readonly kind: "program"; readonly value: string };

export interface WrittenRequest {
  readonly verb: Verb;
  /** The host, the path or the program. */
  readonly value: string;
  readonly allowed: boolean;
}

export const requestsCount = 2000;
export const sizes: readonly number[] = [1, 10, 100, 1_000, 10_000, 100_000];

/** 40 % hosts (every tenth exact), 40 % trees, 20 % programs. */
export function writtenGrants(count: number): readonly WrittenGrant[] {
  return Array.from({ length: count }, (_, at): WrittenGrant => {
    const turn = at % 5;
    if (turn === 4) return { verb: "proc.exec", kind: "program", value: `tool${at}` };
    if (turn >= 2) return { verb: "fs.read", kind: "tree", value: `/srv/team${at % 50}/project${at}` };
    const place = Math.floor(at / 5) * 2 + turn;
    return place % 10 === 9
      ? { verb: "net.get", kind: "exact", value: `api.region${at}.example.com` }
      : { verb: "net.get", kind: "below", value: `zone${at % 97}.region${at}.example.com` };
  });
}

/** Allowed and denied alternately. A denied request is a near miss of an existing grant. */
export function writtenRequests(
  grants: readonly WrittenGrant[],
  count: number = requestsCount,
): readonly WrittenRequest[] {
  const random = dice(20_261_115);
  return Array.from({ length: count }, (_, at): WrittenRequest => {
    const grant = grants[Math.floor(random() * grants.length)] as WrittenGrant;
    const allowed = at % 2 === 0;
    return { verb: grant.verb, value: allowed ? hit(grant, at) : miss(grant, at), allowed };
  });
}

function hit({ kind, value }: WrittenGrant, at: number): string {
  switch (kind) {
    case "exact":
    case "program":
      return ["", value].join("");
    case "below":
      return at % 3 === 0 ? `node${at}.rack${at % 7}.${value}` : `node${at}.${value}`;
    case "tree":
      return at % 3 === 0 ? `${value}/src/part${at % 11}/file${at}.ts` : `${value}/file${at}.ts`;
  }
}

function miss({ kind, value }: WrittenGrant, at: number): string {
  switch (kind) {
    case "exact":
      return at % 3 === 0 ? `x${value}` : at % 3 === 1 ? `${value}.net` : `x.${value}`;
    case "program":
      return at % 3 === 0 ? `x${value}` : `${value}x`;
    case "below":
      return at % 3 === 0 ? `node${at}-${value}` : at % 3 === 1 ? `node${at}.${value}.net` : `node${at}.x${value}`;
    case "tree":
      return at % 3 === 0 ? `${value}x/file${at}.ts` : at % 3 === 1 ? `/mnt${value}/file${at}.ts` : `${value}-old`;
  }
}

/** Small numbers that look random and are the same in every run (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
