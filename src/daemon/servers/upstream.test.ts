// The time that a server has for a call, with the connection as the only fake: the clock is one too.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { CallEvents, ServerAsk } from "./call-events.ts";
import type { ServerConnection, ServerListener } from "./server-connection.ts";
import type { UpstreamResult } from "./server-message.ts";
import { Upstream } from "./upstream.ts";

const limitMilliseconds = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server that starts as it should; `called` does what it does with a call. */
function serverThat(called: (id: Json, say: (message: JsonObject) => void) => void): Upstream {
  let listener: ServerListener | null = null;
  const say = (message: JsonObject): void => void listener?.heard(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const answers: Readonly<Record<string, JsonObject>> = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools: [] },
  };
  const connection: ServerConnection = {
    ...{ isOver: false, isReceiving: true, isRemote: false, complaint: "", enforcement: [] },
    ended: new Promise(() => undefined),
    hear: (one) => {
      listener = one;
    },
    speak: () => undefined,
    listen: () => undefined,
    end: () => undefined,
    say: ({ id, method }) => {
      const answer = answers[String(method)];
      if (answer !== undefined) queueMicrotask(() => say({ id: id ?? null, result: answer }));
      if (method === "tools/call") queueMicrotask(() => called(id ?? null, say));
      return true;
    },
  };
  return new Upstream("s", connection, { roots: null, asks: new Set(["elicitation"] as const) }, (value) => value);
}

function eventsThat(asked: (ask: ServerAsk) => void): CallEvents {
  return { isProgressWanted: false, logLevel: null, asked, progressed: () => undefined, logged: () => false };
}

async function call(server: Upstream, events: CallEvents): Promise<() => UpstreamResult<JsonObject> | null> {
  await server.started;
  let answer: UpstreamResult<JsonObject> | null = null;
  void server
    .request("tools/call", { name: "t" }, new AbortController().signal, limitMilliseconds, events)
    .then((one) => {
      answer = one;
    });
  return () => answer;
}

test("a refused request of the server does not extend the call's timeout", async () => {
  const timers: NodeJS.Timeout[] = [];
  const server = serverThat((_, say) => {
    for (let number = 1; number <= 10; number++)
      timers.push(setTimeout(() => say({ id: number, method: "elicitation/create", params: {} }), number * 20_000));
  });
  const answer = await call(
    server,
    eventsThat((ask) => ask.refuse("no")),
  );
  await vi.advanceTimersByTimeAsync(limitMilliseconds - 1000);
  expect(answer()).toBeNull();
  await vi.advanceTimersByTimeAsync(2000);
  expect(answer()).toMatchObject({ ok: false, message: "the server took more than 60 seconds" });
  for (const timer of timers) clearTimeout(timer);
});

test("the time in which it waits for an answer is not counted", async () => {
  const server = serverThat((_, say) => say({ id: 1, method: "elicitation/create", params: {} }));
  const asks: ServerAsk[] = [];
  const answer = await call(
    server,
    eventsThat((ask) => asks.push(ask)),
  );
  await vi.advanceTimersByTimeAsync(10 * limitMilliseconds);
  expect(answer()).toBeNull();
  asks[0]?.give({ action: "decline" });
  await vi.advanceTimersByTimeAsync(limitMilliseconds + 1);
  expect(answer()).toMatchObject({ ok: false, message: "the server took more than 60 seconds" });
});
