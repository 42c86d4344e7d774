// Secrets in fetches: they reach the host they are bound to and no other, and responses are redacted.
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseUrl } from "../../src/core/authority/axes/url.ts";
import type { FetchSecret } from "../../src/core/ports/instruments.ts";
import { isBoundTo, refusesBoundHosts } from "../../src/sandbox/network/fetch/handles-binding.ts";
import { toAscii } from "../../src/sandbox/network/names/ascii.ts";
import { ownAddress } from "../broker/fixture.ts";
import { pause } from "../house/pause.ts";
import { FetchFixture, LIMITS } from "./fetch-fixture.ts";

const fixture = new FetchFixture();
const here = ownAddress(1);
const there = ownAddress(2);
const VALUE = 'tok"en/ß+1234567890';
let secure = 0;
let other = 0;
let plain = 0;
/** Every request that any server received: first line, headers, body. */
let sent: string[] = [];

/** Echoes the request in several encodings, or redirects. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://x");
  const pieces: Buffer[] = [];
  request.on("data", (bytes: Buffer) => pieces.push(bytes));
  request.on("end", () => {
    const lines = request.rawHeaders.map((one) => Buffer.from(one, "latin1").toString("utf8"));
    const whole = `${request.method} ${request.url}\n${lines.join("\n")}\n${Buffer.concat(pieces).toString("utf8")}`;
    sent.push(whole);
    const to = url.pathname === "/steal" ? "/next?stolen={{secret:token}}" : url.searchParams.get("to");
    if (to !== null) {
      response.writeHead(Number(url.searchParams.get("status") ?? 307), { Location: to }).end();
      return;
    }
    const bytes = Buffer.from(whole);
    const copies = [
      whole,
      bytes.toString("base64"),
      bytes.toString("hex"),
      encodeURIComponent(whole),
      JSON.stringify(whole),
    ];
    response.setHeader("X-Echo", Buffer.from(request.headers.authorization ?? "", "latin1").toString("base64"));
    response.setHeader("X-Plain", request.headers.authorization ?? "none");
    response.setHeader("Content-Encoding", "gzip");
    response.end(gzipSync(copies.join("\n--\n")));
  });
}

beforeAll(async () => {
  await fixture.start();
  secure = await fixture.https(here, serve);
  other = await fixture.https(there, serve);
  plain = await fixture.http(here, serve);
  fixture.names.names.set("api.example.test", [[here]]);
  fixture.names.names.set("other.example.test", [[there]]);
});

afterAll(() => fixture.stop());

const SPECS = ["net.get", "net.post"].flatMap((verb) => [
  `${verb}{hosts=[*.example.test],private=[*.example.test=${here},*.example.test=${there}]}`,
  `${verb}{hosts=[${here}]}`,
]);
const api = (path: string): string => `https://api.example.test:${secure}${path}`;
const bound = (...hosts: readonly string[]): readonly FetchSecret[] => [
  { name: "token", value: Buffer.from(VALUE), hosts, isSignOnly: false },
];
const forApi = (): readonly FetchSecret[] => bound(`api.example.test:${secure}`);
const AUTHORIZATION = [["Authorization", "Bearer {{secret:token}}"]] as const;

/** The text holds the value in none of these encodings. */
function expectNothingOf(text: string): void {
  const bytes = Buffer.from(VALUE);
  expect(text).not.toContain(VALUE);
  expect(text).not.toContain("1234567890");
  expect(text).not.toContain(bytes.toString("hex"));
  expect(text).not.toContain(encodeURIComponent(VALUE));
  expect(text).not.toContain(bytes.toString("base64").slice(3, -4));
}

