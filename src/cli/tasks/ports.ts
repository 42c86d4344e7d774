// What the commands about tasks are handed by the composition.
import type { Failure } from "../../core/base/result.ts";
import type { ControlPorts } from "../control-ports.ts";
import type { ExecPorts } from "../exec/ports.ts";
import type { OrgPorts } from "../org/ports.ts";

export interface TaskOutput {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** A request of a webhook, as it was received. */
export interface HookRequest {
  readonly name: string;
  /** Seconds since 1970, as the sender wrote them. */
  readonly at: number;
  readonly signature: string;
  readonly body: string;
}

export type HookAnswer = "accepted" | "unsigned" | "busy" | "unavailable";

export interface TasksPorts extends ExecPorts, ControlPorts, OrgPorts {
  /** The output of runs, kept in the state folder; null without one. */
  readonly taskOutputs: {
    open(task: string, attempt: number): TaskOutput;
    /** The runs whose output is kept, the oldest first. */
    runs(task: string): readonly number[];
    read(task: string, attempt: number): string | null;
    /** Removes the oldest where there are too many. */
    prune(): void;
  } | null;
  /** Listens for webhooks on the loopback address alone. */
  webhooks(
    port: number,
    handle: (request: HookRequest) => Promise<HookAnswer>,
  ): Promise<{ readonly ok: true; readonly address: string; close(): void } | Failure>;
  /** The same with files read anew: a runner lives longer than one reading of them. */
  fresh(): TasksPorts;
}
