// A tool that the daemon executes: how a model sees it, what a call of it requests, and what it does once that is allowed.
import type { Risk } from "../../core/authority/catalog.ts";
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Result } from "../../core/base/result.ts";
import type { RequestsResult } from "../../core/gate/known-tool.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import { type Reading, workingPathSettings } from "../../core/notation/reading.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import type { CompletedRun, Sinks } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import type { Context } from "../../runtime/context/context.ts";
import { isSameRequest } from "../../runtime/context/use-gate.ts";
import { type UseDenial, useDenial } from "../../runtime/context/use-result.ts";
import type { Needs } from "../../runtime/tool/availability.ts";
import type { BuiltinTool, CallReading } from "../../runtime/tool/builtin.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import type { Requirement } from "../../runtime/tool/requirement.ts";
import type { CallClient, CallResume } from "../calls/call-client.ts";
import type { Reservation } from "../calls/reservation.ts";
import type { CallContext, ContextOptions } from "../contexts/contexts.ts";
import type { ProgramContext } from "../parts.ts";
import type { RequestCost } from "../programs/model-cost.ts";
import type { Session } from "../session.ts";

export type ExecutionResult =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly isUntrusted: boolean;
      /** The value is a result of the Model Context Protocol, with parts of its own. */
      readonly isServerResult?: true;
      /** The value says what the client has to be asked for first; it comes back with the answers. */
      readonly isInputRequired?: true;
      /** Denials and enforcement of a program, if one ran. */
      readonly met?: Omit<Outcome, "receipt">;
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly fix?: string | null;
      /** The message is a text of others. */
      readonly isUntrusted?: boolean;
      /** Refused during execution, as by the gate: reported as a denial. */
      readonly denied?: {
        readonly code: DenialCode;
        readonly request: Request | null;
        /** The target behind a symlink; only for the log. */
        readonly target?: Request | null;
      };
      /** Denials before the failure. */
      readonly met?: Omit<Outcome, "receipt">;
    };

/** One decided and logged call. */
export interface ToolExecution {
  /** Opens the context of the call, once; the caller ends it. */
  context(options: Pick<ContextOptions, "requirement" | "store" | "isForeign">): CallContext;
  /** The arguments that were decided on. */
  readonly input: JsonObject;
  readonly session: Session;
  /** What the arguments were read with when they were decided. */
  readonly reading: Reading;
  /** The decided requests: the first is the tool itself, the tool's own follow. */
  readonly warrant: Warrant;
  /** Aborts when the client has cancelled or disconnected. */
  readonly signal: AbortSignal;
  /** What the client can do during the call; null where it said nothing about it. */
  readonly client: CallClient | null;
  /** What a program that runs for this call needs. */
  readonly programContext: ProgramContext;
  /** Takes output as it is written; absent or null where the result has it. */
  readonly output?: Sinks | null;
  /** The cost that was reserved with the decision; null for a tool without `cost`. */
  readonly reservation: Reservation | null;
}

export interface Missing {
  /** `not_available` unless it says otherwise. */
  readonly code?: string;
  readonly message: string;
  readonly fix: string | null;
}

export interface DaemonTool {
  readonly name: string;
  /** For the model that calls it. */
  readonly description: string;
  /** INVARIANT: every input is checked against it before anything else is read from it. */
  readonly input: JsonSchema;
  /** The schema that a model reads, where `input` has only what can be checked here. */
  readonly shownInput?: JsonObject;
  /** A tool of an MCP server: a session that can never call it does not learn that it exists. */
  readonly isOfServer?: true;
  /** Verbs that every call of it needs: a session without one of them does not see the tool. */
  readonly verbs: readonly string[];
  /** At least one of these, if the arguments decide which. */
  readonly anyVerb?: readonly string[];
  /** Its requests follow from the user's configuration, which the caller does not learn. */
  readonly isConfigured?: true;
  /** Whether it could be executed at all; the default is yes. */
  isThere?(session: Session): boolean;
  /** What is missing right now; a call is then refused before anything is charged. */
  missing?(session: Session): Missing | null;
  /** The declaration of a third-party tool; absent for built-in ones, which request everything they do. */
  readonly foreign?: { readonly requirement: CompiledLink; readonly declared: Requirement };
  /** The requests that the tool derives for a call, in its host, or in the daemon for a built-in tool. They can only add. */
  derive?(
    input: JsonObject,
    session: Session,
    reading: Reading,
    signal?: AbortSignal,
  ): Promise<Result<readonly Request[]>>;
  requests(input: JsonObject, reading: Reading, session: Session): RequestsResult;
  /** The client comes back with answers to an earlier round of this call: what that needs besides. */
  resumed?(input: JsonObject, session: Session, resume: CallResume): Result<readonly Request[]>;
  /** What a call can cost in tokens and money, before it is decided; null for an input that is refused. */
  cost?(input: JsonObject): RequestCost | null;
  /** Only after the decision is on disk. */
  execute(call: ToolExecution): Promise<ExecutionResult>;
  /** The gate denied a call of it, and the denial is logged. */
  denied?(input: JsonObject, session: Session): void;
}

/** What powers are made with: before the decision of a call, or while it is executed. */
export interface PowersOptions {
  readonly session: Session;
  /** The decided call; null before the decision. */
  readonly call: ToolExecution | null;
  /** Aborts when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  /** Whether the call was decided on all of these; before the decision on none. */
  isDecided(requests: readonly Request[]): boolean;
  /** Logs a denial of the running call, and returns it. */
  refuse(request: Request | null, code: DenialCode, message: string): UseDenial;
  /** A program of the call ended. */
  ended(run: CompletedRun): void;
  /** The call has read untrusted data. */
  taint(): void;
}

