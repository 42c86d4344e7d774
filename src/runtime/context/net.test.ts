// `net.fetch`: what is decided before anything is sent, and what the network is told to do. Redirects are followed by the broker:
// `test/secrets/fetch.test.ts` and `test/tools/web.test.ts` fetch for real.
import { describe, expect, test } from "vitest";
import { chain, grant, link } from "../../../test/forge/authority.ts";
import { TO_ASCII } from "../../../test/laws/alphabet.ts";
import {
  EMPTY_PAGE,
  type Fixture,
  judgeOf,
  openContext,
  registeredOf,
  toolOf,
  warrantFor,
} from "../../../test/laws/context-fixture.ts";
import { methodVerb } from "../../core/authority/axes/http-request.ts";
import { redirectOf, urlText } from "../../core/authority/axes/redirect.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { utf8Bytes } from "../../core/base/bytes.ts";
import type { HttpFetch, HttpResponse, PortResult } from "../../core/ports/instruments.ts";

const ALL: Authority = [
  chain(
    link(
      "r",
      ["net.get", "net.post", "net.put", "net.delete", "secret.use"].map((verb) => grant(verb)),
    ),
  ),
];

async function opened(fixture: Fixture, hosts: readonly string[] = ["*.example"], authority: Authority = ALL) {
  const tool = registeredOf(toolOf({ network: { allowedHosts: hosts }, secrets: ["API_KEY", "OTHER"] }));
  return openContext(await warrantFor(tool), tool, judgeOf(authority, tool), fixture);
}

/** A request as the broker asks about it. */
function requestTo(method: string, address: string): Request {
  const url = parseUrl(address, TO_ASCII);
  const verb = methodVerb(method);
  if (!url.ok || verb === null) throw new Error(address);
  return { verb, values: [url.value.host, url.value.port], scheme: url.value.scheme };
}

/** Follows one redirect, as the broker does. */
function redirecting(method: string, address: string): (asked: HttpFetch) => PortResult<HttpResponse> {
  return ({ decide }) => {
    const code = decide(requestTo(method, address));
    return code === null
      ? { ok: true, value: { ...EMPTY_PAGE, url: address, redirects: 1, body: utf8Bytes("done") } }
      : { ok: false, code, message: "refused on the way" };
  };
}

describe("a redirect", () => {
  test("is followed to the end, and the answer says where that is", async () => {
    const { context, seen } = await opened({ respond: redirecting("GET", "http://b.example/two") });
    const answer = await context.net.fetch("http://a.example/one");
    if (!answer.ok) throw new Error(answer.code);
    const end = {
      status: 200,
      ok: true,
      redirected: true,
      redirects: 1,
      truncated: false,
      url: "http://b.example/two",
    };
    expect(answer.value).toMatchObject(end);
    expect(await answer.value.text()).toBe("done");
    expect(answer.value.headers.has("x")).toBe(false);
    expect(seen.fetches[0]).toMatchObject({ url: "http://a.example/one", redirectsMax: 4 });
  });

  test.each<readonly [string, string, DenialCode]>([
    ["to the metadata address", "http://169.254.169.254/latest/meta-data/", "scope_violation"],
    ["to a private address", "http://10.0.0.5:6379/", "scope_violation"],
    ["to a host that is not declared", "http://evil.test/", "scope_violation"],
  ])("%s is refused, with the request that was not covered", async (_title, address, code) => {
    const { context, seen } = await opened({ respond: redirecting("GET", address) });
    expect(await context.net.fetch("http://a.example/")).toMatchObject({ ok: false, code, verb: "net.get" });
    expect(seen.denials).toEqual([`net.get ${code}`]);
  });

  test("is decided by the verb that it has become", async () => {
    const posting: Authority = [chain(link("r", [grant("net.post"), grant("secret.use")]))];
    const { context } = await opened({ respond: redirecting("GET", "http://a.example/two") }, undefined, posting);
    expect(await context.net.fetch("http://a.example/", { method: "POST" })).toMatchObject({
      ok: false,
      code: "capability_absent",
      verb: "net.get",
    });
  });

  test("is handed back or refused where that is asked for", async () => {
    const moved = (): PortResult<HttpResponse> => ({ ok: true, value: { ...EMPTY_PAGE, status: 302 } });
    const manual = await opened({ respond: moved });
    const answer = await manual.context.net.fetch("http://a.example/", { redirect: "manual" });
    expect(answer).toMatchObject({ ok: true, value: { status: 302 } });
    const error = await opened({ respond: moved });
    expect(await error.context.net.fetch("http://a.example/", { redirect: "error" })).toMatchObject({ ok: false });
    expect([...manual.seen.fetches, ...error.seen.fetches].map(({ redirectsMax }) => redirectsMax)).toEqual([0, 0]);
  });
});

