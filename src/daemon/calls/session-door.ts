// The door of one session, for programs in its sandbox: the handlers of the call socket with the session filled in.
import type { JsonObject } from "../../core/base/json.ts";
import { isJsonObject, member } from "../../core/base/json.ts";
import type { DoorEntry, DoorSession } from "../../core/ports/daemon/door.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { DoorSource } from "../../sandbox/plan/sandboxes.ts";
import { decisionOf } from "../control/holding.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { Session } from "../session.ts";
import type { Calls } from "./calls.ts";
import type { Gatekeeper } from "./gatekeeper.ts";

interface SessionDoorParts {
  readonly calls: Pick<Calls, "list" | "execute">;
  readonly gatekeeper: Gatekeeper;
  readonly parts: Pick<DaemonParts, "stores" | "redacting" | "door" | "during">;
}

/** Null: there is no protocol for it. */
export function doorOf(session: Session, owner: SessionDoorParts): DoorSource | null {
  const { door, during = (_, act) => act() } = owner.parts;
  if (door === undefined) return null;
  let bound: DoorSession | null = null;
  return (call) => {
    const asked = bound ?? sessionDoor(session, owner);
    bound = asked;
    return during(session, () => door(asked, call));
  };
}

function sessionDoor(session: Session, { calls, gatekeeper, parts }: SessionDoorParts): DoorSession {
  const closing = new AbortController();
  session.onClose(() => closing.abort());
  const exchangeOf = (name: string, value: JsonObject): Exchange => boundExchange(session, closing, name, value);
  return {
    list: () => calls.list(exchangeOf("tools.list", {})),
    call: (tool, input) => calls.execute(exchangeOf("call.do", { tool, input, requests: null, waitMilliseconds: 0 })),
    can: (words) => {
      const holding = session.isClosed ? null : gatekeeper.holding(session);
      if (holding === null) return refusal("revoked", "this session was closed");
      if ("refused" in holding) return refusal("unknown_agent", holding.refused, holding.fix);
      return decisionOf({ session, holding }, words, gatekeeper);
    },
    why: async (id) => {
      const found = await parts.stores.ledger.entry(id);
      if (!found.ok) return refusal(found.code, found.message);
      const entry = found.value === null ? null : entryIn(found.value.entry.entry, session.facts.id);
      // The same answer for an entry of another session and for none.
      if (entry === null) return refusal("unknown_entry", "this session has no entry with this id");
      return { ok: true, value: parts.redacting.json(entry as never) as unknown as DoorEntry };
    },
  };
}

function entryIn(entry: LogEntry, session: string): DoorEntry | null {
  if (entry.session !== session) return null;
  const text = (key: string): string | null => {
    const value = isJsonObject(entry.more) ? member(entry.more, key) : undefined;
    return typeof value === "string" ? value : null;
  };
  const { id, kind, outcome, tool, code, at } = entry;
  return {
    id,
    kind,
    outcome,
    tool: tool ?? null,
    code: code ?? null,
    at,
    need: text("need"),
    suggest: text("suggest"),
  };
}

/**
 * A request that the daemon makes in a session. INVARIANT: `session` is written last, so that nothing that came in replaces it.
 */
export function boundExchange(session: Session, closing: AbortController, name: string, value: JsonObject): Exchange {
  const own = new AbortController();
  return {
    connected: session.facts.connected,
    name,
    value: { ...value, session: session.facts.id },
    // Ends with the session: a program inside cannot cancel.
    signal: AbortSignal.any([closing.signal, own.signal]),
    stop: () => own.abort(),
    tell: () => {},
    send: () => Promise.resolve(),
    input: NO_INPUT,
  };
}

const NO_INPUT: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};
