// The transcripts of the earlier server, line by line, with our own program's name: what it ran runs, what it denied is denied,
// and nothing but the protocol comes out.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";
import { caveats, LineClient, type Message, type ToolResult, textOf } from "./line-client.ts";

let fixture: Fixture;
let site: Server;

beforeAll(async () => {
  fixture = await Fixture.make();
  await fixture.startDaemon();
  site = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<html><body><article><h1>Meadow</h1><p>Larks nest here.</p></article></body></html>");
  });
  await new Promise<void>((ready) => site.listen(0, "127.0.0.1", ready));
});
afterAll(async () => {
  site?.close();
  await fixture?.remove();
});

/** As a shell does it: all lines at once, and the end. */
async function said(
  granted: string,
  lines: readonly string[],
): Promise<{ told: readonly Message[]; status: number | null }> {
  const client = new LineClient(fixture, [], { environment: { AMBIT_CAVEATS: granted } });
  client.send(`${lines.join("\n")}\n`);
  const status = await client.end();
  expect(client.told.filter((one) => typeof one === "string")).toEqual([]);
  return { told: client.told as readonly Message[], status };
}

function resultOf(told: readonly Message[], id: number): ToolResult {
  const found = told.find((one) => one.id === id)?.result;
  if (found === undefined) throw new Error(`no result ${id} in ${JSON.stringify(told)}`);
  return found as unknown as ToolResult;
}

describe("the transcript of `shell`", () => {
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shell","arguments":{"program":"echo","args":["hi"]}}}',
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shell","arguments":{"program":"rm","args":["-rf","/"]}}}',
  ];

  test("echo runs, and rm is denied as a result, not as a transport error", async () => {
    const { told, status } = await said(caveats({ exec: { only: ["echo"] } }), lines);
    expect(status).toBe(0);
    expect(told).toHaveLength(3);
    expect(told.find(({ id }) => id === 1)?.result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "ambit" },
      capabilities: { tools: {} },
    });
    const echo = resultOf(told, 2);
    expect(echo.isError ?? false).toBe(false);
    expect(textOf(echo)).toContain("hi");
    const remove = resultOf(told, 3);
    expect(remove.isError).toBe(true);
    expect(textOf(remove)).toMatch(/^denied: .*\brm\b/);
    expect(remove.structuredContent).toMatchObject({ code: "scope_violation", need: expect.stringContaining("rm") });
    expect(Object.keys(remove.structuredContent).sort()).toEqual(["code", "hint", "id", "need", "outcome"]);
  });

  test("with one more program in the grant the other runs as well", async () => {
    const harmless =
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shell","arguments":{"cmd":"true"}}}';
    const { told } = await said(caveats({ exec: { only: ["true"] } }), [lines[0] ?? "", lines[1] ?? "", harmless]);
    expect(resultOf(told, 2).isError).toBe(true);
    expect(resultOf(told, 3).isError ?? false).toBe(false);
  });
});

describe("the transcript of `web_fetch`", () => {
  function lines(url: string): readonly string[] {
    const call = (id: number, to: string): string =>
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "web_fetch", arguments: { url: to } },
      });
    const first = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
    return [first, call(2, url), call(3, "http://169.254.169.254/latest/meta-data/")];
  }

  test("the granted host is returned as Markdown, and the metadata address is denied", async () => {
    const { port } = site.address() as AddressInfo;
    const { told } = await said(caveats({ net: { only: ["127.0.0.1"] } }), lines(`http://127.0.0.1:${port}/`));
    const page = resultOf(told, 2);
    expect(page.isError ?? false).toBe(false);
    expect(textOf(page)).toContain("Larks nest here.");
    expect(textOf(page)).not.toContain("<p>");
    expect(page.structuredContent).toMatchObject({ status: 200 });
    expect(resultOf(told, 3)).toMatchObject({ isError: true, structuredContent: { code: "scope_violation" } });
  });

  test("with everything granted, the metadata address is still refused, and so is a loopback address that no grant names", async () => {
    const { port } = site.address() as AddressInfo;
    const { told } = await said(caveats({}), lines(`http://127.0.0.1:${port}/`));
    for (const id of [2, 3])
      expect(resultOf(told, id)).toMatchObject({ isError: true, structuredContent: { code: "address_refused" } });
  });
});
