// What happens around a call of an MCP server, with the protocol's own servers and clients: progress, log messages and cancellation,
// completions, watched resources, and lists that change.
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { type AskingPeer, askingPeer, NEWER, PEERS } from "./asking-peers.ts";
import { AS_CLIENT } from "./line-client.ts";

const servers = join(root, "test", "mcp", "servers");
const SERVERS = ["older", "newer"] as const;

let fixture: Fixture;
let peer: AskingPeer | null = null;
let client: Client | null = null;

beforeAll(async () => {
  fixture = await Fixture.make();
  const entry = (kind: string): string =>
    `{ command: [node, "${join(servers, `asking-${kind}.mjs`)}"], runtime: ["${root}"] }`;
  const marked = entry("older").replace(" }", ", clean: true }");
  const older = entry("older").replace(" }", ", asks: [elicitation] }");
  fixture.write(
    "config/ambit/mcp.yml",
    `servers:\n  older: ${older}\n  newer: ${entry("newer")}\n  marked: ${marked}\n`,
  );
  fixture.agent("caller", [
    'tool.invoke{tools=["older__*","newer__*","resources_complete","resources_watch","resources_read","resources_list"]}',
    "mcp.resource{servers=[older],uris=[notes://pages/st*,notes://more/**,prompt:greet]}",
    "mcp.elicit{servers=[older]}",
  ]);
  fixture.agent("labelled", ['tool.invoke{tools=["older__*","marked__*"]}']);
  fixture.agent("none", ["memory.read"]);
  await fixture.begin();
}, 60_000);
afterEach(async () => {
  await peer?.close();
  await client?.close();
  [peer, client] = [null, null];
});
afterAll(() => fixture?.remove());

describe.each(PEERS)("with the %s as client", (kind) => {
  describe.each(SERVERS)("a server of the %s era", (server) => {
    test("reports progress to a client that wants it, and hides nothing in it", async () => {
      peer = await askingPeer(fixture, "caller", kind);
      expect(await peer.call(`${server}__steps`)).toBe("false");
      expect(await peer.call(`${server}__steps`, {}, { progressToken: "mine" })).toBe("true");
      await until(() => peer?.progress.length === 3, "three steps");
      expect(peer.progress).toEqual(
        [1, 2, 3].map((step) => ({
          progressToken: "mine",
          progress: step,
          total: 3,
          message: `step\\u{202e} ${step}`,
        })),
      );
    });

    test("logs to a client, from the level that it wants, under the server's name", async () => {
      peer = await askingPeer(fixture, "caller", kind);
      await peer.setLevel("error");
      expect(await peer.call(`${server}__noise`)).toBe('"done"');
      await until(() => peer?.logs.length === 1, "one message");
      expect(peer.logs[0]).toMatchObject({
        level: "error",
        logger: `${server}/own`,
        data: "noise-of-error \\u{1b}[2J",
      });
      await peer.setLevel("debug");
      expect(await peer.call(`${server}__noise`)).toBe('"done"');
      await until(() => peer?.logs.length === 4, "three more messages");
      expect(peer.logs.slice(1).map(({ level }) => level)).toEqual(["debug", "info", "error"]);
    });
  });

  test("a call logs while another one waits for the person's answer", async () => {
    const asking = await askingPeer(fixture, "caller", kind);
    peer = asking;
    await asking.setLevel("error");
    // Older than the one that logs, and without a client until the answer is there.
    asking.answer = async () => {
      expect(await asking.call("older__noise")).toBe('"done"');
      return { action: "accept", content: { name: "Ada" } };
    };
    expect(JSON.parse(await asking.call("older__ask", { message: "who?" }))).toMatchObject({ action: "accept" });
    expect(asking.logs).toMatchObject([{ level: "error", logger: "older/own" }]);
  });

  test("a call that the client cancels is cancelled at the server", async () => {
    peer = await askingPeer(fixture, "caller", kind);
    await peer.setLevel("error");
    const stopping = new AbortController();
    const hanging = peer.call("older__hang", {}, { signal: stopping.signal }).catch(String);
    // Its process runs once another call of it is answered.
    await peer.call("older__declared");
    stopping.abort();
    await hanging;
    expect(await peer.call("older__cancelled")).toBe("1");
  });
});

describe("of two calls at once at a server of the older era, which has one level for both, each logs from its own level on", () => {
  const levelsOf = ({ logs }: AskingPeer): readonly string[] => logs.map(({ level }) => level);

  test("the first one less urgent", async () => {
    peer = await askingPeer(fixture, "caller", "newer library, newer era");
    await peer.setLevel("debug");
    const later = peer.call("older__noise_later");
    await peer.setLevel("error");
    expect(await peer.call("older__release")).toBe('"released"');
    expect(await later).toBe('"done"');
    await until(() => peer?.logs.length === 1, "its message");
    expect(levelsOf(peer)).toEqual(["debug"]);
  });

  test("the second one less urgent", async () => {
    peer = await askingPeer(fixture, "caller", "newer library, newer era");
    await peer.setLevel("error");
    const later = peer.call("older__noise_later");
    await peer.setLevel("debug");
    expect(await peer.call("older__noise")).toBe('"done"');
    await until(() => peer?.logs.length === 3, "three messages");
    expect(levelsOf(peer)).toEqual(["debug", "info", "error"]);
    expect(await peer.call("older__release")).toBe('"released"');
    expect(await later).toBe('"done"');
  });
});

