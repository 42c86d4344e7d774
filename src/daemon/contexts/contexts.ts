// Contexts of calls: what a tool reaches while one call of it lasts, judged at every use by what the session holds by then
// and by what the tool declares.

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
import { denied } from "../../runtime/context/used.ts";
import type { Backends } from "../../runtime/tool/availability.ts";
import type { Store } from "../../runtime/tool/declaration.ts";
import type { Holding } from "../calls/holding.ts";
import { NotedDenials } from "../log/noted-denials.ts";
import type { ProgramGround, Redacting } from "../parts.ts";
import type { Session } from "../session.ts";
import { Once } from "./context-once.ts";

/** For whom instruments are made. */
export interface InstrumentsAsked {
  readonly session: Session;
  /** Without its origin. */
  readonly tool: string;
  /** Written by a tool of others: not to be believed, whatever the session has read. */
  readonly isForeign: boolean;
  /** What a program needs that runs for this call. */
  readonly ground: ProgramGround;
  /** Those of the warrant. */
  readonly requests: readonly Request[];
  readonly judge: Judge;
  /** What a request was decided by; null for one that was not. */
  decidedBy(request: Request): Authority | null;
}

/** What the world outside offers to calls. */
export interface InstrumentsSource {
  /** For a tool by its name; what there is does not depend on who asks. */
  backends(tool: string): Backends;
  of(asked: InstrumentsAsked): Instruments;
}

export interface ContextAsked {
  readonly session: Session;
  readonly warrant: Warrant;
  readonly requirement: CompiledLink;
  readonly store: Store | null;
  readonly isForeign: boolean;
  readonly ground: ProgramGround;
}

/** The context of one call, for uses that come from elsewhere. */
export interface ServedContext {
  /** Answers every use, and `revoked` after the end. */
  serve(use: JsonObject): Promise<Json>;
  /** What was refused on the way. */
  denials(): readonly RunDenial[];
  end(): void;
}

export interface ContextsParts {
  held(session: Session): { readonly holding: Holding; readonly moment: Moment } | null;
  readonly instruments: InstrumentsSource | null;
  readonly redacting: Redacting;
}

/** Uses of one call that are under way at once. */
const usesMax = 32;
const GONE: Decision = { outcome: "deny", code: "revoked", at: null };
const ASKED_ONCE: Decision = { outcome: "deny", code: "approval_required", at: null };

export class Contexts {
  readonly #parts: ContextsParts;

  constructor(parts: ContextsParts) {
    this.#parts = parts;
  }

  backends(tool: string): Backends {
    return this.#parts.instruments?.backends(tool) ?? { has: () => false, hasSecret: () => false };
  }

  open(asked: ContextAsked): ServedContext {
    const { session, warrant, requirement, ground } = asked;
    const { held, instruments } = this.#parts;
    const now = held(session);
    if (now === null || instruments === null) return NOTHING;
    const decided = new WeakMap<Request, Authority>();
    const free = now.holding.authority.map((chain): Chain => [...chain, requirement]);
    const moment = { ...now.moment, exhausted: countedIsSpent(free) };
    const once = new Once(warrant, (request) => judge(free, request, moment).outcome === "allow");
    const look = new Look(() => {
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
      // INVARIANT: what was not paid for with the call is covered by nothing that is counted.
      const isLeft = once.isLeft(request);
      const decision = judge(authority, request, {
        ...by.moment,
        exhausted: isLeft ? null : countedIsSpent(authority),
      });
      // What a person allowed once is not allowed a second time.
      return decision.outcome === "ask" && !isLeft ? ASKED_ONCE : decision;
    };
    const tool = warrant.tool.replace(/^tool:/, "");
    const noted = new NotedDenials((denial, reason) => ground.refused(denial, reason));
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

  #serving(context: Context, look: Look, noted: NotedDenials): (use: JsonObject) => Promise<Json> {
    const { redacting } = this.#parts;
    let running = 0;
    return async (use) => {
      if (running >= usesMax) return { ...denied("not_available", null, "too many uses at once") };
      // A secret leaves by its handle, to where it is bound, or not at all.
      if (isChanged(use, redacting.json(use)))
        return noted.answer({
          ...denied("secret_refused", "secret.use", "a secret is used by its handle; its value is never returned"),
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
  serve: async () => ({ ...denied("revoked", null, "the session has no grants any more") }),
  denials: () => [],
  end: () => undefined,
};

interface Held {
  readonly authority: Authority;
  readonly moment: Moment;
}

/** So many paths of one use are decided by one look, as by the file tools; everything else is looked at anew. */
const pathsPerLook = 256;

class Look {
  readonly #held: () => Held | null;
  #left = 0;
  #last: Held | null = null;

  constructor(held: () => Held | null) {
    this.#held = held;
  }

  /** A use begins: nothing of an earlier one counts. */
  anew(): void {
    this.#left = 0;
  }

  for({ verb }: Request): Held | null {
    if (verb.verb === "fs.read" && this.#left-- > 0) return this.#last;
    this.#last = this.#held();
    this.#left = pathsPerLook;
    return this.#last;
  }
}

/** Relative names begin in the session's folder where that lies in the agent's own root, else in that root. */
function groundOf({ ground, workingRoot = null }: Reading): Ground {
  const { base } = ground;
  if (workingRoot === null || (base !== null && workingRoot.every((name, at) => name === base[at]))) return ground;
  return { ...ground, base: workingRoot };
}
