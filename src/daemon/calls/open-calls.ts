// Calls that were permitted to whoever asked, until they say what became of them, or their session ends.
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { isJsonObject } from "../../core/base/json.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readDeclarationValue } from "../../core/notation/tools/declaration-value.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { type Needs, needsOf } from "../../runtime/tool/availability.ts";
import { STORES, type StorageScope, type Store } from "../../runtime/tool/declaration.ts";
import type { ServedContext } from "../contexts/contexts.ts";
import { refusal } from "../refusal.ts";
import type { Session } from "../session.ts";
import type { CallPorts } from "./call-ports.ts";

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
    return refusal("invalid_input", fault?.message ?? "the tool's declaration is not understood");
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

/** What is open of one session. */
class Opened {
  readonly scope: string;
  readonly calls: Map<string, OpenCall> = new Map();
  /** Places that are taken, kept calls among them. */
  taken = 0;

  constructor(scope: string) {
    this.scope = scope;
  }
}

class Place implements OpenPlace {
  readonly #session: Session;
  readonly #opened: Opened;
  readonly #giveBack: (opened: Opened) => void;
  #isOver = false;

  constructor(session: Session, opened: Opened, giveBack: (opened: Opened) => void) {
    this.#session = session;
    this.#opened = opened;
    this.#giveBack = giveBack;
  }

  keep(receipt: string, { ports, context }: Omit<OpenCall, "opened">): void {
    if (this.#isOver || this.#session.isClosed) return;
    this.#isOver = true;
    this.#opened.calls.set(receipt, { ports, context, opened: null });
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveBack(this.#opened);
  }
}

export class OpenCalls {
  readonly #open = new Map<Session, Opened>();
  /** Places that all sessions of an agent take together. */
  readonly #agents = new Map<string, number>();
  #count = 0;
  readonly #giveBack = (opened: Opened): void => this.#change(opened, -1);

  /** Null where none is left: asked for before anything is charged, so that what is paid for can be used and settled. */
  reserve(session: Session): OpenPlace | null {
    if (session.isClosed || this.#count >= callsMax) return null;
    const opened = this.#open.get(session) ?? this.#begin(session);
    if (opened.taken >= sessionCallsMax || (this.#agents.get(opened.scope) ?? 0) >= agentCallsMax) return null;
    this.#change(opened, 1);
    return new Place(session, opened, this.#giveBack);
  }

  #begin(session: Session): Opened {
    const opened = new Opened(session.scope);
    this.#open.set(session, opened);
    session.onClose(() => this.#drop(session));
    return opened;
  }

  #change(opened: Opened, by: 1 | -1): void {
    opened.taken += by;
    this.#count += by;
    const now = (this.#agents.get(opened.scope) ?? 0) + by;
    if (now === 0) this.#agents.delete(opened.scope);
    else this.#agents.set(opened.scope, now);
  }

  /** The context of a call that is not settled yet; null where there is no such call, or it has none. */
  context(session: Session, receipt: string): ServedContext | null {
    const call = this.#open.get(session)?.calls.get(receipt);
    if (call === undefined) return null;
    call.opened ??= call.context?.() ?? null;
    return call.opened;
  }

  /** Once: from here on its context is of no use. */
  take(session: Session, receipt: string): OpenCall | null {
    const opened = this.#open.get(session);
    const call = opened?.calls.get(receipt);
    if (opened === undefined || call === undefined) return null;
    opened.calls.delete(receipt);
    this.#change(opened, -1);
    call.opened?.end();
    return call;
  }

  #drop(session: Session): void {
    for (const receipt of [...(this.#open.get(session)?.calls.keys() ?? [])]) this.take(session, receipt);
    this.#open.delete(session);
  }
}
