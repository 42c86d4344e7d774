// Running a program behind walls: what is asked for, what comes back, and what was refused to it on the way.
import type { DenialCode } from "../authority/decision.ts";
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
  /** We ended it: its time was over, it wrote more than it may, somebody said stop, or a pinned name changed. */
  | { readonly kind: "ended"; readonly because: "time" | "output" | "stopped" | "pin_changed" }
  /** There was nothing to run: no such program on the fixed PATH, or it may not be executed. */
  | { readonly kind: "unstarted"; readonly reason: string };

/** Something a program tried that was refused to it while it ran. */
export interface RunDenial {
  readonly code: DenialCode;
  /** The request in the notation of `ambit can`: "net.connect evil.example:443". */
  readonly request: string;
  readonly times: number;
}

export interface Ran {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly denials: readonly RunDenial[];
  readonly enforcement: readonly Enforcement[];
  /** Bytes that were not passed on because the bound was reached. */
  readonly outputDropped: number;
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
