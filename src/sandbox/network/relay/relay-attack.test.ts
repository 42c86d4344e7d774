// A hostile client behind the relay, over real sockets. Whatever it sends: the provider is asked only for the model that the
// daemon decided on, with our credential and none of the client's, and the credential never comes back.
import { once } from "node:events";
import http, { type IncomingHttpHeaders } from "node:http";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { ModelRelay, type RelayedCall } from "./relay.ts";
import { ByteBudget } from "./relay-body.ts";

const KEY = 'sk-relay/"key"+0123456789abcdef';

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

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Fixture {
  /** What the provider was sent. */
  readonly seen: readonly Seen[];
  /** What the daemon was asked. */
  readonly asked: readonly RelayedCall[];
  /** Writes bytes to the relay, and gives all that comes back. */
  send(bytes: string | Buffer): Promise<string>;
}

const PLAIN: http.RequestListener = (_request, response) => response.end("{}");

async function fixture(answer: http.RequestListener = PLAIN): Promise<Fixture> {
  const [seen, asked]: [Seen[], RelayedCall[]] = [[], []];
  const provider = http.createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
    answer(request, response);
  });
  const upstream = await listening(provider);
  const relay = new ModelRelay({
    resolve: async () => [],
    stop: new AbortController().signal,
    now: () => 0,
    ask: async (call) => {
      asked.push(call);
      const value = Buffer.from(KEY).toString("base64");
      return {
        ...{ kind: "model-answer", number: 1, code: null, message: "", outputTokens: null },
        upstream: { url: `http://127.0.0.1:${upstream}`, header: "x-api-key", prefix: "", value, keepsPrompt: false },
      };
    },
    report: () => undefined,
    refused: () => undefined,
    door: async () => null,
    bodies: new ByteBudget(1_048_576),
  });
  const port = await listening(net.createServer({ pauseOnConnect: true }, (socket) => void relay.accept(socket)));
  const send = (bytes: string | Buffer): Promise<string> =>
    new Promise((give) => {
      const socket = net.connect(port, "127.0.0.1");
      const pieces: Buffer[] = [];
      socket.on("data", (piece: Buffer) => pieces.push(piece));
      socket.on("error", () => undefined);
      socket.once("close", () => give(Buffer.concat(pieces).toString("latin1")));
      socket.write(bytes);
      // A relay that waits for more gets nothing.
      socket.setTimeout(2_000, () => socket.destroy());
    });
  return { seen, asked, send };
}

const BODY = '{"model":"m","max_tokens":1,"messages":[]}';
const TARGET = "/anthropic/v1/messages";

