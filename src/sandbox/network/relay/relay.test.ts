// One request through the relay, over real sockets: what the client, the provider and the log see of its end.
import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import net, { type AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ModelRelay, type RelayContext } from "./relay.ts";
import { ByteBudget } from "./relay-body.ts";

type Report = Parameters<RelayContext["report"]>[0];

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

interface Fixture {
  readonly sandbox: AbortController;
  readonly reported: Promise<Report>;
  send(): http.ClientRequest;
}

/** `answer`: of the provider; null where nothing listens. */
async function fixture(answer: RequestListener | null, idleMilliseconds?: number): Promise<Fixture> {
  const provider = http.createServer((request, response) => {
    request.resume().once("end", () => answer?.(request, response));
  });
  const upstream = await listening(provider);
  if (answer === null) await new Promise((closed) => provider.close(closed));
  const sandbox = new AbortController();
  let report: RelayContext["report"] = () => undefined;
  const reported = new Promise<Report>((give) => {
    report = give;
  });
  const relay = new ModelRelay(
    {
      resolve: async () => [],
      stop: sandbox.signal,
      now: () => 0,
      ask: async () => ({
        ...{ kind: "model-answer", number: 1, code: null, message: "", outputTokens: null },
        upstream: {
          url: `http://127.0.0.1:${upstream}`,
          header: "x-api-key",
          prefix: "",
          value: "c2VjcmV0LXZhbHVl",
          keepsPrompt: false,
        },
      }),
      report: (one) => report(one),
      refused: () => undefined,
      door: async ({ route, body, isText }) => ({ status: 200, body: `${route} ${body} ${isText}` }),
      bodies: new ByteBudget(65_536),
    },
    idleMilliseconds,
  );
  const port = await listening(net.createServer({ pauseOnConnect: true }, (socket) => void relay.accept(socket)));
  const send = (): http.ClientRequest => {
    const path = "/anthropic/v1/messages";
    const request = http.request({ host: "127.0.0.1", port, path, method: "POST", agent: false });
    request.on("error", () => undefined);
    return request.end(JSON.stringify({ model: "m", messages: [] }));
  };
  return { sandbox, reported, send };
}

/** Of a request that is answered; null where the connection closes without an answer. */
function statusOf(request: http.ClientRequest): Promise<number | null> {
  return new Promise((give) => {
    request.once("response", (response) => {
      response.on("error", () => undefined).resume();
      give(response.statusCode ?? null);
    });
    request.once("close", () => give(null));
  });
}

test.each<[string, RequestListener | null, number | null, Partial<Report>]>([
  ["a whole answer", (_, to) => to.end("{}"), 200, { isSent: true, status: 200, isWhole: true }],
  ["an error of the provider", (_, to) => to.writeHead(529).end("{}"), 529, { status: 529, isWhole: true }],
  [
    "a redirect",
    (_, to) => to.writeHead(302, { location: "/" }).end(),
    502,
    { isSent: true, status: 302, isWhole: false },
  ],
  [
    "a compressed answer",
    (_, to) => to.writeHead(200, { "content-encoding": "gzip" }).end("x"),
    502,
    { isSent: true, status: 200, isWhole: false },
  ],
  [
    "an answer that breaks off",
    (_, to) => to.writeHead(200, { "content-length": 9 }).write("x", () => to.destroy()),
    200,
    { isSent: true, status: 200, isWhole: false },
  ],
  ["no answer", (from) => from.socket.destroy(), 502, { isSent: true, status: 0, isWhole: false }],
  ["no provider", null, 502, { isSent: false, status: 0, isWhole: false }],
])("%s", async (_title, answer, status, report) => {
  const { send, reported } = await fixture(answer);
  expect(await statusOf(send())).toBe(status);
  expect(await reported).toMatchObject(report);
});

test.each<[string, (request: http.ClientRequest, sandbox: AbortController) => void]>([
  ["the client hangs up", (request) => void request.destroy()],
  ["the sandbox ends", (_, sandbox) => sandbox.abort()],
])("an answer without an end is closed when %s", async (_title, end) => {
  let isClosed: () => void = () => undefined;
  const closed = new Promise<void>((give) => {
    isClosed = give;
  });
  const { send, reported, sandbox } = await fixture((_, to) => void to.once("close", isClosed).write("x"));
  const request = send();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  end(request, sandbox);
  await closed;
  expect(await reported).toMatchObject({ isSent: true, status: 200, isWhole: false });
});

test("an answer that the client does not read is closed when it hangs up", async () => {
  let isClosed: () => void = () => undefined;
  const closed = new Promise<void>((give) => {
    isClosed = give;
  });
  const { send, reported } = await fixture((_, to) => void to.once("close", isClosed).write(Buffer.alloc(33_554_432)));
  const request = send();
  await once(request, "response");
  request.destroy();
  await closed;
  expect(await reported).toMatchObject({ status: 200, isWhole: false });
});

test.each<[string, RequestListener, number, number]>([
  ["before its answer", () => undefined, 502, 0],
  ["in its answer", (_, to) => void to.write("x"), 200, 200],
])("a provider that is silent %s does not keep the request open", async (_title, answer, status, reportedStatus) => {
  const { send, reported } = await fixture(answer, 100);
  expect(await statusOf(send())).toBe(status);
  expect(await reported).toMatchObject({ isSent: true, status: reportedStatus, isWhole: false });
});

test("a long answer arrives whole, and nothing is left behind by its pauses", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", note);
  closing.push(() => process.removeListener("warning", note));
  const bytes = 2_097_152;
  const { send, reported } = await fixture((_, to) => to.end(Buffer.alloc(bytes, "a")));
  const [response] = (await once(send(), "response")) as [IncomingMessage];
  let received = 0;
  for await (const piece of response as AsyncIterable<Buffer>) received += piece.length;
  expect(received).toBe(bytes);
  expect(await reported).toMatchObject({ status: 200, isWhole: true });
  expect(warnings).toEqual([]);
});
