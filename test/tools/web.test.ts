// web_fetch: granted requests return what they should, and their nearest variants are refused; every server is real and on
// loopback.
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress } from "../broker/fixture.ts";
import { type Got, WebFixture } from "./web-fixture.ts";

const fixture = new WebFixture();
const here = ownAddress(1);
const there = ownAddress(2);
let plain = 0;
let secure = 0;
let other = 0;
const taken: string[] = [];

const PAGES: Readonly<Record<string, readonly [string | null, Buffer | string]>> = {
  "/page": ["text/html; charset=utf-8", "<html><body><p>héllo</p></body></html>"],
  "/latin": ["text/plain; charset=iso-8859-1", Buffer.from([0x68, 0xe9, 0x21])],
  "/windows": ['text/plain; charset="windows-1252"', Buffer.from([0x93, 0x78, 0x94])],
  "/sixteen": ["text/plain", Buffer.from([0xff, 0xfe, 0x68, 0x00, 0xe9, 0x00])],
  "/sixteen-big": ["text/plain; charset=utf-16be", Buffer.from([0x00, 0x68, 0x00, 0xe9])],
  "/in-page": ["text/html", Buffer.concat([Buffer.from('<meta charset="latin1"><p>'), Buffer.from([0xe9])])],
  "/nonsense": ["text/plain; charset=klingon", "plain"],
  "/json": ["application/json", '{"a":[1,2]}'],
  "/api+json": ["application/problem+json", "{}"],
  "/image": ["image/png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])],
  "/typeless": [null, "just text"],
  "/typeless-binary": [null, Buffer.from([1, 0, 2])],
  "/lying": ["text/plain", Buffer.from([0x50, 0x4b, 0, 0, 9])],
  "/odd-type": ["text/../../etc", "odd"],
  "/large": ["text/plain", "é".repeat(400_000)],
  "/huge": ["text/plain", Buffer.alloc(4_000_000, "x")],
  "/escapes": ["text/plain", Buffer.alloc(600_000, 1)],
};

function serve(request: IncomingMessage, response: ServerResponse): void {
  taken.push(`${request.method} ${request.headers.host}${request.url}`);
  const url = new URL(request.url ?? "/", "http://x");
  const [type, body] = PAGES[url.pathname] ?? [null, null];
  if (body !== null) {
    response.writeHead(200, type === null ? {} : { "Content-Type": type }).end(request.method === "HEAD" ? "" : body);
    return;
  }
  const to = url.searchParams.get("to");
  if (to !== null) response.writeHead(Number(url.searchParams.get("status") ?? 302), { Location: to }).end();
  else if (url.pathname === "/missing") response.writeHead(404, { "Content-Type": "text/plain" }).end("not here");
  else if (url.pathname === "/never") response.write("the beginning");
  else if (url.pathname === "/cut") {
    response.writeHead(200, { "Content-Length": "100", "Content-Type": "text/plain" });
    response.write("half");
    setTimeout(() => response.destroy(), 50);
  } else {
    const pieces: Buffer[] = [];
    request.on("data", (bytes: Buffer) => pieces.push(bytes));
    request.on("end", () => {
      const { method, headers } = request;
      response.setHeader("Content-Type", "text/plain");
      response.end(JSON.stringify({ method, url: request.url, headers, body: Buffer.concat(pieces).toString() }));
    });
  }
}

beforeAll(async () => {
  await fixture.start();
  plain = await fixture.http(here, serve);
  secure = await fixture.https(here, serve);
  other = await fixture.https(there, serve);
  fixture.names.names.set("api.example.test", [[here]]);
  fixture.names.names.set("other.example.test", [[there]]);
});
beforeEach(() => {
  for (const list of [taken, fixture.used, fixture.probed]) list.length = 0;
  fixture.secrets.clear();
  fixture.known = [];
});
afterAll(() => fixture.stop());

const open = (verb: string): string =>
  `${verb}{hosts=[*.example.test,${here}],private=[*.example.test=${here},*.example.test=${there}]}`;
const ALL = ["net.get", "net.post", "net.put", "net.delete"].map(open);
const api = (path: string): string => `https://api.example.test:${secure}${path}`;
const get = (path: string, more: object = {}): Promise<Got> => fixture.web({ specs: ALL }, { url: api(path), ...more });
const textOf = ({ value }: Got): string => String(value["text"]);
const sentOf = (got: Got): { method: string; headers: Record<string, string>; body: string; url: string } =>
  JSON.parse(textOf(got));

describe("the result", () => {
  test("has the final URL, the content type, and as much as was read", async () => {
    const got = await get("/page");
    expect(got.value).toEqual({
      status: 200,
      url: api("/page"),
      hops: 0,
      contentType: "text/html",
      text: "<html><body><p>héllo</p></body></html>",
      more: false,
      bytes: 39,
      pending: { kind: "html", format: "markdown" },
    });
    expect(got.session.isClean).toBe(false);
  });

  test.each([
    ["/latin", "hé!"],
    ["/windows", "“x”"],
    ["/sixteen", "hé"],
    ["/sixteen-big", "hé"],
    ["/in-page", '<meta charset="latin1"><p>é'],
    ["/nonsense", "plain"],
    ["/typeless", "just text"],
    ["/odd-type", "odd"],
  ])("%s is decoded as declared", async (path, text) => {
    expect(textOf(await get(path, { format: "raw" }))).toBe(text);
  });

  test.each([
    ["/json", { kind: "json", format: "text" }, "text"],
    ["/api+json", { kind: "json", format: "markdown" }, "markdown"],
    ["/page", undefined, "raw"],
    ["/latin", undefined, "markdown"],
  ])("%s is left to the display: %j", async (path, pending, format) => {
    expect((await get(path, { format })).value["pending"]).toEqual(pending);
  });

  test.each([
    ["/image", "image/png, 7 bytes"],
    ["/typeless-binary", "of unknown type, 3 bytes"],
    ["/lying", "text/plain, 5 bytes"],
  ])("%s is refused with its type and size", async (path, words) => {
    const got = await get(path);
    expect(got).toMatchObject({ said: "not_available", by: "world" });
    expect(got.message).toContain(words);
    expect(got.session.isClean).toBe(false);
  });

  test("a server error is a result, and HEAD returns the headers only", async () => {
    expect((await get("/missing")).value).toMatchObject({ status: 404, text: "not here" });
    expect((await get("/page", { method: "HEAD" })).value).toMatchObject({ status: 200, text: "", bytes: 0 });
  });

  test("no more than requested is read, and no character is split", async () => {
    const got = await get("/large", { bytesMax: 1001 });
    expect(got.value).toMatchObject({ more: true, bytes: 1001, text: "é".repeat(500) });
    expect((await get("/large", { bytesMax: 800_000 })).value).toMatchObject({ more: false, bytes: 800_000 });
    const huge = await get("/huge", { bytesMax: 2_097_152 });
    expect(huge.value).toMatchObject({ more: true });
    expect(textOf(huge).length).toBe(900_000);
  });

  test("a body that would not fit into a response is truncated to what fits", async () => {
    const got = await get("/escapes", { bytesMax: 600_000 });
    expect(got.value).toMatchObject({ more: true, bytes: 600_000 });
    expect(JSON.stringify(got.value).length).toBeLessThan(1_000_000);
  });

  test.each([
    ["a body that does not end in time", "/never", { milliseconds: 300 }, "300 milliseconds"],
    ["a truncated body", "/cut", {}, ""],
  ])("%s is not shown as complete", async (_, path, more, words) => {
    const got = await get(path, more);
    expect(got).toMatchObject({ said: "not_available", by: "world", value: {} });
    expect(got.message).toContain(words);
  });
});

describe("the request", () => {
  test.each([
    ["GET", "net.get", undefined],
    ["HEAD", "net.get", undefined],
    ["POST", "net.post", "x"],
    ["PUT", "net.put", "x"],
    ["PATCH", "net.put", "x"],
    ["DELETE", "net.delete", undefined],
  ])("%s needs %s, and no other verb covers it", async (method, verb, body) => {
    const input = { url: api("/echo"), method, ...(body === undefined ? {} : { body }) };
    expect(await fixture.web({ specs: [open(verb)] }, input)).toMatchObject({ said: "done" });
    const before = taken.length;
    const others = ["net.get", "net.post", "net.put", "net.delete"].filter((one) => one !== verb).map(open);
    expect(await fixture.web({ specs: others }, input)).toMatchObject({ said: "capability_absent", by: "gate" });
    expect(taken.length).toBe(before);
  });

  test.each([
    ["a method that cannot be granted", { method: "TRACE" }],
    ["a method in lower case", { method: "get" }],
    ["a body with GET", { body: "x" }],
    ["a hop-by-hop header", { headers: { Host: "elsewhere" } }],
    ["a header with a line break", { headers: { "X-A": "b\r\nX-C: d" } }],
    ["a header that is not text", { headers: { "X-A": 1 } }],
    ["too many headers", { headers: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`x-${at}`, ""])) }],
    ["an unknown format", { format: "pdf" }],
    ["an invalid size", { bytesMax: 0 }],
    ["a time limit above the maximum", { milliseconds: 300_001 }],
    ["an unknown argument", { follow: true }],
    ["a URL with a password", { url: "https://a:b@api.example.test/" }],
    ["an invalid URL", { url: "file:///etc/passwd" }],
    ["a secret in the path", { url: "https://api.example.test/{{secret:token}}" }],
  ])("%s is refused before anything is decided", async (_, more) => {
    expect(await get("/echo", more)).toMatchObject({ said: "invalid_input", by: "gate" });
    expect(taken).toEqual([]);
  });

  test("headers and body are sent as written", async () => {
    const sent = sentOf(await get("/echo?q=1", { method: "POST", headers: { "X-Mine": "yes" }, body: "naïve" }));
    expect(sent).toMatchObject({ method: "POST", url: "/echo?q=1", body: "naïve", headers: { "x-mine": "yes" } });
  });
});

