// One server on standard input and its lines: a request goes in under a number of our own, and its answer comes back under the
// original one. What else the server says while it works on a request goes the same way.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Fixture } from "../state/fixture.ts";

export interface WireMessage {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

interface Open {
  readonly id: string | number;
  take(message: WireMessage): void;
}

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

export class StdioServer {
  readonly #child: ChildProcess;
  readonly #open = new Map<number, Open>();
  readonly #over: Promise<unknown>;
  #number = 0;

  constructor(fixture: Fixture, [program = "", ...words]: readonly string[]) {
    this.#child = spawn(program, words, {
      cwd: fixture.project,
      env: fixture.environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#over = once(this.#child, "close");
    this.#child.stdin?.on("error", () => undefined);
    createInterface({ input: this.#child.stdout! }).on("line", (line) => this.#take(JSON.parse(line) as WireMessage));
  }

  /** Everything that arrives for this request, its answer last. Returns a function that cancels the request. */
  request(message: WireMessage, take: (message: WireMessage) => void): () => void {
    const own = ++this.#number;
    this.#open.set(own, { id: message.id ?? 0, take });
    this.send({ ...message, id: own });
    return () => {
      if (this.#open.delete(own))
        this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: own } });
    };
  }

  send(message: WireMessage): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#over;
  }

  #take(message: WireMessage): void {
    if (message.method === undefined) {
      const asked = this.#open.get(Number(message.id));
      this.#open.delete(Number(message.id));
      asked?.take({ ...message, id: asked.id });
      return;
    }
    const meta = message.params?.["_meta"] as Record<string, unknown> | undefined;
    const subscription = Number(meta?.[SUBSCRIPTION]);
    const asked = this.#open.get(subscription);
    if (asked === undefined) {
      // Progress names its request; of everything else the server says no more than that it works on something.
      const [first] = this.#open.values();
      (this.#open.get(Number(message.params?.["progressToken"])) ?? first)?.take(message);
      return;
    }
    asked.take({ ...message, params: { ...message.params, _meta: { ...meta, [SUBSCRIPTION]: asked.id } } });
  }
}
