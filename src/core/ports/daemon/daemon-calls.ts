// Messages of the `call` socket, for agent sessions. No message names another agent: a session is bound to one agent
// when it opens, and every later message names only the session.
import type { DenialCode } from "../../authority/decision.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { ChangesReport } from "../drafts.ts";
import type { Enforcement } from "../enforcement.ts";
import type { Ending, RunDenial, TerminalSize, Usage } from "../process.ts";
import type { TaskRun } from "./task-messages.ts";

export interface OpenSessionRequest {
  /** Working folder of the client: the workspace is found from here, and relative paths are resolved here. */
  readonly cwd: string;
  /** An agent id in the workspace, or a path to a record. */
  readonly agent: string;
  /** The user this session acts for. */
  readonly user: string | null;
  readonly trace: string | null;
  /**
   * "exec", "call", "mcp", "http", "library" or "hook", as the client states it. It also decides which processes count as the
   * session's client (`control/person-evidence`).
   */
  readonly face: string;
  /** Compact specs that limit the session from the start. Null: no pledge yet. */
  readonly pledge: readonly string[] | null;
  /** A delegation token from another agent; its authority is added to the agent's own for this session. */
  readonly token: string | null;
  /** Environment variables of the client that the user's configuration passes through, and the shell's own variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the client's parent process belongs to the session: an agent's client that started this program. */
  readonly isForParent: boolean;
  /** How many levels up that process is: 1 is the parent, which is the default. */
  readonly level?: number;
  /**
   * Replaces the agent's record: Caveats as JSON text, which are everything this session holds. `agent` is then `anonymous`.
   * A process that descends from an agent's session cannot open such a session.
   */
  readonly caveats?: string | null;
  /** A client token: the session's agent, folder and user are the token's, and it ends with the token. */
  readonly bearer?: string;
  /** The session continues one whose user had a record: without that record it is refused. */
  readonly needsUserRecord?: boolean;
}

export interface OpenSessionResult {
  readonly session: string;
  readonly agent: string;
  readonly workspace: string | null;
  readonly trace: string;
  /** Whether a record of the session's user limits it. */
  readonly hasUserRecord: boolean;
  /** Diagnostics and warnings about the agent's record, as sentences. */
  readonly notes: readonly string[];
}

export interface CallRequest {
  readonly session: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** For a client tool: the requests of this call, in the notation of `ambit can`. Null for daemon tools. */
  readonly requests: readonly string[] | null;
  /** For a daemon tool: requests that the caller needs besides those of the tool. */
  readonly also?: readonly string[];
  /** For a client tool: its declaration. Its context is limited to the declaration and to what the session holds. */
  readonly declaration?: JsonObject;
  /** How many milliseconds to wait for an approval; 0 returns `approval_required` at once. */
  readonly waitMilliseconds: number;
  /** For `shell`: its output comes as bytes while it runs, on channels 1 and 2, and the result has none of it. */
  readonly isStreamed?: boolean;
  /** What the caller can do while a tool of an MCP server runs. `{progress}` and `{log}` are events. */
  readonly client?: CallClientView;
  /** Goes on with a call that needed input: the note that came with the questions, and the answers by their keys. */
  readonly resume?: { readonly state: string; readonly responses: JsonObject };
}

export interface CallClientView {
  /** What it can be asked for: `elicitation`, `sampling`. */
  readonly answers: readonly string[];
  readonly isProgressWanted: boolean;
  /** Log messages of servers from this level on; null for none. */
  readonly logLevel: string | null;
}

/** A denial as the caller sees it; the same at every face. It reveals nothing about other rules. */
export interface DenialView {
  readonly outcome: "denied";
  readonly id: string;
  readonly code: DenialCode;
  /** The request that was not covered, in the notation of `ambit can`. */
  readonly need: string | null;
  readonly hint: string;
  readonly approval: string | null;
  /** Why a person refused, or what is wrong with the arguments. */
  readonly reason: string | null;
}

