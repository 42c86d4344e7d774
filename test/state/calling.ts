// The caller's side of a test: orders to its process, the sessions it opens, and their results.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { VERSION } from "../../src/core/base/version.ts";
import type { Answer } from "../../src/core/ports/daemon/exchange.ts";
import type { SocketName } from "../../src/daemon/rpc/serving.ts";
import type { CallerReport, Order } from "./caller.ts";

export interface Ran {
  readonly status: number | null;
  readonly out: string;
}

/** An order without its number. */
type Ordered = Order extends infer One ? (One extends Order ? Omit<One, "number"> : never) : never;

export interface Hearing {
  onEvent?(event: unknown): void;
  onText?(text: string, channel: number): void;
}

/** One request of a caller, and its cancel function. */
export interface PendingCall {
  readonly answer: Promise<Answer<Record<string, unknown>>>;
  stop(): void;
}

/** A process that opens sessions. */
export class Caller {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { give(answer: Answer<object>): void; readonly hearing: Hearing }>();
  #number = 0;

  constructor(program: string, folder: string) {
    // In its own process session: the test acts as a person without a terminal and shares nothing with a client.
    this.#child = fork(program, [folder, VERSION], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: [],
      detached: true,
    });
    this.#child.on("message", (told: CallerReport) => {
      const waiting = this.#waiting.get(told.number);
      if ("event" in told) waiting?.hearing.onEvent?.(told.event);
      else if ("channel" in told) waiting?.hearing.onText?.(told.text, told.channel);
      else {
        this.#waiting.delete(told.number);
        waiting?.give(told.answer);
      }
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  order(order: Ordered, hearing: Hearing = {}): PendingCall {
    const number = ++this.#number;
    const answer = new Promise<Answer<Record<string, unknown>>>((give) => {
      this.#waiting.set(number, { give: give as (answer: Answer<object>) => void, hearing });
    });
    this.#child.send({ ...order, number });
    return { answer, stop: () => this.#child.send({ order: "stop", number }) };
  }

  ask(
    name: string,
    value: object,
    connection = "1",
    hearing: Hearing = {},
    socketName: SocketName = "call",
  ): PendingCall {
    return this.order({ order: "ask", socketName, connection, name, value }, hearing);
  }

  async spawn(cwd: string, ...argv: readonly string[]): Promise<Ran> {
    const answer = await this.order({ order: "spawn", argv, cwd }).answer;
    return (answer.ok ? answer.value : { status: null, out: answer.message }) as unknown as Ran;
  }

  async hangUp(connection = "1"): Promise<void> {
    await this.order({ order: "hangUp", socketName: "call", connection }).answer;
  }

  async open(cwd: string, agent: string, more: OpenMore = {}): Promise<Answer<Session>> {
    const { connection = "1", ...rest } = more;
    const asks = {
      cwd,
      agent,
      user: null,
      trace: null,
      face: "library",
      pledge: null,
      token: null,
      environment: {},
      isForParent: false,
      ...rest,
    };
    const opened = await this.ask("session.open", asks, connection).answer;
    return opened.ok ? { ok: true, value: new Session(this, connection, opened.value) } : opened;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const over = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await over;
  }
}

export interface OpenMore {
  readonly user?: string;
  readonly trace?: string;
  readonly pledge?: readonly string[];
  readonly token?: string;
  readonly isForParent?: boolean;
  readonly connection?: string;
}

export interface Called {
  /** "done", "allowed" or "ran"; otherwise the code of the denial or refusal. */
  readonly said: string;
  readonly value: Record<string, unknown>;
}

export interface CallMore extends Hearing {
  readonly wait?: number;
  readonly requests?: readonly string[];
  /** Further members of the request. */
  readonly with?: object;
}

export class Session {
  readonly #caller: Caller;
  readonly connection: string;
  readonly id: string;
  readonly agent: string;
  readonly trace: string;
  readonly notes: readonly string[];

  constructor(caller: Caller, connection: string, opened: Record<string, unknown>) {
    this.#caller = caller;
    this.connection = connection;
    this.id = String(opened["session"]);
    this.agent = String(opened["agent"]);
    this.trace = String(opened["trace"]);
    this.notes = opened["notes"] as readonly string[];
  }

  ask(name: string, value: object, hearing: Hearing = {}): PendingCall {
    return this.#caller.ask(name, { session: this.id, ...value }, this.connection, hearing);
  }

  async do(tool: string, input: object = {}, more: CallMore = {}): Promise<Called> {
    return outcomeOf(await this.#call("call.do", tool, input, more).answer);
  }

  async commit(tool: string, input: object = {}, more: CallMore = {}): Promise<Called> {
    return outcomeOf(await this.#call("call.commit", tool, input, more).answer);
  }

  async run(argv: readonly string[], cwd: string, more: CallMore = {}): Promise<Called> {
    return outcomeOf(await this.running(argv, cwd, more).answer);
  }

  running(argv: readonly string[], cwd: string, more: CallMore = {}): PendingCall {
    return this.#call("call.run", "proc_exec", { argv, in: cwd, root: "ro" }, more);
  }

  async pledge(...specs: readonly string[]): Promise<Answer<object>> {
    return this.ask("session.pledge", { specs }).answer;
  }

  async close(): Promise<void> {
    await this.ask("session.close", {}).answer;
  }

  #call(
    name: string,
    tool: string,
    input: object,
    { wait = 0, requests, with: extra = {}, ...hearing }: CallMore,
  ): PendingCall {
    const more = name === "call.run" ? { milliseconds: null, hasInput: false } : extra;
    return this.ask(name, { tool, input, requests: requests ?? null, waitMilliseconds: wait, ...more }, hearing);
  }
}

export function outcomeOf(answer: Answer<Record<string, unknown>>): Called {
  if (!answer.ok) return { said: answer.code, value: { ...answer } };
  const { value } = answer;
  return { said: String(value["outcome"] === "denied" ? value["code"] : value["outcome"]), value };
}
