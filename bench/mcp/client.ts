// The smallest MCP client over stdio: one line out, one line in. The same for every server, so that only servers differ.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface ServerWords {
  readonly subject: string;
  readonly command: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
}

export class McpClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (message: Readonly<Record<string, unknown>>) => void>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error("no output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as Readonly<Record<string, unknown>>;
      const id = Number(message["id"]);
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    });
    child.on("close", () => {
      for (const done of this.#waiting.values()) done({ error: { message: "the server has ended" } });
    });
  }

  /** Started, initialized, and its tools listed: what a client does before the first call. */
  static async start({ command, words, cwd, environment }: ServerWords): Promise<McpClient> {
    const child = spawn(command, [...words], { cwd, env: environment, stdio: ["pipe", "pipe", "ignore"] });
    const client = new McpClient(child);
    const clientInfo = { name: "bench", version: "1" };
    await client.#ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    client.#send({ method: "notifications/initialized" });
    const { tools } = (await client.#ask("tools/list", {})) as { readonly tools: readonly unknown[] };
    if (tools.length === 0) throw new Error(`${command} ${words.join(" ")} has no tools`);
    return client;
  }

  /** The text of the result. An error ends the run: nothing that failed is timed. */
  async call(name: string, given: object): Promise<string> {
    const { isError, content } = (await this.#ask("tools/call", { name, arguments: given })) as ToolResult;
    const text = content.map((one) => one.text ?? "").join("");
    if (isError === true) throw new Error(`${name}: ${text}`);
    return text;
  }

  /** How many tools there are. */
  async list(): Promise<number> {
    return ((await this.#ask("tools/list", {})) as { readonly tools: readonly unknown[] }).tools.length;
  }

  async end(): Promise<void> {
    const ended = new Promise((done) => this.#child.on("close", done));
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill(), 5000);
    await ended;
    clearTimeout(late);
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((done, fail) => {
      this.#waiting.set(id, ({ result, error }) =>
        error === undefined ? done(result) : fail(new Error(`${method}: ${JSON.stringify(error)}`)),
      );
      this.#send({ id, method, params });
    });
  }
}
