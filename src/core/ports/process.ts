// Running a program behind walls: what is asked for, what comes back, and what was refused to it on the way.
import type { DenialCode } from "../authority/decision.ts";
import type { ChangesReport } from "./drafts.ts";
import type { Enforcement } from "./enforcement.ts";

export interface Usage {
  readonly wallMicroseconds: number;
  readonly userMicroseconds: number;
  readonly systemMicroseconds: number;
  /** The most memory any process of the tree held. */
  readonly memoryKibibytes: number;
}

/** How a command ended. Whatever it was, nothing of it is still running. */
export type Ending =
  | { readonly kind: "exited"; readonly status: number }
  | { readonly kind: "signalled"; readonly signal: number }
  /** We ended it: its time was over, it wrote more than it may, or somebody said stop. */
  | { readonly kind: "ended"; readonly because: "time" | "output" | "stopped" }
  /** There was nothing to run: no such program on the fixed PATH, or it may not be executed. */
  | { readonly kind: "unstarted"; readonly reason: string };

/** Something a program tried that was refused to it while it ran. */
export interface RunDenial {
  readonly code: DenialCode;
  /** The request in the notation of `ambit can`: "net.connect evil.example:443". */
  readonly request: string;
  readonly times: number;
  /** Names its entry in the log; left out until there is one. */
  readonly id?: string;
}

export interface Ran {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly denials: readonly RunDenial[];
  readonly enforcement: readonly Enforcement[];
  /** Bytes that were not passed on because the bound was reached. */
  readonly outputDropped: number;
  /** What it changed in its root, and what of that reached the project; null where the root was read-only or nothing changed. */
  readonly changes?: ChangesReport | null;
  /** What it changed in its root; null where it changed nothing, or works on no draft. */
  readonly draft: SealedDraft | null;
}

/** The changes of one command: a folder of drafts, with the root they were made over. */
export interface SealedDraft {
  readonly id: string;
  /** Absolute, without links: segments from the top of the machine. */
  readonly root: readonly string[];
  /**
   * Names below the root that the command did not see, as absolute paths. INVARIANT: nothing at or below them lands or is
   * deleted, also where the draft replaces or deletes a folder above them.
   */
  readonly masked: readonly (readonly string[])[];
  readonly rootIdentity: { readonly device: bigint; readonly inode: bigint };
  /**
   * Since 1970, by the clock that file systems use. A file of the root whose change time is not later is as the command
   * found it.
   */
  readonly startNanoseconds: bigint;
  /** False: a process may still write to the draft. INVARIANT: such a draft never lands. */
  readonly isSealed: boolean;
}

/** Nothing was run. `fix` is one line a person can act on. */
export interface RunRefused {
  readonly code: DenialCode;
  readonly message: string;
  readonly fix: string | null;
}

export type RunResult = { readonly ok: true; readonly ran: Ran } | { readonly ok: false; readonly refused: RunRefused };

/** Where output goes as it comes. A promise is back-pressure: the program is slowed down until it resolves. Never rejects. */
export interface Sinks {
  output(bytes: Uint8Array): void | Promise<void>;
  errors(bytes: Uint8Array): void | Promise<void>;
  /** What holds the program, once, before the first bytes of it: for whoever cannot wait until it has ended. */
  held?(by: readonly Enforcement[]): void;
}
