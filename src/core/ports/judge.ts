// What is decided in the middle of a run: a connection a process opens, a link a path turns out to be.
import type { Decision } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";

export type Judge = (request: Request) => Decision;
