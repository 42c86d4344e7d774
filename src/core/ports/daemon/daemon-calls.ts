// The messages of the `call` socket: what agents' sessions may say. None of them names another agent: a session is bound
// to one when it is opened, and everything after that names the session alone.
import type { DenialCode } from "../../authority/decision.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { ChangesReport } from "../drafts.ts";
import type { Enforcement } from "../enforcement.ts";
import type { Ending, RunDenial, Usage } from "../process.ts";

export interface SessionOpening {
  /** Where the opener stands: the workspace is found from here, and relative paths are read here. */
  readonly cwd: string;
  /** An id in the workspace, or a file. */
  readonly agent: string;
  /** On whose behalf. */
  readonly user: string | null;
  readonly trace: string | null;
  /** "exec", "call", "mcp", "library": for showing. */
  readonly face: string;
  /** Compact specs; the session holds at most these from the beginning. Null: no pledge yet. */
  readonly pledge: readonly string[] | null;
  /** A token another agent handed over; its authority is added to the agent's own for this session. */
  readonly token: string | null;
  /** Variables of the opener that the user's configuration lets through, and what shells say of themselves. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the opener's parent counts as part of the session: an agent's client that started us. */
  readonly isForParent: boolean;
  /** How far up that is: 1 is the parent, and what counts where it is left out. */
  readonly level?: number;
  /**
   * Instead of an agent's record: Caveats as JSON text, which are all this session holds. Then `agent` is `anonymous`. A process
   * that an agent's session brought forth cannot open one.
   */
  readonly caveats?: string | null;
}

export interface SessionOpened {
  readonly session: string;
  readonly agent: string;
  readonly workspace: string | null;
  readonly trace: string;
  /** Diagnostics and warnings about the agent's text, as sentences. */
  readonly notes: readonly string[];
}

export interface CallAsked {
  readonly session: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** For a tool that only the asker knows: what this call of it asks for, in the notation of `ambit can`. Null for ours. */
  readonly requests: readonly string[] | null;
  /** For a tool that only the asker knows: what it declares to touch. What its context can do is within that, and within what is held. */
  readonly declaration?: JsonObject;
  /** Wait for a person where one has to be asked: milliseconds at most; 0 answers `approval_required` at once. */
  readonly waitMilliseconds: number;
}

/** What a caller is told of a denial; the same at every face. Nothing about other rules. */
export interface DenialTold {
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

/** For a tool that runs in the asking process: what it may do now. The local gate mints its warrant on the receipt. */
export interface CallPermitted {
  readonly outcome: "allowed";
  readonly receipt: string;
  readonly left: readonly { readonly account: string; readonly left: number }[];
}

/** A tool as a model is shown it. */
export interface ToolShown {
  readonly name: string;
  readonly origin: "builtin" | "tool";
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: JsonObject;
}

/** What a request to a model's provider may name of its own tools. */
export interface ProviderToolsTold {
  readonly tools: readonly {
    readonly name: string;
    /** As the provider's own interface takes it. */
    readonly request: JsonObject;
    readonly domains: readonly string[] | null;
  }[];
  readonly omitted: readonly { readonly name: string; readonly why: string }[];
  readonly notes: readonly string[];
}

/** A tool the owner carries out itself: memory, observations, agents, programs in their sandboxes. */
export interface CallDone {
  readonly outcome: "done";
  readonly receipt: string;
  readonly result: Json;
}

export interface ProgramDone {
  readonly outcome: "ran";
  readonly receipt: string;
  readonly request: string;
  readonly ending: Ending;
  readonly usage: Usage;
  /** Each with its entry in the log. */
  readonly denials: readonly (RunDenial & { readonly need?: string | null; readonly hint?: string })[];
  readonly enforcement: readonly Enforcement[];
  readonly outputDropped: number;
  readonly changes: ChangesReport | null;
}

/** Nothing was run although it was allowed: no sandbox, no such folder. */
export interface ProgramRefused {
  readonly outcome: "refused";
  readonly code: DenialCode;
  readonly message: string;
  readonly fix: string | null;
  readonly request: string | null;
  /** As in every denial. */
  readonly id?: string;
  readonly need?: string | null;
  readonly hint?: string;
}

export type CallMessages = {
  readonly "session.open": { readonly asks: SessionOpening; readonly answers: SessionOpened };
  readonly "session.close": { readonly asks: { readonly session: string }; readonly answers: object };
  /** Narrows the session, for good. */
  readonly "session.pledge": {
    readonly asks: { readonly session: string; readonly specs: readonly string[] };
    readonly answers: object;
  };
  /** It has read something untrusted. Cannot be taken back. */
  readonly "session.taint": {
    readonly asks: { readonly session: string; readonly why: string };
    readonly answers: object;
  };
  /** Decide, charge, write; nothing is run here. */
  readonly "call.commit": { readonly asks: CallAsked; readonly answers: CallPermitted | DenialTold };
  /**
   * What became of a call that was permitted. The answer says that it was heard: it is written soon after, with whatever comes
   * next. A machine that fails in between leaves a decision without an outcome, which shows as unknown.
   */
  readonly "call.settle": {
    readonly asks: {
      readonly session: string;
      readonly receipt: string;
      readonly ended: string;
      readonly milliseconds: number;
      readonly isUntrusted: boolean;
    };
    readonly answers: object;
  };
  /** Decide, charge, write, do, settle: for tools of the owner. */
  readonly "call.do": { readonly asks: CallAsked; readonly answers: CallDone | DenialTold };
  /** The same for programs; output comes as bytes on channels 1 and 2, input goes along. */
  readonly "call.run": {
    readonly asks: CallAsked & {
      /** Shorter than the configured limit, never longer. */
      readonly milliseconds: number | null;
      /** Whether bytes go along for it to read. */
      readonly hasInput: boolean;
      /** What it writes waits for a person. */
      readonly needsReview?: boolean;
    };
    readonly answers: ProgramDone | ProgramRefused | DenialTold;
  };
  /** One use of an instrument by a tool that runs in the asking process, while its call lasts. */
  readonly "context.use": {
    readonly asks: {
      readonly session: string;
      readonly receipt: string;
      readonly use: JsonObject;
      /** The use is too long for a message: its JSON goes along as bytes. */
      readonly hasInput?: boolean;
    };
    /** `bytes`: the answer is too long for a message; so many bytes of JSON came on channel 3. */
    readonly answers: { readonly answer: Json; readonly bytes?: number };
  };
  /** What this session's grants can ever allow, sorted by name. */
  readonly "tools.list": {
    readonly asks: { readonly session: string };
    readonly answers: { readonly tools: readonly ToolShown[] };
  };
  /** Of tools that only the asker has: those that this session's grants can ever allow. */
  readonly "tools.reach": {
    readonly asks: {
      readonly session: string;
      readonly tools: readonly { readonly name: string; readonly declaration: JsonObject }[];
    };
    readonly answers: { readonly names: readonly string[] };
  };
  /** Tools that run at the model's provider, as a request may name them for this session. */
  readonly "tools.provider": {
    readonly asks: {
      readonly session: string;
      readonly provider: string;
      readonly names: readonly string[] | null;
      readonly vectorStores: readonly string[] | null;
    };
    readonly answers: ProviderToolsTold;
  };
  /** What would be decided; nothing is written or charged. */
  readonly "call.consider": {
    readonly asks: Omit<CallAsked, "waitMilliseconds">;
    readonly answers: { readonly outcome: "allow" | "ask" | "deny"; readonly code: DenialCode | null };
  };
};
