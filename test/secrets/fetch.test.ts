// HTTP for our own tools, sent by a real broker process to real servers: granted requests succeed and their nearest variants are
// refused.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import zlib from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../broker/fixture.ts";
import { FetchFixture, LIMITS } from "./fetch-fixture.ts";

const fixture = new FetchFixture();
const here = ownAddress(1);
const there = ownAddress(2);
let secure = 0;
let plain = 0;
let other = 0;
/** Requests that reached any server: method, host, path. */
const taken: string[] = [];

/** Echoes the request, or responds as its path says. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  taken.push(`${request.method} ${request.headers.host}${request.url}`);
  const url = new URL(request.url ?? "/", "http://x");
  const pieces: Buffer[] = [];
  request.on("data", (bytes: Buffer) => pieces.push(bytes));
  request.on("end", () => {
    const body = Buffer.concat(pieces);
    const to = url.searchParams.get("to");
    if (to !== null) {
      response.writeHead(Number(url.searchParams.get("status") ?? 302), { Location: to }).end("moved");
      return;
    }
    if (url.pathname === "/coded") return coded(url.searchParams.get("as") ?? "", response);
    if (url.pathname === "/large") {
      response.end(Buffer.alloc(Number(url.searchParams.get("bytes")), "large "));
      return;
    }
    if (url.pathname === "/empty") {
      response
        .writeHead(Number(url.searchParams.get("status")), { "Content-Encoding": "gzip", "Content-Length": 0 })
        .end();
      return;
    }
    if (url.pathname === "/never") {
      response.write("the beginning");
      return;
    }
    const seen = { method: request.method, url: request.url, headers: request.headers, body: body.toString("latin1") };
    response.setHeader("X-Seen", request.headers.authorization ?? "none");
    response.end(JSON.stringify(seen));
  });
}

function coded(as: string, response: ServerResponse): void {
  const text = Buffer.from("plain text ".repeat(100));
  const coders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    gzip: zlib.gzipSync,
    deflate: zlib.deflateSync,
    br: zlib.brotliCompressSync,
  };
  const bytes = as.split(",").reduce<Buffer>((before, one) => coders[one.trim()]?.(before) ?? before, text);
  response.writeHead(200, { "Content-Encoding": as, "Content-Length": bytes.length }).end(bytes);
}

beforeAll(async () => {
  await fixture.start();
  secure = await fixture.https(here, serve);
  plain = await fixture.http(here, serve);
  other = await fixture.https(there, serve);
  fixture.names.names.set("api.example.test", [[here]]);
  fixture.names.names.set("other.example.test", [[there]]);
});

afterAll(() => fixture.stop());

const open = (verb: string): string =>
  `${verb}{hosts=[*.example.test],private=[*.example.test=${here},*.example.test=${there}]}`;
const ALL = ["net.get", "net.post", "net.put", "net.delete"].map(open);
const api = (path: string): string => `https://api.example.test:${secure}${path}`;
const seenBy = (text: string): { method: string; url: string; headers: Record<string, string>; body: string } =>
  JSON.parse(text);

test("fetches a page over TLS with its headers and body from the address that was decided", async () => {
  const { fetched, text, end, asked } = await fixture.whole(ALL, {
    url: api("/page?x=1"),
    headers: [["X-Mine", "yes"]],
  });
  expect(fetched).toMatchObject({ ok: true, status: 200, url: api("/page?x=1"), used: [] });
  expect(end).toEqual({ ok: true, seen: [] });
  expect(seenBy(text)).toMatchObject({
    method: "GET",
    url: "/page?x=1",
    headers: { host: `api.example.test:${secure}`, "x-mine": "yes" },
  });
  expect(asked).toEqual([
    `net.get https://api.example.test:${secure}/`,
    `net.get https://api.example.test:${secure}/ address=${here}`,
  ]);
});

test.each([
  ["GET", "net.get"],
  ["HEAD", "net.get"],
  ["OPTIONS", "net.get"],
  ["POST", "net.post"],
  ["PUT", "net.put"],
  ["PATCH", "net.put"],
  ["DELETE", "net.delete"],
] as const)("%s needs %s, and no other verb covers it", async (method, verb) => {
  const allowed = await fixture.whole([open(verb)], { url: api("/"), method });
  expect(allowed.fetched).toMatchObject({ ok: true, status: 200 });
  const before = taken.length;
  const others = ["net.get", "net.post", "net.put", "net.delete"].filter((one) => one !== verb).map(open);
  const denied = await fixture.whole(others, { url: api("/"), method });
  expect(denied.fetched).toMatchObject({ ok: false, code: "capability_absent" });
  expect(taken.length).toBe(before);
});

test("the whole request body is sent", async () => {
  const body = Buffer.alloc(3_000_000, "0123456789");
  const { text } = await fixture.whole(ALL, {
    url: api("/"),
    method: "POST",
    body,
    limits: { ...LIMITS, bodyBytes: 8_000_000 },
  });
  const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  expect(digest(Buffer.from(seenBy(text).body, "latin1"))).toBe(digest(body));
});

describe("name resolution", () => {
  test.each([
    ["no address", [], "not_available"],
    ["a loopback address", ["127.0.0.1"], "address_refused"],
    ["the cloud metadata address", ["169.254.169.254"], "address_refused"],
    ["a permitted and a private address", [here, "10.0.0.1"], "address_refused"],
  ])("a host name that resolves to %s is refused without a connection", async (_, addresses, code) => {
    fixture.names.names.set("odd.example.test", [addresses]);
    const before = taken.length;
    const { fetched } = await fixture.whole(ALL, { url: `https://odd.example.test:${secure}/` });
    expect(fetched).toMatchObject({ ok: false, code });
    expect(taken.length).toBe(before);
  });

  test("an unresolvable name is not a denial: the message says that it does not resolve", async () => {
    const { fetched } = await fixture.whole(ALL, { url: `http://gone.example.test:${plain}/x` });
    expect(fetched).toEqual({
      ok: false,
      code: "not_available",
      message: `the name could not be resolved: http://gone.example.test:${plain}`,
    });
  });

  test("the request to be decided shows the scheme of the URL", async () => {
    const { asked } = await fixture.whole(ALL, { url: `http://api.example.test:${plain}/` });
    expect(asked).toEqual([
      `net.get http://api.example.test:${plain}/`,
      `net.get http://api.example.test:${plain}/ address=${here}`,
    ]);
  });

  test("a host name that is not granted is not looked up", async () => {
    fixture.names.names.set("secret-data.elsewhere.test", [[here]]);
    const { fetched } = await fixture.whole(ALL, { url: `https://secret-data.elsewhere.test:${secure}/` });
    expect(fetched).toMatchObject({ ok: false, code: "scope_violation" });
    expect(fixture.names.asked.get("secret-data.elsewhere.test")).toBe(undefined);
  });

  test("each hop of a redirect is resolved once and its addresses are screened again", async () => {
    fixture.names.names.set("turning.example.test", [[here], ["127.0.0.1"]]);
    const url = `https://turning.example.test:${secure}`;
    const first = await fixture.whole(ALL, { url: `${url}/?to=${encodeURIComponent(`${url}/again`)}` });
    expect(first.fetched).toMatchObject({ ok: false, code: "address_refused" });
    expect(fixture.names.asked.get("turning.example.test")).toBe(2);
    expect(taken.at(-1)).toContain("turning.example.test");
  });

  test("a literal address needs a grant for that address", async () => {
    const url = `http://${here}:${plain}/`;
    expect((await fixture.whole(ALL, { url })).fetched).toMatchObject({ ok: false, code: "scope_violation" });
    expect((await fixture.whole([`net.get{hosts=[${here}]}`], { url })).fetched).toMatchObject({
      ok: true,
      status: 200,
    });
  });

  test("a certificate for another name is refused", async () => {
    fixture.names.names.set("api.wrong.test", [[here]]);
    const { fetched } = await fixture.whole([`net.get{hosts=[api.wrong.test],private=[api.wrong.test=${here}]}`], {
      url: `https://api.wrong.test:${secure}/`,
    });
    expect(fetched).toMatchObject({ ok: false, code: "not_available" });
    expect(fetched.ok ? "" : fetched.message).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  test("a fetch is refused when the owner's decision throws or needs approval", async () => {
    const broken = await fixture.whole(ALL, {
      url: api("/"),
      judge: () => {
        throw new Error("broken");
      },
    });
    expect(broken.fetched).toMatchObject({ ok: false, code: "not_available" });
    const asking = await fixture.whole([open("net.get").replace("}", ",ask}")], { url: api("/") });
    expect(asking.fetched).toMatchObject({ ok: false, code: "approval_required" });
  });
});

describe("redirects", () => {
  const to = (target: string, status = 302): string => api(`/?status=${status}&to=${encodeURIComponent(target)}`);

  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [307, "POST", "POST", "sent"],
    [308, "PUT", "PUT", "sent"],
    [301, "PUT", "PUT", "sent"],
  ] as const)("%i after %s becomes %s", async (status, method, then, body) => {
    const { fetched, text } = await fixture.whole(ALL, { url: to("/next", status), method, body: Buffer.from("sent") });
    expect(fetched).toMatchObject({ ok: true, status: 200, url: api("/next") });
    expect(seenBy(text)).toMatchObject({ method: then, url: "/next", body });
    if (fetched.ok)
      expect(fetched.hops.map((hop) => [hop.method, hop.status])).toEqual([
        [method, status],
        [then, 200],
      ]);
  });

  test("every hop is decided: the next host, and the verb the method has become", async () => {
    const refused = await fixture.whole(ALL, { url: to("https://elsewhere.test/") });
    expect(refused.fetched).toMatchObject({ ok: false, code: "scope_violation" });
    expect(refused.asked).toHaveLength(3);
    const changed = await fixture.whole([open("net.post")], { url: to("/next", 303), method: "POST" });
    expect(changed.fetched).toMatchObject({ ok: false, code: "capability_absent" });
  });

  test("Authorization and Cookie headers are dropped when the origin changes", async () => {
    const headers = [
      ["Authorization", "Bearer mine"],
      ["Cookie", "a=b"],
      ["X-Kept", "yes"],
    ] as const;
    const near = await fixture.whole(ALL, { url: to("/near"), headers });
    expect(seenBy(near.text).headers).toMatchObject({ authorization: "Bearer mine", cookie: "a=b", "x-kept": "yes" });
    const far = await fixture.whole(ALL, { url: to(`https://other.example.test:${other}/far`), headers });
    expect(seenBy(far.text).headers).toMatchObject({ "x-kept": "yes" });
    expect(Object.keys(seenBy(far.text).headers)).not.toContain("authorization");
    expect(Object.keys(seenBy(far.text).headers)).not.toContain("cookie");
    const back = await fixture.whole(ALL, {
      url: to(`https://other.example.test:${other}/?to=${encodeURIComponent(api("/back"))}`),
      headers,
    });
    expect(seenBy(back.text)).toMatchObject({ url: "/back" });
    expect(Object.keys(seenBy(back.text).headers)).not.toContain("authorization");
  });

  test.each([
    ["from https to http", () => `http://api.example.test:${plain}/`],
    ["to a file URL", () => "file:///etc/passwd"],
    ["to a URL with a password", () => `https://a:b@api.example.test:${secure}/`],
    ["to a URL that does not parse", () => "https://[::::]/"],
  ])("a redirect %s is refused", async (_, target) => {
    const before = taken.length;
    const { fetched } = await fixture.whole(ALL, { url: to(target()) });
    expect(fetched).toMatchObject({ ok: false, code: "scope_violation" });
    expect(taken.length).toBe(before + 1);
  });

  test("the number of redirects is limited; with none allowed the redirect response is returned", async () => {
    const loop = (count: number): string => (count === 0 ? "/last" : `/?to=${encodeURIComponent(loop(count - 1))}`);
    const limits = { ...LIMITS, redirects: 3 };
    expect((await fixture.whole(ALL, { url: api(loop(3)), limits })).fetched).toMatchObject({
      ok: true,
      url: api("/last"),
    });
    expect((await fixture.whole(ALL, { url: api(loop(4)), limits })).fetched).toMatchObject({
      ok: false,
      code: "budget_exhausted",
    });
    const none = await fixture.whole(ALL, { url: to("/next"), limits: { ...LIMITS, redirects: 0 } });
    expect(none.fetched).toMatchObject({ ok: true, status: 302 });
    expect(none.text).toBe("moved");
  });
});

describe("bodies", () => {
  test.each(["gzip", "deflate", "br", "gzip, br"])("%s is decoded", async (as) => {
    const { fetched, text } = await fixture.whole(ALL, { url: api(`/coded?as=${encodeURIComponent(as)}`) });
    expect(text).toBe("plain text ".repeat(100));
    if (fetched.ok) expect(fetched.headers.map(([name]) => name)).not.toContain("content-encoding");
  });

  test.each(["zstd", "gzip,gzip,gzip,gzip"])("the content encoding %s is not supported", async (as) => {
    const { fetched } = await fixture.whole(ALL, { url: api(`/coded?as=${encodeURIComponent(as)}`) });
    expect(fetched).toMatchObject({ ok: false, code: "not_available" });
  });

  test.each([200, 204, 304])("an empty body stays empty with any content encoding (%i)", async (status) => {
    const { fetched, text, end } = await fixture.whole(ALL, { url: api(`/empty?status=${status}`) });
    expect([fetched.ok && fetched.status, text, end?.ok]).toEqual([status, "", true]);
  });

  test("a body one byte over the limit is cut off with an error; a body at the limit is complete", async () => {
    const limits = { ...LIMITS, bodyBytes: 200_000 };
    const fits = await fixture.whole(ALL, { url: api("/large?bytes=200000"), limits });
    expect([fits.text.length, fits.end?.ok]).toEqual([200_000, true]);
    const large = await fixture.whole(ALL, { url: api("/large?bytes=200001"), limits });
    expect(large.end).toMatchObject({ ok: false, code: "budget_exhausted" });
    expect(large.text.length).toBeLessThanOrEqual(200_000);
  });

  test("an endless body is cut off", async () => {
    const { end } = await fixture.whole(ALL, { url: api("/never"), limits: { ...LIMITS, milliseconds: 1500 } });
    expect(end).toMatchObject({ ok: false, code: "not_available" });
    expect(end?.ok === false ? end.message : "").toContain("1500 milliseconds");
  });

  test("closing the body and cancelling the fetch both end it", async () => {
    const left = await fixture.fetch(ALL, { url: api("/never") });
    if (!left.ok) throw new Error(left.message);
    for await (const _ of left.body) break;
    expect(await left.end).toMatchObject({ ok: false, message: "the request was cancelled" });
    const stopping = new AbortController();
    const stopped = await fixture.fetch(ALL, { url: api("/never"), stop: stopping.signal });
    if (!stopped.ok) throw new Error(stopped.message);
    stopping.abort();
    expect(await stopped.end).toMatchObject({ ok: false, message: "the request was cancelled" });
    expect(await fixture.fetch(ALL, { url: api("/"), stop: AbortSignal.abort() })).toMatchObject({ ok: false });
  });

  test("a slow reader gets the whole body", async () => {
    const bytes = 3_000_000;
    const fetched = await fixture.fetch(ALL, {
      url: api(`/large?bytes=${bytes}`),
      limits: { ...LIMITS, bodyBytes: bytes },
    });
    if (!fetched.ok) throw new Error(fetched.message);
    let length = 0;
    for await (const piece of fetched.body) {
      length += piece.length;
      await new Promise((go) => setImmediate(go));
    }
    expect([length, await fetched.end]).toEqual([bytes, { ok: true, seen: [] }]);
  });
});

describe("hostile servers", () => {
  const bomb = zlib.gzipSync(Buffer.alloc(50_000_000));
  const ROWS: readonly (readonly [string, string | Buffer, string, RegExp])[] = [
    ["floods of headers", `HTTP/1.1 200 OK\r\n${"X-Long: y\r\n".repeat(20_000)}\r\n`, "budget_exhausted", /headers/],
    ["one endless header", `HTTP/1.1 200 OK\r\nX: ${"y".repeat(200_000)}`, "budget_exhausted", /headers/],
    ["a response that is not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", "not_available", /failed/],
    ["no response before the connection closes", "", "not_available", /./],
    [
      "invalid chunked encoding",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
      "not_available",
      /read/,
    ],
    ["a truncated body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "not_available", /./],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "not_available",
      /failed/,
    ],
    ["endless 1xx responses", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50), "not_available", /./],
    [
      "another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      "not_available",
      /./,
    ],
    [
      "a small body that decompresses to a large one",
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`),
        bomb,
      ]),
      "budget_exhausted",
      /more than/,
    ],
    [
      "invalid gzip",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
      "not_available",
      /Z_DATA_ERROR/,
    ],
  ];

  test.each(ROWS)("%s", async (_, bytes, code, message) => {
    const port = await fixture.raw(here, (socket) => {
      socket.once("data", () => socket.end(bytes));
    });
    const { fetched, end } = await fixture.whole([`net.get{hosts=[${here}]}`], { url: `http://${here}:${port}/` });
    const failure = fetched.ok ? end : fetched;
    expect(failure).toMatchObject({ ok: false, code });
    expect(failure?.ok === false ? failure.message : "").toMatch(message);
    // The broker keeps serving.
    expect((await fixture.whole(ALL, { url: api("/") })).fetched).toMatchObject({ ok: true });
  });

  test("a server that accepts and never responds is given up after the timeout", async () => {
    const port = await fixture.raw(here, () => undefined);
    const { fetched } = await fixture.whole([`net.get{hosts=[${here}]}`], {
      url: `http://${here}:${port}/`,
      limits: { ...LIMITS, milliseconds: 1000 },
    });
    expect(fetched).toMatchObject({ ok: false, code: "not_available" });
  });
});

describe("requests that are refused before any server is contacted", () => {
  test.each([
    ["a URL with a password", { url: "https://a:b@api.example.test/" }],
    ["an invalid URL", { url: "ftp://api.example.test/" }],
    ["a Host header from the caller", { url: "https://api.example.test/", headers: [["Host", "x"]] as const }],
    [
      "a Content-Length header from the caller",
      { url: "https://api.example.test/", headers: [["content-length", "3"]] as const },
    ],
    ["a header with two lines", { url: "https://api.example.test/", headers: [["X", "a\r\nb: c"]] as const }],
    ["a header without a name", { url: "https://api.example.test/", headers: [["", "x"]] as const }],
    ["a body with a method that has none", { url: "https://api.example.test/", body: Buffer.from("x") }],
    ["limits above the maximum", { url: "https://api.example.test/", limits: { ...LIMITS, redirects: 11 } }],
    [
      "a body above the maximum",
      { url: "https://api.example.test/", method: "POST" as const, body: Buffer.alloc(5_000_000) },
    ],
    ["an invalid method", { url: "https://api.example.test/", method: "CONNECT" as never }],
  ])("%s", async (_, wish) => {
    const { fetched, asked } = await fixture.whole(ALL, wish);
    expect(fetched).toMatchObject({ ok: false, code: "invalid_input" });
    expect(asked).toEqual([]);
    expect(fixture.client.pid).not.toBe(null);
  });
});

test("when the broker dies, its running fetches fail and the next fetch starts a new broker", async () => {
  const fetched = await fixture.fetch(ALL, { url: api("/never") });
  const pid = fixture.client.pid;
  if (!fetched.ok || pid === null) throw new Error("no fetch");
  process.kill(pid, "SIGKILL");
  expect(await fetched.end).toMatchObject({ ok: false, code: "not_available", message: "the broker has exited" });
  expect((await fixture.whole(ALL, { url: api("/") })).fetched).toMatchObject({ ok: true });
});
