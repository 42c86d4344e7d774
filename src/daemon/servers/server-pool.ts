// Processes of MCP servers: one for each session and server, started when it is needed, ended when it is idle, when its
// session closes or when the file changed. One that fails is started again after a pause that doubles.
import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { CatalogServer } from "./server-catalog.ts";
import { openServer, type ServerOwner, type ServerRunOptions, serverOffers } from "./server-run.ts";
import { Upstream } from "./upstream.ts";

export interface ServerPoolOptions {
  readonly run: ServerRunOptions;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  /** Removes known secrets from what a server says about itself. */
  redacted<T extends Json>(value: T): T;
  /** Logs the start and the end of a process, and what was refused to it. */
  onEvent(session: ServerOwner, server: CatalogServer, event: ServerEvent, facts: JsonObject): void;
  /** A server of the session has other resources or prompts. */
  onListChanged(session: ServerOwner): void;
}

export type ServerEvent = "started" | "ended" | "refused" | "denied";

interface PooledServer {
  readonly upstream: Upstream;
  readonly digest: string;
  readonly session: string;
  used: number;
}

interface Failure {
  readonly count: number;
  readonly until: number;
  readonly why: string;
}

const processesMax = 64;
const failuresMax = 1_024;
const idleMilliseconds = 300_000;
const sweepMilliseconds = 15_000;
const backoffMilliseconds = 1_000;
const backoffMillisecondsMax = 60_000;
/** A process that lived this long did not fail at its start. */
const settledMilliseconds = 30_000;

export class ServerPool {
  readonly #options: ServerPoolOptions;
  /** In order of last use. */
  readonly #servers = new Map<string, PooledServer>();
  readonly #failures = new Map<string, Failure>();
  readonly #watched = new WeakSet<ServerOwner>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: ServerPoolOptions) {
    this.#options = options;
    this.#sweeping = setInterval(() => this.#sweep(), sweepMilliseconds);
    this.#sweeping.unref();
  }

  /** The process of a server that runs for the session; a new one where there is none. Or why there is none. */
  server(
    session: ServerOwner,
    wanted: CatalogServer,
    pathSettings: PathSettings,
  ): Upstream | { readonly message: string } {
    if (session.isClosed) return { message: "the session is closed" };
    const key = `${session.facts.id} ${wanted.digest}`;
    const now = this.#options.elapsed();
    const known = this.#servers.get(key);
    if (known !== undefined && !known.upstream.isOver) {
      known.used = now;
      this.#servers.delete(key);
      this.#servers.set(key, known);
      return known.upstream;
    }
    const failure = this.#failures.get(key);
    if (failure !== undefined && now < failure.until)
      return { message: `${failure.why}; it is started again in ${Math.ceil((failure.until - now) / 1000)} seconds` };
    this.#makeRoom();
    if (this.#servers.size >= processesMax) return { message: "too many servers run at once" };
    return this.#start(session, wanted, pathSettings, key, now);
  }

  /** Processes of servers that are written differently by now, or not at all. */
  retire(session: ServerOwner, digests: ReadonlySet<string>): void {
    this.#endWhere((one) => one.session === session.facts.id && !digests.has(one.digest), "its entry changed");
  }

  close(): void {
    clearInterval(this.#sweeping);
    this.#endWhere(() => true, "the daemon stops");
  }

  #start(session: ServerOwner, wanted: CatalogServer, pathSettings: PathSettings, key: string, now: number): Upstream {
    const { server, digest } = wanted;
    this.#watch(session);
    const onEvent = (event: ServerEvent, facts: JsonObject): void =>
      this.#options.onEvent(session, wanted, event, facts);
    const connection = openServer(server, session, pathSettings, {
      ...this.#options.run,
      signIn: this.#options.run.signInAt(wanted),
      denied: ({ code, request, times }) => onEvent("denied", { code, request, times }),
    });
    const upstream = new Upstream(server.name, connection, serverOffers(server), this.#options.redacted);
    const pooled: PooledServer = { upstream, digest, session: session.facts.id, used: now };
    this.#servers.set(key, pooled);
    upstream.onRefused = (method, code) => onEvent("refused", { method, code });
    upstream.onListChanged = () => this.#options.onListChanged(session);
    onEvent("started", {});
    void Promise.all([upstream.started, upstream.ended]).then(([started, why]) => {
      if (this.#servers.get(key) === pooled) this.#servers.delete(key);
      const isOurs = started.ok && why.startsWith(ENDED_BY_US);
      onEvent("ended", { why: started.ok ? why : `${started.message} (${why})` });
      // A person may sign in at any moment.
      if (isOurs || (!started.ok && started.code === "sign_in_required")) return;
      const message = started.ok ? `the server ended: ${why}` : started.message;
      this.#failed(key, message, now);
    });
    return upstream;
  }

  #failed(key: string, why: string, startedAt: number): void {
    const now = this.#options.elapsed();
    const before = this.#failures.get(key);
    const count = now - startedAt > settledMilliseconds ? 1 : (before?.count ?? 0) + 1;
    const pause = Math.min(backoffMillisecondsMax, backoffMilliseconds * 2 ** (count - 1));
    this.#failures.delete(key);
    this.#failures.set(key, { count, until: now + pause, why });
    for (const oldest of this.#failures.keys()) if (this.#failures.size > failuresMax) this.#failures.delete(oldest);
  }

  #watch(session: ServerOwner): void {
    if (this.#watched.has(session)) return;
    this.#watched.add(session);
    const end = (): void => this.#endWhere((one) => one.session === session.facts.id, "its session closed");
    session.onClose(end);
    session.onAbort?.(end);
  }

  #sweep(): void {
    const now = this.#options.elapsed();
    const isUnused = ({ upstream, used }: PooledServer): boolean =>
      upstream.isIdle && !upstream.isListening && now - used > idleMilliseconds;
    this.#endWhere(isUnused, "it was idle");
  }

  #makeRoom(): void {
    if (this.#servers.size < processesMax) return;
    const idle = [...this.#servers.values()].find(({ upstream }) => upstream.isIdle);
    if (idle !== undefined) this.#endWhere((one) => one === idle, "another server needed its place");
  }

  #endWhere(isMeant: (one: PooledServer) => boolean, why: string): void {
    for (const [key, one] of [...this.#servers]) {
      if (!isMeant(one)) continue;
      this.#servers.delete(key);
      one.upstream.end(`${ENDED_BY_US}: ${why}`);
    }
  }
}

const ENDED_BY_US = "ended by ambit";
