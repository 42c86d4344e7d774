// A link is a union of grants from one issuer to one holder; a chain is the meet of its links; authority is a set
// of chains. The meet of zero links cannot be spelled.
import type { Grant } from "./grant.ts";

/** own: a record or a delegation, where use and pass-on differ. limit: a ceiling, a requirement, a session's pledge. */
export type LinkRole = "own" | "limit";

export interface Validity {
  /** Milliseconds since 1970. */
  readonly notBefore: number | null;
  readonly expires: number | null;
  /** Generations the link is valid in; null is every generation. */
  readonly generations: readonly number[] | null;
}

export const ALWAYS: Validity = { notBefore: null, expires: null, generations: null };

export interface Link {
  readonly id: string;
  readonly role: LinkRole;
  readonly issuer: string;
  readonly holder: string;
  readonly grants: readonly Grant[];
  readonly validity: Validity;
  /** Calls this link may make altogether, itself and everything below it; null is unlimited. */
  readonly calls: number | null;
  /** Where a text changed after a person trusted it: the text as it is written now, or as it was trusted. */
  readonly version?: "written" | "trusted";
  /** Names the accounts that its calls are charged to; its id where absent. Two versions of one text share accounts. */
  readonly account?: string;
}
