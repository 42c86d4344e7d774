// Clients of the newer era that listen, over stdio and over HTTP, with servers of both eras: they hear that lists are others and that watched
// resources changed, and of no resource that they may not read.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import { Fixture } from "../state/fixture.ts";
import { NEWER } from "./asking-peers.ts";
import { AS_CLIENT } from "./line-client.ts";

const servers = join(root, "test", "mcp", "servers");

let fixture: Fixture;
let http: ChildProcess;
let errors = "";
let client: Client | null = null;

const TOOLS = 'tool.invoke{tools=["older__*","newer__*","resources_watch","resources_list","resources_read"]}';
const PAGES = "mcp.resource{servers=[older,newer],uris=[notes://pages/st*,notes://more/**]}";

beforeAll(async () => {
  fixture = await Fixture.make();
  const entry = (kind: string): string =>
    `{ command: [node, "${join(servers, `asking-${kind}.mjs`)}"], runtime: ["${root}"] }`;
  fixture.write("config/ambit/mcp.yml", `servers:\n  older: ${entry("older")}\n  newer: ${entry("newer")}\n`);
  fixture.agent("caller", [TOOLS, PAGES]);
  fixture.agent("passing", [TOOLS, PAGES]);
  await fixture.begin();
  http = spawn(process.execPath, [join(root, "bin", "ambit"), "mcp", "serve", "--http", "127.0.0.1:0"], {
    ...{ cwd: "/", env: fixture.environment, stdio: ["ignore", "ignore", "pipe"] },
  });
  http.stderr?.on("data", (text: Buffer) => {
    errors += text.toString();
  });
  await until(() => /127\.0\.0\.1:\d+/.test(errors), "it listens");
}, 60_000);
afterEach(async () => {
  await client?.close();
  client = null;
});
afterAll(async () => {
  if (http.exitCode === null) {
    http.kill("SIGTERM");
    await once(http, "exit");
  }
  await fixture?.remove();
});

async function connected(face: "stdio" | "http", agent: string): Promise<Client> {
  const made = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode: { pin: NEWER } } });
  client = made;
  if (face === "http") {
    const { out } = await fixture.ambit("tokens", "add", agent, "--json");
    const { token } = JSON.parse(out) as { readonly token: string };
    const url = new URL(`http://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(errors)?.[1]}/mcp`);
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await made.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return made;
  }
  const words = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent];
  const env = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  const server = { command: "perl", args: [...AS_CLIENT, ...words], env, cwd: fixture.project };
  await made.connect(new StdioClientTransport({ ...server, stderr: "ignore" }));
  return made;
}

/** URIs that the client hears of, in order. */
function updates(made: Client): string[] {
  const told: string[] = [];
  made.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  return told;
}

const touch = (made: Client, server: string, uri: string) =>
  made.callTool({ name: `${server}__touch`, arguments: { uri } });

describe.each(["stdio", "http"] as const)("over %s", (face) => {
  describe.each(["older", "newer"] as const)("with a server of the %s era", (server) => {
    const start = `${server}+notes://pages/start`;

    test("a watched resource is told of until the subscription ends, and what may not be read is not watched", async () => {
      const made = await connected(face, "caller");
      const told = updates(made);
      const secret = `${server}+notes://pages/secret`;
      const denied = (await fixture.log({ outcome: "deny" })).length;
      const wanted = [start, secret, "notes://pages/start", `other+notes://pages/start`];
      const first = await made.listen({ resourceSubscriptions: wanted });
      expect(first.honoredFilter).toEqual({ resourceSubscriptions: [start] });
      expect((await fixture.log({ outcome: "deny" })).length).toBeGreaterThan(denied);
      const second = await made.listen({ resourceSubscriptions: [start, `${server}+notes://pages/stop`] });
      await touch(made, server, "notes://pages/secret");
      await touch(made, server, "notes://pages/start");
      await until(() => told.length === 2, "both subscriptions hear of it");
      await first.close();
      await touch(made, server, "notes://pages/start");
      await until(() => told.length === 3, "the second one still does");
      await second.close();
      // A listener that is heard after the last change shows that nothing came before it.
      const third = await made.listen({ resourceSubscriptions: [`${server}+notes://pages/stop`] });
      await touch(made, server, "notes://pages/start");
      await touch(made, server, "notes://pages/stop");
      await until(() => told.includes(`${server}+notes://pages/stop`), "the third one hears");
      expect(told).toEqual([start, start, start, `${server}+notes://pages/stop`]);
      await third.close();
    });

    test("a client that only listens hears that resources and prompts have changed", async () => {
      const made = await connected(face, "caller");
      const told = new Set<string>();
      for (const what of ["resources", "prompts"] as const)
        made.setNotificationHandler(`notifications/${what}/list_changed`, () => void told.add(what));
      const { honoredFilter } = await made.listen({ resourcesListChanged: true, promptsListChanged: true });
      expect(honoredFilter).toEqual({ resourcesListChanged: true, promptsListChanged: true });
      await made.callTool({ name: `${server}__grow`, arguments: {} });
      await until(() => told.size === 2, "it hears of other lists");
    });
  });
});

// The test is the client of a server over stdio, and a client cannot trust anything.
test("a resource that is not granted any more is not told of", async () => {
  const made = await connected("http", "passing");
  const told = updates(made);
  await made.listen({
    resourceSubscriptions: ["older+notes://pages/start", "older+notes://more/1"],
    toolsListChanged: true,
  });
  await touch(made, "older", "notes://pages/start");
  await until(() => told.length === 1, "a change");
  fixture.agent("passing", [TOOLS, "mcp.resource{servers=[older],uris=[notes://more/**]}"]);
  await fixture.trust();
  await until(async () => {
    const answer = made.readResource({ uri: "older+notes://pages/start" });
    return answer.then(
      () => false,
      () => true,
    );
  }, "the edit applies");
  await touch(made, "older", "notes://pages/start");
  await touch(made, "older", "notes://more/1");
  await until(() => told.length === 2, "the other one");
  expect(told).toEqual(["older+notes://pages/start", "older+notes://more/1"]);
});

test("a subscription that is malformed, or names too many resources, watches no more than the limit", async () => {
  const made = await connected("stdio", "caller");
  await expect(made.listen({ resourceSubscriptions: [1] } as never)).rejects.toThrow();
  const many = Array.from({ length: 100 }, (_, at) => `older+notes://more/${at}`);
  const { honoredFilter } = await made.listen({ resourceSubscriptions: many });
  expect(honoredFilter.resourceSubscriptions).toEqual(many.slice(0, 16));
});
