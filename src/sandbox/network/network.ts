// The network of one sandbox: its sockets, names, connections and denials.

import type dgram from "node:dgram";
import type net from "node:net";
import type { Destination } from "../../core/authority/axes/destination.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { parseAddress } from "../../core/base/address.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Resolver } from "../../core/ports/resolver.ts";
import { Bucket } from "./bucket.ts";
import { type ConnectionContext, type DaemonDecision, serve } from "./connection.ts";
import { Denials, type Reason } from "./denials.ts";
import type { GitHosts } from "./git/git-messages.ts";
import { GitRelay, type GitRelayContext } from "./git/git-relay.ts";
import {
  connectionRate,
  connectionsMax,
  gitConnectionsMax,
  nameConnectionsMax,
  questionRate,
  relayConnectionsMax,
} from "./limits.ts";
import type { Endpoint, NetworkCounters, SocketKind } from "./messages.ts";
import { FakeNames } from "./names/fake-names.ts";
import { NameServer } from "./names/name-server.ts";
import { serveQuestions } from "./names/question-stream.ts";
import { connectRequest, type InspectionMode, type NetworkGrants } from "./network-grants.ts";
import { isOwnPort } from "./own-ports.ts";
import { ModelRelay, type RelayContext } from "./relay/relay.ts";
import type { ByteBudget } from "./relay/relay-body.ts";
import { reset } from "./reset.ts";
import { connectionOf, datagramsOf, serverOf } from "./sockets.ts";

/** What a network needs of the daemon. */
export interface NetworkDaemon {
  ask(host: Destination, port: number, manner: InspectionMode): Promise<DaemonDecision | null>;
  credential: GitRelayContext["credential"];
  denied(code: DenialCode, request: string, reason: Reason): void;
  relay: RelayContext["ask"];
  relayed: RelayContext["report"];
  door: RelayContext["door"];
}

/** Open sockets: of programs, of DNS over TCP, of git, of clients of a model. */
interface OpenSockets {
  connection: number;
  names: number;
  git: number;
  relay: number;
}

/** Inside the sandbox's own network. */
const RELAY_ADDRESS = "127.0.0.1";
/** Where programs believe our name server and the git relay to be; the first without settings, too. */
const NAME_SERVER = "198.18.0.53";
const NAME_PORT = 53;
const BROKER: Endpoint = { address: "198.18.0.2", port: 1 };

function isLocal(address: string): boolean {
  return address === "127.0.0.1" || address === "::1";
}

/** Inside a network namespace a program connects to the very socket that we accept on. */
function localOf({ localAddress, localPort }: net.Socket): Endpoint | null {
  return localAddress === undefined || localPort === undefined ? null : { address: localAddress, port: localPort };
}

export class Network {
  readonly #daemon: NetworkDaemon;
  readonly #now: () => number;
  #denials = new Denials();
  readonly #names = new FakeNames();
  readonly #nameServer: NameServer;
  readonly #context: ConnectionContext;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<net.Server | dgram.Socket>();
  readonly #served = new Map<net.Socket, Promise<void>>();
  readonly #outside = new Map<net.Socket, Promise<void>>();
  readonly #connectionRate: Bucket;
  readonly #questionRate: Bucket;
  readonly #open: OpenSockets = { connection: 0, names: 0, git: 0, relay: 0 };
  readonly #git: GitRelay | null;
  readonly #relay: { readonly port: number; readonly server: ModelRelay } | null;
  #connections = 0;
  #bytesUp = 0;
  #bytesDown = 0;

