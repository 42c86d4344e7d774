// The network port of a sandbox: takes its sockets, asks the judge, reports denials.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { PlanNetwork } from "../plan/plan.ts";
import type { CredentialSource, DoorSource, ModelSource, SandboxOwner } from "../plan/sandboxes.ts";

/** The purpose of a socket from a sandbox. */
export type SocketKind = "dns" | "dns-tcp" | "tcp" | "transparent" | "broker";

export interface NetworkOptions {
  /** A name unique among open sandboxes. */
  readonly sandbox: string;
  /** The owner of the sandbox. */
  readonly owner: SandboxOwner;
  readonly chains: PlanNetwork["chains"];
  readonly judge: Judge;
  /** Hosts whose git traffic goes through the relay. */
  readonly gitHosts: readonly string[];
  readonly credential: CredentialSource;
  /** The port of the model relay; null: there is none. */
  readonly relay: number | null;
  readonly model: ModelSource;
  readonly door: DoorSource;
  readonly events: {
    /** Called at the first denial of each kind. */
    denied(code: DenialCode, request: string): void;
    /** Called when the broker exits, and with it every connection. */
    lost(): void;
  };
}

export interface OpenNetwork {
  /** False: the socket was not accepted. */
  give(socket: SocketKind, handle: unknown): Promise<boolean>;
  /** One end of a connection that a supervisor made for a program. False: it was not accepted. */
  connect(to: { readonly address: string; readonly port: number }, handle: unknown): Promise<boolean>;
  /** Counters since the last call. Null where the broker is gone. */
  count(): Promise<{ readonly denials: readonly RunDenial[] } | null>;
  /** Closes its connections and returns the last counters. */
  close(): Promise<{ readonly denials: readonly RunDenial[] } | null>;
}

export interface NetworkBroker {
  /** Null where no broker is available: then no sandbox has a network. */
  open(wish: NetworkOptions): Promise<OpenNetwork | null>;
}