describe("where a name leads", () => {
  const rows: readonly (readonly [string, readonly string[] | null, string | null])[] = [
    ["a public address", ["93.184.216.34"], null],
    ["several of them", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"], null],
    ["one that is private among them", ["93.184.216.34", "10.0.0.1"], "address_refused"],
    ["this machine", ["127.0.0.1"], "address_refused"],
    ["the metadata address", ["169.254.169.254"], "address_refused"],
    ["a failure", null, "not_available"],
    ["what is no address", ["localhost"], "address_refused"],
  ];
  test.each(rows)("%s", async (_title, answers, code) => {
    const { context, seen } = await opened({ answers: () => answers });
    const answer = await context.net.fetch("http://a.example/");
    expect(answer.ok ? null : answer.code).toBe(code);
    if (code === "not_available") expect(answer).toMatchObject({ message: "the name could not be resolved" });
    expect(seen.fetches).toHaveLength(code === null ? 1 : 0);
  });
});

describe("secrets", () => {
  test("of headers, query and body are opened together, handed to the network, and wiped", async () => {
    const values: string[] = [];
    const { context, seen } = await opened({
      respond: ({ secrets }) => {
        values.push(...secrets.map(({ value }) => Buffer.from(value).toString()));
        return { ok: true, value: EMPTY_PAGE };
      },
    });
    const handle = await context.secrets.use("API_KEY", { host: "a.example" });
    if (!handle.ok) throw new Error(handle.code);
    expect(handle.value).toBe("{{secret:API_KEY}}");
    const options = {
      method: "POST",
      headers: { authorization: `Bearer ${handle.value}` },
      body: "{{secret:API_KEY}}",
    };
    expect(await context.net.fetch("https://a.example/?k=%7b%7bsecret:OTHER%7d%7d", options)).toMatchObject({
      ok: true,
    });
    expect(values).toEqual(["value-of-OTHER", "value-of-API_KEY"]);
    expect(seen.done).toContain("open OTHER,API_KEY");
    const [sent] = seen.fetches;
    expect(sent?.headers).toEqual([["authorization", "Bearer {{secret:API_KEY}}"]]);
    expect(sent?.secrets.every(({ value }) => value.every((byte) => byte === 0))).toBe(true);
  });

  test("that are not declared, or not granted for that host, go nowhere, and nothing is opened", async () => {
    const undeclared = await opened({});
    const headers = { authorization: "{{secret:THIRD}}" };
    expect(await undeclared.context.net.fetch("https://a.example/", { headers })).toMatchObject({
      ok: false,
      code: "scope_violation",
      verb: "secret.use",
    });
    expect(undeclared.seen.done).toEqual([]);
  });

  test("in the path are refused", async () => {
    const { context, seen } = await opened({});
    for (const path of ["{{secret:API_KEY}}", "%7B%7Bsecret%3AAPI_KEY%7D%7D"])
      expect(await context.net.fetch(`https://a.example/${path}`)).toMatchObject({ ok: false, code: "invalid_input" });
    expect(seen.done).toEqual([]);
  });
});

test("a relative address is read by the one it was answered from", () => {
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
