// Contexts of calls: what a tool can reach during one call, for built-in tools, third-party tools and tools of applications
// alike. Every use is checked against the session's current holding and the tool's declaration.
import type { AxisName } from "../../core/authority/catalog.ts";
import { type Authority, narrowAuthority } from "../../core/authority/chain.ts";
import type { CompiledLink, Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import { type Reading, workingPathSettings } from "../../core/notation/reading.ts";
import type { Strength } from "../../core/ports/enforcement.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { CompletedRun, RunDenial } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import { type Context, type Instruments, makeContext } from "../../runtime/context/context.ts";
import { lazy, type RunUse } from "../../runtime/context/life.ts";
import { serveUse } from "../../runtime/context/remote.ts";
import { type UseDenial, useDenial } from "../../runtime/context/use-result.ts";
import type { Backends } from "../../runtime/tool/availability.ts";
import type { Store } from "../../runtime/tool/declaration.ts";
import { endingText } from "../../sandbox/plan/run-outcome.ts";
import type { Holding } from "../calls/holding.ts";
import { CallEnforcement, ContextDenials } from "../log/call-report.ts";
import type { OutputRedactor, ProgramContext, Stores } from "../parts.ts";
import type { Session } from "../session.ts";
import { contextJudge, HoldingCache, SingleUses } from "./context-judge.ts";
import { contextKeys, contextObservations } from "./memory.ts";

/** The call that instruments are made for. */
export interface InstrumentsOptions {
  readonly session: Session;
  /** The tool name without its origin. */
  readonly tool: string;
  /** The call, as the reason why its session is no longer clean. */
  readonly call: string;
  /** Written by a third-party tool: untrusted, whatever the session has read. */
  readonly isForeign: boolean;
  /** What a program that runs for this call needs. */
  readonly programContext: ProgramContext;
  /** The requests of the warrant. */
  readonly requests: readonly Request[];
  readonly judge: Judge;
  /** What a request was decided by; null for an undecided one. */
  decidedBy(request: Request): Authority | null;
  /** The path of a use, or one that it led to, was refused. */
  refusedPath(request: Request): void;
  /** What enforced an axis of a use. */
  enforced(axis: AxisName, strength: Strength): void;
  /** A program of the call ended. */
  ran(run: CompletedRun): void;
  /** Stops when the client of the call cancels. */
  readonly cancel: AbortSignal | null;
}

/** Instruments whose backends are processes; those of the stores are always there. */
export type ProcessInstruments = Omit<Instruments, "storage" | "memory" | "observations">;

/** Creates the instruments of calls. */
export interface InstrumentsSource {
  /** Backends of a tool by its name, independent of the session. */
  backends(tool: string): Backends;
  of(asked: InstrumentsOptions): ProcessInstruments;
  /** The gate denied a call with these requests. */
  denied?(session: Session, tool: string, requests: readonly Request[], isGranted: (request: Request) => boolean): void;
}

export interface ContextOptions {
  readonly session: Session;
  readonly warrant: Warrant;
  /** The tool's declaration; null for a built-in tool, which requests everything it does. */
  readonly requirement: CompiledLink | null;
  readonly store: Store | null;
  readonly isForeign: boolean;
  readonly programContext: ProgramContext;
  readonly cancel?: AbortSignal;
}

/** The context of one call. */
export interface CallContext {
  /** For code in this process; null if the session holds nothing any more. */
  readonly context: Context | null;
  /** How its arguments are read; null with the context. */
  readonly reading: Reading | null;
  /** Answers every use that comes over a connection, and `revoked` after the end. */
  serve(use: JsonObject): Promise<Json>;
  /** Denials during the call. */
  denials(): readonly RunDenial[];
  /** What enforced the axes of its uses, so far. */
  enforcement(): Outcome["enforcement"];
  /** Logs a denial of the call, and returns it. */
  refuse(request: Request | null, code: DenialCode, message: string): UseDenial;
  /** A program of the call ended that no instrument ran. */
  ran(run: CompletedRun): void;
  /** How its last program ended; null if none ran. */
  ended(): string | null;
  end(): void;
}

export interface ContextsParts {
  held(session: Session): { readonly holding: Holding; readonly moment: Moment } | null;
  readonly stores: Pick<Stores, "memory" | "observations">;
  readonly instruments: InstrumentsSource | null;
  readonly redacting: OutputRedactor;
  now(): number;
  id(letter: "o"): string;
}

/** Concurrent uses of one call. */
const usesMax = 32;
const NO_PROCESSES: ProcessInstruments = { fetching: null, files: null, programs: null, secrets: null };

export class Contexts {
  readonly #parts: ContextsParts;

  constructor(parts: ContextsParts) {
    this.#parts = parts;
  }

  backends(tool: string): Backends {
    return this.#parts.instruments?.backends(tool) ?? { has: () => false, hasSecret: () => false };
  }

  /** The gate denied a call with these requests: a person is alerted if it named a secret that is not for it. */
  denied(session: Session, tool: string, requests: readonly Request[]): void {
    const now = this.#parts.held(session);
    const isGranted = (request: Request): boolean =>
      now !== null && judge(now.holding.authority, request, now.moment).outcome !== "deny";
    this.#parts.instruments?.denied?.(session, tool, requests, isGranted);
  }

  open(asked: ContextOptions): CallContext {
    const { session, warrant, requirement, isForeign, programContext } = asked;
    const { held, redacting } = this.#parts;
    const now = held(session);
    if (now === null) return NOTHING;
    const limits = requirement === null ? [] : [requirement];
    const once =
      requirement === null ? null : singleUses(warrant, narrowAuthority(now.holding.authority, limits), now.moment);
    const look = new HoldingCache(() => {
      const by = held(session);
      return by === null ? null : { authority: narrowAuthority(by.holding.authority, limits), moment: by.moment };
    });
    const decided = new WeakMap<Request, Authority>();
    const { requests } = warrant;
    const decide = contextJudge({
      requests,
      once,
      holds: (request) => look.for(request),
      decided: (request, authority) => decided.set(request, authority),
    });
    const tool = warrant.tool.replace(/^tool:/, "");
    const noted = new ContextDenials((denial, reason, target) =>
      programContext.refused(denial, reason === null ? null : redacting.text(reason), target),
    );
    const enforcement = new CallEnforcement();
    const call = `${tool} (${warrant.receipt})`;
    let ended: string | null = null;
    const ran = (run: CompletedRun): void => {
      ended = endingText(run.ending);
      for (const { axis, strength } of run.enforcement) enforcement.add(axis, strength);
      for (const denial of run.denials) noted.count(denial);
    };
    const instruments = this.#instruments({
      ...{ session, tool, call, isForeign, programContext, requests },
      judge: decide,
      decidedBy: (request) => decided.get(request) ?? null,
      refusedPath: (request) => noted.refusedPath(request),
      enforced: (axis, strength) => enforcement.add(axis, strength),
      ran,
      cancel: asked.cancel ?? null,
    });
    const { reading } = now.holding;
    const { context, end } = makeContext(warrant, {
      ...{ instruments, judge: decide, toAscii: reading.toAscii, store: asked.store },
      pathSettings: workingPathSettings(reading),
      denied: (request, code) => noted.expect(request, code),
      run: runUse(once, look, noted),
      isOwn: requirement === null,
      // Only built-in tools and `serveUse` see it.
      isLazy: true,
    });
    return {
      ...{ context, reading, end },
      serve: this.#serving(context, noted),
      denials: () => noted.denials(),
      enforcement: () => enforcement.list(),
      refuse: (request, code, message) => {
        noted.expect(request, code);
        return noted.denied(useDenial(code, request?.verb.verb ?? null, message));
      },
      ran,
      ended: () => ended,
    };
  }

  /** Each backend is made when its instrument is first used. */
  #instruments(asked: InstrumentsOptions): Instruments {
    const { stores, now, id, instruments } = this.#parts;
    const { session, tool, call, isForeign } = asked;
    const options = { session, tool, call, isForeign, now, id: () => id("o") };
    const processes = instruments === null ? NO_PROCESSES : instruments.of(asked);
    return lazy<Instruments>({
      fetching: () => processes.fetching,
      files: () => processes.files,
      programs: () => processes.programs,
      secrets: () => processes.secrets,
      storage: () => contextKeys(stores.memory, "storage", options),
      memory: () => contextKeys(stores.memory, "memory", options),
      observations: () => contextObservations(stores.observations, options),
    });
  }

  #serving(context: Context, noted: ContextDenials): (use: JsonObject) => Promise<Json> {
    const { redacting } = this.#parts;
    return async (use) => {
      // A secret is sent only by its handle, to where it is bound.
      if (isChanged(use, redacting.json(use))) return { ...noted.denied(SECRET_SENT) };
      return redacting.json(await serveUse(context, use));
    };
  }
}

