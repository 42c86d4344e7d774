// What the models behind single clients read, from the real server: plain text, what was cut, and news while a call waits.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../house/until.ts";
import { Fixture } from "../state/fixture.ts";
import { LineClient, META, type Message, type ToolResult } from "./line-client.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["fs.read", "memory.write{ask}", "memory.read"], "sandbox: .\n");
  fixture.write("project/long.txt", Array.from({ length: 4_000 }, (_, at) => `line ${at}\n`).join(""));
  fixture.write("project/short.txt", 'a "quoted" line\n');
  await fixture.begin();
});
afterAll(() => fixture?.remove());

async function as<T>(name: string, use: (client: LineClient) => Promise<T>, words: readonly string[] = []): Promise<T> {
  const client = new LineClient(fixture, ["--agent", "scout", ...words]);
  await client.initialize("2025-06-18", name);
  const used = await use(client);
  await client.end();
  return used;
}

const textsOf = ({ content }: ToolResult): readonly string[] => content.map(({ text }) => text);

describe("someone connects Claude Code or Codex", () => {
  test.each(["claude-code", "codex-mcp-client"])(
    "%s shows its model plain text, without a second form",
    async (name) => {
      const [read, denied] = await as(name, async (client) => [
        await client.call("fs_read", { path: "short.txt" }),
        await client.call("fs_read", { path: "/etc/passwd" }),
      ]);
      expect(textsOf(read as ToolResult).join()).toContain('a "quoted" line\n');
      expect(read).not.toHaveProperty("structuredContent");
      expect(read).toMatchObject({ _meta: { "ambit/result": { enforcement: expect.any(Array) } } });
      expect(textsOf(denied as ToolResult).join()).toMatch(/^denied: fs\.read \/etc\/passwd \(scope_violation\)/);
      expect(denied).not.toHaveProperty("structuredContent");
    },
  );

  test("the newer protocol names the client with every request", async () => {
    const client = new LineClient(fixture, ["--agent", "scout"]);
    const info = { "io.modelcontextprotocol/clientInfo": { name: "claude-code", version: "2.1" } };
    const read = await client.call("fs_read", { path: "short.txt" }, { _meta: { ...META, ...info } });
    expect(read).not.toHaveProperty("structuredContent");
    const other = await client.call("fs_read", { path: "short.txt" }, { _meta: META });
    expect(other).toHaveProperty("structuredContent");
    await client.end();
  });

  test("Codex reads a long file in parts, and each says where to go on", async () => {
    const read = await as("codex-mcp-client", async (client) => {
      const lines: string[] = [];
      for (let offset = 0, step = 0; step < 40; step++) {
        const [text = ""] = textsOf(await client.call("fs_read", { path: "long.txt", offset, limit: 10_000 }));
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
        const next = /"offset": (\d+)\.\]$/.exec(text);
        lines.push(...text.split("\n").filter((line) => line.startsWith("line ")));
        if (next === null) break;
        offset = Number(next[1]);
      }
      return lines;
    });
    expect(read).toEqual(Array.from({ length: 4_000 }, (_, at) => `line ${at}`));
  });
});

describe("someone's client waits for an approval", () => {
  const INPUT = { name: "memory_set", arguments: { key: "a", value: "b" }, _meta: { progressToken: "p1" } };
  const isProgress = ({ method }: Message): boolean => method === "notifications/progress";

  test("it hears what is awaited, and the call succeeds when a person approves", async () => {
    const answer = await as(
      "test",
      async (client) => {
        const call = client.request("tools/call", INPUT);
        const progress = (await client.first(isProgress, "progress")) as { readonly params?: object };
        expect(progress.params).toMatchObject({
          progressToken: "p1",
          message: expect.stringContaining("ambit approve a_"),
        });
        const [approval] = await fixture.approvals("pending");
        expect((await fixture.approve(approval?.id ?? "")).ok).toBe(true);
        return client.answer(call);
      },
      ["--wait", "300"],
    );
    expect(answer.result).toMatchObject({ isError: false });
  });

  test("after a refusal the text names no approval, for any client", async () => {
    for (const name of ["test", "claude-code", "codex-mcp-client"]) {
      const answer = await as(
        name,
        async (client) => {
          const call = client.request("tools/call", { ...INPUT, arguments: { key: name, value: "b" } });
          await until(async () => (await fixture.approvals("pending")).length > 0, "an approval is pending");
          const [approval] = await fixture.approvals("pending");
          const refused = await fixture.control("approvals.refuse", { id: approval?.id ?? "", reason: "not today" });
          expect(refused.ok).toBe(true);
          return client.answer(call);
        },
        ["--wait", "300"],
      );
      const text = JSON.stringify(answer.result);
      expect(text).toContain("approval_refused");
      expect(text).toContain("not today");
      expect(text).not.toContain("ambit approve");
    }
  });
});
