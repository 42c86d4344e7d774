// A scripted model behind the interfaces of the three providers, for whole clients: it calls the client's own shell tool, a tool
// of an MCP server and a sub-agent, and continues when the result is what the script expects.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** `shell`: a command line. `mcp`: a tool of the server `ambit`. `agent`: a sub-agent of this kind, which runs this command line. */
export type AgentStep = (
  | { readonly shell: string }
  | { readonly mcp: string; readonly input: object }
  | { readonly agent: string; readonly kind?: string }
) & {
  /** Must be somewhere in the result. */
  readonly text: string;
};

export const DONE = "the script is over";
/** What the person asks the client. */
export const PROMPT = "follow the script to its end";
const SUB_AGENT = "this is the work of the sub-agent";

type Body = Readonly<Record<string, unknown>>;
interface Call {
  readonly name: string;
  readonly namespace?: string;
  readonly input: object;
}
type Answer = { readonly text: string } | Call;

interface Dialect {
  isConversation(path: string): boolean;
  /** Names of the offered tools; `namespace` where they are in one. */
  tools(body: Body): readonly { readonly name: string; readonly namespace?: string }[];
  /** Result of the last tool call; null where there is none. */
  result(body: Body): string | null;
  send(response: ServerResponse, answer: Answer, id: number): void;
}

export type Provider = "anthropic" | "openai" | "gemini";

export class AgentModel {
  readonly #dialect: Dialect;
  readonly #steps: readonly AgentStep[];
  readonly #server: Server;
  /** Called before the answer to each request of the script, with its number. */
  onStep: (step: number) => Promise<void> = async () => undefined;
  #step = 0;
  #subStep = 0;
  #ids = 0;
  readonly results: string[] = [];
  /** Results of the sub-agent's calls. */
  readonly subResults: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly problems: string[] = [];

  constructor(provider: Provider, steps: readonly AgentStep[]) {
    this.#dialect = DIALECTS[provider];
    this.#steps = steps;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.problems.push(String(error));
        response.destroy();
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((ready) => this.#server.listen(0, "127.0.0.1", ready));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request.setEncoding("utf8")) text += part;
    this.headers.push(request.headers);
    const path = (request.url ?? "").split("?")[0] ?? "";
    if (request.method !== "POST" || !this.#dialect.isConversation(path)) return void response.writeHead(404).end("{}");
    const body = JSON.parse(text) as Body;
    const answer = await this.#answer(body, text);
    this.#dialect.send(response, answer, ++this.#ids);
  }

  async #answer(body: Body, text: string): Promise<Answer> {
    const tools = this.#dialect.tools(body);
    // A client also asks for titles and the like; then it offers no tools.
    if (shellOf(tools) === null) return { text: "nothing" };
    if (text.includes(SUB_AGENT) && !text.includes(PROMPT)) return this.#subAnswer(body, tools);
    const before = this.#steps[this.#step - 1];
    if (before !== undefined) {
      const result = this.#dialect.result(body) ?? "";
      this.results.push(result);
      if (!result.includes(before.text)) {
        this.problems.push(`step ${this.#step}: ${result.slice(0, 2_000)}`);
        return { text: `unexpected: ${result.slice(0, 500)}` };
      }
    }
    const at = this.#step++;
    await this.onStep(at);
    const step = this.#steps[at];
    return step === undefined ? { text: DONE } : this.#call(step, tools);
  }

  #subAnswer(body: Body, tools: ReturnType<Dialect["tools"]>): Answer {
    const result = this.#dialect.result(body);
    if (result !== null) this.subResults.push(result);
    const step = this.#steps.find((one): one is Extract<AgentStep, { agent: string }> => "agent" in one);
    const isOver = this.#subStep++ > 0;
    return step === undefined || isOver ? { text: "the sub-agent is done" } : shellCall(tools, step.agent);
  }

  #call(step: AgentStep, tools: ReturnType<Dialect["tools"]>): Answer {
    if ("shell" in step) return shellCall(tools, step.shell);
    if ("mcp" in step) {
      const found = tools.find(
        ({ name, namespace }) => `${namespace ?? ""}${name}`.includes("ambit") && name.endsWith(step.mcp),
      );
      // Claude Code offers tools of servers by a search, and runs them by their names.
      const isDeferred = tools.some(({ name }) => name === "ToolSearch");
      if (found === undefined && !isDeferred)
        return { text: `unexpected: no tool ${step.mcp} in ${JSON.stringify(tools)}` };
      return { ...(found ?? { name: `mcp__ambit__${step.mcp}` }), input: step.input };
    }
    const agent = tools.find(({ name }) => /^(task|agent)$/i.test(name));
    if (agent === undefined) return { text: `unexpected: no sub-agents in ${JSON.stringify(tools)}` };
    const kind = step.kind ?? (agent.name === "task" ? "general" : "general-purpose");
    return {
      ...agent,
      input: { description: "sub-agent", prompt: SUB_AGENT, subagent_type: kind, run_in_background: false },
    };
  }
}