/** For a tool that runs in the client process: the permission. The local gate mints its warrant from the receipt. */
export interface CallPermit {
  readonly outcome: "allowed";
  readonly receipt: string;
  readonly left: readonly { readonly account: string; readonly left: number }[];
}

/** A tool as shown to a model. */
export interface ToolView {
  readonly name: string;
  readonly origin: "builtin" | "tool";
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: JsonObject;
}

/** Which of the model provider's own tools a request to that provider may name. */
export interface ProviderToolsView {
  readonly tools: readonly {
    readonly name: string;
    /** In the format of the provider's API. */
    readonly request: JsonObject;
    readonly domains: readonly string[] | null;
  }[];
  readonly omitted: readonly { readonly name: string; readonly why: string }[];
  readonly notes: readonly string[];
}

/** A tool that the daemon executes: memory, observations, agents, sandboxed programs. */
export interface CallCompletion {
  readonly outcome: "done";
  readonly receipt: string;
  /** The result has the parts of a result of the Model Context Protocol. */
  readonly isServerResult?: true;
  /** The result has `inputRequests` and `requestState`: the caller answers them and calls again with `resume`. */
  readonly isInputRequired?: true;
  readonly result: Json;
  readonly enforcement: CallEnforcementView;
}

/** What enforced each axis of a call: `kernel`, `broker`, `checked` or `none`. */
export type CallEnforcementView = readonly { readonly axis: string; readonly strength: string }[];

export interface ProgramCompletion {
  readonly outcome: "ran";
  readonly receipt: string;
  readonly request: string;
  readonly ending: Ending;
  readonly usage: Usage;
  /** Each with its log entry. */
  readonly denials: readonly (RunDenial & { readonly need?: string | null; readonly hint?: string })[];
  readonly enforcement: readonly Enforcement[];
  readonly outputDropped: number;
  readonly changes: ChangesReport | null;
  /** What to change so that it may succeed. */
  readonly hint?: string;
}

/** Allowed, but not started: no sandbox, or no such folder. */
export interface ProgramRefusal {
  readonly outcome: "refused";
  readonly code: DenialCode;
  readonly message: string;
  readonly fix: string | null;
  readonly request: string | null;
  /** The same fields as in every denial. */
  readonly id?: string;
  readonly need?: string | null;
  readonly hint?: string;
}

/** What clients over HTTP are told about the authorization servers. */
export interface ResourceView {
  /** The address that tokens are for. */
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopes: readonly string[];
}

