// What the tools over agents need of the daemon, and the refusals that they share.
import type { JsonObject } from "../../core/base/json.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import type { Daemon } from "../daemon.ts";
import type { Session } from "../session.ts";
import type { AgentsPlaceAsked } from "./agent-directory.ts";
import type { Carried } from "./owner-tool.ts";

export interface DaemonAgentsAsked extends AgentsPlaceAsked {
  held(session: Session): ReturnType<Daemon["held"]>;
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
}

export function failed(code: string, message: string, fix: string | null = null): Extract<Carried, { ok: false }> {
  return { ok: false, code, message, fix };
}

export const ENDED: Carried = failed("revoked", "the session has no grants any more");
export const BAD: Carried = failed("invalid_input", "the arguments do not match the tool's input");
export const NO_WORKSPACE: Carried = failed(
  "not_available",
  "an agent loaded from a file has no workspace with other agents",
);
