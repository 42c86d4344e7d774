// The port of `ambit exec`: runs a program for an agent and returns its result.

import type { LoadedAgent } from "../../agents/disk/loaded-agent.ts";
import type { UserProfiles } from "../../clients/profile-choice.ts";
import type { RootWord } from "../../core/authority/axes/root-word.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json } from "../../core/base/json.ts";
import type { TerminalPass } from "../../core/notation/config/run-settings.ts";
import type { DenialView } from "../../core/ports/daemon/daemon-calls.ts";
import type { NO_DAEMON } from "../../core/ports/daemon/exchange.ts";
import type { TaskRun } from "../../core/ports/daemon/task-messages.ts";
import type { CompletedRun, RunRefusal, Sinks, TerminalRequest } from "../../core/ports/process.ts";
import type { CliPorts } from "../ports.ts";

export interface ExecRequest {
  readonly agent: LoadedAgent["agent"];
  /** As it was written: an id or a file. */
  readonly name: string;
  /** The user; null if none is named. */
  readonly user: string | null;
  /** Compact specs that it holds at most. */
  readonly pledge: readonly string[] | null;
  /** How long to wait for a person where one has to be asked. */
  readonly waitMilliseconds: number;
  /** A program and its arguments, or one shell line. */
  readonly what: { readonly argv: readonly string[] } | { readonly line: string };
  /** The root, as written; null is the agent's own, or the working directory. */
  readonly folder: string | null;
  /** Null: writable where the grants allow it. */
  readonly root: RootWord | null;
  /** In a sandbox with nothing of this machine. */
  readonly isThrowaway: boolean;
  /** Shorter than the configured limit, never longer. */
  readonly milliseconds: number | null;
  /** What it writes waits for a person. */
  readonly needsReview: boolean;
  /** The profile of a client, by its id, and whether its home begins empty; null for a program. */
  readonly client: { readonly profile: string; readonly isFresh: boolean } | null;
  /** Requests that the start needs besides, in the notation of `ambit can`: a decision about more, never about less. */
  readonly also?: readonly string[];
  /** The task it is a run of. */
  readonly task?: TaskRun;
}

export interface ExecStreams extends Sinks {
  readonly input: AsyncIterable<Uint8Array> | null;
  /** Aborts when the person or the system ends this process. */
  readonly signal: AbortSignal;
  /** Absent: the program has pipes. */
  readonly terminal?: TerminalRequest;
  /** What the daemon tells meanwhile: that a person is asked. */
  onEvent?(event: Json): void;
}

/** A refused run; by the command itself where no daemon serves it. */
export type ExecRefusal = Omit<RunRefusal, "code"> & { readonly code: RunRefusal["code"] | typeof NO_DAEMON };

export type ExecResult =
  | { readonly ok: true; readonly request: Request; readonly ran: CompletedRun; readonly receipt: string }
  | {
      readonly ok: false;
      readonly request: Request | null;
      readonly refused: ExecRefusal;
      /** The entry that tells of it, and what waits for a person; null where it never came to a decision. */
      readonly denial: Pick<DenialView, "id" | "approval" | "need"> | null;
    };

export interface ExecPorts extends CliPorts {
  /** What the user's configuration lets a program's output do to their terminal besides drawing. */
  terminalPasses(): readonly TerminalPass[];
  /** Programs with one of these names on the caller's search path, each name once, in the order of the names. */
  programsFound(names: readonly string[]): readonly { readonly name: string; readonly path: string }[];
  /** The user's own profiles of clients, and those with mistakes. */
  userProfiles(): UserProfiles;
  readonly programs: { run(asked: ExecRequest, streams: ExecStreams): Promise<ExecResult> };
}