export type CallMessages = {
  readonly "session.open": { readonly asks: OpenSessionRequest; readonly answers: OpenSessionResult };
  /** Whether a client token holds now. */
  readonly "token.check": {
    readonly asks: { readonly bearer: string };
    readonly answers: { readonly id: string; readonly agent: string; readonly expires: number };
  };
  /** Whose access tokens are accepted besides ambit's own; null where the user named no authorization server. */
  readonly "token.metadata": { readonly asks: object; readonly answers: { readonly metadata: ResourceView | null } };
  readonly "session.close": { readonly asks: { readonly session: string }; readonly answers: object };
  /**
   * For a command that a client's hook put in the place of the client's own: calls through the hook's session from here on, until
   * the connection closes. Only for processes below the client that the session belongs to, and for the session's own agent.
   */
  readonly "session.join": {
    readonly asks: { readonly session: string; readonly agent: string };
    readonly answers: object;
  };
  /** Narrows the session permanently. */
  readonly "session.pledge": {
    readonly asks: { readonly session: string; readonly specs: readonly string[] };
    readonly answers: object;
  };
  /** Marks the session as having read untrusted data. Cannot be undone. */
  readonly "session.taint": {
    readonly asks: { readonly session: string; readonly why: string };
    readonly answers: object;
  };
  /** Decides, charges and records; executes nothing. */
  readonly "call.commit": { readonly asks: CallRequest; readonly answers: CallPermit | DenialView };
  /**
   * Reports the outcome of a permitted call. The answer acknowledges receipt; the entry is written soon after, with the next
   * commit. After a crash in between, the decision has no outcome and shows as unknown.
   */
  readonly "call.settle": {
    readonly asks: {
      readonly session: string;
      readonly receipt: string;
      readonly ended: string;
      readonly milliseconds: number;
      readonly isUntrusted: boolean;
    };
    readonly answers: Pick<CallCompletion, "enforcement">;
  };
  /** Decides, charges, records, executes and settles: for daemon tools. */
  readonly "call.do": { readonly asks: CallRequest; readonly answers: CallCompletion | DenialView };
  /** The same for programs; output comes as bytes on channels 1 and 2, input is sent along. */
  readonly "call.run": {
    readonly asks: CallRequest & {
      /** Shorter than the configured limit, never longer. */
      readonly milliseconds: number | null;
      /** Whether the client sends standard input. */
      readonly hasInput: boolean;
      /** The program's changes wait for a person's approval. */
      readonly needsReview?: boolean;
      /**
       * The program gets a terminal of this size; its output comes on channel 1, and `{halted: true}` is an event when it
       * stopped. One at a time in a session.
       */
      readonly terminal?: TerminalSize | null;
      /**
       * The id of a client's profile: it runs without a time limit, in a home of the agent's own, with the profile's variables.
       * `{notes: [...]}` is an event when it is about to start, with sentences for the person, if any.
       */
      readonly profile?: string | null;
      /** The task it is a run of: claimed by the same process, and settled by how the program ends. `{task}` is an event. */
      readonly task?: TaskRun;
      /** The client's home begins empty. */
      readonly isFresh?: boolean;
    };
    readonly answers: ProgramCompletion | ProgramRefusal | DenialView;
  };
  /** The client's terminal has another size. */
  readonly "terminal.resize": {
    readonly asks: { readonly session: string } & TerminalSize;
    readonly answers: object;
  };
  /** Continues the stopped program on the session's terminal. */
  readonly "terminal.resume": { readonly asks: { readonly session: string }; readonly answers: object };
  /** One use of an instrument by a tool in the client process, while its call lasts. */
  readonly "context.use": {
    readonly asks: {
      readonly session: string;
      readonly receipt: string;
      readonly use: JsonObject;
      /** The use is too long for one message: its JSON is sent as bytes. */
      readonly hasInput?: boolean;
    };
    /** `bytes`: the result is too long for one message; that many bytes of JSON came on channel 3. */
    readonly answers: { readonly answer: Json; readonly bytes?: number };
  };
  /** Tools that this session's grants can ever allow, sorted by name. */
  readonly "tools.list": {
    readonly asks: { readonly session: string };
    /** `changes`: another number where an MCP server of the session said that it has other resources or prompts. */
    readonly answers: { readonly tools: readonly ToolView[]; readonly changes?: number };
  };
  /** Those of the client's own tools that this session's grants can ever allow. */
  readonly "tools.reach": {
    readonly asks: {
      readonly session: string;
      readonly tools: readonly { readonly name: string; readonly declaration: JsonObject }[];
    };
    readonly answers: { readonly names: readonly string[] };
  };
  /** Tools that run at the model's provider, as a request for this session may name them. */
  readonly "tools.provider": {
    readonly asks: {
      readonly session: string;
      readonly provider: string;
      readonly names: readonly string[] | null;
      readonly vectorStores: readonly string[] | null;
    };
    readonly answers: ProviderToolsView;
  };
  /**
   * A client's hook: `text` is what the client wrote to it, `words` are those of `ambit hook`. Its output comes as bytes: channel
   * 1 standard output, 2 standard error, 3 one byte, the exit status. INVARIANT: without them the call is blocked.
   */
  readonly "hook.decide": {
    readonly asks: { readonly cwd: string; readonly words: readonly string[]; readonly text: string };
    readonly answers: object;
  };
  /** Previews a decision; records and charges nothing. */
  readonly "call.preview": {
    readonly asks: Omit<CallRequest, "waitMilliseconds">;
    readonly answers: { readonly outcome: "allow" | "ask" | "deny"; readonly code: DenialCode | null };
  };
};