/** A built-in tool: one context of the call, without a declaration. */
export function builtinTool(tool: BuiltinTool): DaemonTool {
  return builtinToolWith(tool, () => ({}));
}

/** A built-in tool that has powers besides the context. */
export function builtinToolWith<P extends object>(
  tool: BuiltinTool<P>,
  powers: (call: PowersOptions) => P,
): DaemonTool {
  const readingOf = (notation: Reading, { facts }: Session): CallReading => {
    const { toAscii } = notation;
    const { environment, name } = facts;
    return {
      pathSettings: workingPathSettings(notation),
      toAscii,
      tool: tool.name,
      agent: name.agent,
      environment,
      notation,
    };
  };
  const requests: DaemonTool["requests"] = (input, reading, session) =>
    tool.requests(input, readingOf(reading, session));
  const { derive, denied, isListed, ...shown } = tool;
  return {
    ...shown,
    isThere: (session) =>
      (tool.missing?.() ?? null) === null && (isListed?.(powers({ ...UNDECIDED, session, signal: NEVER })) ?? true),
    requests,
    ...(derive === undefined
      ? {}
      : {
          derive: (input, session, reading, signal) =>
            derive(input, readingOf(reading, session), powers({ ...UNDECIDED, session, signal: signal ?? NEVER })),
        }),
    denied: (input, session) => denied?.(input, powers({ ...UNDECIDED, session, signal: NEVER })),
    execute: async (call) => {
      const { warrant, session, signal } = call;
      const opened = call.context({ requirement: null, store: null, isForeign: false });
      const { context, reading } = opened;
      if (context === null || reading === null)
        return { ok: false, code: "revoked", message: "the session has no grants any more" };
      const before = performance.now();
      try {
        // INVARIANT: what is executed is what was decided; a working folder or a setting may have changed since.
        const isFixed = reading === call.reading && tool.isConfigured !== true;
        const again = isFixed ? null : requests(warrant.arguments, reading, session);
        if (again !== null && !(again.ok && isDecided(again.value, warrant))) return MOVED;
        const own = powers({
          ...{ session, call, signal, refuse: opened.refuse, ended: opened.ran },
          isDecided: (asked) => isDecided(asked, warrant),
          taint: () => void session.taint(`${tool.name} (${warrant.receipt})`),
        });
        const result = await tool.execute(warrant.arguments, Object.assign(Object.create(context) as Context, own));
        const wallMicroseconds = Math.round((performance.now() - before) * 1000);
        const ended = opened.ended() ?? "done";
        const met = { ended, denials: opened.denials(), enforcement: opened.enforcement(), wallMicroseconds };
        if ("isInputRequired" in result)
          return {
            ...{ ok: true, value: result.value, isUntrusted: false, isInputRequired: true },
            met: { ...met, ended: "input_required" },
          };
        if (result.ok) return { ok: true, value: result.value, isUntrusted: false, met };
        return { ok: false, code: result.code, message: result.message, fix: result.fix ?? null, met };
      } finally {
        opened.end();
      }
    },
  };
}

/** Never aborted. */
const NEVER: AbortSignal = new AbortController().signal;
/** Powers before the decision: for reading what the requests follow from. */
const UNDECIDED: Omit<PowersOptions, "session" | "signal"> = {
  call: null,
  isDecided: () => false,
  refuse: (request, code, message) => useDenial(code, request?.verb.verb ?? null, message),
  ended: () => undefined,
  taint: () => undefined,
};

/** By the text of each: some requests have values that no pattern can name. */
function isDecided(requests: readonly Request[], warrant: Warrant): boolean {
  return requests.every((one) =>
    warrant.requests.some(
      (other) =>
        isSameRequest(one, other) || (one.verb === other.verb && requestIdentity(one) === requestIdentity(other)),
    ),
  );
}

const MOVED: ExecutionResult = {
  ok: false,
  code: "not_available",
  message: "the working folder or a setting changed during the call; call again",
};

/** A third-party tool as shown to a person. */
export interface ForeignToolView {
  readonly name: string;
  /** The file or package it comes from. */
  readonly source: string;
  readonly risk: Risk;
  readonly capabilities: JsonObject;
  readonly needs: Needs;
  readonly declared: Requirement;
  readonly description: string;
  readonly input: JsonSchema;
  /** Loaded although its current content is not trusted: development. */
  readonly isUntrusted: boolean;
  /** Its own answer when it was loaded. */
  readonly isAvailable: boolean;
  /** Its current content is not trusted: shown, never called. */
  readonly isWaiting: boolean;
}

/** Third-party tools: files and packages that are loaded outside the daemon. */
export interface ForeignTools {
  /** For this session, as they are on disk now; without those that cannot be loaded. `wanted`: the one that is looked for. */
  of(session: Session, wanted?: string): Promise<readonly DaemonTool[]>;
  /** How often MCP servers of the session said that they have other resources or prompts. */
  listChanges?(session: Session): number;
  /** For a person: all of a workspace, and why some are not loaded. */
  listed?(workspace: string | null): Promise<{
    readonly tools: readonly ForeignToolView[];
    readonly refused: readonly { readonly source: string; readonly why: string }[];
  }>;
  /** For a person: the pinned tools of MCP servers, without starting any. */
  ofServers?(workspace: string | null, cwd: string): readonly ServerToolListing[];
}

export interface ServerToolListing {
  readonly tool: DaemonTool;
  readonly server: string;
  readonly risk: string;
  /** Why it cannot be called now; null where it can. */
  readonly why: string | null;
}
