// Serves the two sockets: inspects each client process, accepts or refuses its connection, and counts connections.
import { type Answer, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import { Connection, ConnectionMemory } from "./connection.ts";
import { FairTurns } from "./fair-turns.ts";
import type { DaemonFolder } from "./folder.ts";
import { jsonFrame } from "./frame.ts";
import { connectionsPerDoorMax, farewellMilliseconds } from "./limits.ts";
import { type ConnectingProcess, ListenerProcess, type OpenSocket } from "./listener-process.ts";
import { noDaemon, notAvailable } from "./refusals.ts";
import type { MessageHandlers, ProcessLookup, SocketName } from "./serving.ts";

export interface ServingOptions {
  /** INVARIANT: the caller holds the state's lock until the daemon ends. */
  readonly folder: DaemonFolder;
  readonly handlers: MessageHandlers;
  /** The native program, which listens. */
  readonly native: string;
  readonly version: string;
  /** Inspects a process, as far as it is visible. */
  look(pid: number, uid: number, start: string): ProcessLookup;
  log(line: string): void;
}

export interface Serving {
  readonly connections: number;
  /** Pending requests on all connections. */
  readonly inFlight: number;
  /** Called once if the listener ends without being stopped. */
  onLost(listener: (why: string) => void): void;
  /** Accepts no more connections; reports `why` to waiting clients, and closes every connection. */
  stop(why: Refusal): Promise<void>;
}

/** Resolves when both sockets exist. */
export async function serveSockets(asked: ServingOptions): Promise<Answer<Serving>> {
  const served = new DoorServer(asked);
  const why = await served.process.ready;
  if (why === null && asked.folder.note()) return { ok: true, value: served };
  await served.stop(noDaemon("the daemon is shutting down"));
  return noDaemon(`the daemon's sockets cannot be opened: ${why ?? "they were removed"}`, "ambit daemon logs");
}

class DoorServer implements Serving {
  readonly process: ListenerProcess;
  readonly #asked: ServingOptions;
  readonly #held = new ConnectionMemory();
  readonly #turns = new FairTurns();
  readonly #connections: Readonly<Record<SocketName, Set<Connection>>> = { call: new Set(), control: new Set() };
  #lostListeners: ((why: string) => void)[] = [];
  #lost: string | null = null;
  #isStopping = false;

  constructor(asked: ServingOptions) {
    this.#asked = asked;
    this.process = new ListenerProcess(asked.native, asked.folder.descriptor, {
      come: (caller, open) => this.#come(caller, open),
      over: (lastWords) => this.#lose(lastWords),
    });
  }

  get connections(): number {
    return this.#connections.call.size + this.#connections.control.size;
  }

  get inFlight(): number {
    return this.#all().reduce((sum, connection) => sum + connection.inFlight, 0);
  }

  onLost(listener: (why: string) => void): void {
    if (this.#lost !== null) listener(this.#lost);
    else this.#lostListeners.push(listener);
  }

  async stop(why: Refusal): Promise<void> {
    this.#isStopping = true;
    this.process.stop();
    this.#asked.folder.removeSockets();
    const connections = this.#all();
    for (const connection of connections) connection.dismiss(why);
    await Promise.all([...connections.map(({ closed }) => closed), this.process.over]);
  }

  #all(): readonly Connection[] {
    return [...this.#connections.call, ...this.#connections.control];
  }

  #lose(lastWords: string): void {
    if (this.#isStopping) return;
    this.#lost = `the listener of the sockets exited: ${lastWords}`;
    const listeners = this.#lostListeners;
    this.#lostListeners = [];
    for (const listener of listeners) listener(this.#lost);
  }

  #come(caller: ConnectingProcess, open: OpenSocket): void {
    const { socketName, pid, uid, start } = caller;
    const looked = this.#isFull(socketName) ? NOT_FOUND : this.#asked.look(pid, uid, start);
    const refused = this.#refusalOf(socketName, looked);
    if (refused !== null) {
      refuseSocket(open, refused);
      return;
    }
    const peer = looked.isFound ? looked.peer : { pid, uid, start: "", ancestors: [], terminal: false };
    const { handlers, version, log } = this.#asked;
    const [held, turns] = [this.#held, this.#turns];
    const connection = new Connection({
      open,
      socketName,
      peer,
      answers: handlers[socketName],
      held,
      turns,
      version,
      log,
    });
    const connections = this.#connections[socketName];
    connections.add(connection);
    connection.onClose(() => connections.delete(connection));
  }

  #isFull(socketName: SocketName): boolean {
    return this.#connections[socketName].size >= connectionsPerDoorMax;
  }

  #refusalOf(socketName: SocketName, looked: ProcessLookup): Refusal | null {
    if (this.#isStopping) return noDaemon("the daemon is shutting down");
    if (this.#isFull(socketName)) return notAvailable("too many connections to the daemon", "close some of them");
    // The control socket needs the full ancestry of its client.
    return socketName === "call" || (looked.isFound && looked.isWhole)
      ? null
      : refusal("control_refused", "the daemon cannot identify the calling process", null);
  }
}

const NOT_FOUND: ProcessLookup = { isFound: false };

/** Refuses without creating a connection: sends the reason and closes. */
function refuseSocket(open: OpenSocket, why: Refusal): void {
  const socket = open(() => undefined);
  const timer = setTimeout(() => socket.destroy(), farewellMilliseconds);
  socket.on("error", () => undefined);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
  socket.end(jsonFrame(JSON.stringify(why)));
}
