// A scripted model behind the API a real client talks to: it continues only when it is sent what the script expects, and
// otherwise reports what it was sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A call, and its expected result. */
export interface Step {
  readonly tool: string;
  readonly input: object;
  readonly isError: boolean;
  /** Must be somewhere in the result. */
  readonly text: string;
}

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
}

interface Block {
  readonly type: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly { readonly text?: string }[];
}

interface ModelRequest {
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

type Said = { readonly text: string } | { readonly tool: string; readonly input: object };

export class ScriptedModel {
  readonly #steps: readonly Step[];
  readonly #server: Server;
  #taken = 0;
  #messages = 0;
  /** The names of the tools in the last request that had some. */
  tools: readonly string[] = [];
  readonly results: ToolResult[] = [];
  /** Every other request, by method and path. */
  readonly others: string[] = [];

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request.setEncoding("utf8")) text += part;
    const path = (request.url ?? "").split("?")[0];
    if (request.method !== "POST" || path !== "/v1/messages") {
      this.others.push(`${request.method} ${path}`);
      response.writeHead(request.method === "HEAD" ? 200 : 404).end();
      return;
    }
    stream(response, this.#next(JSON.parse(text) as ModelRequest), ++this.#messages);
  }

  #next(asked: ModelRequest): Said {
    // A client also requests titles and the like; then it offers no tools.
    if (asked.tools === undefined || asked.tools.length === 0) return { text: "nothing" };
    this.tools = asked.tools.map(({ name }) => name);
    const before = this.#steps[this.#taken - 1];
    if (before !== undefined) {
      const result = lastResult(asked);
      this.results.push(result);
      const isAsWaitedFor = result.isError === before.isError && result.text.includes(before.text);
      if (!isAsWaitedFor) return { text: `unexpected: ${JSON.stringify(result)}` };
    }
    const step = this.#steps[this.#taken++];
    return step ?? { text: "the script is over" };
  }
}

function lastResult({ messages }: ModelRequest): ToolResult {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const found = blocks.findLast(({ type }) => type === "tool_result");
  const content = found?.content ?? "";
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
  return { isError: found?.is_error ?? false, text };
}

/** One message, as its stream of events. */
function stream(response: ServerResponse, said: Said, id: number): void {
  const send = (type: string, more: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  };
  const isCall = "tool" in said;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const empty = { id: `msg_${id}`, type: "message", role: "assistant", model: "scripted", content: [] };
  send("message_start", { message: { ...empty, stop_reason: null, stop_sequence: null, usage } });
  const block = isCall
    ? { type: "tool_use", id: `toolu_${id}`, name: said.tool, input: {} }
    : { type: "text", text: "" };
  send("content_block_start", { index: 0, content_block: block });
  const delta = isCall
    ? { type: "input_json_delta", partial_json: JSON.stringify(said.input) }
    : { type: "text_delta", text: said.text };
  send("content_block_delta", { index: 0, delta });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null }, usage });
  send("message_stop", {});
  response.end();
}
