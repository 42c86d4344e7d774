// The daemon: message handlers of its two sockets, and its periodic work.
import type { Moment } from "../core/authority/compiled.ts";
import { refusal } from "../core/ports/daemon/exchange.ts";
import type { RefusedCall } from "../core/ports/daemon/refused-call.ts";
import type { BuiltinTool } from "../runtime/tool/builtin.ts";
import { DELEGATION_TOOLS } from "../tools/delegation/delegation-tools.ts";
import { FILE_TOOLS } from "../tools/files/file-tools.ts";
import { GIT_TOOL } from "../tools/git/git-tool.ts";
import { MEMORY_TOOLS } from "../tools/memory/memory-tools.ts";
import { OBSERVATION_TOOLS } from "../tools/observations/observation-tools.ts";
import { PROGRAM_TOOLS } from "../tools/programs/program-tools.ts";
import { TASK_TOOLS } from "../tools/tasks/task-tools.ts";
import { WEB_FETCH_TOOL } from "../tools/web/web-fetch.ts";
import { ApprovalRequests } from "./calls/approval-requests.ts";
import { Calls } from "./calls/calls.ts";
import { Gatekeeper } from "./calls/gatekeeper.ts";
import type { Holding } from "./calls/holding.ts";
import { Contexts, type InstrumentsSource } from "./contexts/contexts.ts";
import { Delegations } from "./contexts/delegations.ts";
import { Admission } from "./control/admission.ts";
import { approvalAnswers } from "./control/approvals.ts";
import { budgetAnswers } from "./control/budgets.ts";
import { changesAnswers } from "./control/changes.ts";
import { holdingAnswers } from "./control/holding.ts";
import { logAnswers } from "./control/log.ts";
import { powerAnswers } from "./control/power.ts";
import { scheduleAnswers } from "./control/schedules.ts";
import { statusAnswers } from "./control/status.ts";
import { storeAnswers } from "./control/stores.ts";
import { taskAnswers } from "./control/tasks.ts";
import { tokenCheck } from "./control/tokens.ts";
import { toolAnswers } from "./control/tools.ts";
import type { HookMachine } from "./hooks/hook-gate.ts";
import { Hooks } from "./hooks/hooks.ts";
import { Entries, NO_ACTOR } from "./log/entries.ts";
import { Floods } from "./log/floods.ts";
import { Offers } from "./offers.ts";
import { Opening } from "./opening.ts";
import type { DaemonParts } from "./parts.ts";
import { terminalAnswers } from "./programs/terminal.ts";
import type { Exchange, MessageHandler, MessageHandlers } from "./rpc/serving.ts";
import { NO_SESSION, type Session, Sessions } from "./session.ts";
import { sessionAnswers } from "./session-answers.ts";
import type { WorkspaceStores } from "./stores/workspace-stores.ts";
import { TaskRuns } from "./tasks/task-runs.ts";
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
  /** The shared stores of workspaces; without it there are none. */
  readonly stores?: WorkspaceStores;
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

const BUILTIN_TOOLS: readonly BuiltinTool[] = [
  ...[...FILE_TOOLS, ...MEMORY_TOOLS, ...OBSERVATION_TOOLS],
  ...[WEB_FETCH_TOOL, GIT_TOOL, ...PROGRAM_TOOLS],
];

export class Daemon {
  readonly #asked: DaemonOptions;
  readonly #started: number;
  readonly #sessions = new Sessions();
  readonly #entries: Entries;
  readonly #approvalRequests: ApprovalRequests;
  readonly #taskRuns: TaskRuns;
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
  readonly handlers: MessageHandlers;

  constructor(asked: DaemonOptions) {
    const { parts } = asked;
    this.#asked = asked;
    this.#started = parts.now();
    this.#entries = new Entries(parts);
    this.#approvalRequests = new ApprovalRequests(parts, this.#entries);
    this.#taskRuns = new TaskRuns(parts, this.#entries);
    this.#approvalRequests.watch(() => this.#taskRuns.approvalChanged());
    this.#floods = new Floods(this.#entries, parts.stores.ledger, parts.digest, parts.now);
    this.#gatekeeper = new Gatekeeper(parts, this.#approvalRequests, this.#floods, this.#entries);
    const delegations = new Delegations(parts, this.#entries, this.#gatekeeper.holdings);
    this.#admission = new Admission(parts, this.#sessions);
    const userNames = (): readonly string[] | null => (asked.userNames === undefined ? [] : asked.userNames());
    this.#opening = new Opening(parts, this.#gatekeeper, delegations, this.#sessions, this.#admission, userNames);
    const own: readonly DaemonTool[] = [
      ...BUILTIN_TOOLS.map(builtinTool),
      ...DELEGATION_TOOLS.map((tool) => builtinToolWith(tool, (call) => delegations.powers(call))),
      ...TASK_TOOLS.map((tool) => builtinToolWith(tool, (call) => this.#taskRuns.power.powers(call))),
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
    this.handlers = {
      call: new Map(this.#callAnswers().map(([name, act]) => [name, this.#during(act)])),
      control: new Map(this.#controlAnswers().map(([name, act]) => [name, this.#afterSweep(act)])),
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
  get approvalRequests(): ApprovalRequests {
    return this.#approvalRequests;
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
          hasOwnAuthority: typeof caveats === "string",
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
    await this.#approvalRequests.sweep();
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
      ...sessionAnswers({
        ...{ sessions: this.#sessions, opening: this.#opening, admission: this.#admission },
        ...{ entries: this.#entries, ledger: this.#asked.parts.stores.ledger, hooks: this.#hooks },
        session: (exchange) => calls.session(exchange),
      }),
      ["token.check", tokenCheck(this.#opening)],
      [
        "token.metadata",
        async () => ({ ok: true, value: { metadata: this.#asked.parts.accessTokens?.metadata() ?? null } }),
      ],
      ["call.commit", (exchange) => calls.commit(exchange)],
      ["call.settle", (exchange) => calls.settle(exchange)],
      ["context.use", (exchange) => calls.use(exchange)],
      ["call.do", (exchange) => calls.execute(exchange)],
      ["call.run", (exchange) => this.#taskRuns.run(exchange, calls)],
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

  /** A client that has ended is no reason against the person who started it. */
  #afterSweep(act: MessageHandler): MessageHandler {
    return async (exchange) => {
      await this.#hooks?.sessions.sweep();
      return act(exchange);
    };
  }

  /** Runs a handler attributed to its session, where the composition root counts work by session. */
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
      ...statusAnswers({ ...this.#asked, started: this.#started, sessions, gatekeeper }),
      ["daemon.stop", async ({ value }) => ({ ok: true, value: { isStopping: this.#stop(value["ifIdle"] === true) } })],
      ...approvalAnswers(parts, this.#approvalRequests, admission, this.#entries),
      ...changesAnswers(parts, admission, this.#entries),
      ...taskAnswers(parts, admission, this.#taskRuns),
      ...budgetAnswers(parts),
      ...scheduleAnswers(parts, admission, this.#taskRuns.schedules),
      ...(this.#asked.stores === undefined ? [] : storeAnswers(this.#asked.stores, parts.stores.ledger, admission)),
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
}

/** The entry fields of a decision, for a call that was never decided. */
const UNDECIDED = { approval: null, by: [], level: 0, need: null, requests: [], suggest: null } as const;
