// The runs of tasks: which connection has claimed which task, and which of them has a program running. A claim lasts as long
// as its connection, so no clock decides about it. INVARIANT: a task is queued again only after its program has ended.
import { numberIn, objectIn, textIn, textsIn } from "../../core/base/fields.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { HiredAgent, TaskMessages, TaskRun } from "../../core/ports/daemon/task-messages.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { HeldDirectives, RunEffects, RunTime, Task, TaskChange } from "../../core/ports/stores/task-store.ts";
import type { Directive } from "../../org/directives/directives.ts";
import {
  type ApprovalAnswer,
  answerTask,
  cancelTask,
  claimTask,
  endRun,
  loseRun,
  type RunReport,
  retryTask,
} from "../../org/task-life.ts";
import type { Calls } from "../calls/calls.ts";
import { boundExchange } from "../calls/session-door.ts";
import type { Entries } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { ClientConnection, Exchange } from "../rpc/serving.ts";
import type { Session } from "../session.ts";
import { carryOut, type DirectiveReader, directiveReader, heldIn } from "./directed-run.ts";
import { RunBudgets } from "./run-funds.ts";
import { hasLanded, type RunAnswer, reportOf, STOPPED } from "./run-report.ts";
import { Schedules, taskEntry } from "./schedules.ts";
import { type RunRequests, TaskPower } from "./task-powers.ts";

interface Claim {
  readonly task: Task;
  readonly connected: ClientConnection;
  /** Resolves when the program has ended; null before it starts. */
  program: Promise<unknown> | null;
  stop(): void;
  isClosed: boolean;
}

/** What a run left when its program has ended. */
interface EndedRun {
  readonly claim: Claim;
  readonly requests: RunRequests;
  readonly directives: readonly Directive[];
  readonly ended: RunReport;
}

interface FundedRun {
  readonly answer: RunAnswer | null;
  /** How it ended, where the answer does not say it. */
  readonly report: RunReport | null;
  readonly time: RunTime | null;
}

const timerMillisecondsMax = 2_147_483_647;
const runningMax = 1000;
/** How late a request that expired is noticed. */
const expiryMilliseconds = 5000;
const capabilitiesMax = 64;

export class TaskRuns {
  readonly schedules: Schedules;
  readonly power: TaskPower;
  readonly #parts: DaemonParts;
  readonly #entries: Entries;
  readonly #claims = new Map<string, Claim>();
  readonly #watchers = new Set<(task: Task) => void>();
  readonly #budgets: RunBudgets;

  /** An approval changed since parked tasks were looked at; at the start that is not known. */
  #isAnswered = true;
  #parkedSeen = 0;

  constructor(parts: DaemonParts, entries: Entries) {
    this.#parts = parts;
    this.#entries = entries;
    this.#budgets = new RunBudgets(parts);
    this.schedules = new Schedules(parts, entries);
    this.power = new TaskPower(parts, entries, this.schedules);
  }

  /** Parked tasks are looked at again with the next request. */
  approvalChanged(): void {
    this.#isAnswered = true;
  }