function request(
  body: string | Buffer = BODY,
  lines: readonly string[] = [],
  line = `POST ${TARGET} HTTP/1.1`,
): Buffer {
  const head = [line, "Host: relay", "Connection: close", `Content-Length: ${Buffer.byteLength(body)}`, ...lines];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

test("an ordinary request passes", async () => {
  const { seen, send } = await fixture();
  expect(await send(request())).toMatch(/^HTTP\/1\.1 200 /);
  expect(seen).toMatchObject([{ method: "POST", url: "/v1/messages", body: BODY, headers: { "x-api-key": KEY } }]);
});

test("a request that grows when it is serialised reserves what is sent", async () => {
  const { seen, asked, send } = await fixture();
  const numbers = Array.from({ length: 1_000 }, () => "1e20").join(",");
  await send(request(`{"model":"m","max_tokens":1,"messages":[],"metadata":[${numbers}]}`));
  expect(seen[0]?.body.length).toBeGreaterThan(20_000);
  expect(asked[0]?.inputTokens).toBe(seen[0]?.body.length);
});

test.each<[string, string]>([
  ["a whole address", "POST http://evil.test/anthropic/v1/messages HTTP/1.1"],
  ["two slashes", "POST //anthropic/v1/messages HTTP/1.1"],
  ["a name in upper case", "POST /ANTHROPIC/v1/messages HTTP/1.1"],
  ["another provider", "POST /evil/v1/messages HTTP/1.1"],
  ["a climb", "POST /anthropic/v1/messages/../files HTTP/1.1"],
  ["a climb to the other provider", "POST /anthropic/../openai/v1/responses HTTP/1.1"],
  ["an escaped climb", "POST /anthropic/v1/messages/%2e%2e/files HTTP/1.1"],
  ["an escaped letter", "POST /anthropic/v1/message%73 HTTP/1.1"],
  ["an escaped slash", "POST /anthropic/v1%2fmessages HTTP/1.1"],
  ["a backslash", "POST /anthropic/v1\\messages HTTP/1.1"],
  ["a parameter", "POST /anthropic/v1/messages;a=b HTTP/1.1"],
  ["a slash at the end", "POST /anthropic/v1/messages/ HTTP/1.1"],
  ["a fragment", "POST /anthropic/v1/messages#x HTTP/1.1"],
  ["a login", "POST @evil.test/anthropic/v1/messages HTTP/1.1"],
  ["GET", `GET ${TARGET} HTTP/1.1`],
  ["PUT", `PUT ${TARGET} HTTP/1.1`],
  ["DELETE", `DELETE ${TARGET} HTTP/1.1`],
  ["TRACE", `TRACE ${TARGET} HTTP/1.1`],
  ["CONNECT", "CONNECT evil.test:443 HTTP/1.1"],
  ["files", "POST /anthropic/v1/files HTTP/1.1"],
  ["batches", "POST /anthropic/v1/messages/batches HTTP/1.1"],
  ["files of OpenAI", "POST /openai/v1/files HTTP/1.1"],
  ["batches of OpenAI", "POST /openai/v1/batches HTTP/1.1"],
  ["conversations", "POST /openai/v1/conversations HTTP/1.1"],
  ["a stored answer", "GET /openai/v1/responses/resp_1 HTTP/1.1"],
  ["realtime", "GET /openai/v1/realtime HTTP/1.1"],
  ["caches of Gemini", "POST /gemini/v1beta/cachedContents HTTP/1.1"],
  ["files of Gemini", "POST /gemini/upload/v1beta/files HTTP/1.1"],
  ["a model of Gemini that climbs", "POST /gemini/v1beta/models/../files:generateContent HTTP/1.1"],
  ["a batch of Gemini", "POST /gemini/v1beta/models/m:batchGenerateContent HTTP/1.1"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0"],
])("no request reaches the provider: %s", async (_title, line) => {
  const { seen, asked, send } = await fixture();
  expect(await send(request(BODY, [], line))).not.toMatch(/^HTTP\/1\.1 2/);
  expect([seen, asked]).toEqual([[], []]);
});

test.each<[string, readonly string[]]>([
  ["a WebSocket", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"]],
  ["HTTP/2", ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABk"]],
  ["two lengths", ["Content-Length: 5"]],
  ["a length and pieces", ["Transfer-Encoding: chunked"]],
  ["a header name with a space", ["X-Api-Key : own"]],
  ["a header without a name", [": own"]],
  ["a compressed body", ["Content-Encoding: gzip"]],
  ["a body compressed twice", ["Content-Encoding: identity, gzip"]],
  ["another media type", ["Content-Type: multipart/form-data; boundary=x"]],
  ["another character set", ["Content-Type: application/json; charset=utf-16"]],
  ["too many bytes of headers", [`X-Long: ${"x".repeat(40_000)}`]],
])("no request reaches the provider with %s", async (_title, lines) => {
  const { seen, asked, send } = await fixture();
  expect(await send(request(BODY, lines))).not.toMatch(/^HTTP\/1\.1 [12]/);
  expect([seen, asked]).toEqual([[], []]);
});

test("credentials, addresses and encodings of the client stay behind", async () => {
  const { seen, send } = await fixture();
  const lines = [
    ...[
      "X-Api-Key: own",
      "Authorization: Bearer own",
      "Cookie: own=1",
      "Proxy-Authorization: own",
      "X-Goog-Api-Key: own",
    ],
    ...["X-Forwarded-Host: own", "X-Original-URL: /own", "X-HTTP-Method-Override: DELETE", "Accept-Encoding: gzip"],
    ...["OpenAI-Organization: own", "Anthropic-Beta: one", "anthropic-beta: two", "User-Agent: client"],
  ];
  expect(await send(request(BODY, lines, `POST ${TARGET}?beta=true&key=own&alt=own HTTP/1.1`))).toMatch(
    /^HTTP\/1\.1 200/,
  );
  const { url, headers } = seen[0] as Seen;
  expect(url).toBe("/v1/messages?beta=true");
  expect(headers["x-api-key"]).toBe(KEY);
  expect(headers["accept-encoding"]).toBe("identity");
  expect(JSON.stringify({ ...headers, "x-api-key": "" })).not.toContain("own");
});

test.each<[string, string | Buffer]>([
  ["a model twice", '{"model":"m","model":"other","max_tokens":1,"messages":[]}'],
  ["an escaped key", '{"model":"m","mod\\u0065l":"other","max_tokens":1,"messages":[]}'],
  ["an escaped name", '{"model":"\\u006fther","max_tokens":1,"messages":[]}'],
])("%s: the provider is asked for the model that was decided", async (_title, body) => {
  const { seen, asked, send } = await fixture();
  await send(request(body));
  expect(asked).toMatchObject([{ model: "other" }]);
  expect(seen.map((one) => one.body)).toEqual(['{"model":"other","max_tokens":1,"messages":[]}']);
});

test.each<[string, string | Buffer]>([
  ["a byte order mark", `\uFEFF${BODY}`],
  ["UTF-16", Buffer.from(BODY, "utf16le")],
  ["a compressed body without its header", gzipSync(BODY)],
  ["two values", `${BODY}${BODY}`],
  ["a comment", `/* */${BODY}`],
  ["a list", `[${BODY}]`],
  ["a text", JSON.stringify(BODY)],
  ["nothing", ""],
  ["a prototype", `{"__proto__":{"model":"m"},${BODY.slice(1)}`],
  ["a model in upper case", BODY.replace('"model"', '"Model"')],
  ["a model that is a list", BODY.replace('"m"', '["m"]')],
  ["a model with a line end", BODY.replace('"m"', '"m\\n"')],
  ["a model with a NUL", BODY.replace('"m"', '"m\\u0000"')],
  ["a model that looks alike", BODY.replace('"m"', '"\u043c"')],
  ["a maximum that is a text", BODY.replace('"max_tokens":1', '"max_tokens":"1"')],
])("no request reaches the provider: a body with %s", async (_title, body) => {
  const { seen, asked, send } = await fixture();
  expect(await send(request(body))).not.toMatch(/^HTTP\/1\.1 2/);
  expect([seen, asked]).toEqual([[], []]);
});

const SPELLINGS: readonly (readonly [string, string])[] = [
  ["as it is", KEY],
  ["in JSON", JSON.stringify(KEY).slice(1, -1)],
  ["in Base64", Buffer.from(KEY).toString("base64")],
  ["in hexadecimal", Buffer.from(KEY).toString("hex")],
  ["for an address", encodeURIComponent(KEY)],
];

test.each(SPELLINGS)(
  "the key does not come back %s, whole or in pieces, in an answer or an error",
  async (_title, text) => {
    for (const status of [200, 400, 500]) {
      const { send } = await fixture((_request, response) => {
        response.writeHead(status, { "content-type": "application/json", "x-own": KEY });
        for (const letter of `{"error":{"message":"wrong key ${text}"}}`) response.write(letter);
        response.end();
      });
      const answer = await send(request());
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toContain("wrong key");
      expect(unchunked(answer)).not.toContain(text);
    }
  },
);

test("the key does not come back in a header, a trailer or the reason of a status", async () => {
  const { send } = await fixture((_request, response) => {
    const value = "sk-relay";
    response.writeHead(401, `no ${value}`, { "request-id": `${KEY}`, "x-api-key": KEY, trailer: "x-key" });
    response.write("{}");
    response.addTrailers({ "x-key": KEY });
    response.end();
  });
  const answer = await send(request());
  expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized/);
  expect(answer).not.toContain(KEY);
});

/** The body of an answer in chunks. */
function unchunked(answer: string): string {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  return `${body} ${body.replace(/(^|\r\n)[0-9a-f]+\r\n/g, "")}`;
}
