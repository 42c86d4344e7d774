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

const callsMax = 4096;

export class OpenCalls {
  readonly #open = new Map<Session, Map<string, OpenCall>>();
  #count = 0;

  /** One too many is not kept: it was permitted and cannot be settled, which is told as it is asked for. */
  add(session: Session, receipt: string, call: Omit<OpenCall, "opened">): void {
    if (this.#count >= callsMax || session.isClosed) return;
    let own = this.#open.get(session);
    if (own === undefined) {
      own = new Map();
      this.#open.set(session, own);
      session.onClose(() => this.#drop(session));
    }
    own.set(receipt, { ...call, opened: null });
    this.#count++;
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
    this.#count--;
    call.opened?.end();
    return call;
  }

  #drop(session: Session): void {
    for (const receipt of [...(this.#open.get(session)?.keys() ?? [])]) this.take(session, receipt);
    this.#open.delete(session);
  }
}