  constructor(
    granted: NetworkGrants,
    resolve: Resolver,
    daemon: NetworkDaemon,
    now: () => number,
    relay: { readonly port: number; readonly bodies: ByteBudget } | null = null,
    git: GitHosts | null = null,
  ) {
    this.#daemon = daemon;
    this.#now = now;
    this.#connectionRate = new Bucket(connectionRate, now());
    this.#questionRate = new Bucket(questionRate, now());
    this.#nameServer = new NameServer(granted, this.#names, (code, request, again) =>
      this.#refused(code, request, "question", again),
    );
    this.#context = {
      granted,
      names: this.#names,
      resolve,
      stop: this.#stop.signal,
      ask: (host, port, manner) => daemon.ask(host, port, manner),
      refused: (code, request, reason) => this.#refused(code, request, reason, true),
      connected: (outside) => this.#connected(outside),
      isOwnPort,
    };
    this.#git =
      git === null
        ? null
        : new GitRelay(git, { ...this.#context, credential: (request) => daemon.credential(request) });
    if (relay === null) this.#relay = null;
    else {
      const context: RelayContext = {
        ...{ resolve, stop: this.#stop.signal, now, bodies: relay.bodies },
        ask: (call) => daemon.relay(call),
        report: (report) => daemon.relayed(report),
        door: (call) => daemon.door(call),
        refused: (code, request) => this.#refused(code, request, "relay", true),
      };
      this.#relay = { port: relay.port, server: new ModelRelay(context) };
    }
  }

  /** False for a handle that is not of the stated kind. */
  async give(kind: SocketKind, handle: unknown): Promise<boolean> {
    const listener = await this.#listen(kind, handle);
    if (listener === null) return false;
    if (this.#stop.signal.aborted) listener.close();
    else this.#listeners.add(listener);
    return !this.#stop.signal.aborted;
  }

  /** One connection of a program. False for a handle that is none. */
  connect(to: Endpoint, handle: unknown): boolean {
    const socket = this.#stop.signal.aborted ? null : connectionOf(handle);
    if (socket === null) return false;
    const isNames = to.port === NAME_PORT && (to.address === NAME_SERVER || isLocal(to.address));
    if (isNames) this.#serveNames(socket, to);
    else if (to.address === BROKER.address && to.port === BROKER.port) this.#serveGit(socket, to);
    else this.#accept(socket, to);
    return true;
  }

  async #listen(kind: SocketKind, handle: unknown): Promise<net.Server | dgram.Socket | null> {
    switch (kind) {
      case "dns":
        return this.#answerDatagrams(handle);
      case "dns-tcp":
        return serverOf(handle, (socket) => this.#serveNames(socket, localOf(socket)));
      case "broker":
        return serverOf(handle, (socket) => this.#serveGit(socket, localOf(socket)));
      case "tcp":
      case "transparent":
        return serverOf(handle, (socket) => this.#accept(socket, localOf(socket)));
      default:
        return kind satisfies never;
    }
  }

  /** Closes everything. Nothing is counted afterwards. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const listener of this.#listeners) listener.close();
    const ended = [...this.#served.values(), ...this.#outside.values()];
    for (const socket of this.#outside.keys()) socket.destroy();
    for (const socket of this.#served.keys()) reset(socket);
    await Promise.all(ended);
  }

  /** Counters since the last call. A connection's bytes are counted at its end. */
  count(): NetworkCounters {
    const counters = {
      connections: this.#connections,
      bytesUp: this.#bytesUp,
      bytesDown: this.#bytesDown,
      denials: this.#denials.list,
      unnamedDenials: this.#denials.unnamed,
    };
    this.#connections = 0;
    this.#bytesUp = 0;
    this.#bytesDown = 0;
    this.#denials = new Denials();
    return counters;
  }

  #answerDatagrams(handle: unknown): dgram.Socket | null {
    const socket = datagramsOf(handle, (bytes, from) => {
      const answer = this.#answer(bytes);
      if (answer !== null) socket?.send(answer, from.port, from.address, () => undefined);
    });
    return socket;
  }

  #answer(bytes: Uint8Array): Uint8Array | null {
    return this.#questionRate.take(this.#now()) ? this.#nameServer.answer(bytes) : null;
  }

  #serveNames(socket: net.Socket, to: Endpoint | null): void {
    this.#serve(socket, to, "names", nameConnectionsMax, () => serveQuestions(socket, (bytes) => this.#answer(bytes)));
  }

  #serveGit(socket: net.Socket, to: Endpoint | null): void {
    const relay = this.#git;
    if (relay === null) return void reset(socket);
    this.#serve(socket, to, "git", gitConnectionsMax, () => relay.accept(socket));
  }

  #accept(socket: net.Socket, to: Endpoint | null): void {
    const relay = this.#relay;
    if (!this.#connectionRate.take(this.#now())) this.#overLimit(socket, to);
    else if (relay !== null && to?.port === relay.port && to.address === RELAY_ADDRESS)
      this.#serve(socket, to, "relay", relayConnectionsMax, () => relay.server.accept(socket));
    else this.#serve(socket, to, "connection", connectionsMax, () => serve(socket, this.#context, to));
  }

  #serve(
    socket: net.Socket,
    to: Endpoint | null,
    kind: keyof OpenSockets,
    most: number,
    run: () => Promise<void>,
  ): void {
    if (this.#stop.signal.aborted) {
      reset(socket);
      return;
    }
    if (this.#open[kind] >= most) {
      this.#overLimit(socket, to);
      return;
    }
    this.#open[kind]++;
    const closed = new Promise<void>((done) => socket.once("close", () => done()));
    this.#served.set(socket, closed);
    void closed.then(() => this.#served.delete(socket));
    // A bug here must neither end every other sandbox's network nor allow this connection.
    const ran = run().catch(() => reset(socket));
    void Promise.all([ran, closed]).then(() => this.#open[kind]--);
  }

  #overLimit(socket: net.Socket, to: Endpoint | null): void {
    const address = parseAddress(to?.address ?? "");
    reset(socket);
    if (address === null || to === null) return;
    const host = this.#names.destinationAt(address) ?? { name: null, address };
    this.#refused("budget_exhausted", requestText(connectRequest(host, to.port, "sni")), "limit", true);
  }

  #connected(outside: net.Socket): void {
    this.#connections++;
    const closed = new Promise<void>((done) => outside.once("close", () => done()));
    this.#outside.set(
      outside,
      closed.then(() => {
        this.#outside.delete(outside);
        this.#bytesUp += outside.bytesWritten;
        this.#bytesDown += outside.bytesRead;
      }),
    );
  }

  #refused(code: DenialCode, request: string, reason: Reason, again: boolean): void {
    if (this.#denials.add(code, request, reason, again)) this.#daemon.denied(code, request, reason);
  }
}
