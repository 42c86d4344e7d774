// A tool that is carried out behind the owner of the state: how a model sees it, what a call of it asks for, and what it does
// once that is allowed.
import type { Risk } from "../../core/authority/catalog.ts";
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Result } from "../../core/base/result.ts";
import type { Derived } from "../../core/gate/known-tool.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import type { Needs } from "../../runtime/tool/availability.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import type { Requirement } from "../../runtime/tool/requirement.ts";
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import type { ProgramGround } from "../parts.ts";
import type { Session } from "../session.ts";

export type Carried =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly isUntrusted: boolean;
      /** What a program met, and what held it; where one ran. */
      readonly met?: Omit<Outcome, "receipt">;
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly fix?: string | null;
      /** It was refused on the way, as the gate refuses: told as a denial. */
      readonly denied?: {
        readonly code: DenialCode;
        readonly request: Request | null;
        /** What it came to behind a link; for the log alone. */
        readonly target?: Request | null;
      };
      /** What was met before it failed. */
      readonly met?: Omit<Outcome, "receipt">;
    };

/** One call that was decided and written down. */
export interface Carrying {
  /** The arguments that were decided on. */
  readonly input: JsonObject;
  readonly session: Session;
  /** What it rests on: the first request is the tool itself, the tool's own follow. */
  readonly warrant: Warrant;
  /** Rings when somebody has stopped asking, or is gone. */
  readonly stop: CancelSignal;
  /** What a program needs that runs for this call. */
  readonly ground: ProgramGround;
}

export interface Missing {
  readonly message: string;
  readonly fix: string | null;
}

export interface OwnerTool {
  readonly name: string;
  /** For the model that calls it. */
  readonly description: string;
  /** INVARIANT: every input is held against it before anything else is read from it. */
  readonly input: JsonSchema;
  /** Verbs that every call of it needs: whoever lacks one of them is not shown the tool. */
  readonly verbs: readonly string[];
  /** One of these at least, where it is the arguments that say which. */
  readonly anyVerb?: readonly string[];
  /** Whether it could be carried out at all; it can where nothing is said. */
  isThere?(session: Session): boolean;
  /** What it lacks at this moment; a call of it is then refused before anything is charged. */
  missing?(session: Session): Missing | null;
  /** What a tool of others declared; null for ours, which ask for everything they do. */
  readonly foreign?: { readonly requirement: CompiledLink; readonly declared: Requirement };
  /** What the tool itself says a call will ask for, found where it runs. It can only add. */
  derive?(
    input: JsonObject,
    session: Session,
    reading: Reading,
    stop?: CancelSignal,
  ): Promise<Result<readonly Request[]>>;
  requests(input: JsonObject, reading: Reading, session: Session): Derived;
  /** Only after the decision is on disk. */
  carry(call: Carrying): Promise<Carried>;
  /** The gate refused a call of it, and that is written down. */
  denied?(input: JsonObject, session: Session): void;
}

/** A tool of others as a person is shown it. */
export interface ForeignListed {
  readonly name: string;
  /** The file or package it comes from. */
  readonly source: string;
  readonly risk: Risk;
  readonly capabilities: JsonObject;
  readonly needs: Needs;
  readonly declared: Requirement;
  /** Loaded although nobody trusted it as it stands: development. */
  readonly isUntrusted: boolean;
}

/** Tools of others: files and packages that are loaded outside of us. */
export interface ForeignTools {
  /** For this session, as they are on disk now; those that cannot be loaded are not among them. */
  of(session: Session): Promise<readonly OwnerTool[]>;
  /** For a person: all of a workspace, and why something is not among them. */
  listed?(workspace: string | null): Promise<{
    readonly tools: readonly ForeignListed[];
    readonly refused: readonly { readonly source: string; readonly why: string }[];
  }>;
}
