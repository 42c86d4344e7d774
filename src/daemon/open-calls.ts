// Calls that were permitted to whoever asked, until they say what became of them, or their session ends.
import { type CompiledLink, compile } from "../authority/compiled.ts";
import type { JsonObject } from "../authority/json.ts";
import { isJsonObject } from "../authority/json.ts";
import { ALWAYS } from "../authority/link.ts";
import { readDeclarationValue } from "../notation/declaration-value.ts";
import type { Reading } from "../notation/reading.ts";
import type { Answer } from "../ports/exchange.ts";
import { type Needs, needsOf } from "../tool/availability.ts";
import { STORES, type StorageScope, type Store } from "../tool/declaration.ts";
import type { ServedContext } from "./contexts.ts";
import type { CallPorts } from "./gatekeeper.ts";
import { agentScope } from "./generations.ts";
import { refusal } from "./refusal.ts";
import type { Session } from "./session.ts";

/** What a tool of the asker's declares, as one more limit of every chain. */
export interface Declared {
  readonly requirement: CompiledLink;
  readonly needs: Needs;
  readonly store: Store | null;
}

/** What is not understood is refused: nobody knows what was meant by it. */
export function declaredIn(declaration: JsonObject, tool: string, reading: Reading): Answer<Declared> {
  const { requirement, diagnostics } = readDeclarationValue(declaration, reading, `the declaration of ${tool}`);
  const fault = diagnostics.find(({ severity }) => severity === "error");
  if (requirement === null || fault !== undefined)
    return refusal("invalid_input", fault?.message ?? "what the tool declares is not understood");
  const link = compile({
    ...{ id: `tool:${tool}`, role: "limit", issuer: "tool", holder: tool },
    ...{ grants: requirement.grants, validity: ALWAYS, calls: null },
  });
  const { storage } = declaration;
  const scope = isJsonObject(storage) ? storage["scope"] : null;
  const store = typeof scope === "string" && Object.hasOwn(STORES, scope) ? STORES[scope as StorageScope] : null;
  return { ok: true, value: { requirement: link, needs: needsOf(requirement, declaration), store } };
}

export interface OpenCall {
  readonly ports: CallPorts;
  /** Made at the first use; null where the call declared nothing. */
  readonly context: (() => ServedContext) | null;
  /** The context, where it was made. */
  opened: ServedContext | null;
}

/** Of one session, of all sessions of one agent, and of everybody: nobody takes what others need. */
const sessionCallsMax = 256;
const agentCallsMax = 1024;
const callsMax = 8192;

/** Room for one call, from before it is decided until it is settled. */
export interface OpenPlace {
  keep(receipt: string, call: Omit<OpenCall, "opened">): void;
  /** It came to nothing. What is kept stays. */
  leave(): void;
}

export class OpenCalls {
  readonly #open = new Map<Session, Map<string, OpenCall>>();
  /** Places that are taken, kept calls among them. */
  readonly #taken = new Map<Session | string, number>();
  #count = 0;

  /** Null where none is left: asked for before anything is charged, so that what is paid for can be used and settled. */
  reserve(session: Session): OpenPlace | null {
    const agent = agentScope(session.facts.name);
    const isFull =
      this.#count >= callsMax ||
      (this.#taken.get(session) ?? 0) >= sessionCallsMax ||
      (this.#taken.get(agent) ?? 0) >= agentCallsMax;
    if (isFull || session.isClosed) return null;
    this.#change(session, 1);
    let isOver = false;
    return {
      keep: (receipt, call) => {
        if (isOver || session.isClosed) return;
        isOver = true;
        this.#add(session, receipt, call);
      },
      leave: () => {
        if (isOver) return;
        isOver = true;
        this.#change(session, -1);
      },
    };
  }

  #add(session: Session, receipt: string, call: Omit<OpenCall, "opened">): void {
    let own = this.#open.get(session);
    if (own === undefined) {
      own = new Map();
      this.#open.set(session, own);
      session.onClose(() => this.#drop(session));
    }
    own.set(receipt, { ...call, opened: null });
  }

  #change(session: Session, by: 1 | -1): void {
    for (const key of [session, agentScope(session.facts.name)]) {
      const now = (this.#taken.get(key) ?? 0) + by;
      if (now === 0) this.#taken.delete(key);
      else this.#taken.set(key, now);
    }
    this.#count += by;
  }

  /** The context of a call that is not settled yet; null where there is no such call, or it has none. */
  context(session: Session, receipt: string): ServedContext | null {
    const call = this.#open.get(session)?.get(receipt);
    if (call === undefined) return null;
    call.opened ??= call.context?.() ?? null;
    return call.opened;
  }

  /** Once: from here on its context is of no use. */
  take(session: Session, receipt: string): OpenCall | null {
    const own = this.#open.get(session);
    const call = own?.get(receipt) ?? null;
    if (call === null) return null;
    own?.delete(receipt);
    this.#change(session, -1);
    call.opened?.end();
    return call;
  }

  #drop(session: Session): void {
    for (const receipt of [...(this.#open.get(session)?.keys() ?? [])]) this.take(session, receipt);
    this.#open.delete(session);
  }
}
