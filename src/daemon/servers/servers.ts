// Tools of MCP servers in the daemon: offered as `server__tool` with their pinned definitions, decided by `tool.invoke` and by
// what their arguments mean, executed by the server's process.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { ArgumentMap } from "../../core/notation/servers/argument-map.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SettingStore } from "../../core/ports/stores/secret-store.ts";
import { offeredName, type ServerDescription, type ToolDefinition } from "../../gateway/definitions.ts";
import { callableTools, firstPin, type Pin, pinChanges, pinOf, pinText, readPin } from "../../gateway/pins.ts";
import { shippedMap } from "../../gateway/shipped-maps.ts";
import { likeness } from "../../runtime/tool/tool-name.ts";
import type { Session } from "../session.ts";
import type { DaemonTool, Missing } from "../tools/daemon-tool.ts";
import { ServerCalls } from "./server-calls.ts";
import {
  type CatalogServer,
  groundOf,
  orphanKey,
  pinKey,
  ServerCatalog,
  type ServerCatalogOptions,
  type ServerName,
} from "./server-catalog.ts";
import { ServerPool } from "./server-pool.ts";
import type { ServerOwner, ServerRunOptions } from "./server-run.ts";
import {
  checkedSchema,
  mappedRequests,
  outputFault,
  type StartProblem,
  signInFix,
  unknownServerTool,
} from "./server-tools.ts";
import { Upstream } from "./upstream.ts";

export interface DaemonServersOptions extends ServerCatalogOptions {
  readonly run: ServerRunOptions;
  redacted<T extends Json>(value: T): T;
  readonly settings: Pick<SettingStore, "get" | "set">;
  /** Whether the session's grants could name a tool whose name starts so; false also while everything is frozen. */
  couldCall(session: Session, prefix: string): boolean;
  refusal(session: Session, request: Request): DenialCode | null;
  entry(owner: ServerOwner | null, outcome: string, more: JsonObject): LogEntry;
  log(entry: LogEntry): void;
  /** Time limit of one call. */
  readonly callMilliseconds: number;
}

interface StartFailure {
  readonly message: string;
  readonly code?: string;
}

/** A list of tools waits this long for servers that were never started before. */
const firstUseMilliseconds = 5_000;
/** A call of a server that was never started before waits this long for it. */
const callUseMilliseconds = 20_000;

export class DaemonServers {
  readonly #options: DaemonServersOptions;
  readonly catalog: ServerCatalog;
  readonly #pool: ServerPool;
  readonly calls: ServerCalls;
  /** How often a server of the session said that it has other resources or prompts. */
  readonly #listChanges = new WeakMap<ServerOwner, number>();
  /** By the stored text. */
  readonly #pins = new Map<string, { readonly text: string; readonly pin: Pin }>();
  /** What each server said about itself last, by the key of its pin. */
  readonly #latest = new Map<string, ServerDescription>();
  readonly #failures = new Map<string, string>();
  /** Servers that could not be started because no person signed in. */
  readonly #unsigned = new Set<string>();
  readonly #firstUses = new Map<string, Promise<void>>();
  /** Servers that a list of this session has waited for. */
  readonly #waited = new WeakMap<Session, Set<string>>();
  readonly #callable = new WeakMap<Pin, WeakMap<ServerDescription, ReadonlySet<string>>>();
  readonly #tools = new WeakMap<Pin, WeakMap<CatalogServer, readonly DaemonTool[]>>();

