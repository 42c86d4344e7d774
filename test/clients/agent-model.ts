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
import {
  type ModelAnswer,
  type ModelProvider,
  type OfferedTool,
  PROVIDERS,
  type ProviderDialect,
  shellCall,
  shellOf,
} from "../../src/clients/trial/model-providers.ts";
import type { JsonObject } from "../../src/core/base/json.ts";

/** `shell`: a command line. `mcp`: a tool of the server `ambit`. `agent`: a sub-agent of this kind, which runs this command line. */
export type AgentStep = (
  | { readonly shell: string }
  | { readonly mcp: string; readonly input: JsonObject }
  | { readonly agent: string; readonly kind?: string }
) & {
  /** Must be somewhere in the result. */
  readonly text: string;
};

export const DONE = "the script is over";
/** What the person asks the client. */
export const PROMPT = "follow the script to its end";
const SUB_AGENT = "this is the work of the sub-agent";

export class AgentModel {
  readonly #dialect: ProviderDialect;
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
  /** Names of all tools that the client offered. */
  readonly offered: Set<string> = new Set();

  readonly #last: string;

  /** `last`: what the assistant says at the end. */
  constructor(provider: ModelProvider, steps: readonly AgentStep[], last: string = DONE) {
    this.#last = last;
    this.#dialect = PROVIDERS[provider];
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
    const body = JSON.parse(text) as JsonObject;
    const answer = await this.#answer(body, text);
    response.writeHead(200, { "content-type": "text/event-stream" }).end(this.#dialect.stream(answer, ++this.#ids));
  }

  async #answer(body: JsonObject, text: string): Promise<ModelAnswer> {
    const tools = this.#dialect.tools(body);
    // A client also asks for titles and the like; then it offers no tools.
    for (const { name } of tools) this.offered.add(name);
    const shell = shellOf(tools);
    if (shell === null) return { text: "nothing" };
    if (text.includes(SUB_AGENT) && !text.includes(PROMPT)) return this.#subAnswer(body, shell);
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
    return step === undefined ? { text: this.#last } : this.#call(step, shell, tools);
  }

  #subAnswer(body: JsonObject, shell: OfferedTool): ModelAnswer {
    const result = this.#dialect.result(body);
    if (result !== null) this.subResults.push(result);
    const step = this.#steps.find((one): one is Extract<AgentStep, { agent: string }> => "agent" in one);
    const isOver = this.#subStep++ > 0;
    return step === undefined || isOver ? { text: "the sub-agent is done" } : shellCall(shell, step.agent);
  }

  #call(step: AgentStep, shell: OfferedTool, tools: readonly OfferedTool[]): ModelAnswer {
    if ("shell" in step) return shellCall(shell, step.shell);
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
