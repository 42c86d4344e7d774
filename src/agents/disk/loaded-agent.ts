// Agents as they are loaded from disk, and a project as it is opened: the types that loading and the commands share.
import type { FixableFailure, Result } from "../../core/base/result.ts";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import type { ServerFile } from "../../core/notation/servers/server-file.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TrustStore } from "../../core/ports/trust.ts";
import type { OrgTriggers } from "../../org/schedules/file-schedule.ts";
import type { Agent } from "../project/agent.ts";
import type { ConfigRead, Levels } from "../project/hoist-levels.ts";
import type { Review } from "../project/review.ts";
import type { AgentTrust } from "../project/trust.ts";

export interface LoadedAgent {
  readonly agent: Agent;
  /** The text it was read from, to show lines of it. */
  readonly source: Source;
  /** Which part of the text is trusted; `agent` holds the trusted part. Absent where only texts are compared. */
  readonly trust?: AgentTrust;
}

export type LoadResult = Result<LoadedAgent, FixableFailure>;

/** Agents by their id. */
export type AgentSet = ReadonlyMap<string, LoadedAgent>;

export type SetResult =
  /** `isOneFile`: a single file was named, so its file name is not compared. */
  { readonly ok: true; readonly value: AgentSet; readonly isOneFile: boolean } | FixableFailure;

export interface OpenedProject {
  /** Its real path. */
  readonly workspace: string;
  readonly review: Review;
  /** Null for the user's own folder, which needs no trust. */
  readonly store: TrustStore | null;
  readonly user: ConfigRead | null;
  readonly config: ConfigRead | null;
  readonly levels: Levels;
  /** The MCP servers that its `mcp.yml` has, with the text; null where there is none. */
  readonly servers: { readonly file: ServerFile; readonly source: Source } | null;
  /** What its org file starts by itself, and whether that is in effect. */
  readonly triggers: OrgTriggers;
  /** Files in `.ambit` that could not be read, one sentence each. */
  readonly problems: readonly string[];
}

/** The diagnostics of both configurations, each with the text it points into. */
export function configDiagnostics({ user, config, levels }: OpenedProject): readonly (readonly [Diagnostic, Source])[] {
  const read = [user, config].filter((one) => one !== null);
  return [
    ...read.flatMap((one) => one.config.diagnostics.map((diagnostic) => [diagnostic, one.source] as const)),
    ...levels.diagnostics.flatMap((diagnostic) => (config === null ? [] : [[diagnostic, config.source] as const])),
  ];
}
