// Fetching hop by hop: each is decided, resolved, screened and pinned, and nothing is revealed that the tool may not know.
import { describe, expect, test } from "vitest";
import { chain, grant, link } from "../../../test/forge/authority.ts";
import {
  judgeOf,
  openContext,
  registeredOf,
  toolOf,
  type World,
  warrantFor,
} from "../../../test/laws/context-world.ts";
import { redirectOf, urlText } from "../../core/authority/axes/redirect.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import type { Authority } from "../../core/authority/chain.ts";
import { addressText } from "../../core/base/address.ts";
import { utf8Bytes } from "../../core/base/bytes.ts";
import { methodVerb } from "../../core/notation/request/request.ts";
import type { HttpExchange, HttpResponse } from "../../core/ports/instruments.ts";
import { fetchVerb } from "./fetch-request.ts";

const ALL: Authority = [
  chain(
    link(
      "r",
      ["net.get", "net.post", "net.put", "net.delete", "secret.use"].map((verb) => grant(verb)),
    ),
  ),
];

async function opened(world: World, hosts: readonly string[] = ["*.example"], authority: Authority = ALL) {
  const tool = registeredOf(toolOf({ network: { allowedHosts: hosts }, secrets: ["API_KEY", "OTHER"] }));
  return openContext(await warrantFor(tool), tool, judgeOf(authority, tool), world);
}

function redirecting(...steps: readonly (readonly [number, string])[]): (asked: HttpExchange) => HttpResponse {
  let at = 0;
  return () => {
    const step = steps[at++];
    return step === undefined
      ? { status: 200, headers: [["Content-Type", "text/plain"]], body: utf8Bytes("done") }
      : { status: step[0], headers: [["Location", step[1]]], body: new Uint8Array() };
  };
}

