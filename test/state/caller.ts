// A separate process that opens sessions and calls tools as the test process orders, which acts as the person. A process with a
// session is refused at the control socket, so the person and the caller cannot be one process.
import { spawn } from "node:child_process";
import type { Answer, RequestOptions } from "../../src/core/ports/daemon/exchange.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import type { SocketName } from "../../src/daemon/rpc/serving.ts";

/** What the caller is ordered to do. */
export type Order =
  | {
      readonly number: number;
      readonly order: "ask";
      readonly socketName: SocketName;
      readonly connection: string;
      readonly name: string;
      readonly value: object;
    }
  | { readonly number: number; readonly order: "stop" }
  | { readonly number: number; readonly order: "hangUp"; readonly socketName: SocketName; readonly connection: string }
  | { readonly number: number; readonly order: "spawn"; readonly argv: readonly string[]; readonly cwd: string };

/** What it reports back. */
export type CallerReport =
  | { readonly number: number; readonly answer: Answer<object> }
  | { readonly number: number; readonly event: unknown }
  | { readonly number: number; readonly channel: number; readonly text: string };

interface Line {
  ask(name: string, value: object, along?: RequestOptions): Promise<Answer<object>>;
  close(): void;
}

const [, , folder = "", version = ""] = process.argv;
const lines = new Map<string, Promise<Answer<Line>>>();
const cancels = new Map<number, AbortController>();

function tell(told: CallerReport): void {
  if (process.connected) process.send?.(told);
}

function lineTo(socketName: SocketName, connection: string): Promise<Answer<Line>> {
  const key = `${socketName} ${connection}`;
  const known = lines.get(key);
  if (known !== undefined) return known;
  const made = connect(socketName, { folder, version, onLost: () => lines.delete(key) }) as Promise<Answer<Line>>;
  lines.set(key, made);
  return made;
}

async function ask(order: Extract<Order, { order: "ask" }>): Promise<void> {
  const { number, socketName, connection, name, value } = order;
  const line = await lineTo(socketName, connection);
  if (!line.ok) {
    lines.delete(`${socketName} ${connection}`);
    tell({ number, answer: line });
    return;
  }
  const cancel = new AbortController();
  cancels.set(number, cancel);
  const answer = await line.value.ask(name, value, {
    onEvent: (event) => tell({ number, event }),
    onBytes: (channel, bytes) => tell({ number, channel, text: Buffer.from(bytes).toString("utf8") }),
    signal: cancel.signal,
  });
  cancels.delete(number);
  tell({ number, answer });
}

async function hangUp({ number, socketName, connection }: Extract<Order, { order: "hangUp" }>): Promise<void> {
  const line = await lines.get(`${socketName} ${connection}`);
  lines.delete(`${socketName} ${connection}`);
  if (line?.ok === true) line.value.close();
  tell({ number, answer: { ok: true, value: {} } });
}

function start({ number, argv, cwd }: Extract<Order, { order: "spawn" }>): void {
  const [command = "", ...rest] = argv;
  const child = spawn(command, rest, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => {
      out += part;
    });
  child.on("close", (status) => tell({ number, answer: { ok: true, value: { status, out } } }));
}

process.on("message", (order: Order) => {
  switch (order.order) {
    case "ask":
      void ask(order);
      return;
    case "stop":
      cancels.get(order.number)?.abort();
      return;
    case "hangUp":
      void hangUp(order);
      return;
    case "spawn":
      start(order);
      return;
    default:
      order satisfies never;
  }
});
// The parent process is gone: exit as well.
process.on("disconnect", () => process.exit(0));
