// web_search through the real daemon, with a provider on loopback: how each provider is called, what is shown, and what can fail.
import { once } from "node:events";
import { rmSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Called, Caller } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

const VALUE = "s3cr3t-value-0123456789";
let fixture: Fixture;
let caller: Caller;
let port = 0;
const heard: {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}[] = [];
let answer: { readonly status: number; readonly body: string; readonly location?: string } = { status: 200, body: "" };

const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += String(piece);
  heard.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
  const { status, body: text, location } = answer;
  response
    .writeHead(status, {
      "Content-Type": "application/json",
      ...(location === undefined ? {} : { Location: location }),
    })
    .end(text);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  fixture = await Fixture.make();
  const tool = "tool.invoke{tools=[web_search]}";
  fixture.agent("scout", ["net.get{hosts=[127.0.0.1]}", "net.post{hosts=[127.0.0.1]}", tool]);
  fixture.agent("getter", ["net.get{hosts=[127.0.0.1]}", tool]);
  fixture.agent("once", ["net.get{hosts=[127.0.0.1]}", "tool.invoke{tools=[web_search],calls=1}"]);
  fixture.agent("elsewhere", [
    ...["net.get{hosts=[127.0.0.2]}", "tool.invoke{tools=[web_search,obs_query]}"],
    "obs.query{agents=[elsewhere]}",
  ]);
  fixture.agent("keeper", [
    ...["net.get{hosts=[127.0.0.1]}", "net.post{hosts=[127.0.0.1]}", tool],
    "secret.use{names=[search-key],tools=[web_search],hosts=[127.0.0.1]}",
  ]);
  await fixture.begin();
  caller = fixture.caller();
}, 120_000);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await fixture.remove();
});

const configure = (text: string | null): void => {
  if (text === null) rmSync(join(fixture.config, "config.yml"), { force: true });
  else fixture.write("config/ambit/config.yml", `search: ${text}\n`);
};
const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
const search = async (agent: string, input: object): Promise<Called> => {
  heard.length = 0;
  return expectValue(await caller.open(fixture.project, agent)).do("web_search", input);
};
const result = (one: Called): unknown => one.value["result"];

test("without a provider the tool says what a person should configure", async () => {
  configure(null);
  const { said, value } = await search("scout", { query: "cats" });
  expect(said).toBe("not_available");
  expect(String(value["fix"])).toContain("search: { provider: searxng");
  expect(heard).toEqual([]);
  const session = expectValue(await caller.open(fixture.project, "once"));
  for (let times = 0; times < 3; times++)
    expect((await session.do("web_search", { query: "cats" })).said).toBe("not_available");
});

test("searxng gets the query alone, and results without a valid URL are dropped", async () => {
  configure(`{ provider: searxng, url: "${at("")}" }`);
  const results = [
    {
      title: "A <b>cat</b>",
      url: "https://a.example/",
      content: "soft\u202e \n and   warm",
      score: 0,
    },
    { title: "no", url: "javascript:alert(1)", content: "x" },
    { title: 7, url: "http://b.example/" },
    "nothing",
  ];
  // More digits than a number holds.
  answer = { status: 200, body: JSON.stringify({ results }).replace('"score":0', '"score":0.12345678901234567890') };
  const done = await search("getter", { query: "cats & dogs #1" });
  expect(done.said).toBe("done");
  expect(result(done)).toEqual({
    results: [
      { title: "A cat", url: "https://a.example/", snippet: "soft and warm" },
      { title: "", url: "http://b.example/", snippet: "" },
    ],
  });
  expect(heard.map(({ method, url }) => [method, url])).toEqual([
    ["GET", "/search?q=cats%20%26%20dogs%20%231&format=json"],
  ]);
  expect(result(await search("getter", { query: "cats", count: 1 }))).toMatchObject({ results: [{ title: "A cat" }] });
});

test("the session is tainted afterwards", async () => {
  const session = expectValue(await caller.open(fixture.project, "getter"));
  await session.do("web_search", { query: "cats" });
  const shown = (await fixture.status()).sessions.find((one) => one.session === session.id);
  expect(shown?.isClean).toBe(false);
});

test("brave gets the secret in its header, by its handle", async () => {
  expectValue(
    await fixture.control("secrets.set", {
      name: "search-key",
      value: VALUE,
      binding: { tools: ["web_search"], hosts: [`127.0.0.1:${port}`], uses: null },
      username: null,
      isCanary: false,
      isRotation: false,
      presence: null,
    }),
  );
  configure(`{ provider: brave, url: "${at("/res/v1/web/search")}", secret: search-key }`);
  const found = { title: "B", url: "https://b.example/", description: `you said ${VALUE}` };
  answer = { status: 200, body: JSON.stringify({ web: { results: [found] } }) };
  const done = await search("keeper", { query: "cats", count: 3 });
  expect(done.said).toBe("done");
  expect(heard.map(({ url, headers }) => [url, headers["x-subscription-token"]])).toEqual([
    ["/res/v1/web/search?q=cats&count=3", VALUE],
  ]);
  expect(JSON.stringify(result(done))).not.toContain(VALUE);
  expect(JSON.stringify(await fixture.log())).not.toContain(VALUE);
  answer = { status: 200, body: JSON.stringify({ query: {} }) };
  expect(result(await search("keeper", { query: "none" }))).toEqual({ results: [] });
});

test("an agent without the secret does not search with it", async () => {
  expect((await search("scout", { query: "cats" })).said).toBe("capability_absent");
  expect(heard).toEqual([]);
});

