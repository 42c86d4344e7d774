// Connections to the provider while the daemon decides, over real sockets: when one is opened, what it carries, when it is closed.
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ModelRelay, type RelayContext } from "./relay.ts";
import { ByteBudget } from "./relay-body.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(server: net.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A provider that keeps what each of its connections received. */
interface Provider {
  readonly port: number;
  readonly received: string[];
  /** The socket of a connection, in the order in which they were opened; waits for it. */
  opened(at: number): Promise<net.Socket>;
}

async function provider(answers: (at: number) => boolean = () => true): Promise<Provider> {
  const received: string[] = [];
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    const at = sockets.push(socket) - 1;
    received[at] = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      received[at] += bytes.toString("latin1");
      if (!received[at]?.includes('"messages":[]}')) return;
      if (answers(at)) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
      else socket.resetAndDestroy();
    });
    server.emit("opened");
  });
  const port = await listening(server);
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  const opened = async (at: number): Promise<net.Socket> => {
    while (sockets[at] === undefined) await once(server, "opened");
    return sockets[at];
  };
  return { port, received, opened };
}

type Answer = Awaited<ReturnType<RelayContext["ask"]>>;

const DENIED: Answer = {
  ...{
    kind: "model-answer",
    number: 1,
    code: "capability_absent",
    message: "denied",
    outputTokens: null,
    upstream: null,
  },
};

function allowed(port: number, key = "secret-value"): Answer {
  return {
    ...{ kind: "model-answer", number: 1, code: null, message: "", outputTokens: null },
    upstream: {
      url: `http://127.0.0.1:${port}`,
      ...{ header: "x-api-key", prefix: "", keepsPrompt: false },
      value: Buffer.from(key).toString("base64"),
    },
  };
}

interface Relay {
  readonly sandbox: AbortController;
  /** Resolves with the status; 0 where the connection closes without an answer. `decide`: the daemon. */
  send(decide: () => Promise<Answer>): { readonly request: http.ClientRequest; readonly status: Promise<number> };
}

async function relay(): Promise<Relay> {
  const sandbox = new AbortController();
  let decide: () => Promise<Answer> = async () => null;
  const server = new ModelRelay({
    ...{ resolve: async () => [], stop: sandbox.signal, now: () => 0, bodies: new ByteBudget(65_536) },
    ...{ report: () => undefined, refused: () => undefined, door: async () => null },
    ask: () => decide(),
  });
  const port = await listening(net.createServer({ pauseOnConnect: true }, (socket) => void server.accept(socket)));
  const send: Relay["send"] = (answer) => {
    decide = answer;
    const path = "/anthropic/v1/messages";
    const request = http.request({ host: "127.0.0.1", port, path, method: "POST", agent: false });
    request.on("error", () => undefined);
    const status = new Promise<number>((give) => {
      request.once("response", (response) => response.resume().once("end", () => give(response.statusCode ?? 0)));
      request.once("close", () => give(0));
    });
    request.end(JSON.stringify({ model: "m", messages: [] }));
    return { request, status };
  };
  return { sandbox, send };
}

/** A relay whose first request was let through, over the provider's connection 0. */
async function used(upstream: Provider): Promise<Relay> {
  const made = await relay();
  expect(await made.send(async () => allowed(upstream.port)).status).toBe(200);
  return made;
}

test("none is opened before the first request of a sandbox is let through", async () => {
  const upstream = await provider();
  const { send } = await relay();
  expect(await send(async () => DENIED).status).toBe(403);
  expect(await send(async () => allowed(upstream.port)).status).toBe(200);
  expect(upstream.received).toHaveLength(1);
});

test("it is open before the next decision, silent until then, and carries that one request", async () => {
  const upstream = await provider();
  const { send } = await used(upstream);
  const { status } = send(async () => {
    await upstream.opened(1);
    expect(upstream.received[1]).toBe("");
    return allowed(upstream.port, "another-key");
  });
  expect(await status).toBe(200);
  expect(upstream.received).toHaveLength(2);
  expect(upstream.received[1]).toContain("x-api-key: another-key\r\n");
  expect(upstream.received[1]).not.toContain("secret-value");
});

test("a denial closes it without a byte, and the next decision comes before a connection", async () => {
  const upstream = await provider();
  const { send } = await used(upstream);
  const denied = send(async () => {
    await upstream.opened(1);
    return DENIED;
  });
  expect(await denied.status).toBe(403);
  const early = await upstream.opened(1);
  if (!early.closed) await once(early, "close");
  expect(upstream.received[1]).toBe("");
  expect(await send(async () => DENIED).status).toBe(403);
  expect(await send(async () => allowed(upstream.port)).status).toBe(200);
  expect(upstream.received).toHaveLength(3);
});

test("a request to another address does not use it", async () => {
  const [upstream, other] = [await provider(), await provider()];
  const { send } = await used(upstream);
  const { status } = send(async () => {
    await upstream.opened(1);
    return allowed(other.port);
  });
  expect(await status).toBe(200);
  expect([upstream.received[1], other.received.length]).toEqual(["", 1]);
});

test.each<[string, (early: net.Socket) => void]>([
  // It is dropped by a timer, as while a person is asked.
  ["the decision takes long", () => undefined],
  ["the provider closes it", (early) => void early.end()],
  ["the provider resets it", (early) => void early.resetAndDestroy()],
  ["the provider speaks first", (early) => void early.write("HTTP/1.1 408 Request Timeout\r\n\r\n")],
])("where %s, the request goes out once, over another connection", async (_title, end) => {
  const upstream = await provider();
  const { send } = await used(upstream);
  const { status } = send(async () => {
    const early = await upstream.opened(1);
    end(early);
    if (!early.closed) await once(early, "close");
    // The relay has its end of it in its next turn.
    await new Promise((next) => setImmediate(next));
    return allowed(upstream.port);
  });
  expect(await status).toBe(200);
  expect(upstream.received.map((text) => text.startsWith("POST "))).toEqual([true, false, true]);
});

test("a request that the provider resets is not sent again", async () => {
  const upstream = await provider((at) => at === 0);
  const { send } = await used(upstream);
  const { status } = send(async () => {
    await upstream.opened(1);
    return allowed(upstream.port);
  });
  expect(await status).toBe(502);
  expect(upstream.received.filter((text) => text.startsWith("POST "))).toHaveLength(2);
  expect(upstream.received).toHaveLength(2);
});

test.each<[string, (request: http.ClientRequest, sandbox: AbortController) => void]>([
  ["the client hangs up", (request) => void request.destroy()],
  ["the sandbox ends", (_, sandbox) => sandbox.abort()],
])("it is closed when %s while the daemon decides", async (_title, end) => {
  const upstream = await provider();
  const { send, sandbox } = await used(upstream);
  const { request, status } = send(async () => {
    const early = await upstream.opened(1);
    end(request, sandbox);
    if (!early.closed) await once(early, "close");
    return allowed(upstream.port);
  });
  expect(await status).toBe(0);
  expect(upstream.received).toEqual([expect.stringContaining("POST "), ""]);
});
