// Sandboxed programs: the command, its result, and the requests that were denied while it ran.
import type { DenialCode } from "../authority/decision.ts";
import type { ChangesReport } from "./drafts.ts";
import type { Enforcement } from "./enforcement.ts";

export interface Usage {
  readonly wallMicroseconds: number;
  readonly userMicroseconds: number;
  readonly systemMicroseconds: number;
  /** Peak memory of any process in the tree. */
  readonly memoryKibibytes: number;
}

/** How a command ended. In every case, none of its processes is still running. */
export type Ending =
  | { readonly kind: "exited"; readonly status: number }
  | { readonly kind: "signalled"; readonly signal: number }
  /** ambit killed it: timeout, output limit, or cancellation. */
  | { readonly kind: "ended"; readonly because: "time" | "output" | "stopped" }
  /** ambit killed it: what it wrote in its root reached a limit, or a person ended it; `reason` names the limit or command. */
  | { readonly kind: "ended"; readonly because: "draft" | "person"; readonly reason: string }
  /** Nothing to run: no such program on the fixed PATH (`isMissing`), or it is not executable. */
  | { readonly kind: "unstarted"; readonly reason: string; readonly isMissing?: true };

/** A request that was denied while the program ran. */
export interface RunDenial {
  readonly code: DenialCode;
  /** In the notation of `ambit can`: "net.connect evil.example:443". */
  readonly request: string;
  readonly times: number;
  /** Id of its log entry; absent until it is written. */
  readonly id?: string;
}

export interface CompletedRun {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly denials: readonly RunDenial[];
  readonly enforcement: readonly Enforcement[];
  /** Bytes dropped because the output limit was reached. */
  readonly outputDropped: number;
  /** Changes to its root, and which of them landed; null if the root was read-only or nothing changed. */
  readonly changes?: ChangesReport | null;
  /** What to change so that it may succeed; absent where nothing is known. */
  readonly hint?: string;
  /** Changes to its root; null if it changed nothing, or has no draft. */
  readonly draft: SealedDraft | null;
}

/** The changes of one command: a draft folder, with the root it was made over. */
export interface SealedDraft {
  readonly id: string;
  /** Absolute path segments, without symlinks. */
  readonly root: readonly string[];
  /**
   * Absolute paths below the root that were hidden from the command. INVARIANT: nothing at or below them lands or is
   * deleted, even if the draft replaces or deletes a parent folder.
   */
  readonly masked: readonly (readonly string[])[];
  readonly rootIdentity: { readonly device: bigint; readonly inode: bigint };
  /**
   * Milliseconds since 1970, by the file system's clock. A file of the root whose ctime is not later is unchanged since the
   * command started.
   */
  readonly startNanoseconds: bigint;
  /** False: a process may still write to the draft. INVARIANT: such a draft never lands. */
  readonly isSealed: boolean;
}

/** Nothing was run. `fix` is one line a person can act on. */
export interface RunRefusal {
  readonly code: DenialCode;
  readonly message: string;
  readonly fix: string | null;
}

export interface RunFailure {
  readonly ok: false;
  readonly refused: RunRefusal;
}

export type RunResult = { readonly ok: true; readonly ran: CompletedRun } | RunFailure;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The terminal of a command, as its owner uses it while the command runs. */
export interface TerminalControl {
  resize(size: TerminalSize): void;
  /** Continues a command that stopped. */
  resume(): void;
}

/** A command on a terminal of its own: its output comes through one sink, its input is what is typed. */
export interface TerminalRequest {
  readonly size: TerminalSize;
  /** Called once, when the command is sent. */
  attach(control: TerminalControl): void;
  /** The command stopped: Ctrl-Z, or by itself. */
  onHalt(): void;
}

/** Receives output as it arrives. Returning a promise applies backpressure until it resolves. Never rejects. */
export interface Sinks {
  output(bytes: Uint8Array): void | Promise<void>;
  errors(bytes: Uint8Array): void | Promise<void>;
  /** Called once with the enforcement, before the first output, for callers that cannot wait for the end. */
  held?(by: readonly Enforcement[]): void;
}