test("tavily gets a POST, and needs net.post", async () => {
  configure(`{ provider: tavily, url: "${at("/search")}", secret: search-key }`);
  answer = {
    status: 200,
    body: JSON.stringify({ results: [{ title: "T", url: "https://t.example/", content: "c" }] }),
  };
  const done = await search("keeper", { query: 'say "hi"', count: 2 });
  expect(result(done)).toEqual({ results: [{ title: "T", url: "https://t.example/", snippet: "c" }] });
  expect(heard.map(({ method, headers, body }) => [method, headers.authorization, body])).toEqual([
    ["POST", `Bearer ${VALUE}`, '{"query":"say \\"hi\\"","max_results":2}'],
  ]);
  expect((await search("getter", { query: "cats" })).said).toBe("capability_absent");
});

test.each<readonly [string, object, string]>([
  ["elsewhere", { query: "cats" }, "scope_violation"],
  ["getter", { query: "" }, "invalid_input"],
  ["getter", { query: "x".repeat(1025) }, "invalid_input"],
  ["getter", { query: "{{secret:search-key}}" }, "invalid_input"],
  ["getter", { query: "%7b%7bsecret:search-key%7d%7d" }, "invalid_input"],
  ["getter", { query: "half \ud800" }, "invalid_input"],
  ["getter", { query: "cats", count: 21 }, "invalid_input"],
  ["getter", { query: "cats", url: "http://127.0.0.1/" }, "invalid_input"],
])("%s %j: %s, and the provider is not contacted", async (agent, input, said) => {
  configure(`{ provider: searxng, url: "${at("")}" }`);
  expect((await search(agent, input)).said).toBe(said);
  expect(heard).toEqual([]);
});

test.each<readonly [string, typeof answer, string]>([
  ["an invalid status", { status: 500, body: "{}" }, "not_available"],
  ["invalid JSON", { status: 200, body: "<html>" }, "not_available"],
  ["JSON of another shape", { status: 200, body: '{"results": 1}' }, "not_available"],
  ["a list", { status: 200, body: "[]" }, "not_available"],
  ["very deep JSON", { status: 200, body: "[".repeat(500_000) }, "not_available"],
  [
    "a redirect to a host that is not granted",
    { status: 302, body: "", location: "http://169.254.169.254/" },
    "scope_violation",
  ],
])("%s is not a valid response", async (_, given, said) => {
  configure(`{ provider: searxng, url: "${at("/search")}" }`);
  answer = given;
  expect((await search("getter", { query: "cats" })).said).toBe(said);
});

describe("the user's configuration is not revealed to the caller:", () => {
  const closed = async (): Promise<number> => {
    const other = http.createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port: free } = other.address() as AddressInfo;
    other.close();
    await once(other, "close");
    return free;
  };
  const told = ({ value }: Called): string => JSON.stringify({ ...value, id: null });
  const names = /127\.0\.0\.1|169\.254|searxng|search-key|net\.get|secret\.use/;

  test("an unreachable provider, at once and at a later check", async () => {
    configure(`{ provider: searxng, url: "${at("/search")}" }`);
    const denied = await search("elsewhere", { query: "cats" });
    expect([denied.said, denied.value["need"]]).toEqual(["scope_violation", null]);
    expect(told(denied)).not.toMatch(names);
    const session = expectValue(await caller.open(fixture.project, "elsewhere"));
    const observed = JSON.stringify(result(await session.do("obs_query", { tag: "denial" })));
    expect(observed).toContain("web_search");
    expect(observed).not.toMatch(names);
    // The person is told.
    const entries = await fixture.log({ kind: "decision", outcome: "deny" });
    expect(JSON.stringify(entries.at(-1)?.more)).toContain("127.0.0.1");
  });
  test("a secret that it does not hold", async () => {
    configure(`{ provider: brave, url: "${at("/search")}", secret: search-key }`);
    const denied = await search("scout", { query: "cats" });
    expect(denied.said).toBe("capability_absent");
    expect(told(denied)).not.toMatch(names);
  });
  test("a provider that does not exist, answers nonsense or redirects", async () => {
    configure(`{ provider: searxng, url: "http://127.0.0.1:${await closed()}/search" }`);
    const gone = await search("getter", { query: "cats" });
    expect(gone.said).toBe("not_available");
    configure(`{ provider: searxng, url: "${at("/search")}" }`);
    answer = { status: 200, body: "nonsense" };
    const nonsense = await search("getter", { query: "cats" });
    answer = { status: 302, body: "", location: "http://169.254.169.254/" };
    const led = await search("getter", { query: "cats" });
    for (const one of [gone, nonsense, led]) expect(told(one)).not.toMatch(names);
  });
});

test("works with command-line arguments", async () => {
  configure(`{ provider: searxng, url: "${at("/search")}" }`);
  answer = {
    status: 200,
    body: JSON.stringify({ results: [{ title: "T", url: "https://t.example/", content: "c" }] }),
  };
  const { status, out } = await fixture.ambit("call", "getter", "web_search", '{"query": "cats"}', "--json");
  expect([status, JSON.parse(out)]).toMatchObject([0, { ok: true, result: { results: [{ title: "T" }] } }]);
});

test("a project cannot configure the provider", async () => {
  configure(null);
  fixture.write("project/.ambit/config.yml", `search: { provider: searxng, url: "${at("")}" }\n`);
  const { said } = await search("getter", { query: "cats" });
  rmSync(join(fixture.project, ".ambit", "config.yml"));
  expect(said).not.toBe("done");
  expect(heard).toEqual([]);
});
