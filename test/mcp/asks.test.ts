// What MCP servers ask for during a call, with the protocol's own servers and clients of both generations on both sides: it reaches
// the person or the model only as far as the entry, the grants and the client allow, and names the server that asks.
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import type { Called, Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { type AskingPeer, askingPeer, PEERS } from "./asking-peers.ts";

const servers = join(root, "test", "mcp", "servers");
const SERVERS = ["older", "newer"] as const;
const SECRET = "person-secret-0123456789abcdef";

let fixture: Fixture;
let caller: Caller;
let peer: AskingPeer | null = null;

beforeAll(async () => {
  fixture = await Fixture.make();
  const entry = (kind: string, more = "asks: [elicitation, sampling], "): string =>
    `{ command: [node, "${join(servers, `asking-${kind}.mjs`)}"], ${more}requires: [{ fs.read: { in: "${fixture.project}/docs" } }], runtime: ["${root}"] }`;
  fixture.write(
    "config/ambit/mcp.yml",
    `servers:\n  older: ${entry("older")}\n  newer: ${entry("newer")}\n  silent: ${entry("older", "")}\n`,
  );
  fixture.write("project/docs/a.txt", "a");
  const tools = 'tool.invoke{tools=["older__*","newer__*","silent__*","resources_read"]}';
  const reads = "mcp.resource{servers=[older,newer],uris=[notes://asks/who,prompt:who]}";
  fixture.agent("asked", [
    tools,
    reads,
    "mcp.elicit{servers=[older,newer,silent]}",
    "mcp.sample{servers=[older,newer,silent]}",
  ]);
  fixture.agent("alone", [tools, reads]);
  fixture.agent("other", [tools, "mcp.elicit{servers=[silent]}", "mcp.sample{servers=[silent]}"]);
  fixture.agent("once", [tools, "mcp.elicit{servers=[older,newer]}"]);
  await fixture.begin();
  caller = fixture.caller();
}, 60_000);
afterEach(async () => {
  await peer?.close();
  peer = null;
});
afterAll(async () => {
  await caller?.end();
  await fixture?.remove();
});

describe.each(PEERS)("with the %s as client", (kind) => {
  describe.each(SERVERS)("a server of the %s era", (server) => {
    test("asks the person, who sees which server asks and every hidden character", async () => {
      peer = await askingPeer(fixture, "asked", kind);
      const said = await peer.call(`${server}__ask`, { message: "your name\u202e?" });
      expect(JSON.parse(said)).toMatchObject({ action: "accept", content: { name: "Ada" } });
      expect(peer.asked).toHaveLength(1);
      expect(peer.asked[0]?.["message"]).toBe(`The MCP server "${server}" asks: your name\\u{202e}?`);
      if (server === "older") expect(JSON.stringify(peer.asked[0])).toContain("Na\\\\u{200b}me");
      peer.answer = () => ({ action: "decline" });
      expect(JSON.parse(await peer.call(`${server}__ask`, { message: "again" }))).toMatchObject({ action: "decline" });
    });

    test("asks twice, and gets each answer where it belongs", async () => {
      peer = await askingPeer(fixture, "asked", kind);
      peer.answer = ({ message }) => ({ action: "accept", content: { name: String(message).slice(-6, -1) } });
      expect(JSON.parse(await peer.call(`${server}__ask_twice`))).toEqual([{ name: "first" }, { name: "econd" }]);
    });

    test("uses the client's model, without the client's conversation, and says whose request it is", async () => {
      peer = await askingPeer(fixture, "asked", kind);
      expect(JSON.parse(await peer.call(`${server}__sample`, { words: "hi" }))).toMatchObject({
        content: { text: "the model's words" },
      });
      const [asked] = peer.asked;
      expect(asked?.["systemPrompt"]).toContain(`This request comes from the MCP server "${server}"`);
      expect(asked).not.toHaveProperty("includeContext");
      expect(JSON.stringify(asked?.["messages"])).toContain("hi");
    });

    test("is told the roots of its entry, never those of the client", async () => {
      peer = await askingPeer(fixture, "alone", kind);
      expect(JSON.parse(await peer.call(`${server}__roots`))).toEqual({
        roots: [{ uri: `file://${fixture.project}/docs` }],
      });
    });

    test("asks while a resource or a prompt is read, where the grants allow that", async () => {
      peer = await askingPeer(fixture, "asked", kind);
      expect(await peer.read(`${server}+notes://asks/who`)).toContain("for Ada");
      expect(await peer.prompt(`${server}__who`)).toContain("from Ada");
      expect(peer.asked.map((one) => one["message"])).toEqual(
        ["reads", "prompts"].map((verb) => `The MCP server "${server}" asks: who ${verb}?`),
      );
      await peer.close();
      peer = await askingPeer(fixture, "alone", kind);
      await expect(peer.read(`${server}+notes://asks/who`)).rejects.toThrow();
      await expect(peer.prompt(`${server}__who`)).rejects.toThrow();
      expect(peer.asked).toEqual([]);
    });

    test("asks no person without a grant, or under the grant of another server", async () => {
      for (const agent of ["alone", "other"]) {
        peer = await askingPeer(fixture, agent, kind);
        const said = await peer.call(`${server}__ask`, { message: "?" }).catch(String);
        expect(said).toMatch(/no grant allows it: mcp\.elicit/);
        expect(await peer.call(`${server}__sample`, { words: "?" }).catch(String)).toMatch(/mcp\.sample/);
        expect(peer.asked).toEqual([]);
        await peer.close();
      }
      peer = null;
      expect(await refusals(server, "elicitation/create")).toContain("capability_absent");
    });

    test("asks no person whose client cannot be asked", async () => {
      peer = await askingPeer(fixture, "asked", kind, {});
      expect(await peer.call(`${server}__ask`, { message: "?" }).catch(String)).toMatch(
        /does not support this request/,
      );
      expect(await refusals(server, "elicitation/create")).toContain("not_available");
    });
  });

  test("a server whose entry does not say so asks for nothing", async () => {
    peer = await askingPeer(fixture, "asked", kind);
    expect(await peer.call("silent__ask", { message: "?" })).toMatch(/does not support|not offer/);
    expect(JSON.parse(await peer.call("silent__declared"))).toEqual({ roots: {} });
    expect(peer.asked).toEqual([]);
  });

  test("a server of the older era asks for two things at once, for no address, and not without end", async () => {
    peer = await askingPeer(fixture, "asked", kind);
    const [person, model] = JSON.parse(await peer.call("older__ask_both")) as [object, { text: string }];
    expect([person, model.text]).toEqual([{ name: "Ada" }, "the model's words"]);
    expect(await peer.call("older__ask_address")).toMatch(/refused/);
    const before = peer.asked.length;
    await peer.call("older__ask_often").catch(String);
    expect(peer.asked.length - before).toBeLessThan(20);
  }, 60_000);
});

describe("a call that comes back with answers", () => {
  const client = { answers: ["elicitation", "sampling"], isProgressWanted: false, logLevel: null };
  const responses = (value: Called): Record<string, unknown> =>
    Object.fromEntries(
      Object.keys((result(value)["inputRequests"] ?? {}) as object).map((key) => [
        key,
        { action: "accept", content: { name: "Ada" } },
      ]),
    );
  const result = ({ value }: Called): Record<string, unknown> => value["result"] as Record<string, unknown>;
  const opened = async (agent: string): Promise<Session> => expectValue(await caller.open(fixture.project, agent));
  const call = async (
    session: Session,
    tool: string,
    more: object = {},
    input: object = { message: "?" },
  ): Promise<Called> => session.do(tool, input as never, { with: { client, ...more } });

  test.each(SERVERS)("belongs to its session, agent, server, tool and arguments (%s era)", async (server) => {
    const session = await opened("asked");
    const first = await call(session, `${server}__ask`);
    const { requestState: state } = result(first);
    expect([first.said, typeof state]).toEqual(["done", "string"]);
    const resume = { state, responses: responses(first) };
    const text = String(state);
    const changed = `${text.slice(0, 40)}${text[40] === "A" ? "B" : "A"}${text.slice(41)}`;
    const others: readonly (readonly [string, () => Promise<Called>])[] = [
      ["a changed note", () => call(session, `${server}__ask`, { resume: { ...resume, state: changed } })],
      ["no note", () => call(session, `${server}__ask`, { resume: { ...resume, state: "" } })],
      ["other arguments", () => call(session, `${server}__ask`, { resume }, { message: "!" })],
      ["another tool", () => call(session, `${server}__sample`, { resume }, { words: "?" })],
      ["another server", () => call(session, `${server === "older" ? "newer" : "older"}__ask`, { resume })],
      ["another session", async () => call(await opened("asked"), `${server}__ask`, { resume })],
      ["another agent", async () => call(await opened("once"), `${server}__ask`, { resume })],
      ["a tool that asks for nothing", () => call(session, "resources_list", { resume }, {})],
    ];
    for (const [what, act] of others) expect([what, (await act()).said]).toEqual([what, "invalid_input"]);
    const last = await call(session, `${server}__ask`, { resume });
    expect([last.said, JSON.stringify(result(last))]).toEqual(["done", expect.stringContaining("Ada")]);
    // The open call of a server of the older era is answered once; in the newer era the server's own note says where it is.
    if (server === "older") expect((await call(session, `${server}__ask`, { resume })).said).toBe("invalid_input");
  });

  test.each(SERVERS)("is decided again, with every grant that it needs (%s era)", async (server) => {
    const session = await opened("once");
    const first = await call(session, `${server}__ask`);
    const resume = { state: result(first)["requestState"], responses: responses(first) };
    fixture.agent("once", ['tool.invoke{tools=["older__*","newer__*"]}']);
    const denied = await call(session, `${server}__ask`, { resume });
    expect(denied.said).toBe("capability_absent");
    expect(denied.value["need"]).toBe(`mcp.elicit ${server}`);
    fixture.agent("once", ['tool.invoke{tools=["older__*","newer__*"]}', "mcp.elicit{servers=[older,newer]}"]);
  });

  test("is asked for 20 times a minute, and no more", async () => {
    const session = await opened("asked");
    let asked = 0;
    for (let round = 0; round < 25; round++) {
      const first = await call(session, "older__ask");
      if (result(first)["requestState"] === undefined) break;
      asked++;
      await call(session, "older__ask", {
        resume: { state: result(first)["requestState"], responses: responses(first) },
      });
    }
    expect(asked).toBe(20);
    expect(await refusals("older", "elicitation/create")).toContain("budget_exhausted");
  });

  test("logs who asked and that it was answered, never the answer", async () => {
    const session = await opened("asked");
    const first = await call(session, "older__ask");
    const [key = ""] = Object.keys(result(first)["inputRequests"] as object);
    const answers = { [key]: { action: "accept", content: { name: SECRET } } };
    const last = await call(session, "older__ask", {
      resume: { state: result(first)["requestState"], responses: answers },
    });
    expect(last.said).toBe("done");
    const entries = await fixture.log({});
    const about = (outcome: string): unknown => entries.findLast((one) => one.outcome === outcome)?.more;
    expect(about("server_asked")).toMatchObject({ server: "older", tool: "ask", method: "elicitation/create" });
    expect(about("server_answered")).toMatchObject({ server: "older", method: "elicitation/create", answer: "accept" });
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });
});

async function refusals(server: string, method: string): Promise<readonly unknown[]> {
  const entries = await fixture.log({ outcome: "server_refused" });
  return entries
    .filter(({ more }) => more["server"] === server && more["method"] === method)
    .map(({ more }) => more["code"]);
}
