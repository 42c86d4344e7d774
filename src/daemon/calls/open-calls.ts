// Calls that were permitted to the client, until it reports their outcome or the session ends.
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type JsonObject } from "../../core/base/json.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readDeclarationValue } from "../../core/notation/tools/declaration-value.ts";
import { type Answer, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import { type Needs, needsOf } from "../../runtime/tool/availability.ts";
import { STORES, type StorageScope, type Store } from "../../runtime/tool/declaration.ts";
import type { CallContext } from "../contexts/contexts.ts";
import type { Session } from "../session.ts";
import type { CallPorts } from "./call-ports.ts";

/** The declaration of a client tool, as one more link of every chain. */
export interface ClientDeclaration {
  readonly requirement: CompiledLink;
  readonly needs: Needs;
  readonly store: Store | null;
}

/** A declaration that cannot be parsed is refused. */
export function parseDeclaration(declaration: JsonObject, tool: string, reading: Reading): Answer<ClientDeclaration> {
  const { requirement, diagnostics } = readDeclarationValue(declaration, reading, `the declaration of ${tool}`);
  const fault = diagnostics.find(({ severity }) => severity === "error");
  if (requirement === null || fault !== undefined)
    return refusal("invalid_input", fault?.message ?? "the tool's declaration cannot be parsed");
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
  /** As they were decided. */
  readonly requests: readonly Request[];
  /** Created at the first use; null if the call declared nothing. */
  readonly context: (() => CallContext) | null;
  /** The context, if it was created. */
  opened: CallContext | null;
}

/** Limits per session, per agent over all its sessions, and in total, so that no session starves others. */
const sessionCallsMax = 256;
const agentCallsMax = 1024;
const callsMax = 8192;

/** A slot for one call, from before its decision until it is settled. */
export interface CallSlot {
  keep(receipt: string, call: Omit<OpenCall, "opened">): void;
  /** Frees the slot of a call that was not permitted. A stored call keeps it. */
  leave(): void;
}

/** Open calls of one session. */
class SessionCalls {
  readonly scope: string;
  readonly calls: Map<string, OpenCall> = new Map();
  /** Slots in use, stored calls included. */
  taken = 0;

  constructor(scope: string) {
    this.scope = scope;
  }
}

class ReservedSlot implements CallSlot {
  readonly #session: Session;
  readonly #opened: SessionCalls;
  readonly #giveBack: (opened: SessionCalls) => void;
  #isOver = false;

  constructor(session: Session, opened: SessionCalls, giveBack: (opened: SessionCalls) => void) {
    this.#session = session;
    this.#opened = opened;
    this.#giveBack = giveBack;
  }

  keep(receipt: string, call: Omit<OpenCall, "opened">): void {
    if (this.#isOver || this.#session.isClosed) return;
    this.#isOver = true;
    this.#opened.calls.set(receipt, { ...call, opened: null });
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveBack(this.#opened);
  }
}

export class OpenCalls {
  readonly #open = new Map<Session, SessionCalls>();
  /** Slots that all sessions of an agent use together. */
  readonly #agents = new Map<string, number>();
  #count = 0;
  readonly #giveBack = (opened: SessionCalls): void => this.#change(opened, -1);

  /** Null if no slot is free: checked before anything is charged, so that a charged call can be used and settled. */
  reserve(session: Session): CallSlot | null {
    if (session.isClosed || this.#count >= callsMax) return null;
    const opened = this.#open.get(session) ?? this.#begin(session);
    if (opened.taken >= sessionCallsMax || (this.#agents.get(opened.scope) ?? 0) >= agentCallsMax) return null;
    this.#change(opened, 1);
    return new ReservedSlot(session, opened, this.#giveBack);
  }

  #begin(session: Session): SessionCalls {
    const opened = new SessionCalls(session.scope);
    this.#open.set(session, opened);
    session.onClose(() => this.#drop(session));
    return opened;
  }

  #change(opened: SessionCalls, by: 1 | -1): void {
    opened.taken += by;
    this.#count += by;
    const now = (this.#agents.get(opened.scope) ?? 0) + by;
    if (now === 0) this.#agents.delete(opened.scope);
    else this.#agents.set(opened.scope, now);
  }

  /** The context of an unsettled call; null if there is no such call, or it has none. */
  context(session: Session, receipt: string): CallContext | null {
    const call = this.#open.get(session)?.calls.get(receipt);
    if (call === undefined) return null;
    call.opened ??= call.context?.() ?? null;
    return call.opened;
  }

  /** Settles once: its context is revoked from here on. */
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

export const TOO_MANY_OPEN: Refusal = refusal(
  "not_available",
  "too many permitted calls have no outcome yet",
  "report their outcomes, then call again",
);
