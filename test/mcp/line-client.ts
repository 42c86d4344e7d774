// A minimal client: the real server as a process, and every line in both directions unchanged.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/base/json.ts";
import { root } from "../e2e/ambit.ts";
import type { Fixture } from "../state/fixture.ts";

export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
}

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Started {
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export const META: JsonObject = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/**
 * Starts what follows and exits as it does: an ordinary client. Its own standard input is empty, as of a client that a person
 * starts: the test above it is then not taken for the client behind a wrapper.
 */
export const AS_CLIENT: readonly string[] = [
  "-e",
  'my $child = fork // die; if (!$child) { exec @ARGV or exit 127 } open STDIN, "<", "/dev/null"; waitpid $child, 0; exit($? >> 8)',
  "--",
];

export class LineClient {
  readonly child: ChildProcess;
  /** Every line of its output, parsed. A line that is not JSON is kept as text. */
  readonly told: (Message | string)[] = [];
  errors = "";
  readonly over: Promise<number | null>;
  #rest = "";
  #number = 0;
  readonly #waiting = new Set<() => void>();

  constructor(fixture: Fixture, words: readonly string[], { environment = {}, cwd }: Started = {}) {
    // A separate program is started in between: the process that starts a server belongs to its session, and the test acts as the
    // person.
    const server = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", ...words];
    this.child = spawn("perl", [...AS_CLIENT, ...server], {
      cwd: cwd ?? fixture.project,
      env: { ...fixture.environment, ...environment },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stdin?.on("error", () => undefined);
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.errors += text;
    });
    this.over = once(this.child, "close").then(([status]) => {
      this.#ring();
      return status as number | null;
    });
  }

  /** A string is sent as it is; everything else as JSON. */
  send(message: object | string): void {
    this.child.stdin?.write(typeof message === "string" ? message : `${JSON.stringify(message)}\n`);
  }

  async initialize(version = "2025-11-25", name = "test"): Promise<Message> {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name, version: "0" } };
    const told = await this.ask("initialize", params);
    this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return told;
  }

  /** Its request number, to wait for the answer later. */
  request(method: string, params?: object): number {
    const id = ++this.#number;
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return id;
  }

  ask(method: string, params?: object): Promise<Message> {
    return this.answer(this.request(method, params));
  }

  async call(name: string, input: object = {}, more: object = {}): Promise<ToolResult> {
    const { result, error } = await this.ask("tools/call", { name, arguments: input, ...more });
    if (result === undefined) throw new Error(`no result: ${JSON.stringify(error)}`);
    return result as unknown as ToolResult;
  }

  async names(more: object = {}): Promise<readonly string[]> {
    const { result, error } = await this.ask("tools/list", more);
    if (result === undefined) throw new Error(`no list: ${JSON.stringify(error)}`);
    return (result["tools"] as readonly { readonly name: string }[]).map(({ name }) => name);
  }

  answer(id: string | number | null): Promise<Message> {
    return this.first((told) => told.id === id && told.method === undefined, `an answer to ${id}`);
  }

  /** The first line that matches, of those received and of those to come. */
  async first(is: (told: Message) => boolean, what: string): Promise<Message> {
    for (;;) {
      const found = this.told.find((one): one is Message => typeof one !== "string" && is(one));
      if (found !== undefined) return found;
      if (this.child.exitCode !== null) throw new Error(`it ended without ${what}: ${this.errors}`);
      await new Promise<void>((go) => this.#waiting.add(go));
    }
  }

  /** Closes its end; pending requests are still answered. */
  async end(): Promise<number | null> {
    this.child.stdin?.end();
    return this.over;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.told.push(read(line));
    this.#ring();
  }

  #ring(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }
}

function read(line: string): Message | string {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return line;
  }
}

export function textOf({ content }: ToolResult): string {
  return content.map(({ text }) => text).join("\n");
}

export function codeOf({ structuredContent }: ToolResult): unknown {
  return structuredContent["code"];
}

/** All variables, without the named ones. */
export function caveats(narrowed: object): string {
  return JSON.stringify({
    fs_read: "all",
    fs_write: "all",
    exec: "all",
    net: "all",
    max_calls: "unlimited",
    valid_for_generation: "all",
    ...narrowed,
  });
}