const SECRET_SENT = useDenial(
  "secret_refused",
  "secret.use",
  "the arguments contain the value of a secret; write {{secret:name}} in its place",
);

/** Requests that need a budget or an approval are spent by the uses of a tool that is not ours. */
function singleUses(warrant: Warrant, authority: Authority, moment: Moment): SingleUses {
  const free = { ...moment, exhausted: countedIsSpent(authority) };
  return new SingleUses(warrant, (request) => judge(authority, request, free).outcome === "allow");
}

function runUse(once: SingleUses | null, look: HoldingCache, noted: ContextDenials): RunUse {
  let running = 0;
  return async (act) => {
    const use: typeof act = async () => {
      if (running >= usesMax) return useDenial("not_available", null, "too many uses at once");
      running++;
      look.anew();
      try {
        return await act();
      } finally {
        running--;
      }
    };
    return noted.answer(await (once === null ? use() : once.run(use)));
  };
}

function isChanged(before: JsonObject, after: JsonObject): boolean {
  return before !== after && JSON.stringify(before) !== JSON.stringify(after);
}

const NOTHING: CallContext = {
  context: null,
  reading: null,
  serve: async () => ({ ...useDenial("revoked", null, "the session has no grants any more") }),
  denials: () => [],
  enforcement: () => [],
  refuse: (request, code, message) => useDenial(code, request?.verb.verb ?? null, message),
  ran: () => undefined,
  ended: () => null,
  end: () => undefined,
};
