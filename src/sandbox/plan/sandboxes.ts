// The port for sandboxes: takes a plan and a command, returns the result.

import type { DenialCode } from "../../core/authority/decision.ts";
import type { CodedFailure } from "../../core/base/result.ts";
import type { DoorAnswer, DoorCall } from "../../core/ports/daemon/door.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { RunResult, SealedDraft, Sinks, TerminalRequest } from "../../core/ports/process.ts";
import type { Plan } from "./plan.ts";

/** One fetch or push of git that its host wants a credential for. */
export interface GitCall {
  readonly host: string;
  readonly repository: string;
  readonly service: "git-upload-pack" | "git-receive-pack";
}

/** Answers the git relay while a command runs. `message`: for the person at git. */
export type CredentialSource = (
  call: GitCall,
) => Promise<
  | { readonly credential: { readonly username: string; readonly password: string } }
  | { readonly credential: null; readonly code: DenialCode; readonly message: string }
>;

/** What a request can cost, before it is sent. */
export interface ModelEstimate {
  /** False for a request that generates nothing, such as counting tokens. */
  readonly isCharged: boolean;
  /** A token for each byte of text: no provider counts more. */
  readonly inputTokens: number;
  /** The most output, of all its answers together; null: the request names no maximum. */
  readonly outputTokens: number | null;
  /** With a lower maximum the request makes no sense. */
  readonly outputLeast: number;
  /** The request asks for a service that may cost more than the model's listed price. */
  readonly isPremium: boolean;
}

/** One request of a client to a model, as the relay describes it. */
export interface ModelCallFacts extends ModelEstimate {
  readonly provider: string;
  readonly model: string;
  /** SHA-256 of the body, before a maximum of output is set. */
  readonly digest: string;
  readonly bytes: number;
}

/** As a client in a sandbox made it. */
export interface ClientModelCall extends ModelCallFacts {
  /** The client sent a credential other than the placeholder. It is not passed on. */
  readonly hasForeignCredential: boolean;
}

/** Where the request goes, and the one header that carries the credential, in base64. */
export type ModelAnswer =
  | {
      readonly ok: true;
      readonly id: string;
      /** The maximum to set in the request, for all its answers together; null: as it is. */
      readonly outputTokens: number | null;
      readonly url: string;
      readonly header: string;
      readonly prefix: string;
      readonly value: string;
      /** The user keeps prompts: `used` gets it. */
      readonly keepsPrompt: boolean;
    }
  | CodedFailure<DenialCode>;

/** Tokens are null where the answer does not tell them. */
export interface ModelUsage {
  /** False: no byte of the request went to the provider. */
  readonly isSent: boolean;
  /** Of the provider's answer; 0 where there was none. */
  readonly status: number;
  readonly input: number | null;
  readonly output: number | null;
  /** Of the input: from a cache of the provider, and into one. */
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly milliseconds: number;
  /** The answer was read to its end and passed on. */
  readonly isWhole: boolean;
  /** The end of the conversation that was sent; null: the user does not keep prompts. */
  readonly prompt: string | null;
}

/** Of a kept prompt: its end. */
export const promptCharactersMax = 16_384;

export const NO_USAGE: ModelUsage = {
  isSent: false,
  status: 0,
  input: null,
  output: null,
  cacheRead: 0,
  cacheWrite: 0,
  milliseconds: 0,
  isWhole: false,
  prompt: null,
};

/** Answers the model relay while a command runs. */
export interface ModelSource {
  ask(call: ClientModelCall): Promise<ModelAnswer>;
  /** Once for each request that was answered with `ok`. */
  used(id: string, usage: ModelUsage): void;
}

/** Answers programs inside that ask the session they run in. */
export type DoorSource = (call: DoorCall) => Promise<DoorAnswer>;

export interface Command {
  readonly argv: readonly [string, ...string[]];
  /** Null: no input. Read as the program consumes it. */
  readonly input: AsyncIterable<Uint8Array> | null;
  /** Absent: the command has pipes. The plan must have terminals. */
  readonly terminal?: TerminalRequest | null;
  /** For this command only. Absent: git gets no credential. */
  readonly credential?: CredentialSource;
  /** For this command only. Absent: the relay refuses every request. */
  readonly model?: ModelSource;
  /** For this command only. Absent: its programs cannot ask. */
  readonly door?: DoorSource;
  /** Called with the draft of the command, before it runs. */
  onDraft?(draft: OpenDraft): void;
}

/** A draft whose command is about to run. */
export type OpenDraft = Pick<SealedDraft, "id" | "root" | "masked" | "rootIdentity">;

/** The owner of a warm sandbox. It is never shared: another owner, plan or generation gets another one. */
export interface SandboxOwner {
  readonly agent: string;
  readonly session: string;
  readonly generation: number;
}

export interface Sandboxes {
  /** Runs in a warm sandbox of this owner and plan, or in a new one. `judge` decides requests made while it runs. */
  run(
    owner: SandboxOwner,
    plan: Plan,
    command: Command,
    sinks: Sinks,
    judge: Judge,
    signal: AbortSignal | null,
  ): Promise<RunResult>;
  /** Ends every sandbox of this agent, or all of them; resolves when no process is left. */
  end(agent: string | null): Promise<void>;
}
