// The daemon: message handlers of its two sockets, and its periodic work.
import type { Moment } from "../core/authority/compiled.ts";
import { textIn, textsIn } from "../core/base/fields.ts";
import type { JsonObject } from "../core/base/json.ts";
import type { DaemonStatus, SessionView } from "../core/ports/daemon/daemon-control.ts";
import { refusal } from "../core/ports/daemon/exchange.ts";
import type { RefusedCall } from "../core/ports/daemon/refused-call.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SinkStatus } from "../core/ports/stores/sink.ts";
import type { BuiltinTool } from "../runtime/tool/builtin.ts";
import { DELEGATION_TOOLS } from "../tools/delegation/delegation-tools.ts";
import { FILE_TOOLS } from "../tools/files/file-tools.ts";
import { GIT_TOOL } from "../tools/git/git-tool.ts";
import { MEMORY_TOOLS } from "../tools/memory/memory-tools.ts";
import { OBSERVATION_TOOLS } from "../tools/observations/observation-tools.ts";
import { PROGRAM_TOOLS } from "../tools/programs/program-tools.ts";
import { WEB_FETCH_TOOL } from "../tools/web/web-fetch.ts";
import { Calls } from "./calls/calls.ts";
import { Desk } from "./calls/desk.ts";
import { Gatekeeper } from "./calls/gatekeeper.ts";
import type { Holding } from "./calls/holding.ts";
import { Contexts, type InstrumentsSource } from "./contexts/contexts.ts";
import { Delegations } from "./contexts/delegations.ts";
import { Admission } from "./control/admission.ts";
import { approvalAnswers } from "./control/approvals.ts";
import { changesAnswers } from "./control/changes.ts";
import { holdingAnswers } from "./control/holding.ts";
import { logAnswers } from "./control/log.ts";
import { powerAnswers } from "./control/power.ts";
import { tokenCheck } from "./control/tokens.ts";
import { toolAnswers } from "./control/tools.ts";
import { type HookMachine, Hooks } from "./hooks/hooks.ts";
import { Entries, NO_ACTOR } from "./log/entries.ts";
import { Floods } from "./log/floods.ts";
import { Offers } from "./offers.ts";
import { Opening } from "./opening.ts";
import type { DaemonParts } from "./parts.ts";
import { terminalAnswers } from "./programs/terminal.ts";
import type { Exchange, MessageHandler, MessageHandlers } from "./rpc/serving.ts";
import { NO_SESSION, type Session, Sessions } from "./session.ts";
import { type CurrentHolding, providerAnswer, reachableAnswer } from "./tools/client-tools.ts";
import { builtinTool, builtinToolWith, type DaemonTool, type ForeignTools } from "./tools/daemon-tool.ts";
import { DaemonTools } from "./tools/daemon-tools.ts";

export interface DaemonOptions {
  readonly parts: DaemonParts;
  readonly protocol: number;
  readonly pid: number;
  readonly state: string;
  /** Built-in tools that need parts of the composition root: shell, search, records, agents, skills. */
  readonly more: readonly DaemonTool[];
  readonly foreign: ForeignTools;
  /** Answers about MCP servers, for people; without it there are none. */
  servers?(admission: Admission): readonly (readonly [string, MessageHandler])[];
  /** Creates the instruments of contexts; without it no call has a context. */
  readonly instruments?: InstrumentsSource;
  /** For clients' hooks; without it every hook is refused. */
  readonly hooks?: HookMachine;
  /** Users that have a record; null if unknown. Without it there are none. */
  userNames?(): readonly string[] | null;
  connections(): number;
  /** Asks the process to end the daemon. */
  stop(): void;
}

const rememberedMax = 4096;
const deniedTodayMax = 10_000;
const dayMilliseconds = 86_400_000;

const BUILTIN_TOOLS: readonly BuiltinTool[] = [
  ...[...FILE_TOOLS, ...MEMORY_TOOLS, ...OBSERVATION_TOOLS],
  ...[WEB_FETCH_TOOL, GIT_TOOL, ...PROGRAM_TOOLS],
];

export class Daemon {
  readonly #asked: DaemonOptions;
  readonly #started: number;
  readonly #sessions = new Sessions();
  readonly #entries: Entries;
  readonly #desk: Desk;
  readonly #floods: Floods;
  readonly #gatekeeper: Gatekeeper;
  readonly #opening: Opening;
  readonly #calls: Calls;
  readonly #tools: DaemonTools;
  readonly #admission: Admission;
  readonly #offers: Offers;
  readonly #hooks: Hooks | null;
  /** For tools that run outside the daemon, while their call lasts. */
  readonly contexts: Contexts;
  readonly doors: MessageHandlers;

