// The SDK's server for one daemon session: handlers for tools, for the agent's skills as prompts, and for resources and prompts of
// MCP servers. The same handlers serve both protocol
// eras: the older one negotiates a version by `initialize`, in the newer one every request names it.
import { CLIENT_INFO_META_KEY, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { isJsonList, isJsonObject, type JsonObject, member } from "../core/base/json.ts";
import type { ToolView } from "../core/ports/daemon/daemon-calls.ts";
import { CallProgress, clientOf, firstLogLevel, logTo, type ReceivedRequest } from "./call-client.ts";
import { type CallResult, refusedResult } from "./call-result.ts";
import { type ShapedResult, shapedResult, shapeFor } from "./client-shape.ts";
import type { RequestId } from "./json-rpc.ts";
import { listCheckMilliseconds, listMilliseconds } from "./limits.ts";
import { PROMPT_TOOL, type PromptOptions, promptTool } from "./prompt-tool.ts";
import type { ClientCallOptions, ReconnectingSession } from "./reconnecting-session.ts";
import type { CallProblem } from "./request-params.ts";
import { ServedResources } from "./served-resources.ts";
import { type ListedTool, toMcpTools } from "./tool-list.ts";

export interface ServerOptions {
  readonly identity: { readonly name: string; readonly version: string };
  readonly session: ReconnectingSession;
  /** What is wrong with a call that arrives without a name; over HTTP such a call does not arrive. */
  callProblem?(id: RequestId): CallProblem | null;
  /** Serves the tool for Claude Code's `--permission-prompt-tool`. */
  readonly prompt?: PromptOptions | null;
  /** Over HTTP in the newer era a server lives for one request: changes of the list are sent by its owner. */
  readonly isForOneRequest?: boolean;
}

const INSTRUCTIONS =
  "Every call is checked against your grants and logged. A denied call returns a result with `isError`: `code` says why, " +
  "`need` which access is missing, `hint` what to do next. The list of tools shows everything you can ever call.";

const PRIVATE = { ttlMs: listMilliseconds, cacheScope: "private" } as const;

/** The SDK creates one server for each era it tries on a connection. */
export class ServerFactory {
  readonly #options: ServerOptions;
  readonly #open = new Set<SessionServer>();
  #isFollowing = false;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  create(era: "legacy" | "modern"): Server {
    const one = new SessionServer(this.#options, era);
    this.#open.add(one);
    if (this.#isFollowing) one.follow();
    one.server.onclose = () => {
      one.stop();
      this.#open.delete(one);
    };
    return one.server;
  }

  /** A client of the newer era subscribes: from here on it is told where a list is another one than it is now. */
  async follow(): Promise<void> {
    await this.#options.session.list();
    this.#isFollowing = true;
    for (const one of this.#open) one.follow();
  }

  /** Tells the client's open subscriptions that name the resource. */
  resourceChanged(uri: string): void {
    for (const one of this.#open) void one.server.sendResourceUpdated({ uri }).catch(() => undefined);
  }

  stop(): void {
    for (const one of this.#open) one.stop();
  }
}

class SessionServer {
  readonly server: Server;
  readonly #options: ServerOptions;
  /** The list as the client last received it; null before. */
  #sentTools: readonly ListedTool[] | null = null;
  #sentList: string | null = null;
  /** What the session said of resources and prompts at the last look. */
  #sentChanges: string | null = null;
  #isReady: boolean;
  #isChecking = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #resources: ServedResources;
  /** Of the older era, where the client sets it once. */
  #logLevel: string | null;

  constructor(options: ServerOptions, era: "legacy" | "modern") {
    this.#options = options;
    // In the older era the server sends no notification before the client's `initialized`.
    this.#isReady = era === "modern";
    this.#logLevel = era === "modern" ? null : firstLogLevel;
    this.server = new Server(options.identity, {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      instructions: INSTRUCTIONS,
      cacheHints: {
        ...{ "tools/list": PRIVATE, "prompts/list": PRIVATE, "server/discover": PRIVATE },
        ...{ "resources/list": PRIVATE, "resources/templates/list": PRIVATE, "resources/read": PRIVATE },
      },
    });
    this.server.oninitialized = () => {
      this.#isReady = true;
    };
    this.server.setRequestHandler(
      "prompts/list",
      (_, { mcpReq }) => this.#followed(() => this.#prompts(mcpReq.signal)) as never,
    );
    this.server.setRequestHandler(
      "prompts/get",
      ({ params }, { mcpReq }) =>
        this.#during(mcpReq, (during) =>
          this.#prompt(params.name, params.arguments ?? {}, mcpReq.signal, during),
        ) as never,
    );
    const resources = new ServedResources(options.session);
    this.#resources = resources;
    this.server.setRequestHandler(
      "resources/list",
      (_, { mcpReq }) => this.#followed(() => resources.list(mcpReq.signal)) as never,
    );
    this.server.setRequestHandler(
      "resources/templates/list",
      (_, { mcpReq }) => this.#followed(() => resources.templates(mcpReq.signal)) as never,
    );
    this.server.setRequestHandler(
      "resources/read",
      ({ params }, { mcpReq }) =>
        this.#during(mcpReq, (during) => resources.read(params.uri, mcpReq.signal, during)) as never,
    );
    this.server.setRequestHandler(
      "completion/complete",
      ({ params }, { mcpReq }) => resources.complete(params as unknown as JsonObject, mcpReq.signal) as never,
    );
    if (era === "legacy") {
      this.server.setRequestHandler("resources/subscribe", async ({ params }) => {
        await resources.watch(
          params.uri,
          (uri) => void this.server.sendResourceUpdated({ uri }).catch(() => undefined),
        );
        return {};
      });
      this.server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
        resources.unwatch(params.uri);
        return {};
      });
    }
    this.server.setRequestHandler("logging/setLevel", ({ params }) => {
      this.#logLevel = params.level;
      return {};
    });
    this.server.setRequestHandler("tools/list", (request) => this.#list(request.params?.cursor) as never);
    this.server.setRequestHandler(
      "tools/call",
      { params: AS_RECEIVED },
      (params, { mcpReq }) => this.#call(mcpReq, params as ReceivedCall) as never,
    );
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#resources.close();
  }

  /** The agent's skills as prompts, by the same calls that a model makes: decided, charged and logged. */
  async #prompts(signal: AbortSignal): Promise<{ readonly prompts: readonly object[] }> {
    const ofServers = await this.#resources.prompts(signal);
    const { structuredContent, isError } = await this.#options.session.call("skills_list", {}, signal);
    const skills = member(structuredContent, "skills");
    if (isError || !isJsonList(skills)) return { prompts: ofServers };
    const ofSkills = skills.filter(isJsonObject).map((skill) => ({
      name: String(member(skill, "name")),
      description: String(member(skill, "description")),
    }));
    return { prompts: [...ofSkills, ...ofServers] };
  }

  async #prompt(
    name: string,
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
    during: ClientCallOptions,
  ): Promise<object> {
    const served = await this.#resources.prompt(name, given, signal, during);
    if (served !== null) return served;
    const { structuredContent, isError } = await this.#options.session.call("skills_read", { name }, signal);
    if (isError) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "there is no prompt of this name");
    const { description, text } = structuredContent;
    const content = { type: "text", text: String(text) };
    return { description: String(description), messages: [{ role: "user", content }] };
  }

  /** What the client can do, and hears, while a call runs for its request. */
  async #during<T>(request: ReceivedRequest, act: (during: ClientCallOptions) => Promise<T>): Promise<T> {
    const progress = new CallProgress(request);
    try {
      return await act({
        ...clientOf(request, this.server.getClientCapabilities() ?? {}, this.#logLevel),
        onWaiting: (approval) => progress.waits(approval),
        onTold: (kind, told) => (kind === "progress" ? progress.relay(told) : logTo(request, told)),
      });
    } finally {
      progress.end();
    }
  }

  async #call(request: ReceivedRequest, { name: tool, arguments: input = {} }: ReceivedCall): Promise<ShapedResult> {
    const { prompt = null, session } = this.#options;
    return this.#during(request, async (during) => {
      if (tool === PROMPT_TOOL && prompt !== null) {
        const answer = await session.prompt(input, prompt, request.signal);
        return { content: [{ type: "text", text: JSON.stringify(answer) }] } as unknown as ShapedResult;
      }
      const result = await this.#result(request, tool, input, during);
      if (result.input !== undefined)
        return { resultType: "input_required", ...result.input } as unknown as ShapedResult;
      return shapedResult(result, shapeFor(this.#client(request)), { tool, input });
    });
  }

  /** The name a client gives itself: when it connects, or, in the newer era, with every request. */
  #client({ envelope }: ReceivedRequest): string | null {
    const info = (envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_INFO_META_KEY];
    const { name } = (info ?? this.server.getClientVersion() ?? {}) as { readonly name?: unknown };
    return typeof name === "string" ? name : null;
  }

  async #result(
    request: ReceivedRequest,
    tool: string,
    input: JsonObject,
    during: ClientCallOptions,
  ): Promise<CallResult> {
    const { id, signal } = request;
    if (tool === "") {
      const problem = this.#options.callProblem?.(id) ?? { tool: "the call", message: "the call is malformed" };
      return refusedResult(problem.tool, { code: "invalid_input", message: problem.message, fix: null });
    }
    try {
      return await this.#options.session.call(tool, input, signal, during);
    } catch {
      // A result that cannot be serialized, or a bug: the model learns only that the call failed.
      return refusedResult(tool, { code: "not_available", message: "the call could not be completed", fix: null });
    }
  }

  async #list(cursor: string | undefined): Promise<{ readonly tools: readonly ListedTool[] }> {
    // The list is one page, so the server never issued a cursor.
    if (cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown cursor");
    const listed = await this.#options.session.list();
    if (!listed.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, `${listed.code}: ${listed.message}`);
    const tools = this.#listed(listed.value);
    // Its text is for comparisons, and the client does not wait for it.
    [this.#sentTools, this.#sentList] = [tools, null];
    this.follow();
    return { tools };
  }

  /** Starts to notify the client when a list differs from the last one that it got. */
  follow(): void {
    if (this.#timer !== undefined || this.#options.isForOneRequest === true) return;
    this.#sentChanges ??= this.#options.session.changes;
    this.#timer = setInterval(() => void this.#checkList(), listCheckMilliseconds);
    this.#timer.unref();
  }

  /** Lists of resources and prompts may be all that a client asks for. */
  async #followed<T>(list: () => Promise<T>): Promise<T> {
    if (this.#timer === undefined && this.#options.isForOneRequest !== true) {
      await this.#options.session.list();
      this.follow();
    }
    return list();
  }

  #listed(tools: readonly ToolView[]): readonly ListedTool[] {
    return [...toMcpTools(tools), ...((this.#options.prompt ?? null) === null ? [] : [promptTool])];
  }

  async #checkList(): Promise<void> {
    if (this.#isChecking || !this.#isReady) return;
    this.#isChecking = true;
    try {
      const found = await this.#options.session.currentList();
      const { changes } = this.#options.session;
      const isChanged = found !== null && this.#sentChanges !== null && changes !== this.#sentChanges;
      if (found !== null) this.#sentChanges = changes;
      if (isChanged) {
        await this.server.sendResourceListChanged();
        await this.server.sendPromptListChanged();
      }
      if (this.#sentTools === null) return;
      this.#sentList ??= JSON.stringify(this.#sentTools);
      const list = found === null ? this.#sentList : JSON.stringify(this.#listed(found));
      if (list === this.#sentList) return;
      this.#sentList = list;
      await this.server.sendToolListChanged();
    } catch {
      // The client has disconnected; closing the server stops the timer.
    } finally {
      this.#isChecking = false;
    }
  }
}

interface ReceivedCall {
  readonly name: string;
  readonly arguments?: JsonObject;
}

/**
 * Hands over the parameters unchanged. The SDK has checked them against the protocol's schema before, but what that schema
 * returns lacks keys such as `__proto__`, which would then run unchecked.
 */
const AS_RECEIVED = {
  "~standard": { version: 1, vendor: "ambit", "validate": (value: unknown) => ({ value }) },
} as const;