  watch(watcher: (task: Task) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** `runner`: the process that has the task from now on; only its call starts the program. */
  entry(task: Task, by: string | null, runner: ClientConnection["peer"] | null = null): LogEntry {
    return taskEntry(this.#entries, task, by, runner === null ? {} : { pid: runner.pid, start: runner.start });
  }

  async change(
    id: string,
    change: TaskChange,
    by: string | null,
    time: RunTime | null = null,
    effects: RunEffects | null = null,
  ): Promise<Answer<{ task: Task }>> {
    const { tasks } = this.#parts.stores;
    const found = await tasks.change(id, change, (task) => this.entry(task, by), time, effects);
    if (!found.ok) return refusal(found.code, found.message);
    if (found.value !== null) return { ok: true, value: { task: this.#notify(found.value) } };
    const known = await tasks.get(id);
    if (!known.ok) return refusal(known.code, known.message);
    if (known.value === null) return refusal("unknown_task", `there is no task ${id}`);
    return refusal("not_applicable", `the task ${id} is ${known.value.state} now`);
  }

  /** Tasks that lost their runner, and parked ones whose request was answered. Before every claim, so no timer is needed. */
  async settle(): Promise<void> {
    const { stores, now } = this.#parts;
    const running = await stores.tasks.list(null, ["running"], runningMax);
    for (const one of running.ok ? running.value : [])
      if (this.#claims.get(one.id)?.task.generation !== one.generation)
        await this.#change(one.id, (task) => loseRun(task, one.generation, now()), this.#budgets.lost(one));
    if (!this.#isAnswered && now() < this.#parkedSeen + expiryMilliseconds) return;
    this.#isAnswered = false;
    this.#parkedSeen = now();
    const waiting = await stores.tasks.waiting();
    for (const { id, approval } of waiting.ok ? waiting.value : []) {
      const answer = await this.#answer(approval);
      if (answer !== null) await this.#change(id, (task) => answerTask(task, approval, answer, now()));
    }
  }

  async claim(
    connected: ClientConnection,
    workspace: string,
    id: string | null,
    by: string,
  ): Promise<Answer<{ task: Task | null; isMore: boolean; hired?: HiredAgent }>> {
    await this.settle();
    if (id === null) await this.schedules.fire(workspace, (task) => this.#notify(task));
    const { stores, now } = this.#parts;
    const taken: string[] = [];
    const change: TaskChange = (task) => {
      // By its id a task of any workspace is found.
      if (task.workspace !== workspace) return null;
      const after = this.#claims.has(task.id) && !taken.includes(task.id) ? null : claimTask(task, now());
      if (after?.state === "running") {
        // Inside the transaction: no other request sees the task as running without its claim.
        this.#claims.set(after.id, { task: after, connected, program: null, stop: () => {}, isClosed: false });
        taken.push(after.id);
      }
      return after;
    };
    const entry = (task: Task): LogEntry => this.entry(task, by, connected.peer);
    const found: Awaited<Durable<Task | null>> =
      id === null
        ? await stores.tasks.claim(workspace, now(), change, entry)
        : await stores.tasks.change(id, change, entry);
    if (!found.ok) {
      for (const one of taken) this.#claims.delete(one);
      return refusal(found.code, found.message);
    }
    const { value: task } = found;
    if (task !== null) this.#notify(task);
    const claim = task === null ? undefined : this.#claims.get(task.id);
    if (task?.state !== "running" || claim === undefined)
      return { ok: true, value: { task: null, isMore: task !== null } };
    connected.onClose(() => void this.#endConnection(claim));
    // What its client would read stays for a run that starts one.
    const noted = task.held === undefined ? await stores.tasks.takeNotes(task.id) : null;
    const hired = this.power.hiring.facts(workspace, task.agent);
    const claimed = (noted?.ok === true ? noted.value : null) ?? task;
    return { ok: true, value: { task: claimed, isMore: true, ...(hired === null ? {} : { hired }) } };
  }

  async release(
    connected: ClientConnection,
    { id, generation, outcome, reason }: TaskMessages["tasks.release"]["asks"],
    by: string,
  ): Promise<Answer<{ task: Task }>> {
    const claim = this.#claims.get(id);
    if (claim?.task.generation !== generation || claim.connected !== connected || claim.program !== null)
      return NOT_CLAIMED;
    const report: RunReport =
      outcome === "stopped"
        ? { kind: "released", reason: STOPPED, isFrozen: false }
        : outcome === "failed"
          ? { kind: "ended", status: null, reason }
          : { kind: "denied", reason };
    return this.#endClaim(claim, (task) => endRun(task, generation, report, this.#parts.now()), by);
  }

  /** A running one is ended. */
  async cancel(id: string, by: string): Promise<Answer<{ task: Task }>> {
    const result = await this.change(id, cancelTask, by);
    const claim = this.#claims.get(id);
    if (result.ok && claim !== undefined) {
      // A program that has not started yet does not start.
      claim.isClosed = true;
      claim.stop();
    }
    return result;
  }

  async retry(id: string, by: string): Promise<Answer<{ task: Task }>> {
    // A cancelled program may take a moment to end.
    await this.#claims.get(id)?.program;
    return this.change(id, (task) => retryTask(task, this.#parts.now()), by);
  }

  /** Runs the program of a claimed task, and settles the task by how it ended, before the answer is sent. */
  async run(exchange: Exchange, calls: Pick<Calls, "run" | "session" | "execute">): Promise<RunAnswer> {
    const asked = taskRunIn(exchange);
    if (asked === null) return calls.run(exchange);
    const session = calls.session(exchange);
    const claim = asked === "invalid" ? undefined : this.#claims.get(asked.id);
    if (asked === "invalid" || claim === undefined || session === null || claim.task.generation !== asked.generation)
      return NOT_CLAIMED;
    const { name } = session.facts;
    const { peer } = exchange.connected;
    const isSameProcess = peer.pid === claim.connected.peer.pid && peer.start === claim.connected.peer.start;
    const isAgents = name.agent === claim.task.agent && name.workspace === claim.task.workspace;
    if (!isSameProcess || !isAgents || claim.program !== null || claim.isClosed) return NOT_CLAIMED;
    exchange.connected.onClose(() => {
      claim.isClosed = true;
    });
    const { id, payers, generation } = claim.task;
    session.task = { id, generation, payers };
    if (claim.task.isByAgent === true) session.taint(WRITTEN_BY_AGENT);
    if (claim.task.isFromOutside === true) session.taint(FROM_OUTSIDE);
    claim.stop = () => exchange.stop();
    const requests = this.power.begin(session, asked.asks ?? [], asked.denies ?? []);
    // The output of a program that was named in the task is no text of an assistant.
    const reader = claim.task.argv === null ? directiveReader(textIn(exchange.value, "profile", 128)) : null;
    const { held } = claim.task;
    const running = held === undefined ? this.#runFunded(exchange, calls, claim, reader) : withoutProgram(held);
    claim.program = running.catch(() => null);
    let ran: FundedRun = { answer: null, report: null, time: null };
    try {
      ran = await running;
      return ran.answer ?? NOT_CLAIMED;
    } finally {
      const own = reportOf(ran.answer, asked.capabilities, exchange.signal.aborted);
      const ended = own.kind === "ended" && own.status === 0 ? own : (ran.report ?? own);
      if (held !== undefined) session.taint(WRITTEN_BY_CLIENT);
      const directives = held === undefined ? (reader?.end() ?? []) : heldIn(held);
      const directed = await this.#carryOut(session, calls, { claim, requests, directives, ended });
      const { report, effects } = directed;
      const settled = await this.#endClaim(
        claim,
        (task) => {
          const at = this.#parts.now();
          const after = claim.isClosed ? loseRun(task, generation, at) : endRun(task, generation, report, at);
          return after !== null && hasLanded(ran.answer) ? { ...after, hasLanded: true } : after;
        },
        null,
        ran.time,
        claim.isClosed ? null : effects,
      );
      for (const { task } of settled.ok && !claim.isClosed ? (effects?.tasks ?? []) : []) this.#notify(task);
      if (settled.ok) exchange.tell({ task: settled.value.task as never });
    }
  }

  /**
   * Carries out what the run's assistant directed, if the run ended well: a run that failed is repeated, and directs again.
   * Nothing of it is stored before the end of the run is.
   */
  async #carryOut(
    session: Session,
    calls: Pick<Calls, "execute">,
    { claim, requests, directives, ended }: EndedRun,
  ): Promise<{ readonly report: RunReport; readonly effects: RunEffects | null }> {
    if (ended.kind !== "ended" || ended.status !== 0 || claim.isClosed) return { report: ended, effects: null };
    requests.isStaged = true;
    const closing = new AbortController();
    const { notes, waits, held, results } = await carryOut(directives, (tool, input) =>
      calls.execute(boundExchange(session, closing, "call.do", { tool, input, requests: null, waitMilliseconds: 0 })),
    );
    const { tasks, schedules, hires } = requests;
    const entries = results.map(({ directive, result }) =>
      this.#entries.make("control", session.who([]), result === "done" ? "directive done" : "directive refused", {
        more: { task: claim.task.id, directive, result },
      }),
    );
    const requested = [...requests.requested].map(([capability, reason]) => ({ capability, reason }));
    const asked = waits === null ? null : { ...waits, held: { directives: held, reason: ended.reason } };
    const report: RunReport = requested.length > 0 ? { kind: "requested", requested } : (asked ?? ended);
    return { report, effects: { tasks, schedules, hires, notes, entries } };
  }

  /** Runs the program as long as its budget of seconds lasts. */
  async #runFunded(
    exchange: Exchange,
    calls: Pick<Calls, "run">,
    claim: Claim,
    reader: DirectiveReader | null,
  ): Promise<FundedRun> {
    const funds = await this.#budgets.open(claim.task);
    if (!funds.ok) return { answer: refusal("budget_exhausted", funds.reason), report: funds.report, time: null };
    if (claim.isClosed) {
      funds.close();
      return { answer: NOT_CLAIMED, report: null, time: null };
    }
    let isSpent = false;
    const spend = (): void => {
      isSpent = true;
      exchange.stop();
    };
    const timer =
      funds.milliseconds === null ? null : setTimeout(spend, Math.min(funds.milliseconds, timerMillisecondsMax));
    const answer = await calls.run(reader === null ? exchange : reader.reading(exchange)).catch((error: unknown) => {
      funds.close();
      throw error;
    });
    if (timer !== null) clearTimeout(timer);
    const report: RunReport | null = isSpent
      ? { kind: "ended", status: null, reason: `the ${funds.name} is used up` }
      : null;
    return { answer, report, time: funds.close() };
  }

  async #endConnection(claim: Claim): Promise<void> {
    claim.isClosed = true;
    claim.stop();
    // A run settles its task itself once its program has ended.
    if (claim.program !== null || this.#claims.get(claim.task.id) !== claim) return;
    const { generation } = claim.task;
    await this.#endClaim(claim, (task) => loseRun(task, generation, this.#parts.now()), null);
  }

  async #endClaim(
    claim: Claim,
    change: TaskChange,
    by: string | null,
    time: RunTime | null = null,
    effects: RunEffects | null = null,
  ): Promise<Answer<{ task: Task }>> {
    const { id } = claim.task;
    const result = await this.change(id, change, by, time, effects);
    if (this.#claims.get(id) === claim) this.#claims.delete(id);
    return result;
  }

  async #change(id: string, change: TaskChange, time: RunTime | null = null): Promise<void> {
    const found = await this.#parts.stores.tasks.change(id, change, (task) => this.entry(task, null), time);
    if (found.ok && found.value !== null) this.#notify(found.value);
  }

  async #answer(approval: string): Promise<ApprovalAnswer | null> {
    const { stores, now } = this.#parts;
    const found = await stores.approvals.get(approval);
    if (!found.ok || (found.value?.state === "pending" && found.value.expires > now())) return null;
    switch (found.value?.state) {
      case "approved":
        return { kind: "approved" };
      case "refused":
        return { kind: "refused", reason: found.value.reason ?? "" };
      default:
        return { kind: "gone" };
    }
  }

  #notify(task: Task): Task {
    for (const watcher of this.#watchers) watcher(task);
    return task;
  }
}

const WRITTEN_BY_AGENT = "the task was written by an agent";
const FROM_OUTSIDE = "the task contains the body of a webhook request";
const WRITTEN_BY_CLIENT = "output of its client in an earlier run";

/** The run that directed it ended well. */
function withoutProgram({ reason }: HeldDirectives): Promise<FundedRun> {
  return Promise.resolve({ answer: null, report: { kind: "ended", status: 0, reason }, time: null });
}
const NOT_CLAIMED = refusal("not_applicable", "this process does not have this task");

function taskRunIn({ value }: Exchange): TaskRun | "invalid" | null {
  if (value["task"] === undefined) return null;
  const task = objectIn(value, "task");
  if (task === null) return "invalid";
  const id = textIn(task, "id", 128);
  const generation = numberIn(task, "generation", 0, Number.MAX_SAFE_INTEGER);
  const capabilities = textsIn(task, "capabilities", capabilitiesMax);
  const asks = task["asks"] === undefined ? [] : textsIn(task, "asks", capabilitiesMax);
  const denies = task["denies"] === undefined ? [] : textsIn(task, "denies", capabilitiesMax);
  if (id === null || generation === null || capabilities === null || asks === null || denies === null) return "invalid";
  return { id, generation, capabilities, asks, denies };
}
