// What `ambit exec` is handed: somebody who runs a program for an agent, and what comes back.
import type { Request } from "../authority/request.ts";
import type { Ran, RunRefused, Sinks } from "../ports/process.ts";
import type { LoadedAgent, World } from "./world.ts";

export interface ExecAsked {
  readonly agent: LoadedAgent["agent"];
  /** A program and its arguments, or one shell line. */
  readonly what: { readonly argv: readonly string[] } | { readonly line: string };
  /** The root, as written; null is the agent's own, or the working directory. */
  readonly folder: string | null;
  /** Null: writable where the grants allow it. */
  readonly root: "ro" | "rw" | null;
  /** In a sandbox with nothing of this machine. */
  readonly isThrowaway: boolean;
  /** Shorter than the configured limit, never longer. */
  readonly milliseconds: number | null;
}

export interface ExecStreams extends Sinks {
  readonly input: AsyncIterable<Uint8Array> | null;
  onStop(ring: () => void): void;
}

export type ExecResult =
  | { readonly ok: true; readonly request: Request; readonly ran: Ran }
  | { readonly ok: false; readonly request: Request | null; readonly refused: RunRefused };

export interface ExecWorld extends World {
  readonly programs: { run(asked: ExecAsked, streams: ExecStreams): Promise<ExecResult> };
}