  constructor(options: DaemonServersOptions) {
    this.#options = options;
    this.catalog = new ServerCatalog(options);
    this.#pool = new ServerPool({
      run: options.run,
      redacted: options.redacted,
      elapsed: () => options.elapsed(),
      onEvent: (session, { server }, event, facts) =>
        options.log(options.entry(session, `server_${event}`, { server: server.name, ...facts })),
      onListChanged: (session) => this.#listChanges.set(session, this.listChanges(session) + 1),
    });
    this.calls = new ServerCalls({
      ...options,
      elapsed: () => options.elapsed(),
      ready: (session, one, tool) => this.#ready(session, one, tool),
      outputFault: (one, tool, structured) => outputFault(this.pinOf(one), tool, structured),
    });
  }

  /**
   * Never more than the session's file and trust say now; without servers that cannot be started. `wanted`: the tool that is
   * looked for, so that no other server is waited for.
   */
  async of(session: Session, wanted: string | null = null): Promise<readonly DaemonTool[]> {
    const { name, cwd } = session.facts;
    const isWanted = ({ server }: CatalogServer): boolean =>
      wanted === null || wanted.startsWith(offeredName(server.name, ""));
    // A server that was trusted or added just now is there at its first call.
    const isNew = wanted?.includes(offeredName("", "")) === true && !this.enabled(session).some(isWanted);
    if (this.catalog.of(name.workspace, cwd, isNew).servers.length === 0) return NONE;
    const enabled = this.enabled(session);
    this.#pool.retire(session, new Set(enabled.map(({ digest }) => digest)));
    const unknown = enabled.filter((one) => isWanted(one) && this.pinOf(one) === null && this.#couldCall(session, one));
    if (unknown.length > 0) await this.#awaitFirstUse(session, unknown, wanted !== null);
    const taken = new Set<string>();
    const isFirst = ({ name: tool }: DaemonTool): boolean => taken.size < taken.add(likeness(tool)).size;
    const toolsOf = (one: CatalogServer): readonly DaemonTool[] => {
      if (wanted === null) return this.#listedTools(one);
      return this.pinOf(one) === null && this.#couldCall(session, one)
        ? [unknownServerTool(one, wanted, this.#startProblem(one))]
        : this.toolsOf(one);
    };
    return enabled.filter(isWanted).flatMap(toolsOf).filter(isFirst);
  }

  listChanges(session: ServerOwner): number {
    return this.#listChanges.get(session) ?? 0;
  }

  /** Null before its first use. */
  pinOf(one: CatalogServer): Pin | null {
    const key = pinKey(one);
    const text = this.#options.settings.get(key);
    if (text === null) return null;
    const known = this.#pins.get(key);
    if (known?.text === text) return known.pin;
    const pin = readPin(text);
    this.#pins.set(key, { text, pin });
    return pin;
  }

  /** Compared once for each pair. */
  callable(pin: Pin, latest: ServerDescription): ReadonlySet<string> {
    const ofPin = this.#callable.get(pin) ?? new WeakMap<ServerDescription, ReadonlySet<string>>();
    this.#callable.set(pin, ofPin);
    const callable = ofPin.get(latest) ?? callableTools(pin, latest);
    ofPin.set(latest, callable);
    return callable;
  }

  /** Whether a tool from elsewhere has a name that belongs to a server here: it would be called by the server's grants. */
  isTaken(session: Session, tool: string): boolean {
    const [start = "", ...rest] = tool.split("__");
    if (rest.length === 0) return false;
    const { name, cwd } = session.facts;
    return this.catalog.of(name.workspace, cwd).servers.some(({ server }) => likeness(server.name) === likeness(start));
  }

  latest(one: CatalogServer): ServerDescription | null {
    return this.#latest.get(pinKey(one)) ?? null;
  }

  /** Why it could not be started last; null where it could. */
  failure(one: CatalogServer): string | null {
    return this.#failures.get(pinKey(one)) ?? null;
  }

  /** A person signed in: that it needs it does not hold any more. */
  signedIn(one: CatalogServer): void {
    if (this.#unsigned.delete(pinKey(one))) this.#failures.delete(pinKey(one));
  }

  mapOf(
    one: CatalogServer,
    tool: ToolDefinition,
    pin: Pin,
  ): { readonly map: ArgumentMap; readonly source: "file" | "shipped" } | null {
    const written = one.server.maps.get(tool.name);
    if (written !== undefined) return { map: written, source: "file" };
    const shipped = shippedMap(pin.identity.name, tool);
    return shipped === null ? null : { map: shipped, source: "shipped" };
  }

  /** What the server says now becomes what is pinned. Null where it was stored. */
  async pin(one: CatalogServer, description: ServerDescription, by: JsonObject): Promise<string | null> {
    return this.#store(one, pinOf(description), null, by);
  }

  /**
   * Forgets the pin of a server that was removed: one that is added under its name later is pinned at its own first use.
   * INVARIANT: while a file has the server, or cannot be read, its pin stays.
   */
  async forget(wanted: ServerName, workspace: string | null, cwd: string, by: JsonObject): Promise<string | null> {
    const key = orphanKey(wanted, workspace, this.catalog.of(workspace, cwd, true));
    if (key === null) return "a file already has a server of this name, or cannot be parsed";
    for (const known of [this.#latest, this.#failures, this.#unsigned]) known.delete(key);
    if (this.#options.settings.get(key) === null) return null;
    const more = { server: wanted.name, level: wanted.level, workspace, ...by };
    const stored = await this.#options.settings.set(key, null, this.#options.entry(null, "server_forgotten", more));
    return stored.ok ? null : stored.message;
  }

  /** Starts the server for a person, in its own walls, and ends it again. */
  async look(session: ServerOwner, one: CatalogServer): Promise<ServerDescription | StartFailure> {
    const upstream = this.#pool.server(session, one, groundOf(one));
    if (!(upstream instanceof Upstream)) return upstream;
    const started = await this.#watch(one, upstream);
    return started.ok ? started.value : started;
  }

  /** The session's process of a server, started. INVARIANT: what is called is what is pinned, as this process describes it. */
  async running(session: Session, one: CatalogServer): Promise<Upstream | StartFailure> {
    const upstream = this.#pool.server(session, one, groundOf(one));
    if (!(upstream instanceof Upstream)) return upstream;
    const started = upstream.description === null ? await this.#watch(one, upstream) : null;
    if (started !== null && !started.ok) return started;
    await upstream.refresh(false);
    if (upstream.description !== null) this.#latest.set(pinKey(one), upstream.description);
    return upstream;
  }

  /** Enabled and trusted; never more than the session's file and trust say now. */
  enabled(session: Session): readonly CatalogServer[] {
    const { name, cwd } = session.facts;
    const { servers } = this.catalog.of(name.workspace, cwd);
    return servers.filter(({ server, waits }) => waits === null && server.isEnabled);
  }

  /**
   * Why nothing of a server may be used: it is another version, or describes itself differently, since it was pinned. `latest`: what the
   * process says that is about to be called; sessions have processes of their own.
   */
  heldServer(one: CatalogServer, latest: ServerDescription | null = this.latest(one)): string | null {
    const pin = this.pinOf(one);
    const isChanged = pin !== null && latest !== null && pinChanges(pin, latest).some(({ tool }) => tool === null);
    if (!isChanged) return null;
    const { name } = one.server;
    return `the server ${name} describes itself differently since it was pinned; a person has to review it: ambit mcp pin ${name}`;
  }

  close(): void {
    this.#pool.close();
  }

  /** Why it was never described, so that its tools are not known. */
  #startProblem(one: CatalogServer): StartProblem {
    const key = pinKey(one);
    if (this.#unsigned.has(key)) return "no sign-in";
    return this.#failures.has(key) ? "failed" : "slow";
  }

  #couldCall(session: Session, { server }: CatalogServer): boolean {
    return this.#options.couldCall(session, offeredName(server.name, ""));
  }

  /** A list waits once for each server, and not for long; a call waits for its own server. */
  async #awaitFirstUse(session: Session, unknown: readonly CatalogServer[], isCall: boolean): Promise<void> {
    const waited = this.#waited.get(session) ?? new Set<string>();
    this.#waited.set(session, waited);
    const described = unknown.map((one) => [one, this.#firstUse(session, one)] as const);
    const awaited = described.filter(([{ digest }]) => isCall || !waited.has(digest)).map(([, done]) => done);
    for (const { digest } of unknown) waited.add(digest);
    if (awaited.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((over) => {
      timer = setTimeout(over, isCall ? callUseMilliseconds : firstUseMilliseconds);
    });
    await Promise.race([Promise.all(awaited), late]);
    clearTimeout(timer);
  }

  /** One at a time for each server: of two sessions that use it first, the second finds the pin of the first. */
  #firstUse(session: Session, one: CatalogServer): Promise<void> {
    const key = pinKey(one);
    const mine = (this.#firstUses.get(key) ?? Promise.resolve()).then(() =>
      this.pinOf(one) === null ? this.#described(session, one) : undefined,
    );
    const settled = mine
      .catch(() => undefined)
      .then(() => void (this.#firstUses.get(key) === settled && this.#firstUses.delete(key)));
    this.#firstUses.set(key, settled);
    return settled;
  }

  async #described(session: Session, one: CatalogServer): Promise<void> {
    const description = await this.look(session, one);
    if ("message" in description || this.pinOf(one) !== null) return;
    const failed = await this.#store(one, firstPin(description), session, {});
    if (failed !== null) this.#failures.set(pinKey(one), `its description cannot be pinned: ${failed}`);
  }

  async #watch(one: CatalogServer, upstream: Upstream): Promise<Awaited<Upstream["started"]>> {
    const key = pinKey(one);
    upstream.onDescribed = (description) => this.#latest.set(key, description);
    const started = await upstream.started;
    if (started.ok) {
      this.#latest.set(key, upstream.description ?? started.value);
      this.#failures.delete(key);
      this.#unsigned.delete(key);
    } else {
      if (started.code === "sign_in_required") this.#unsigned.add(key);
      else this.#unsigned.delete(key);
      const complaint = upstream.complaint.trim();
      this.#failures.set(key, complaint === "" ? started.message : `${started.message}\n${complaint}`);
    }
    return started;
  }

  async #store(one: CatalogServer, pin: Pin, session: ServerOwner | null, by: JsonObject): Promise<string | null> {
    const { server, workspace } = one;
    const { identity, tools } = pin;
    const more = {
      server: server.name,
      level: server.level,
      workspace,
      version: `${identity.name} ${identity.version}`,
      tools: tools.length,
      ...by,
    };
    const stored = await this.#options.settings.set(
      pinKey(one),
      pinText(pin),
      this.#options.entry(session, "server_pinned", more),
    );
    return stored.ok ? null : stored.message;
  }

  /** Its pinned tools; none before its first use. */
  toolsOf(one: CatalogServer): readonly DaemonTool[] {
    const pin = this.pinOf(one);
    if (pin === null) return NONE;
    const ofPin = this.#tools.get(pin) ?? new WeakMap<CatalogServer, readonly DaemonTool[]>();
    this.#tools.set(pin, ofPin);
    const known = ofPin.get(one);
    if (known !== undefined) return known;
    const made = pin.tools.map((tool) => this.#daemonTool(one, pin, tool));
    ofPin.set(one, made);
    return made;
  }

  #daemonTool(one: CatalogServer, pin: Pin, tool: ToolDefinition): DaemonTool {
    const { server } = one;
    const map = this.mapOf(one, tool, pin)?.map ?? [];
    const missing = (): Missing | null => this.#held(one, tool.name, this.latest(one));
    return {
      name: offeredName(server.name, tool.name),
      description: tool.description === "" ? (tool.title ?? tool.name) : tool.description,
      input: checkedSchema(tool.inputSchema),
      shownInput: tool.inputSchema,
      verbs: [...new Set(map.filter(({ isOptional }) => !isOptional).map(({ verb }) => verb))],
      isOfServer: true,
      missing,
      requests: (input, reading) =>
        mappedRequests(map, input, offeredName(server.name, tool.name), groundOf(one), reading.toAscii),
      execute: (call) => this.calls.execute(one, tool.name, call),
      resumed: (input, session, resume) => this.calls.resumed(one, tool.name, input, session, resume),
    };
  }

  /** Those that the server describes as pinned. */
  #listedTools(one: CatalogServer): readonly DaemonTool[] {
    const [tools, pin, latest] = [this.toolsOf(one), this.pinOf(one), this.latest(one)];
    if (pin === null || latest === null) return tools;
    const callable = this.callable(pin, latest);
    return tools.filter((_, at) => callable.has(pin.tools[at]?.name ?? ""));
  }

  /** By the name that clients call it. */
  heldText(one: CatalogServer, offered: string): string | null {
    const tool = offered.slice(offeredName(one.server.name, "").length);
    return this.#held(one, tool, this.latest(one))?.message ?? null;
  }

  /** Why a pinned tool cannot be called: the server says something else by now. `latest`: as of `heldServer`. */
  #held(one: CatalogServer, tool: string, latest: ServerDescription | null): Missing | null {
    const pin = this.pinOf(one);
    if (pin === null || latest === null || this.callable(pin, latest).has(tool)) return null;
    const { name } = one.server;
    const isGone = latest.tools.every((now) => now.name !== tool);
    if (isGone) return { message: `the server ${name} no longer has this tool`, fix: null };
    const fix = `ambit mcp pin ${name}`;
    // A denial has no fix of its own: its reason names it.
    const message = `the server ${name} describes itself or this tool differently since it was pinned; a person has to review it: ${fix}`;
    return { code: "pin_changed", message, fix };
  }

  /** The session's process of a server, where it describes itself and this tool as pinned. */
  async #ready(session: Session, one: CatalogServer, tool: string): Promise<Upstream | Missing> {
    const upstream = await this.running(session, one);
    if (!(upstream instanceof Upstream)) return { fix: null, ...upstream, ...signInFix(one, upstream) };
    // A person may have pinned what it says by now.
    if (this.#held(one, tool, upstream.description) !== null) await upstream.refresh(true);
    const held = this.#held(one, tool, upstream.description);
    if (held === null) return upstream;
    this.#options.log(this.#options.entry(session, "server_held", { server: one.server.name, tool }));
    return held;
  }
}

const NONE: readonly DaemonTool[] = [];