async function connected(agent: string, isNewer = false): Promise<Client> {
  const made = new Client(
    { name: "test", version: "0" },
    { versionNegotiation: { mode: isNewer ? { pin: NEWER } : "legacy" } },
  );
  const words = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent];
  const env = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  const server = {
    command: "perl",
    args: [...AS_CLIENT, ...words],
    env,
    cwd: fixture.project,
    stderr: "ignore" as const,
  };
  await made.connect(new StdioClientTransport(server));
  client = made;
  return made;
}

describe.each([false, true])("completions (newer era: %s)", (isNewer) => {
  const template = { type: "ref/resource", uri: "older+notes://pages/{page}" } as const;

  test("name only resources that may be read", async () => {
    const made = await connected("caller", isNewer);
    const pages = await made.complete({ ref: template, argument: { name: "page", value: "s" } });
    // The server also has a page `secret`.
    expect(pages.completion.values).toEqual(["start", "stop"]);
    const prompt = { type: "ref/prompt", name: "older__greet" } as const;
    expect((await made.complete({ ref: prompt, argument: { name: "name", value: "A" } })).completion.values).toEqual([
      "Ada",
      "Alan",
    ]);
    const own = { type: "ref/prompt", name: "a-skill" } as const;
    expect((await made.complete({ ref: own, argument: { name: "name", value: "" } })).completion.values).toEqual([]);
  });

  test("are refused without the grant, and for the prompt of another server", async () => {
    const made = await connected("none", isNewer);
    await expect(made.complete({ ref: template, argument: { name: "page", value: "s" } })).rejects.toThrow(
      /scope_violation/,
    );
    await made.close();
    const other = { type: "ref/prompt", name: "newer__greet" } as const;
    const granted = await connected("caller", isNewer);
    await expect(granted.complete({ ref: other, argument: { name: "name", value: "" } })).rejects.toThrow(
      /scope_violation/,
    );
  });
});

test("a watched resource is told of, until it is not watched or not granted any more", async () => {
  const made = await connected("caller");
  const told: string[] = [];
  made.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  const touch = async (uri: string): Promise<unknown> => {
    const { content } = await made.callTool({ name: "older__touch", arguments: { uri } });
    return JSON.parse((content as { text: string }[])[0]?.text ?? "null");
  };
  await made.subscribeResource({ uri: "older+notes://pages/start" });
  expect(await touch("notes://pages/start")).toEqual(["notes://pages/start"]);
  await until(() => told.length === 1, "a change");
  expect(told).toEqual(["older+notes://pages/start"]);
  // One that the client does not watch, and one that may not be read.
  await touch("notes://pages/stop");
  await expect(made.subscribeResource({ uri: "older+notes://pages/secret" })).rejects.toThrow(/mcp\.resource/);
  await expect(made.subscribeResource({ uri: "notes://pages/start" })).rejects.toThrow(/no such resource/);
  await made.unsubscribeResource({ uri: "older+notes://pages/start" });
  await until(async () => ((await touch("notes://pages/start")) as unknown[]).length === 0, "the server is told");
  expect(told).toHaveLength(1);
  for (let at = 0; at < 16; at++) await made.subscribeResource({ uri: `older+notes://more/${at}` });
  await expect(made.subscribeResource({ uri: "older+notes://more/17" })).rejects.toThrow(/too many/);
}, 60_000);

test.each([false, true])("a client is told that resources and prompts are others (newer era: %s)", async (isNewer) => {
  const made = await connected("caller", isNewer);
  const told = new Set<string>();
  for (const what of ["resources", "prompts"] as const)
    made.setNotificationHandler(`notifications/${what}/list_changed`, () => void told.add(what));
  if (isNewer) await made.listen({ resourcesListChanged: true, promptsListChanged: true });
  await made.listTools();
  await made.listResources();
  // The first look at the list is what later ones are compared with.
  await until(async () => {
    await made.callTool({ name: "older__grow", arguments: {} });
    return told.size === 2;
  }, "the client hears of other lists");
});

test("a result marks the session as untrusted, unless the user's own file marks its server clean", async () => {
  const caller = fixture.caller();
  const session = expectValue(await caller.open(fixture.project, "labelled"));
  const isClean = async (): Promise<boolean | undefined> =>
    (await fixture.status()).sessions.find((one) => one.session === session.id)?.isClean;
  expect((await session.do("marked__declared")).said).toBe("done");
  expect(await isClean()).toBe(true);
  expect((await session.do("older__declared")).said).toBe("done");
  expect(await isClean()).toBe(false);
  await caller.end();
});