describe("a redirect", () => {
  const to = (address: string, status = 302): string => `/r?status=${status}&to=${encodeURIComponent(address)}`;

  test("is followed to its end, and counted", async () => {
    const got = await get(to(`https://other.example.test:${other}/page`));
    expect(got.value).toMatchObject({ url: `https://other.example.test:${other}/page`, hops: 1, status: 200 });
  });

  test.each([
    ["to a host that is not granted", "https://elsewhere.test/", "scope_violation"],
    ["to a loopback address", "https://127.0.0.1/", "scope_violation"],
    ["from https to http", "http://api.example.test/", "scope_violation"],
    ["to a URL that is not http", "file:///etc/passwd", "scope_violation"],
  ])("%s is a denial without a connection", async (_, address, code) => {
    const got = await get(to(address));
    expect(got).toMatchObject({ said: code, by: "way" });
    expect(taken.length).toBe(1);
  });

  test("to a host that is not granted reports its need, and taints the session: the server chose those words", async () => {
    const got = await get(to("https://elsewhere.test/"));
    expect(got.need).toBe("net.get https://elsewhere.test/");
    expect(got.session.isClean).toBe(false);
  });

  test("is decided by the current grants, not by those at the start", async () => {
    const held = { specs: ALL };
    const moved = fixture.raw(here, (socket) => {
      socket.once("data", () => {
        held.specs = [open("net.post")];
        socket.end(`HTTP/1.1 302 Found\r\nLocation: http://${here}:${plain}/page\r\nContent-Length: 0\r\n\r\n`);
      });
    });
    const got = await fixture.web(held, { url: `http://${here}:${await moved}/` });
    expect(got).toMatchObject({ said: "capability_absent", by: "way" });
    expect(taken).toEqual([]);
  });

  test("is not covered by a counted grant, since it is not charged; the first request is", async () => {
    const counted = `net.get{hosts=[${here}],calls=1}`;
    const url = `http://${here}:${plain}`;
    // The call itself used the last of the budget.
    const exhausted = (_: string, grant: number): boolean => grant === 0;
    expect(await fixture.web({ specs: [counted], exhausted }, { url: `${url}/page` })).toMatchObject({ said: "done" });
    const got = await fixture.web({ specs: [counted] }, { url: `${url}${to("/page")}` });
    expect(got).toMatchObject({ said: "budget_exhausted", by: "way" });
    const both = { specs: [counted, `net.get{hosts=[${here}]}`] };
    expect(await fixture.web(both, { url: `${url}${to("/page")}` })).toMatchObject({ said: "done" });
  });

  test("under a grant that needs approval stays on the approved host", async () => {
    const asking = [`net.get{hosts=[${here}],ask=true}`, `net.get{hosts=[${there}],ask=true}`];
    const url = `http://${here}:${plain}`;
    expect(await fixture.web({ specs: asking }, { url: `${url}${to("/page")}` })).toMatchObject({ said: "done" });
    const got = await fixture.web({ specs: asking }, { url: `${url}${to(`http://${there}:${plain}/`)}` });
    expect(got).toMatchObject({ said: "approval_required", by: "way" });
  });

  test("is followed at most four times", async () => {
    const chain = (many: number): string => (many === 0 ? "/page" : to(chain(many - 1)));
    expect((await get(chain(4))).value).toMatchObject({ hops: 4 });
    expect(await get(chain(5))).toMatchObject({ said: "budget_exhausted", by: "way" });
  });

  test("that turns a POST into a GET needs a grant for GET, too", async () => {
    const input = { url: api(to("/page", 303)), method: "POST", body: "x" };
    expect(await fixture.web({ specs: [open("net.post")] }, input)).toMatchObject({
      said: "capability_absent",
      by: "way",
    });
    expect(await fixture.web({ specs: ALL }, input)).toMatchObject({ said: "done" });
  });
});

describe("a host name that resolves", () => {
  test.each([
    ["to a loopback address", ["127.0.0.1"]],
    ["to the cloud metadata address", ["169.254.169.254"]],
    ["to a permitted and a private address", [here, "10.0.0.1"]],
  ])("%s is a denial without a connection", async (_, addresses) => {
    fixture.names.names.set("odd.example.test", [addresses]);
    const got = await fixture.web({ specs: ALL }, { url: `https://odd.example.test:${secure}/` });
    expect(got).toMatchObject({ said: "address_refused", by: "way" });
    expect(taken).toEqual([]);
  });

  test("to nothing is not a denial: the tool fails, and says why", async () => {
    fixture.names.names.set("odd.example.test", [[]]);
    const got = await fixture.web({ specs: ALL }, { url: `https://odd.example.test:${secure}/` });
    expect(got).toMatchObject({ said: "not_available", by: "world", need: null });
    expect(got.message).toBe(`the name could not be resolved: https://odd.example.test:${secure}`);
    expect(taken).toEqual([]);
  });

  test("to nothing after a redirect is not a denial either", async () => {
    fixture.names.names.set("odd.example.test", [[]]);
    const got = await get(`/r?status=302&to=${encodeURIComponent(`https://odd.example.test:${secure}/`)}`);
    expect(got).toMatchObject({ said: "not_available", by: "world" });
  });
});

describe("a session that is closed", () => {
  test("ends its fetches", async () => {
    const session = fixture.session();
    const running = fixture.web({ specs: ALL, session }, { url: api("/never") });
    await expect.poll(() => taken.length, { timeout: 60_000 }).toBe(1);
    session.close();
    expect(await running).toMatchObject({ said: "not_available", by: "world", message: "the request was cancelled" });
    expect(session.running.size).toBe(0);
  });
});
