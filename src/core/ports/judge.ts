// Decisions during a run: a connection that a process opens, the target of a symlink.
import type { Decision } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";

export type Judge = (request: Request) => Decision;