type Tools = ReturnType<Dialect["tools"]>;

const SHELLS = ["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command"];

function shellOf(tools: Tools): Tools[number] | null {
  return tools.find(({ name }) => SHELLS.includes(name)) ?? null;
}

function shellCall(tools: Tools, line: string): Call {
  const shell = shellOf(tools) ?? { name: "none" };
  switch (shell.name) {
    case "exec_command":
      return { ...shell, input: { cmd: line, yield_time_ms: 30_000 } };
    case "shell":
      return { ...shell, input: { command: ["bash", "-c", line] } };
    default:
      return { ...shell, input: { command: line, description: "a step of the script" } };
  }
}

function list(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as readonly Body[]) : [];
}

function events(response: ServerResponse, all: readonly object[], isNamed: boolean): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of all) {
    const type = (event as { readonly type?: string }).type;
    response.write(`${isNamed ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

const anthropic: Dialect = {
  isConversation: (path) => path === "/v1/messages",
  tools: (body) => list(body["tools"]).map(({ name }) => ({ name: String(name) })),
  result: (body) => {
    const blocks = list(body["messages"]).flatMap(({ content }) => list(content));
    const found = blocks.findLast(({ type }) => type === "tool_result");
    return found === undefined
      ? null
      : typeof found["content"] === "string"
        ? found["content"]
        : JSON.stringify(found["content"]);
  },
  send: (response, answer, id) => {
    const isCall = "name" in answer;
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      id: `msg_${id}`,
      type: "message",
      role: "assistant",
      model: "scripted",
      content: [],
      stop_reason: null,
    };
    const block = isCall
      ? { type: "tool_use", id: `toolu_${id}`, name: answer.name, input: {} }
      : { type: "text", text: "" };
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(answer.input) }
      : { type: "text_delta", text: answer.text };
    const all = [
      { type: "message_start", message: { ...message, stop_sequence: null, usage } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    events(response, all, true);
  },
};

const openai: Dialect = {
  isConversation: (path) => path === "/v1/responses",
  tools: (body) =>
    list(body["tools"]).flatMap((tool) =>
      tool["type"] === "namespace"
        ? list(tool["tools"]).map(({ name }) => ({ name: String(name), namespace: String(tool["name"]) }))
        : [{ name: String(tool["name"]) }],
    ),
  result: (body) => {
    const found = list(body["input"]).findLast(({ type }) => String(type).endsWith("_call_output"));
    return found === undefined
      ? null
      : typeof found["output"] === "string"
        ? found["output"]
        : JSON.stringify(found["output"]);
  },
  send: (response, answer, id) => {
    const item =
      "name" in answer
        ? {
            ...{ type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: answer.name },
            ...(answer.namespace === undefined ? {} : { namespace: answer.namespace }),
            arguments: JSON.stringify(answer.input),
          }
        : { type: "message", id: `m_${id}`, role: "assistant", content: [{ type: "output_text", text: answer.text }] };
    const usage = {
      input_tokens: 10,
      input_tokens_details: null,
      output_tokens: 5,
      output_tokens_details: null,
      total_tokens: 15,
    };
    const all = [
      { type: "response.created", response: { id: `resp_${id}` } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: `resp_${id}`, output: [item], usage } },
    ];
    events(response, all, true);
  },
};

const gemini: Dialect = {
  isConversation: (path) => /:(?:streamGenerateContent|generateContent)$/.test(path),
  tools: (body) =>
    list(body["tools"])
      .flatMap(({ functionDeclarations }) => list(functionDeclarations))
      .map(({ name }) => ({ name: String(name) })),
  result: (body) => {
    const parts = list(body["contents"]).flatMap((content) => list(content["parts"]));
    const found = parts.findLast(({ functionResponse }) => functionResponse !== undefined);
    return found === undefined ? null : JSON.stringify(found);
  },
  send: (response, answer) => {
    const part = "name" in answer ? { functionCall: { name: answer.name, args: answer.input } } : { text: answer.text };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
    events(response, [{ candidates: [candidate], usageMetadata, modelVersion: "scripted" }], false);
  },
};

const DIALECTS: Readonly<Record<Provider, Dialect>> = { anthropic, openai, gemini };
