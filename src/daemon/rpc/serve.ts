// Serves the two sockets: inspects each client process, accepts or refuses its connection, and counts connections.
import { type Answer, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import { Connection, ConnectionMemory } from "./connection.ts";
import { type ConnectingProcess, DoorsProcess, type OpenSocket } from "./doors-process.ts";
import { FairTurns } from "./fair-turns.ts";
import type { DaemonFolder } from "./folder.ts";
import { jsonFrame } from "./frame.ts";
import { connectionsPerDoorMax, farewellMilliseconds } from "./limits.ts";
import { noDaemon, notAvailable } from "./refusals.ts";
import type { Door, MessageHandlers, ProcessLookup } from "./serving.ts";

export interface ServingOptions {
  /** INVARIANT: the caller holds the state's lock until the daemon ends. */
  readonly folder: DaemonFolder;
  readonly doors: MessageHandlers;
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
export async function serveDoors(asked: ServingOptions): Promise<Answer<Serving>> {
  const served = new DoorServer(asked);
  const why = await served.process.ready;
  if (why === null && asked.folder.note()) return { ok: true, value: served };
  await served.stop(noDaemon("the daemon is shutting down"));
  return noDaemon(`the daemon's sockets cannot be opened: ${why ?? "they were removed"}`, "ambit daemon logs");
}

class DoorServer implements Serving {
  readonly process: DoorsProcess;
  readonly #asked: ServingOptions;
  readonly #held = new ConnectionMemory();
  readonly #turns = new FairTurns();
  readonly #connections: Readonly<Record<Door, Set<Connection>>> = { call: new Set(), control: new Set() };
  #lostListeners: ((why: string) => void)[] = [];
  #lost: string | null = null;
  #isStopping = false;

  constructor(asked: ServingOptions) {
    this.#asked = asked;
    this.process = new DoorsProcess(asked.native, asked.folder.descriptor, {
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
    const { door, pid, uid, start } = caller;
    const looked = this.#isFull(door) ? NOT_FOUND : this.#asked.look(pid, uid, start);
    const refused = this.#refusalOf(door, looked);
    if (refused !== null) {
      refuseSocket(open, refused);
      return;
    }
    const peer = looked.isFound ? looked.peer : { pid, uid, start: "", ancestors: [], terminal: false };
    const { doors, version, log } = this.#asked;
    const [held, turns] = [this.#held, this.#turns];
    const connection = new Connection({ open, door, peer, answers: doors[door], held, turns, version, log });
    const connections = this.#connections[door];
    connections.add(connection);
    connection.onClose(() => connections.delete(connection));
  }

  #isFull(door: Door): boolean {
    return this.#connections[door].size >= connectionsPerDoorMax;
  }

  #refusalOf(door: Door, looked: ProcessLookup): Refusal | null {
    if (this.#isStopping) return noDaemon("the daemon is shutting down");
    if (this.#isFull(door)) return notAvailable("too many connections to the daemon", "close some of them");
    // The control socket needs the full ancestry of its client.
    return door === "call" || (looked.isFound && looked.isWhole)
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
