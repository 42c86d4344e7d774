// Contexts of calls: what a tool can reach during one call. Every use is checked against the session's current holding and the
// tool's declaration.

import type { Ground } from "../../core/authority/axes/path.ts";
import type { Authority, Chain } from "../../core/authority/chain.ts";
import type { CompiledLink, Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Decision } from "../../core/authority/decision.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import { type Context, type Instruments, makeContext } from "../../runtime/context/context.ts";
import { serveUse } from "../../runtime/context/remote.ts";
import { useDenial } from "../../runtime/context/use-result.ts";
import type { Backends } from "../../runtime/tool/availability.ts";
import type { Store } from "../../runtime/tool/declaration.ts";
import type { Holding } from "../calls/holding.ts";
import { ContextDenials } from "../log/context-denials.ts";
import type { OutputRedactor, ProgramContext } from "../parts.ts";
import type { Session } from "../session.ts";
import { SingleUses } from "./single-uses.ts";

/** The call that instruments are made for. */
export interface InstrumentsOptions {
  readonly session: Session;
  /** The tool name without its origin. */
  readonly tool: string;
  /** Written by a third-party tool: untrusted, whatever the session has read. */
  readonly isForeign: boolean;
  /** What a program that runs for this call needs. */
  readonly ground: ProgramContext;
  /** The requests of the warrant. */
  readonly requests: readonly Request[];
  readonly judge: Judge;
  /** What a request was decided by; null for an undecided one. */
  decidedBy(request: Request): Authority | null;
}

/** Creates the instruments of calls. */
export interface InstrumentsSource {
  /** Backends of a tool by its name, independent of the session. */
  backends(tool: string): Backends;
  of(asked: InstrumentsOptions): Instruments;
}

export interface ContextOptions {
  readonly session: Session;
  readonly warrant: Warrant;
  readonly requirement: CompiledLink;
  readonly store: Store | null;
  readonly isForeign: boolean;
  readonly ground: ProgramContext;
}

/** The context of one call, for uses that come over a connection. */
export interface ServedContext {
  /** Answers every use, and `revoked` after the end. */
  serve(use: JsonObject): Promise<Json>;
  /** Denials during the call. */
  denials(): readonly RunDenial[];
  end(): void;
}

export interface ContextsParts {
  held(session: Session): { readonly holding: Holding; readonly moment: Moment } | null;
  readonly instruments: InstrumentsSource | null;
  readonly redacting: OutputRedactor;
}

/** Concurrent uses of one call. */
const usesMax = 32;
const GONE: Decision = { outcome: "deny", code: "revoked", at: null };
const APPROVAL_SPENT: Decision = { outcome: "deny", code: "approval_required", at: null };

export class Contexts {
  readonly #parts: ContextsParts;

  constructor(parts: ContextsParts) {
    this.#parts = parts;
  }

  backends(tool: string): Backends {
    return this.#parts.instruments?.backends(tool) ?? { has: () => false, hasSecret: () => false };
  }

  open(asked: ContextOptions): ServedContext {
    const { session, warrant, requirement, ground } = asked;
    const { held, instruments } = this.#parts;
    const now = held(session);
    if (now === null || instruments === null) return NOTHING;
    const decided = new WeakMap<Request, Authority>();
    const free = now.holding.authority.map((chain): Chain => [...chain, requirement]);
    const moment = { ...now.moment, exhausted: countedIsSpent(free) };
    const once = new SingleUses(warrant, (request) => judge(free, request, moment).outcome === "allow");
    const look = new HoldingCache(() => {
      const by = held(session);
      if (by === null) return null;
      const authority = by.holding.authority.map((chain): Chain => [...chain, requirement]);
      return { authority, moment: by.moment };
    });
    const decide: Judge = (request) => {
      const by = look.for(request);
      if (by === null) return GONE;
      const { authority } = by;
      decided.set(request, authority);
      // INVARIANT: grants with a budget cover only requests that the call was charged for.
      const isLeft = once.isLeft(request);
      const decision = judge(authority, request, {
        ...by.moment,
        exhausted: isLeft ? null : countedIsSpent(authority),
      });
      // A one-time approval covers one use.
      return decision.outcome === "ask" && !isLeft ? APPROVAL_SPENT : decision;
    };
    const tool = warrant.tool.replace(/^tool:/, "");
    const noted = new ContextDenials((denial, reason) => ground.refused(denial, reason));
    const { context, end } = makeContext(warrant, {
      instruments: instruments.of({
        session,
        tool,
        isForeign: asked.isForeign,
        ground,
        requests: warrant.requests,
        judge: decide,
        decidedBy: (request) => decided.get(request) ?? null,
      }),
      judge: decide,
      ground: groundOf(now.holding.reading),
      toAscii: now.holding.reading.toAscii,
      store: asked.store,
      denied: (request, code) => noted.expect(request, code),
    });
    return { serve: once.inTurn(this.#serving(context, look, noted)), denials: () => noted.denials(), end };
  }

  #serving(context: Context, look: HoldingCache, noted: ContextDenials): (use: JsonObject) => Promise<Json> {
    const { redacting } = this.#parts;
    let running = 0;
    return async (use) => {
      if (running >= usesMax) return { ...useDenial("not_available", null, "too many uses at once") };
      // A secret is sent only by its handle, to where it is bound.
      if (isChanged(use, redacting.json(use)))
        return noted.answer({
          ...useDenial("secret_refused", "secret.use", "a secret is used by its handle; its value is never returned"),
        });
      running++;
      look.anew();
      try {
        return noted.answer(redacting.json(await serveUse(context, use)));
      } finally {
        running--;
      }
    };
  }
}

function isChanged(before: JsonObject, after: JsonObject): boolean {
  return before !== after && JSON.stringify(before) !== JSON.stringify(after);
}

const NOTHING: ServedContext = {
  serve: async () => ({ ...useDenial("revoked", null, "the session has no grants any more") }),
  denials: () => [],
  end: () => undefined,
};

interface HeldAuthority {
  readonly authority: Authority;
  readonly moment: Moment;
}

/** That many paths of one use are decided by one holding, as for the file tools; any other request reads the holding again. */
const pathsPerHolding = 256;

class HoldingCache {
  readonly #held: () => HeldAuthority | null;
  #left = 0;
  #last: HeldAuthority | null = null;

  constructor(held: () => HeldAuthority | null) {
    this.#held = held;
  }

  /** Starts a use: nothing of an earlier one counts. */
  anew(): void {
    this.#left = 0;
  }

  for({ verb }: Request): HeldAuthority | null {
    if (verb.verb === "fs.read" && this.#left-- > 0) return this.#last;
    this.#last = this.#held();
    this.#left = pathsPerHolding;
    return this.#last;
  }
}

/** Relative paths start in the session's folder if it lies in the agent's root, else in that root. */
function groundOf({ ground, workingRoot = null }: Reading): Ground {
  const { base } = ground;
  if (workingRoot === null || (base !== null && workingRoot.every((name, at) => name === base[at]))) return ground;
  return { ...ground, base: workingRoot };
}
