// Serves the two sockets: who comes is looked at, given a connection or a refusal, and counted.
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
import { Connection } from "./connection.ts";
import { type Caller, DoorsProcess, type OpenSocket } from "./doors-process.ts";
import { FairTurns } from "./fair-turns.ts";
import type { DaemonFolder } from "./folder.ts";
import { jsonFrame } from "./frame.ts";
import { Held } from "./held.ts";
import { connectionsPerDoorMax, farewellMilliseconds } from "./limits.ts";
import { notAvailable, refusal } from "./refusals.ts";
import type { Door, Doors, Looked } from "./serving.ts";

export interface ServingAsked {
  /** INVARIANT: whoever asks holds the owner's lock of it, and holds it until the daemon ends. */
  readonly folder: DaemonFolder;
  readonly doors: Doors;
  /** Our native program, which listens. */
  readonly native: string;
  readonly version: string;
  /** Looks at a process, as far as it can be seen. */
  look(pid: number, uid: number, start: string): Looked;
  log(line: string): void;
}

export interface Serving {
  readonly connections: number;
  /** Questions that wait for their answer, on all connections. */
  readonly inFlight: number;
  /** Rings once, where nobody listens any more although nobody stopped it. */
  onLost(ring: (why: string) => void): void;
  /** No connection is taken any more; who waits is told `why`, and every connection ends. */
  stop(why: Refusal): Promise<void>;
}

/** Resolves when both sockets are there. */
export async function serveDoors(asked: ServingAsked): Promise<Answer<Serving>> {
  const served = new Served(asked);
  const why = await served.process.ready;
  if (why === null && asked.folder.note()) return { ok: true, value: served };
  await served.stop(notAvailable("the daemon ends"));
  return notAvailable(`the daemon's sockets cannot be opened: ${why ?? "they are gone again"}`, "ambit daemon logs");
}

class Served implements Serving {
  readonly process: DoorsProcess;
  readonly #asked: ServingAsked;
  readonly #held = new Held();
  readonly #turns = new FairTurns();
  readonly #connections: Readonly<Record<Door, Set<Connection>>> = { call: new Set(), control: new Set() };
  #lostRings: ((why: string) => void)[] = [];
  #lost: string | null = null;
  #isStopping = false;

  constructor(asked: ServingAsked) {
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

  onLost(ring: (why: string) => void): void {
    if (this.#lost !== null) ring(this.#lost);
    else this.#lostRings.push(ring);
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
    this.#lost = `nobody listens on the sockets any more: ${lastWords}`;
    const rings = this.#lostRings;
    this.#lostRings = [];
    for (const ring of rings) ring(this.#lost);
  }

  #come(caller: Caller, open: OpenSocket): void {
    const { door, pid, uid, start } = caller;
    const looked = this.#isFull(door) ? NOT_FOUND : this.#asked.look(pid, uid, start);
    const refused = this.#refusalOf(door, looked);
    if (refused !== null) {
      sendAway(open, refused);
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

  #refusalOf(door: Door, looked: Looked): Refusal | null {
    if (this.#isStopping) return notAvailable("the daemon ends");
    if (this.#isFull(door)) return notAvailable("too many connections to the daemon", "close some of them");
    // Who approves and widens must be known, with everybody it descends from.
    return door === "call" || (looked.isFound && looked.isWhole)
      ? null
      : refusal("control_refused", "the daemon cannot identify the calling process", null);
  }
}

const NOT_FOUND: Looked = { isFound: false };

/** Without a connection of ours: said, and closed. */
function sendAway(open: OpenSocket, why: Refusal): void {
  const socket = open(() => undefined);
  const timer = setTimeout(() => socket.destroy(), farewellMilliseconds);
  socket.on("error", () => undefined);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
  socket.end(jsonFrame(JSON.stringify(why)));
}
