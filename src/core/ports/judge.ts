// Decisions during a run: a connection that a process opens, the target of a symlink.
import type { Decision } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";

/** `isUncharged`: budgets do not cover it, because nothing charges them; as for a redirect. */
export type Judge = (request: Request, isUncharged?: true) => Decision;
