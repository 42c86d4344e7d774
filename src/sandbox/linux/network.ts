// The network's part of a sandbox, as its owner needs it: who takes the sockets, asks the judge, tells what was refused.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { PlanNetwork } from "../plan/plan.ts";
import type { CredentialSource, SandboxOwner } from "../plan/sandboxes.ts";

/** What a socket that came from a sandbox is for. */
export type SocketKind = "dns" | "dns-tcp" | "tcp" | "transparent" | "broker";

export interface NetworkWish {
  /** A name for the sandbox, of no other that is open. */
  readonly sandbox: string;
  /** Whose sandbox it is. */
  readonly owner: SandboxOwner;
  readonly chains: PlanNetwork["chains"];
  readonly judge: Judge;
  readonly credential: CredentialSource;
  readonly events: {
    /** As soon as something is refused for the first time. */
    denied(code: DenialCode, request: string): void;
    /** The broker is gone, and every connection with it. */
    lost(): void;
  };
}

export interface OpenNetwork {
  /** False: nobody has the socket now. */
  give(socket: SocketKind, handle: unknown): Promise<boolean>;
  /** What was refused since the last time. Null where nobody counted. */
  count(): Promise<{ readonly denials: readonly RunDenial[] } | null>;
  /** Ends its connections, and counts for the last time. */
  close(): Promise<{ readonly denials: readonly RunDenial[] } | null>;
}

export interface NetworkBroker {
  /** Null where there is nobody to take them: then there is no sandbox with a network. */
  open(wish: NetworkWish): Promise<OpenNetwork | null>;
}