describe("a secret sent to the host it is bound to", () => {
  test.each([
    ["a header", { headers: AUTHORIZATION }, `Bearer ${VALUE}`],
    ["the query", { url: "/page?key={{secret:token}}&x=1" }, `?key=${encodeURIComponent(VALUE)}&x=1`],
    ["the query, encoded", { url: "/page?key=%7B%7Bsecret:token%7d%7D" }, `?key=${encodeURIComponent(VALUE)}`],
    ["a plain body", { method: "POST" as const, body: "a {{secret:token}} b" }, `a ${VALUE} b`],
    [
      "a body of JSON",
      {
        method: "POST" as const,
        body: '{"key":"{{secret:token}}"}',
        headers: [["Content-Type", "application/json"]] as const,
      },
      JSON.stringify({ key: VALUE }),
    ],
    [
      "a form",
      {
        method: "POST" as const,
        body: "key={{secret:token}}&x=1",
        headers: [["content-type", "application/x-www-form-urlencoded"]] as const,
      },
      `key=${encodeURIComponent(VALUE)}&x=1`,
    ],
  ])("%s is filled in, and the response does not contain it", async (_, wish, expected) => {
    sent = [];
    const { url = "/", body = null, ...rest } = { url: "/", body: null, ...wish };
    const whole = await fixture.whole(SPECS, {
      ...rest,
      url: api(url),
      body: body === null ? null : Buffer.from(body),
      secrets: forApi(),
    });
    expect(whole.fetched).toMatchObject({ ok: true, status: 200, used: ["token"] });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toContain(expected);
    expect(whole.end).toEqual({ ok: true, seen: ["token"] });
    expect(whole.text).toContain("[REDACTED:token]");
    expectNothingOf(whole.all);
  });

  test("a redirect whose address contains the value does not reveal it", async () => {
    sent = [];
    const leak = await fixture.whole(SPECS, {
      url: api(`/?to=${encodeURIComponent("/leak?x=")}`),
      headers: AUTHORIZATION,
      secrets: forApi(),
    });
    expect(leak.fetched).toMatchObject({ ok: true });
    const port = await fixture.https(here, (_, response) => {
      response.writeHead(302, { Location: `/next?${encodeURIComponent(VALUE)}` }).end();
    });
    const loop = await fixture.whole(SPECS, {
      url: `https://api.example.test:${port}/`,
      headers: AUTHORIZATION,
      secrets: bound(`api.example.test:${port}`),
      limits: { ...LIMITS, redirects: 2 },
    });
    expectNothingOf(loop.all);
  });

  test("a value split across body chunks is redacted", async () => {
    const port = await fixture.https(here, async (_, response) => {
      for (const byte of Buffer.from(`<${VALUE}>`)) {
        response.write(Buffer.of(byte));
        await pause(2, "each byte arrives as a chunk of its own");
      }
      response.end();
    });
    const whole = await fixture.whole(SPECS, {
      url: `https://api.example.test:${port}/`,
      headers: AUTHORIZATION,
      secrets: bound(`api.example.test:${port}`),
    });
    expect(whole.text).toBe("<[REDACTED:token]>");
  });

  test("a truncated body does not reveal the beginning of a value", async () => {
    const port = await fixture.https(here, (_, response) => {
      response.writeHead(200, { "Content-Length": 100 });
      response.write(`<${VALUE.slice(0, -1)}`, () => response.destroy());
    });
    const whole = await fixture.whole(SPECS, {
      url: `https://api.example.test:${port}/`,
      headers: AUTHORIZATION,
      secrets: bound(`api.example.test:${port}`),
    });
    expect(whole.end).toMatchObject({ ok: false });
    expect(whole.text).toBe("<");
  });
});

