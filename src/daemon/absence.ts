// Calls of a tool that could not be carried out are refused before anything is decided, written or charged.
import type { Moment } from "../authority/compiled.ts";
import { done } from "../authority/result.ts";
import { decideCall } from "../gate/call-decision.ts";
import type { Refusal } from "../ports/exchange.ts";
import type { Holding } from "./holding.ts";
import { objectIn, textIn } from "./input.ts";
import type { OwnerTool } from "./owner-tool.ts";
import { refusal } from "./refusal.ts";
import type { Exchange } from "./serving.ts";
import type { Session } from "./session.ts";

export interface AbsenceAsked {
  readonly own: readonly OwnerTool[];
  named(session: Session, name: string): Promise<OwnerTool | null>;
  held(session: Session): { readonly holding: Holding; readonly moment: Moment } | null;
}

export class Absence {
  readonly #asked: AbsenceAsked;
  /** Tools of ours that are always there: they are not looked at twice. */
  readonly #there: ReadonlySet<string>;

  constructor(asked: AbsenceAsked) {
    this.#asked = asked;
    this.#there = new Set(asked.own.filter(({ missing }) => missing === undefined).map(({ name }) => name));
  }

  /** Whether a call in this exchange could be of a tool that is not there. */
  isPossible({ value }: Exchange): boolean {
    const name = textIn(value, "tool", 256);
    return name !== null && !this.#there.has(name.replace(/^builtin:/, ""));
  }

  /** Null: it is there, or the call is somebody else's to refuse. */
  async refusal({ value }: Exchange, session: Session | null): Promise<Refusal | null> {
    const name = textIn(value, "tool", 256);
    const input = objectIn(value, "input");
    if (session === null || name === null || input === null) return null;
    const tool = await this.#asked.named(session, name);
    const missing = tool?.missing?.(session) ?? null;
    const held = this.#asked.held(session);
    if (tool === null || missing === null || held === null) return null;
    const { authority, reading } = held.holding;
    const caller = { agent: session.facts.name.agent, authority };
    const known = { name: tool.name, requirement: tool.foreign?.requirement ?? null, requests: () => done([]) };
    const decision = decideCall(caller, { tool: name, input }, () => known, held.moment, reading.ground.protectedPaths);
    // Whoever may not call it is not told what there is.
    return decision.outcome === "deny" ? null : refusal("not_available", missing.message, missing.fix);
  }
}
