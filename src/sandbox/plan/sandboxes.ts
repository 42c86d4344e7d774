// Sandboxes as the world outside offers them: a plan and a command go in, what happened comes out.
import type { Judge } from "../../core/ports/judge.ts";
import type { RunResult, SealedDraft, Sinks } from "../../core/ports/process.ts";
import type { Plan } from "./plan.ts";

/** Gives what git's credential helper asks for while a command runs; null refuses. */
export type CredentialSource = (request: {
  readonly protocol: string;
  readonly host: string;
  readonly path: string | null;
}) => Promise<{ readonly username: string; readonly password: string } | null>;

export interface Command {
  readonly argv: readonly [string, ...string[]];
  /** Null: nothing to read. Read as the program asks for it. */
  readonly input: AsyncIterable<Uint8Array> | null;
  /** Asked on behalf of this command alone. Absent: every request for a credential is refused. */
  readonly credential?: CredentialSource;
  /** Told which draft the command works on, before it runs. */
  onDraft?(draft: BegunDraft): void;
}

/** A draft whose command is about to run. */
export type BegunDraft = Pick<SealedDraft, "id" | "root" | "masked" | "rootIdentity">;

/** Who a warm sandbox belongs to. It is never shared: another owner, plan or generation gets another one. */
export interface SandboxOwner {
  readonly agent: string;
  readonly session: string;
  readonly generation: number;
}

/** Rung when the command is to end now. */
export interface Stop {
  readonly stopped: boolean;
  onStop(ring: () => void): void;
}

export interface Sandboxes {
  /** Runs in a warm sandbox of this owner and plan, or in a new one. `judge` decides what comes up while it runs. */
  run(
    owner: SandboxOwner,
    plan: Plan,
    command: Command,
    sinks: Sinks,
    judge: Judge,
    stop: Stop | null,
  ): Promise<RunResult>;
  /** Ends every sandbox of this agent, or all of them; nothing is left when the promise is kept. */
  end(agent: string | null): Promise<void>;
}