describe("a secret sent anywhere else", () => {
  test.each<[string, () => { url: string; secrets: readonly FetchSecret[] }]>([
    ["another host", () => ({ url: `https://other.example.test:${other}/`, secrets: forApi() })],
    ["another port", () => ({ url: api("/"), secrets: bound("api.example.test") })],
    [
      "plain http to a host name",
      () => ({ url: `http://api.example.test:${plain}/`, secrets: bound(`api.example.test:${plain}`) }),
    ],
    ["a literal address in place of the name", () => ({ url: `https://${here}:${secure}/`, secrets: forApi() })],
    ["a subdomain of the bound host", () => ({ url: api("/"), secrets: bound(`example.test:${secure}`) })],
    ["a secret that is bound to no host", () => ({ url: api("/"), secrets: bound() })],
    ["a secret that was not given", () => ({ url: api("/"), secrets: [] })],
  ])("%s: refused without a connection", async (_, wish) => {
    sent = [];
    for (const place of [
      { headers: AUTHORIZATION },
      { method: "POST" as const, body: Buffer.from("{{secret:token}}") },
    ]) {
      const { fetched, asked, all } = await fixture.whole(SPECS, { ...wish(), ...place });
      expect(fetched).toMatchObject({ ok: false, code: "secret_refused" });
      expect(asked).toEqual([]);
      expectNothingOf(all);
    }
    expect(sent).toEqual([]);
  });

  test("plain http is allowed only to a bound loopback address", async () => {
    sent = [];
    const wish = { url: `http://${here}:${plain}/`, headers: AUTHORIZATION };
    const named = await fixture.whole(SPECS, { ...wish, secrets: bound(`${here}:${plain}`) });
    expect(named.fetched).toMatchObject({ ok: true, used: ["token"] });
    expect(sent[0]).toContain(VALUE);
    const next = await fixture.whole(SPECS, { ...wish, secrets: bound(`${there}:${plain}`) });
    expect(next.fetched).toMatchObject({ ok: false, code: "secret_refused" });
  });

  test.each([301, 302, 303, 307, 308])(
    "headers that held a secret are dropped when a redirect changes the origin (%i)",
    async (status) => {
      sent = [];
      const target = encodeURIComponent(`https://other.example.test:${other}/far`);
      const both = bound(`api.example.test:${secure}`, `other.example.test:${other}`);
      const whole = await fixture.whole(SPECS, {
        method: "POST",
        url: api(`/?status=${status}&to=${target}`),
        headers: [...AUTHORIZATION, ["X-Key", "{{secret:token}}"], ["X-Kept", "yes"]],
        body: Buffer.from("x {{secret:token}}"),
        secrets: both,
      });
      expect(whole.fetched).toMatchObject({ ok: true });
      expect(sent).toHaveLength(2);
      expect(sent[0]).toContain(VALUE);
      expect(sent[1]).toContain("X-Kept");
      expect(sent[1]).not.toMatch(/token|X-Key|authorization|secret/i);
      expectNothingOf(sent[1] ?? "");
    },
  );

  test("handles that a server writes into a redirect address are not filled in", async () => {
    sent = [];
    const { fetched } = await fixture.whole(SPECS, { url: api("/steal"), headers: AUTHORIZATION, secrets: forApi() });
    expect(fetched).toMatchObject({ ok: true });
    expect(sent.map((one) => one.split("\n")[0])).toEqual(["GET /steal", "GET /next?stolen={{secret:token}}"]);
    // The header is still filled in for this host.
    expect(sent[1]).toContain(VALUE);
  });

  test("a secret cannot be used in a path", async () => {
    const { fetched } = await fixture.whole(SPECS, { url: api("/a/{{secret:token}}/b"), secrets: forApi() });
    expect(fetched).toMatchObject({ ok: false, code: "invalid_input" });
  });

  test.each([
    ["with two lines, for a header", "first line\r\nX-Second: line", "secret_refused"],
    ["too short to be redacted", "1234567", "secret_refused"],
  ])("a value %s is refused", async (_, value, code) => {
    sent = [];
    const secrets = [
      { name: "token", value: Buffer.from(value), hosts: [`api.example.test:${secure}`], isSignOnly: false },
    ];
    const { fetched } = await fixture.whole(SPECS, { url: api("/"), headers: AUTHORIZATION, secrets });
    expect(fetched).toMatchObject({ ok: false, code });
    expect(sent).toEqual([]);
  });

  test("a secret is not sent if the request is not granted", async () => {
    sent = [];
    const { fetched } = await fixture.whole([], { url: api("/"), headers: AUTHORIZATION, secrets: forApi() });
    expect(fetched).toMatchObject({ ok: false, code: "capability_absent" });
    expect(sent).toEqual([]);
  });

  test("a name that resolves to another machine does not get the secret: the certificate must match the name", async () => {
    sent = [];
    fixture.names.names.set("api.wrong.test", [[here]]);
    const { fetched } = await fixture.whole([`net.get{hosts=[api.wrong.test],private=[api.wrong.test=${here}]}`], {
      url: `https://api.wrong.test:${secure}/`,
      headers: AUTHORIZATION,
      secrets: bound(`api.wrong.test:${secure}`),
    });
    expect(fetched).toMatchObject({ ok: false, code: "not_available" });
    expect(sent).toEqual([]);
  });
});

describe("host patterns a secret is bound to", () => {
  const ROWS: readonly (readonly [string, string, boolean])[] = [
    ["api.example.com", "https://api.example.com/x", true],
    ["api.example.com", "https://API.example.com:443/", true],
    ["api.example.com", "https://api.example.com:8443/", false],
    ["api.example.com", "http://api.example.com/", false],
    ["api.example.com", "https://www.api.example.com/", false],
    ["api.example.com", "https://api.example.com.evil.com/", false],
    ["api.example.com:8443", "https://api.example.com:8443/", true],
    ["api.example.com:8443", "https://api.example.com/", false],
    ["*.example.com", "https://api.example.com/", true],
    ["*.example.com", "https://example.com/", true],
    ["+.example.com", "https://example.com/", false],
    ["*.example.com", "https://badexample.com/", false],
    ["127.0.0.1:8080", "http://127.0.0.1:8080/", true],
    ["127.0.0.1", "http://127.0.0.1/", true],
    ["127.0.0.1:8080", "http://127.0.0.1:8081/", false],
    ["[::1]:8080", "http://[::1]:8080/", true],
    ["10.0.0.1:8080", "http://10.0.0.1:8080/", false],
    ["10.0.0.1", "https://10.0.0.1/", true],
    ["*", "https://api.example.com/", false],
    ["127.0.0.0/8", "http://127.0.0.1/", false],
    ["localhost", "http://localhost/", false],
  ];

  test.each(ROWS)("%s and %s: %s", (host, address, expected) => {
    const url = parseUrl(address, toAscii);
    if (!url.ok) throw new Error(url.message);
    expect(isBoundTo([host], url.value)).toBe(expected);
  });

  test.each(["*", "10.0.0.0/8", "a b", "https://x.com", "x.com/path", "x.com:0", "x.com:70000", "", "x*.com"])(
    "%j is not a valid pattern",
    (host) => {
      expect(refusesBoundHosts([host])).not.toBe(null);
    },
  );

  test("host names, subdomain wildcards and single addresses are valid, with or without a port", () => {
    expect(refusesBoundHosts(["x.com", "*.x.com:8443", "+.x.com", "127.0.0.1:80", "[::1]:8080"])).toBe(null);
  });
});
