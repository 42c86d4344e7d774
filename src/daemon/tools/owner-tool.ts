// A tool that the daemon executes: how a model sees it, what a call of it requests, and what it does once that is allowed.
import type { Risk } from "../../core/authority/catalog.ts";
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Result } from "../../core/base/result.ts";
import type { Derived } from "../../core/gate/known-tool.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import { type Reading, workingGround } from "../../core/notation/reading.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import { isSameRequest } from "../../runtime/context/use-gate.ts";
import type { Needs } from "../../runtime/tool/availability.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import type { Requirement } from "../../runtime/tool/requirement.ts";
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import type { CallContext, ContextOptions } from "../contexts/contexts.ts";
import type { ProgramContext } from "../parts.ts";
import type { Session } from "../session.ts";

export type ExecutionResult =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly isUntrusted: boolean;
      /** Denials and enforcement of a program, if one ran. */
      readonly met?: Omit<Outcome, "receipt">;
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly fix?: string | null;
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
  /** Stops when the client has cancelled or disconnected. */
  readonly stop: CancelSignal;
  /** What a program that runs for this call needs. */
  readonly ground: ProgramContext;
}

export interface Missing {
  readonly message: string;
  readonly fix: string | null;
}

export interface OwnerTool {
  readonly name: string;
  /** For the model that calls it. */
  readonly description: string;
  /** INVARIANT: every input is checked against it before anything else is read from it. */
  readonly input: JsonSchema;
  /** Verbs that every call of it needs: a session without one of them does not see the tool. */
  readonly verbs: readonly string[];
  /** At least one of these, if the arguments decide which. */
  readonly anyVerb?: readonly string[];
  /** Whether it could be executed at all; the default is yes. */
  isThere?(session: Session): boolean;
  /** What is missing right now; a call is then refused before anything is charged. */
  missing?(session: Session): Missing | null;
  /** The declaration of a third-party tool; null for built-in ones, which request everything they do. */
  readonly foreign?: { readonly requirement: CompiledLink; readonly declared: Requirement };
  /** The requests that the tool derives for a call, in its host. They can only add. */
  derive?(
    input: JsonObject,
    session: Session,
    reading: Reading,
    stop?: CancelSignal,
  ): Promise<Result<readonly Request[]>>;
  requests(input: JsonObject, reading: Reading, session: Session): Derived;
  /** Only after the decision is on disk. */
  execute(call: ToolExecution): Promise<ExecutionResult>;
  /** The gate denied a call of it, and the denial is logged. */
  denied?(input: JsonObject, session: Session): void;
}

/** A built-in tool: one context of the call, without a declaration. */
export function builtinTool(tool: BuiltinTool): OwnerTool {
  const requests: OwnerTool["requests"] = (input, reading, { facts: { name } }) => {
    const { toAscii } = reading;
    return tool.requests(input, { ground: workingGround(reading), toAscii, tool: tool.name, agent: name.agent });
  };
  return {
    ...tool,
    requests,
    execute: async (call) => {
      const { warrant, session } = call;
      const opened = call.context({ requirement: null, store: null, isForeign: false });
      const { context, reading } = opened;
      if (context === null || reading === null)
        return { ok: false, code: "revoked", message: "the session has no grants any more" };
      const before = performance.now();
      try {
        // INVARIANT: what is executed is what was decided; a working folder may have moved since.
        const again = reading === call.reading ? null : requests(warrant.arguments, reading, session);
        if (again !== null && !isDecided(again, warrant)) return MOVED;
        const result = await tool.execute(warrant.arguments, context);
        const wallMicroseconds = Math.round((performance.now() - before) * 1000);
        const met = { ended: "done", denials: opened.denials(), enforcement: opened.enforcement(), wallMicroseconds };
        if (result.ok) return { ok: true, value: result.value, isUntrusted: false, met };
        return { ok: false, code: result.code, message: result.message, met };
      } finally {
        opened.end();
      }
    },
  };
}

function isDecided(requests: Derived, warrant: Warrant): boolean {
  return requests.ok && requests.value.every((one) => warrant.requests.some((other) => isSameRequest(one, other)));
}

const MOVED: ExecutionResult = {
  ok: false,
  code: "not_available",
  message: "the working folder changed during the call; call again",
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
  /** For this session, as they are on disk now; without those that cannot be loaded. */
  of(session: Session): Promise<readonly OwnerTool[]>;
  /** For a person: all of a workspace, and why some are not loaded. */
  listed?(workspace: string | null): Promise<{
    readonly tools: readonly ForeignToolView[];
    readonly refused: readonly { readonly source: string; readonly why: string }[];
  }>;
}
