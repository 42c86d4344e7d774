// A request: one verb and one value on each of its axes. What is decided, shown, approved and carried out is this value.

import type { Value } from "./axes/scope.ts";
import type { Scheme } from "./axes/url.ts";
import type { VerbEntry } from "./catalog.ts";
import type { Grant } from "./grant.ts";

export interface Request {
  readonly verb: VerbEntry;
  /** In the order of the verb's axes. */
  readonly values: readonly Value[];
  /** For `agent.grant`: what is to be passed on, and to whom. For `agent.update`: what the agent that is told holds. */
  readonly delegation?: Delegation;
  /** Its values are from the user's own configuration, and not the caller's to know. Nothing is decided by this. */
  readonly isConfigured?: true;
  /** It changes a name that tools on this machine run or obey: a person has to agree, although a grant covers it. */
  readonly isTrigger?: true;
  /**
   * Of the address it was read from, for display. INVARIANT: nothing is decided by this, and no request is another
   * one by it. Denials that are counted go by what is shown.
   */
  readonly scheme?: Scheme;
}

export interface Delegation {
  readonly target: string;
  readonly proposed: readonly Grant[];
}
