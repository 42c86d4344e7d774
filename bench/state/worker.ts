// A separate process that calls as fast as it is answered: its own heap, its own connections, its own share of the machine.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { programPath } from "../place.ts";
import { daemonCallers } from "./daemon-callers.ts";
import { plainCallers, storeCallers } from "./local-callers.ts";
import { watchRevoked } from "./revocation-watch.ts";

export interface WorkerOptions {
  readonly kind: "daemon" | "plain" | "store";
  readonly callers: number;
  /** The daemon's, or one for a database of its own. */
  readonly folder: string;
  readonly project: string;
  readonly agent: string;
}

/** One call after the other; throws if it was not allowed or not stored. */
export type Call = () => Promise<void>;

export interface Ran {
  /** Nanoseconds of each call. */
  readonly latencies: readonly number[];
  /** Nanoseconds of CPU of this process, all its threads. */
  readonly cpu: number;
}

type Order =
  | { readonly order: "run"; readonly milliseconds: number }
  /** Calls until it is denied; reports when that was. */
  | { readonly order: "watch" };

export interface Watched {
  /** On the clock that all processes share, in nanoseconds. */
  readonly denied: string;
  /** When the last allowed call was sent. */
  readonly asked: string;
}

const mark = "--ambit-bench-worker";

export function isStateWorker(): boolean {
  return process.argv[2] === mark && process.send !== undefined;
}

export async function serveStateWorker(): Promise<number> {
  const asked = JSON.parse(process.argv[3] ?? "") as WorkerOptions;
  const calls = await callersOf(asked);
  process.on("message", (order: Order) => {
    const done = order.order === "run" ? run(calls, order.milliseconds) : watchRevoked(calls[0] as Call);
    done.then(
      (result) => process.send?.({ result }),
      (problem: unknown) => process.send?.({ problem: String(problem) }),
    );
  });
  process.send?.({ result: "ready" });
  await once(process, "disconnect");
  process.exit(0);
}

function callersOf(asked: WorkerOptions): Promise<readonly Call[]> {
  if (asked.kind === "daemon") return daemonCallers(asked);
  return Promise.resolve(asked.kind === "plain" ? plainCallers(asked) : storeCallers(asked));
}

async function run(calls: readonly Call[], milliseconds: number): Promise<Ran> {
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  const end = performance.now() + milliseconds;
  await Promise.all(
    calls.map(async (call) => {
      for (let before = performance.now(); before < end; ) {
        await call();
        const after = performance.now();
        latencies.push(Math.round((after - before) * 1e6));
        before = after;
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { latencies, cpu: (user + system) * 1000 };
}

/** The parent's side. */
export class Worker {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(asked: WorkerOptions): Promise<Worker> {
    const worker = new Worker(fork(programPath, [mark, JSON.stringify(asked)]));
    await worker.#answer();
    return worker;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  run(milliseconds: number): Promise<Ran> {
    return this.#ask({ order: "run", milliseconds }) as Promise<Ran>;
  }

  watch(): Promise<Watched> {
    return this.#ask({ order: "watch" }) as Promise<Watched>;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const over = once(this.#child, "exit");
    this.#child.disconnect();
    await over;
  }

  #ask(order: Order): Promise<unknown> {
    const answer = this.#answer();
    this.#child.send(order);
    return answer;
  }

  #answer(): Promise<unknown> {
    return new Promise((give, fail) => {
      const over = (): void => fail(new Error("a calling process exited"));
      this.#child.once("exit", over);
      this.#child.once("message", (said: { readonly result?: unknown; readonly problem?: string }) => {
        this.#child.off("exit", over);
        if (said.problem === undefined) give(said.result);
        else fail(new Error(said.problem));
      });
    });
  }
}
