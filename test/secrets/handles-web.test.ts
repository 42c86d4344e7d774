// Secret handles in web_fetch: the value goes to the bound host only, never returns in a response, and a request for a secret
// that is not granted or bound raises an alert.
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress } from "../broker/fixture.ts";
import { type Got, WebFixture } from "../tools/web-fixture.ts";

const fixture = new WebFixture();
const here = ownAddress(1);
const there = ownAddress(2);
const VALUE = "s3cr3t-value-0123456789";
let port = 0;
let other = 0;
/** Authorization header, query and body as the servers received them. */
const heard: string[] = [];

function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://x");
  const pieces: Buffer[] = [];
  request.on("data", (bytes: Buffer) => pieces.push(bytes));
  request.on("end", () => {
    const body = Buffer.concat(pieces).toString();
    const said = `${request.headers.authorization ?? "none"} ${url.searchParams.get("key") ?? "none"} ${body}`;
    heard.push(`${request.headers.host?.split(":")[0]} ${said}`);
    const to = url.pathname === "/trap" ? "/?key={{secret:token}}" : url.searchParams.get("to");
    if (to !== null) response.writeHead(307, { Location: to });
    else response.writeHead(200, { "Content-Type": "text/plain", "X-Echo": said });
    response.end(`${said} ${Buffer.from(said).toString("base64")}`);
  });
}

beforeAll(async () => {
  await fixture.start();
  port = await fixture.https(here, serve);
  other = await fixture.https(there, serve);
  fixture.names.names.set("api.example.test", [[here]]);
  fixture.names.names.set("other.example.test", [[there]]);
});
beforeEach(() => {
  for (const list of [heard, fixture.used, fixture.probed]) list.length = 0;
  fixture.secrets.clear();
  fixture.secrets.set("token", { value: VALUE, tools: ["web_fetch"], hosts: [`api.example.test:${port}`] });
  fixture.known = [];
});
afterAll(() => fixture.stop());

const NET = ["net.get", "net.post"].map(
  (verb) => `${verb}{hosts=[*.example.test],private=[*.example.test=${here},*.example.test=${there}]}`,
);
const USE = "secret.use{names=[token],tools=[web_fetch],hosts=[*.example.test]}";
const HANDLE = "Bearer {{secret:token}}";
const api = (path: string): string => `https://api.example.test:${port}${path}`;
const ask = (input: object, specs: readonly string[] = [...NET, USE]): Promise<Got> =>
  fixture.web(
    { specs },
    { headers: { Authorization: HANDLE }, ...input, url: (input as { url?: string }).url ?? api("/") },
  );

describe("a secret that is granted and bound", () => {
  test("is sent, counted as a use, and redacted from the response", async () => {
    const got = await ask({});
    expect(heard).toEqual([`api.example.test Bearer ${VALUE} none `]);
    expect(got.said).toBe("done");
    expect(JSON.stringify(got.value)).toContain("[REDACTED:token]");
    expect(JSON.stringify(got.value)).not.toContain(VALUE);
    expect(JSON.stringify(got.value)).not.toContain(Buffer.from(`Bearer ${VALUE}`).toString("base64").slice(0, 20));
    expect([fixture.used, fixture.probed]).toEqual([["token"], []]);
  });

  test("is sent in the query and in a body, and counts as one use per call", async () => {
    await ask({ url: api("/?key=%7B%7Bsecret:token%7D%7D"), method: "POST", body: "x={{secret:token}}" });
    expect(heard).toEqual([`api.example.test Bearer ${VALUE} ${VALUE} x=${VALUE}`]);
    expect(fixture.used).toEqual(["token"]);
  });

  test("is not sent or counted when a redirect leads to another origin", async () => {
    const to = encodeURIComponent(`https://other.example.test:${other}/`);
    const got = await ask({ url: api(`/?to=${to}`) });
    expect(heard).toEqual([`api.example.test Bearer ${VALUE} none `, "other.example.test none none "]);
    expect(got.value).toMatchObject({ hops: 1, url: `https://other.example.test:${other}/` });
  });

  test("is refused when its uses are exhausted, and no server is contacted", async () => {
    fixture.secrets.set("token", { ...fixture.secrets.get("token"), uses: 1 } as never);
    expect(await ask({})).toMatchObject({ said: "done" });
    expect(await ask({})).toMatchObject({ said: "secret_refused", by: "way" });
    expect(heard.length).toBe(1);
    expect(fixture.probed).toEqual([]);
  });

  test("is not substituted where a server writes its handle into a redirect", async () => {
    const got = await ask({ url: api("/trap") });
    expect(got.said).toBe("done");
    expect(heard).toEqual([
      `api.example.test Bearer ${VALUE} none `,
      `api.example.test Bearer ${VALUE} {{secret:token}} `,
    ]);
  });
});

