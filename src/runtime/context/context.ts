// The context: everything a tool can reach during one call. It is created from a warrant and nothing else, asks the judge
// about every use, and is revoked when the call ends.

import type { ToAscii } from "../../core/authority/axes/destination.ts";
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isWarrant, type Warrant } from "../../core/gate/warrant.ts";
import type {
  FilesPort,
  HttpPort,
  MemoryPort,
  ObservationsPort,
  ProgramsPort,
  SecretsPort,
  StoragePort,
} from "../../core/ports/instruments.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { type FilesInstrument, filesInstrument } from "./files.ts";
import { type KeysInstrument, keysInstrument } from "./keys.ts";
import { ContextLifetime, closedFunction, closedOf, lazy, type Makers, type RunUse, sealMembers } from "./life.ts";
import { stopListenersMax } from "./limits.ts";
import { type NetInstrument, netInstrument } from "./net.ts";
import { type ObserveInstrument, observeInstrument } from "./observations.ts";
import { type ProcessInstrument, processInstrument } from "./programs.ts";
import { type SecretsInstrument, secretsInstrument } from "./secrets.ts";
import { type ReportDenial, UseGate } from "./use-gate.ts";

export type { Warrant } from "../../core/gate/warrant.ts";

export interface Context {
  readonly net: NetInstrument;
  readonly files: FilesInstrument;
  readonly process: ProcessInstrument;
  readonly secrets: SecretsInstrument;
  /** The store that the tool declares. */
  readonly storage: KeysInstrument;
  readonly memory: KeysInstrument;
  readonly observe: ObserveInstrument;
  readonly signal: SignalInstrument;
}

export interface SignalInstrument {
  isStopped(): boolean;
  /** Called when the call ends or is stopped; returns a function that removes the listener. */
  onStop(listener: () => void): () => void;
}

/** Null is a missing backend: its instruments answer `not_available`. */
export interface Instruments {
  readonly fetching: HttpPort | null;
  readonly files: FilesPort | null;
  readonly programs: ProgramsPort | null;
  readonly secrets: SecretsPort | null;
  readonly storage: StoragePort | null;
  readonly memory: MemoryPort | null;
  readonly observations: ObservationsPort | null;
}

export interface ContextParts {
  readonly instruments: Instruments;
  /** Every link of the caller and the tool's requirement, as of each use, not as of the decision. */
  readonly judge: Judge;
  readonly pathSettings: PathSettings;
  readonly toAscii: ToAscii;
  /** The store that the tool declares; null if it declares none. */
  readonly store: "tool" | "session" | "agent" | null;
  readonly denied: ReportDenial;
  /** Runs every use of an instrument; by default at once. */
  readonly run?: RunUse;
  /** For a built-in tool: programs may run as long as the configuration says. */
  readonly isOwn?: boolean;
  /** Makes an instrument when it is first read: for a context that no code of others sees. By default all are made and sealed. */
  readonly isLazy?: boolean;
}

export interface OpenContext {
  readonly context: Context;
  /** INVARIANT: after this every instrument answers `revoked`, even through references the tool kept. */
  end(): void;
}

/** Throws without a valid warrant: that is never a tool's doing, but an internal error. */
export function makeContext(warrant: Warrant, parts: ContextParts): OpenContext {
  if (!isWarrant(warrant)) throw new TypeError("a context needs a warrant");
  const { instruments, pathSettings, toAscii, store } = parts;
  const life = new ContextLifetime(parts.run);
  const asker = new UseGate(parts.judge, warrant, { pathSettings, toAscii, tool: warrant.tool }, parts.denied);
  const make: Makers<Context> = {
    net: () => netInstrument(instruments, asker, life),
    files: () => filesInstrument(instruments.files, asker, life),
    process: () => processInstrument(instruments.programs, asker, life, parts.isOwn === true),
    secrets: () => secretsInstrument(instruments.secrets, asker, life),
    storage: () => keysInstrument(instruments.storage, store === null ? null : { kind: "store", store }, asker, life),
    memory: () => keysInstrument(instruments.memory, { kind: "all" }, asker, life),
    observe: () => observeInstrument(instruments.observations, asker, life),
    signal: () => signalInstrument(life),
  };
  const context = parts.isLazy === true ? lazy(make) : closedOf(make);
  return { context, end: () => life.end() };
}

export function signalInstrument(life: ContextLifetime): SignalInstrument {
  let listeners = 0;
  return sealMembers({
    isStopped: () => life.isOver,
    onStop: (listener: () => void) => {
      if (typeof listener !== "function" || listeners >= stopListenersMax) return closedFunction(() => undefined);
      listeners++;
      const forget = life.listen(listener);
      let isForgotten = false;
      return closedFunction(() => {
        if (!isForgotten) listeners--;
        isForgotten = true;
        forget();
      });
    },
  });
}