  constructor(asked: DaemonOptions) {
    const { parts } = asked;
    this.#asked = asked;
    this.#started = parts.now();
    this.#entries = new Entries(parts);
    this.#desk = new Desk(parts, this.#entries);
    this.#floods = new Floods(this.#entries, parts.stores.ledger, parts.digest, parts.now);
    this.#gatekeeper = new Gatekeeper(parts, this.#desk, this.#floods, this.#entries);
    const delegations = new Delegations(parts, this.#entries, this.#gatekeeper.holdings);
    this.#admission = new Admission(parts, this.#sessions);
    const userNames = (): readonly string[] | null => (asked.userNames === undefined ? [] : asked.userNames());
    this.#opening = new Opening(parts, this.#gatekeeper, delegations, this.#sessions, this.#admission, userNames);
    const own: readonly DaemonTool[] = [
      ...BUILTIN_TOOLS.map(builtinTool),
      ...DELEGATION_TOOLS.map((tool) => builtinToolWith(tool, (call) => delegations.powers(call))),
      ...asked.more,
    ];
    const tools = new DaemonTools(own, asked.foreign);
    this.#tools = tools;
    this.#offers = new Offers(this.#entries, parts.stores.ledger);
    this.contexts = new Contexts({
      held: (session) => this.held(session),
      instruments: asked.instruments ?? null,
      stores: parts.stores,
      redacting: parts.redacting,
      now: parts.now,
      id: parts.id,
    });
    this.#calls = new Calls(parts, this.#gatekeeper, this.#sessions, tools, this.contexts);
    this.#hooks =
      asked.hooks === undefined
        ? null
        : new Hooks({
            ...{ parts, tools, calls: this.#calls, contexts: this.contexts, machine: asked.hooks },
            ...{ gatekeeper: this.#gatekeeper, opening: this.#opening },
            ...{ sessions: this.#sessions, admission: this.#admission },
          });
    this.doors = {
      call: new Map(this.#callAnswers().map(([name, act]) => [name, this.#during(act)])),
      control: new Map(this.#controlAnswers()),
    };
  }

  /** The session's current holding, for tools that need further decisions during a call; null if it holds nothing. */
  held(session: Session): { readonly holding: Holding; readonly moment: Moment } | null {
    const holding = session.isClosed ? null : this.#gatekeeper.holdings.of(session);
    if (holding === null || "refused" in holding) return null;
    return { holding, moment: this.#gatekeeper.moment(session, holding) };
  }

  #heldIn(exchange: Exchange): CurrentHolding {
    const session = this.#calls.session(exchange);
    return session === null ? null : this.held(session);
  }

  get isBusy(): boolean {
    return this.#sessions.all().some(({ running }) => running.size > 0);
  }

  /** Notifies of approval changes. */
  get desk(): Desk {
    return this.#desk;
  }

  /** Before the sockets open: logs what was running when the daemon last ended. */
  async recover(): Promise<void> {
    const { stores, now } = this.#asked.parts;
    await stores.approvals.recover(now(), (approval) =>
      this.#entries.make("approval", approval.who, approval.state === "executing" ? "indeterminate" : "expired", {
        of: approval.id,
        tool: approval.tool,
      }),
    );
    const opened = await stores.ledger.log({ kind: "session", outcome: "opened", count: rememberedMax });
    for (const { entry } of opened.ok ? [...opened.value].reverse() : []) {
      const { pid, start, caveats, face } = entry.more;
      // A process that had a session does not count as a person after a restart.
      if (typeof pid === "number" && typeof start === "string")
        this.#admission.remember({
          root: { pid, start },
          user: entry.user,
          face: String(face),
          isForParent: face === "mcp" || face === "hook",
          isBrought: typeof caveats === "string",
        });
    }
    await stores.ledger.append([this.#entries.make("daemon", NO_ACTOR, "started", { more: { pid: this.#asked.pid } })]);
  }

  /** Calls that were refused because no daemon was running. They are unverified claims: logged, and nothing else. */
  async handOver(calls: readonly RefusedCall[]): Promise<boolean> {
    if (calls.length === 0) return true;
    const entries = calls.map(({ at, agent, tool, face, cwd, reason }) =>
      this.#entries.make("decision", { ...NO_ACTOR, agent }, "deny", {
        tool,
        code: "not_available",
        more: { ...UNDECIDED, reason, face, cwd, refusedAt: at, isHandedOver: true },
      }),
    );
    return (await this.#asked.parts.stores.ledger.append(entries)).ok;
  }

  /** Periodic work. */
  async tick(): Promise<void> {
    const { stores, now, proof } = this.#asked.parts;
    await this.#floods.write(false);
    await this.#desk.sweep();
    await this.#hooks?.sessions.sweep();
    this.#opening.closeRevoked();
    await stores.memory.sweep(now());
    await proof.checkpoint(false);
  }

  /** After the sockets are closed: writes everything that is still pending. */
  async close(): Promise<void> {
    const { stores, proof, programs } = this.#asked.parts;
    for (const session of this.#sessions.all()) this.#opening.close(session);
    await programs.end(null, "ambit daemon stop");
    await this.#floods.write(true);
    this.#gatekeeper.planOutcomes();
    await stores.ledger.append([this.#entries.make("daemon", NO_ACTOR, "stopped")]);
    await proof.checkpoint(true);
  }

  #callAnswers(): readonly (readonly [string, MessageHandler])[] {
    const calls = this.#calls;
    return [
      [
        "session.open",
        async (exchange) => {
          const opened = await this.#opening.open(exchange);
          for (const session of opened.ok ? this.#sessions.of(exchange.connected) : []) {
            this.#admission.remember(session.facts);
            this.#hooks?.sessions.taintBelow(session);
          }
          return opened;
        },
      ],
      [
        "session.close",
        async (exchange) => this.#withSession(calls.session(exchange), (session) => this.#opening.close(session)),
      ],
      [
        "session.pledge",
        async (exchange) => {
          const session = calls.session(exchange);
          const specs = textsIn(exchange.value, "specs", 1024);
          if (session === null) return NO_SESSION;
          if (specs === null) return refusal("invalid_input", "`specs` must be a list of at most 1024 strings");
          const fault = this.#opening.pledge(session, specs);
          if (fault !== null) return refusal("invalid_input", fault);
          return this.#written(session, "pledged", { specs });
        },
      ],
      [
        "session.taint",
        async (exchange) => {
          const session = calls.session(exchange);
          const why = textIn(exchange.value, "why", 1024);
          if (session === null) return NO_SESSION;
          if (why === null) return refusal("invalid_input", "`why` must be a string of at most 1024 characters");
          return session.taint(why) ? this.#written(session, "tainted", { why }) : { ok: true, value: {} };
        },
      ],
      ["token.check", tokenCheck(this.#opening)],
      ["call.commit", (exchange) => calls.commit(exchange)],
      ["call.settle", (exchange) => calls.settle(exchange)],
      ["context.use", (exchange) => calls.use(exchange)],
      ["call.do", (exchange) => calls.execute(exchange)],
      ["call.run", (exchange) => calls.run(exchange)],
      ...terminalAnswers((exchange) => calls.session(exchange)),
      ["call.preview", (exchange) => calls.preview(exchange)],
      ["hook.decide", async (exchange) => this.#hooks?.decide(exchange) ?? refusal("not_available", "no hooks here")],
      ["session.join", async (exchange) => this.#hooks?.sessions.join(exchange) ?? NO_SESSION],
      ["tools.list", (exchange) => calls.list(exchange)],
      ["tools.reach", async (exchange) => reachableAnswer(this.#heldIn(exchange), exchange.value)],
      [
        "tools.provider",
        async (exchange) => {
          const answer = providerAnswer(this.#heldIn(exchange), exchange.value);
          const session = calls.session(exchange);
          return answer.ok && session !== null ? this.#offers.written(session, exchange.value, answer) : answer;
        },
      ],
    ];
  }

  /** The same, attributed to the session that asks. */
  #during(act: MessageHandler): MessageHandler {
    const { during } = this.#asked.parts;
    if (during === undefined) return act;
    return (exchange) => {
      const session = this.#calls.session(exchange);
      return session === null ? act(exchange) : during(session, () => act(exchange));
    };
  }

  #controlAnswers(): readonly (readonly [string, MessageHandler])[] {
    const { parts } = this.#asked;
    const [gatekeeper, sessions, opening, admission] = [
      this.#gatekeeper,
      this.#sessions,
      this.#opening,
      this.#admission,
    ];
    return [
      ["daemon.status", async () => ({ ok: true, value: await this.#status() })],
      ["daemon.stop", async ({ value }) => ({ ok: true, value: { isStopping: this.#stop(value["ifIdle"] === true) } })],
      ...approvalAnswers(parts, this.#desk, admission, this.#entries),
      ...changesAnswers(parts, admission, this.#entries),
      ...logAnswers(parts, admission),
      ...toolAnswers(parts, this.#tools, this.#asked.foreign, this.contexts),
      ...[...(this.#asked.servers?.(admission) ?? []), ...holdingAnswers(opening, gatekeeper)],
      ...powerAnswers({ parts, gatekeeper, sessions, opening, admission }),
    ];
  }

  #stop(ifIdle: boolean): boolean {
    if (ifIdle && this.#sessions.all().length > 0) return false;
    this.#asked.stop();
    return true;
  }

  async #status(): Promise<DaemonStatus> {
    const { parts, pid, protocol, state, connections } = this.#asked;
    const { stores, now, version, programs } = parts;
    const since = now() - dayMilliseconds;
    const [waiting, head, denied] = await Promise.all([
      stores.approvals.list(["pending"], deniedTodayMax),
      stores.chain.head(),
      stores.ledger.log({ outcome: "deny", since, count: deniedTodayMax }),
    ]);
    const entries = head.ok ? head.value.place : 0;
    const sink = sinkShown(parts.sink?.() ?? null, entries);
    const codes = new Map<string, number>();
    for (const { entry } of denied.ok ? denied.value : [])
      codes.set(entry.code ?? "", (codes.get(entry.code ?? "") ?? 0) + timesOf(entry));
    return {
      pid,
      version,
      protocol,
      started: this.#started,
      state,
      isFrozen: this.#gatekeeper.isFrozen,
      sessions: this.#sessions.all().map(shown),
      waiting: waiting.ok ? waiting.value.length : 0,
      entries,
      denials: [...codes].map(([code, times]) => ({ code, times })),
      sandboxes: programs.count,
      connections: connections(),
      problems: [
        ...parts.problems(),
        ...sinkProblems(sink),
        ...[waiting, head, denied].flatMap((one) => (one.ok ? [] : [one.message])),
      ],
      sink,
      secrets: parts.vault.list().length === 0 ? null : parts.vault.source(),
    };
  }

  #withSession(session: Session | null, act: (session: Session) => void): ReturnType<Awaited<MessageHandler>> {
    if (session === null) return Promise.resolve(NO_SESSION);
    act(session);
    return Promise.resolve({ ok: true, value: {} });
  }

  async #written(session: Session, outcome: string, more: JsonObject): ReturnType<MessageHandler> {
    const entry = this.#entries.make("session", session.who(), outcome, { more });
    const written = await this.#asked.parts.stores.ledger.append([entry]);
    return written.ok ? { ok: true, value: {} } : refusal(written.code, written.message);
  }
}

/** The entry fields of a decision, for a call that was never decided. */
const UNDECIDED = { approval: null, by: [], level: 0, need: null, requests: [], suggest: null } as const;

/** How many decisions an entry stands for: repeated ones are counted in one entry. */
function timesOf({ kind, more }: LogEntry): number {
  const { times } = more;
  if (kind !== "decision" && kind !== "suppressed") return 0;
  return typeof times === "number" && Number.isSafeInteger(times) && times > 0 ? times : 1;
}

/** The copy may not have checked for a while: this is the log's actual end. */
function sinkShown(sink: SinkStatus | null, head: number): SinkStatus | null {
  return sink === null || sink.kept === null ? sink : { ...sink, behind: Math.max(0, head - sink.kept) };
}

function sinkProblems(sink: SinkStatus | null): readonly string[] {
  if (sink === null || sink.problem === null) return [];
  const denying = sink.isDenying ? " Every call is denied (audit_unavailable) until it catches up." : "";
  return [`the second copy of the log, ${sink.target}: ${sink.problem}.${denying}`];
}

function shown({ facts, isClean, calls, running }: Session): SessionView {
  const { id, name, user, face, opened } = facts;
  return {
    session: id,
    agent: name.agent,
    workspace: name.workspace,
    user,
    face,
    opened,
    isClean,
    calls,
    running: running.size,
  };
}
