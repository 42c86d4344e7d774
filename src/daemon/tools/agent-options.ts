// Options and refusals shared by the agent tools.
import type { JsonObject } from "../../core/base/json.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import type { Daemon } from "../daemon.ts";
import type { Session } from "../session.ts";
import type { AgentDirectoryOptions } from "./agent-directory.ts";
import type { ExecutionResult } from "./owner-tool.ts";

export interface DaemonAgentsOptions extends AgentDirectoryOptions {
  held(session: Session): ReturnType<Daemon["held"]>;
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
}

export function failed(
  code: string,
  message: string,
  fix: string | null = null,
): Extract<ExecutionResult, { ok: false }> {
  return { ok: false, code, message, fix };
}

export const ENDED: ExecutionResult = failed("revoked", "the session holds nothing any more");
export const BAD: ExecutionResult = failed("invalid_input", "not what the tool takes");
export const NO_WORKSPACE: ExecutionResult = failed(
  "not_available",
  "an agent that was named by a file has no workspace with others",
);