describe("redirects", () => {
  test("are followed to the end, and the response has the final URL", async () => {
    const { context, seen } = await opened({
      respond: redirecting([302, "http://b.example/two"], [302, "http://c.example/three?q#f"]),
    });
    const answer = await context.net.fetch("http://a.example/one");
    if (!answer.ok) throw new Error(answer.code);
    expect(answer.value).toMatchObject({ status: 200, ok: true, redirected: true, url: "http://c.example/three?q#f" });
    expect(await answer.value.text()).toBe("done");
    expect(answer.value.headers.get("content-TYPE")).toBe("text/plain");
    expect(answer.value.headers.has("x")).toBe(false);
    expect(seen.done).toEqual([
      "GET http://a.example:80/one",
      "GET http://b.example:80/two",
      "GET http://c.example:80/three?q",
    ]);
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ["to the metadata address", "http://169.254.169.254/latest/meta-data/", "scope_violation"],
    ["to a private address", "http://10.0.0.5:6379/", "scope_violation"],
    ["to a host that is not declared", "http://evil.test/", "scope_violation"],
    ["to another scheme", "file:///etc/passwd", "invalid_input"],
    ["with a name and a password", "http://u:p@b.example/", "invalid_input"],
    ["with a backslash", "\\\\evil.test/x", "invalid_input"],
    ["into a script", "javascript:alert(1)", "invalid_input"],
  ];
  test.each(refused)("%s end there", async (_title, location, code) => {
    const { context, seen } = await opened({ respond: redirecting([302, location]) });
    expect(await context.net.fetch("http://a.example/")).toMatchObject({ ok: false, code });
    expect(seen.exchanges).toHaveLength(1);
  });

  test("from https to http end there, whatever the host; to https they continue", async () => {
    for (const location of ["http://a.example/two", "http://a.example:443/two", "http://b.example/"]) {
      const { context, seen } = await opened({ respond: redirecting([302, location]) });
      expect(await context.net.fetch("https://a.example/")).toMatchObject({ ok: false, code: "scope_violation" });
      expect(seen.exchanges).toHaveLength(1);
    }
    const { context } = await opened({ respond: redirecting([302, "https://b.example/"], [302, "/three"]) });
    expect(await context.net.fetch("http://a.example/")).toMatchObject({ ok: true });
  });

  test("are followed for five requests, and no more", async () => {
    const hop = [302, "http://a.example/again"] as const;
    const four = await opened({ respond: redirecting(hop, hop, hop, hop) });
    expect(await four.context.net.fetch("http://a.example/")).toMatchObject({ ok: true });
    const five = await opened({ respond: redirecting(hop, hop, hop, hop, hop) });
    expect(await five.context.net.fetch("http://a.example/")).toMatchObject({ ok: false, code: "not_available" });
    expect(five.seen.exchanges).toHaveLength(5);
  });

  test("are returned or refused on request", async () => {
    const manual = await opened({ respond: redirecting([302, "http://b.example/"]) });
    expect(await manual.context.net.fetch("http://a.example/", { redirect: "manual" })).toMatchObject({
      ok: true,
      value: { status: 302 },
    });
    const error = await opened({ respond: redirecting([302, "http://b.example/"]) });
    expect(await error.context.net.fetch("http://a.example/", { redirect: "error" })).toMatchObject({ ok: false });
  });

  test("to another origin lose the credentials; to the same one they keep them", async () => {
    const headers = {
      Authorization: "a",
      Cookie: "b",
      "Proxy-Authorization": "c",
      "X-Key": "{{secret:API_KEY}}",
      Accept: "d",
    };
    for (const [location, kept] of [
      ["http://a.example/two", ["accept", "authorization", "cookie", "proxy-authorization", "x-key"]],
      ["http://b.example/two", ["accept"]],
      ["https://a.example/two", ["accept"]],
      ["http://a.example:8080/two", ["accept"]],
    ] as const) {
      const { context, seen } = await opened({ respond: redirecting([307, location]) });
      expect(await context.net.fetch("http://a.example/", { headers })).toMatchObject({ ok: true });
      expect(seen.exchanges[1]?.headers.map(([name]) => name).sort()).toEqual(kept);
    }
  });

  test("turn a POST into a GET as the platform does, and need the grant for that", async () => {
    for (const [status, method, body] of [
      [301, "GET", null],
      [303, "GET", null],
      [307, "POST", "x"],
    ] as const) {
      const { context, seen } = await opened({ respond: redirecting([status, "/two"]) });
      const options = { method: "POST", body: "x", headers: { "content-type": "text/plain" } };
      expect(await context.net.fetch("http://a.example/", options)).toMatchObject({ ok: true });
      const second = seen.exchanges[1];
      expect(second).toMatchObject({ method, body: body === null ? null : utf8Bytes(body) });
      expect(second?.headers).toHaveLength(body === null ? 0 : 1);
    }
    const readOnly: Authority = [chain(link("r", [grant("net.post"), grant("secret.use")]))];
    const { context } = await opened({ respond: redirecting([303, "/two"]) }, undefined, readOnly);
    expect(await context.net.fetch("http://a.example/", { method: "POST" })).toMatchObject({
      ok: false,
      code: "capability_absent",
      verb: "net.get",
    });
  });
});

describe("the addresses of a host name", () => {
  const rows: readonly (readonly [string, readonly string[] | null, string | null])[] = [
    ["a public address", ["93.184.216.34"], null],
    ["several of them", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"], null],
    ["a private one among them", ["93.184.216.34", "10.0.0.1"], "address_refused"],
    ["this machine", ["127.0.0.1"], "address_refused"],
    ["the metadata address", ["169.254.169.254"], "address_refused"],
    ["nowhere", [], "not_available"],
    ["a failure", null, "not_available"],
    ["an invalid address", ["localhost"], "address_refused"],
    ["too many", new Array<string>(65).fill("93.184.216.34"), "address_refused"],
  ];
  test.each(rows)("%s", async (_title, answers, code) => {
    const { context, seen } = await opened({ answers: () => answers });
    const answer = await context.net.fetch("http://a.example/");
    expect(answer.ok ? null : answer.code).toBe(code);
    if (code === "not_available") expect(answer).toMatchObject({ message: "the name could not be resolved" });
    expect(seen.exchanges.map(({ addresses }) => addresses?.map(addressText))).toEqual(code === null ? [answers] : []);
  });

  test("are resolved again for every hop: a changed answer is refused", async () => {
    let asked = 0;
    const { context, seen } = await opened({
      answers: () => [asked++ === 0 ? "93.184.216.34" : "127.0.0.1"],
      respond: redirecting([302, "/again"]),
    });
    expect(await context.net.fetch("http://a.example/")).toMatchObject({ ok: false, code: "address_refused" });
    expect(seen.exchanges).toHaveLength(1);
  });
});

describe("secrets", () => {
  test("are filled in before sending and redacted from the response; the tool sees neither", async () => {
    const { context, seen } = await opened({
      respond: ({ headers }) => ({
        status: 200,
        headers: [["x-back", headers[0]?.[1] ?? ""]],
        body: utf8Bytes(`you said ${headers[0]?.[1]} twice: value-of-API_KEY`),
      }),
    });
    const held = await context.secrets.use("API_KEY", { host: "a.example" });
    if (!held.ok) throw new Error(held.code);
    expect(held.value).toBe("{{secret:API_KEY}}");
    const options = { method: "POST", headers: { authorization: `Bearer ${held.value}` }, body: `key=${held.value}` };
    const answer = await context.net.fetch("https://a.example/", options);
    if (!answer.ok) throw new Error(answer.code);
    expect(seen.exchanges[0]?.headers).toEqual([["authorization", "Bearer value-of-API_KEY"]]);
    expect(seen.exchanges[0]?.body).toEqual(utf8Bytes("key=value-of-API_KEY"));
    expect(await answer.value.text()).toBe("you said Bearer [REDACTED:API_KEY] twice: [REDACTED:API_KEY]");
    expect(answer.value.headers.get("x-back")).toBe("Bearer [REDACTED:API_KEY]");
  });

  test("that are not declared, or not granted for that host, are not sent, and nothing is decrypted", async () => {
    const undeclared = await opened({});
    const headers = { authorization: "{{secret:THIRD}}" };
    expect(await undeclared.context.net.fetch("https://a.example/", { headers })).toMatchObject({
      ok: false,
      code: "scope_violation",
      verb: "secret.use",
    });
    expect(undeclared.seen.done).toEqual([]);
  });

  test("in a body are decided for the host a redirect leads to", async () => {
    const name = { kind: "any" } as const;
    const host = {
      kind: "destinations",
      names: [
        [
          { kind: "literal", text: "example" },
          { kind: "literal", text: "a" },
        ],
      ],
      ranges: [],
      everyPublic: false,
      openings: [],
    } as const;
    const held: Authority = [chain(link("r", [grant("net.post"), grant("secret.use", [name, name, host])]))];
    const body = "{{secret:API_KEY}}";
    const same = await opened({ respond: redirecting([307, "/two"]) }, undefined, held);
    expect(await same.context.net.fetch("https://a.example/", { method: "POST", body })).toMatchObject({ ok: true });
    const other = await opened({ respond: redirecting([307, "https://b.example/"]) }, undefined, held);
    expect(await other.context.net.fetch("https://a.example/", { method: "POST", body })).toMatchObject({
      ok: false,
      verb: "secret.use",
    });
    expect(other.seen.exchanges).toHaveLength(1);
  });

  test("returned in a redirect are not sent with it", async () => {
    const { context, seen } = await opened({
      respond: redirecting([302, "https://b.example/?got=value-of-API_KEY"]),
    });
    const headers = { "x-key": "{{secret:API_KEY}}" };
    expect(await context.net.fetch("https://a.example/", { headers })).toMatchObject({ ok: true });
    expect(seen.exchanges[1]?.target).toBe("/?got=[REDACTED:API_KEY]");
  });
});

test("a relative URL is resolved against the response it came with", () => {
  const from = parseUrl("https://a.example:8443/x/y?z#w", () => null);
  if (!from.ok) throw new Error(from.message);
  const rows: readonly (readonly [string, string | null])[] = [
    ["/p", "https://a.example:8443/p"],
    ["p", "https://a.example:8443/x/p"],
    ["./p", "https://a.example:8443/x/p"],
    ["../p/./q", "https://a.example:8443/p/q"],
    ["../../../../p", "https://a.example:8443/p"],
    ["..", "https://a.example:8443/"],
    ["?q", "https://a.example:8443/x/y?q"],
    ["#f", "https://a.example:8443/x/y?z#f"],
    ["", "https://a.example:8443/x/y?z"],
    ["//b.example/p", "https://b.example/p"],
    ["HTTPS://B.example", "https://b.example/"],
    ["HTTP://B.example", null],
    ["/ä?ö", "https://a.example:8443/%C3%A4?%C3%B6"],
    ["p?a=/../b", "https://a.example:8443/x/p?a=/../b"],
    ["/\\evil", null],
    ["//u@b.example/", null],
    ["mailto:a@b", null],
    ["/a b", null],
  ];
  for (const [text, expected] of rows) {
    const url = redirectOf(text, from.value, () => null);
    expect(url.ok ? urlText(url.value) : null, text).toBe(expected);
    // The platform's own parser agrees wherever ours answers.
    if (url.ok) expect(new URL(urlText(url.value)).href).toBe(new URL(text, "https://a.example:8443/x/y?z#w").href);
  }
});

test("a method needs the verb that the notation says it needs", () => {
  for (const method of ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "get", ""])
    expect(fetchVerb(method)).toBe(methodVerb(method)?.verb ?? null);
});