describe("a secret the agent may not use", () => {
  const bound = (more: object): void =>
    void fixture.secrets.set("token", { ...fixture.secrets.get("token"), ...more } as never);

  test.each([
    ["bound to another tool", () => bound({ tools: ["git"] })],
    ["bound to another host", () => bound({ hosts: ["other.example.test"] })],
    ["bound to another port", () => bound({ hosts: ["api.example.test"] })],
    ["bound to nothing", () => bound({ tools: [], hosts: [] })],
    ["a canary", () => bound({ isCanary: true })],
  ])("%s: refused without a connection, with one alert", async (_, change) => {
    change();
    const session = fixture.session();
    const input = { url: api("/"), headers: { Authorization: HANDLE } };
    for (let times = 0; times < 2; times++) {
      const got = await fixture.web({ specs: [...NET, USE], session }, input);
      expect(got).toMatchObject({ said: "secret_refused", by: "way" });
      expect(got.need).toBe("secret.use token tool=web_fetch host=api.example.test");
    }
    expect([heard, fixture.used, fixture.probed]).toEqual([[], [], ["token"]]);
  });

  test.each([
    ["not granted at all", NET, "capability_absent"],
    [
      "granted for another name",
      [...NET, "secret.use{names=[other],tools=[web_fetch],hosts=[*.example.test]}"],
      "scope_violation",
    ],
    [
      "granted for another tool",
      [...NET, "secret.use{names=[token],tools=[git],hosts=[*.example.test]}"],
      "scope_violation",
    ],
    [
      "granted for another host",
      [...NET, "secret.use{names=[token],tools=[web_fetch],hosts=[a.test]}"],
      "scope_violation",
    ],
  ])("%s: denied by the gate, with an alert", async (_, specs, code) => {
    expect(await ask({}, specs)).toMatchObject({ said: code, by: "gate" });
    expect([heard, fixture.used, fixture.probed]).toEqual([[], [], ["token"]]);
  });

  test("a secret that does not exist is refused with the same message and no alert", async () => {
    bound({ tools: ["git"] });
    const real = await ask({});
    fixture.secrets.clear();
    fixture.probed.length = 0;
    const none = await ask({});
    expect([none.said, none.message, none.need]).toEqual([real.said, real.message, real.need]);
    expect(fixture.probed).toEqual([]);
  });

  test("a denial for the host raises no alert for a granted secret", async () => {
    expect(await ask({}, [USE])).toMatchObject({ said: "capability_absent", by: "gate" });
    expect(fixture.probed).toEqual([]);
  });

  test("if one of several secrets is refused, none is used", async () => {
    const headers = { Authorization: HANDLE, "X-Other": "{{secret:missing}}" };
    const use = "secret.use{names=[**],tools=[web_fetch],hosts=[*.example.test]}";
    expect(await ask({ headers }, [...NET, use])).toMatchObject({ said: "secret_refused" });
    expect([heard, fixture.used]).toEqual([[], []]);
  });
});

test("a request that contains a secret's value is refused; only its handle may be sent", async () => {
  fixture.known = [VALUE];
  for (const input of [{ url: api(`/?key=${VALUE}`) }, { headers: { "X-A": VALUE } }, { method: "POST", body: VALUE }])
    expect(await ask(input)).toMatchObject({ said: "secret_refused", by: "way" });
  expect(heard).toEqual([]);
});
