// The network of one sandbox over its life: hands its sockets to the broker, and routes its requests to the judge of
// the current command.
import type { DoorAnswer } from "../../core/ports/daemon/door.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { PlanNetwork } from "../plan/plan.ts";
import type {
  ClientModelCall,
  Command,
  CredentialSource,
  DoorSource,
  ModelAnswer,
  ModelSource,
  SandboxOwner,
} from "../plan/sandboxes.ts";
import type { NetworkBroker, OpenNetwork, SocketKind } from "./network.ts";

const KINDS: ReadonlySet<unknown> = new Set<SocketKind>(["dns", "dns-tcp", "tcp", "transparent", "broker"]);

export class SandboxNetwork {
  #network: OpenNetwork | null = null;
  #judge: Judge | null = null;
  #credential: CredentialSource | null = null;
  #model: ModelSource | null = null;
  #door: DoorSource | null = null;
  /** Uses of a model that are not reported yet, by id: the command that asked may have ended. */
  readonly #uses = new Map<string, ModelSource>();
  #isLost = false;
  #last: readonly RunDenial[] = [];

  /** Null where the broker refuses. */
  static async open(
    broker: NetworkBroker,
    network: PlanNetwork,
    sandbox: string,
    owner: SandboxOwner,
  ): Promise<SandboxNetwork | null> {
    const own = new SandboxNetwork();
    own.#network = await broker.open({
      sandbox,
      owner,
      chains: network.chains,
      judge: (request) => own.#judge?.(request) ?? { outcome: "deny", code: "not_available", at: null },
      gitHosts: network.git ?? [],
      credential: async (call) => (await own.#credential?.(call)) ?? NO_CREDENTIAL,
      relay: network.relay ?? null,
      model: {
        ask: (call) => own.#askModel(call),
        used: (id, usage) => {
          own.#uses.get(id)?.used(id, usage);
          own.#uses.delete(id);
        },
      },
      door: async (call) => (await own.#door?.(call)) ?? NO_DOOR,
      events: {
        // Counted at the end of the command, with its number of attempts.
        denied: () => {},
        lost: () => {
          own.#isLost = true;
        },
      },
    });
    return own.#network === null ? null : own;
  }

  /** Sets the judge of the current command; null between commands, when no process inside can ask. */
  judgedBy(judge: Judge | null, { credential, model, door }: Pick<Command, "credential" | "model" | "door">): void {
    this.#judge = judge;
    this.#credential = credential ?? null;
    this.#model = model ?? null;
    this.#door = door ?? null;
  }

  async #askModel(call: ClientModelCall): Promise<ModelAnswer> {
    const source = this.#model;
    if (source === null) return NO_MODEL;
    const answer = await source.ask(call);
    if (answer.ok) this.#uses.set(answer.id, source);
    return answer;
  }

  /** A message that the native program sends with a socket. Rejects where the socket was not accepted. */
  async give(message: unknown, handle: unknown): Promise<void> {
    const kind = typeof message === "object" && message !== null && "kind" in message ? message.kind : null;
    if (this.#network === null || !KINDS.has(kind) || !(await this.#network.give(kind as SocketKind, handle)))
      throw new Error("a socket of the sandbox was not accepted");
  }

  /** A connection of a program; one that is not accepted is closed. */
  async connect(message: unknown, handle: unknown): Promise<void> {
    const to = endpointOf(message);
    if (this.#network === null || to === null || !(await this.#network.connect(to, handle)))
      (handle as { close?(): void } | null)?.close?.();
  }

  /** The broker exited, and with it every connection. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Denials of the command that has just ended. */
  async denials(): Promise<readonly RunDenial[]> {
    if (this.#network !== null) return plain(await this.#network.count());
    const last = this.#last;
    this.#last = [];
    return last;
  }

  async close(): Promise<void> {
    const network = this.#network;
    this.#network = null;
    if (network !== null) this.#last = plain(await network.close());
  }
}

function endpointOf(message: unknown): { readonly address: string; readonly port: number } | null {
  if (typeof message !== "object" || message === null) return null;
  const { kind, address, port } = message as Readonly<Record<string, unknown>>;
  const isEndpoint = kind === "connection" && typeof address === "string" && typeof port === "number";
  return isEndpoint ? { address, port } : null;
}

const NO_DOOR: DoorAnswer = { status: 503, body: "no command is running\n" };

const NO_CREDENTIAL = { credential: null, code: "not_available", message: "no command is running" } as const;

const NO_MODEL: ModelAnswer = { ok: false, code: "not_available", message: "no client is running" };

/** The part of the broker's counters that a result carries. */
function plain(counted: { readonly denials: readonly RunDenial[] } | null): readonly RunDenial[] {
  return (counted?.denials ?? []).map(({ code, request, times }) => ({ code, request, times }));
}
