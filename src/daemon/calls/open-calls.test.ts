// Slots for permitted, unsettled calls: no session can take all of them, and each is released.
import { describe, expect, test } from "vitest";
import { Session, type SessionFacts } from "../session.ts";
import type { CallPorts } from "./call-ports.ts";
import { type CallSlot, OpenCalls } from "./open-calls.ts";

const sessionOf = (agent: string): Session => new Session({ name: { workspace: null, agent } } as SessionFacts);
const CALL = { ports: {} as CallPorts, context: null, requests: [] };

function reserved(calls: OpenCalls, session: Session, times: number): readonly (CallSlot | null)[] {
  return Array.from({ length: times }, () => calls.reserve(session));
}

const counted = (places: readonly (CallSlot | null)[]): number => places.filter((place) => place !== null).length;

describe("slots", () => {
  test("of one session are limited, and another has its own", () => {
    const calls = new OpenCalls();
    expect(counted(reserved(calls, sessionOf("a"), 300))).toBe(256);
    expect(calls.reserve(sessionOf("b"))).not.toBeNull();
  });

  test("of one agent are limited, however many sessions it opens", () => {
    const calls = new OpenCalls();
    const own = Array.from({ length: 8 }, () => counted(reserved(calls, sessionOf("a"), 256)));
    expect(own).toEqual([256, 256, 256, 256, 0, 0, 0, 0]);
    expect(calls.reserve(sessionOf("b"))).not.toBeNull();
  });

  test("of all agents are limited", () => {
    const calls = new OpenCalls();
    const all = Array.from({ length: 40 }, (_, at) => counted(reserved(calls, sessionOf(`a${at}`), 256)));
    expect(all.reduce((sum, one) => sum + one, 0)).toBe(8192);
  });

  test("are released once when a call fails", () => {
    const [calls, session] = [new OpenCalls(), sessionOf("a")];
    const places = reserved(calls, session, 256);
    expect(calls.reserve(session)).toBeNull();
    places[0]?.leave();
    places[0]?.leave();
    expect(counted(reserved(calls, session, 2))).toBe(1);
  });

  test("return when a call is settled, and not when its client disconnects before", () => {
    const [calls, session] = [new OpenCalls(), sessionOf("a")];
    for (const [at, place] of reserved(calls, session, 256).entries()) {
      place?.keep(`c_${at}`, CALL);
      place?.leave();
    }
    expect(calls.reserve(session)).toBeNull();
    expect(calls.take(session, "c_7")).not.toBeNull();
    expect(calls.take(session, "c_7")).toBeNull();
    expect(counted(reserved(calls, session, 2))).toBe(1);
  });

  test("are released when the session ends, also those of calls being decided", () => {
    const [calls, session] = [new OpenCalls(), sessionOf("a")];
    const [kept, deciding] = reserved(calls, session, 2);
    kept?.keep("c_1", CALL);
    session.close();
    deciding?.keep("c_2", CALL);
    deciding?.leave();
    expect(calls.take(session, "c_2")).toBeNull();
    expect(calls.reserve(session)).toBeNull();
    const again = Array.from({ length: 4 }, () => counted(reserved(calls, sessionOf("a"), 256)));
    expect(again).toEqual([256, 256, 256, 256]);
  });
});
