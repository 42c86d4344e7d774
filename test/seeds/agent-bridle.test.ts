// The page about Caveats, from top to bottom: the leash in code, the MCP server, the sources of the leash, the web tool.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCaveatsToml } from "../../src/agents/disk/caveats.ts";
import { type CaveatsFile, chosenCaveats } from "../../src/cli/mcp/caveats.ts";
import type { Caveats } from "../../src/library/library.ts";
import { type LibraryFixture, libraryFixture } from "../library/fixture.ts";
import { caveats, LineClient, type ToolResult, textOf } from "../mcp/line-client.ts";

let place: LibraryFixture;
let site: Server;
let page = "";

const EVERYTHING: Caveats = {
  fs_read: "all",
  fs_write: "all",
  exec: "all",
  net: "all",
  max_calls: "unlimited",
  valid_for_generation: "all",
};

beforeAll(async () => {
  place = await libraryFixture({ aide: ["records.read"] });
  site = createServer((request, answer) => {
    if (request.url === "/away") {
      answer.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
      return;
    }
    answer.setHeader("content-type", "text/html");
    answer.end(
      "<html><head><title>Meadow</title></head><body><article><p>Larks nest here.</p></article></body></html>",
    );
  });
  await new Promise<void>((ready) => site.listen(0, "127.0.0.1", ready));
  page = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  site?.close();
  await place?.remove();
});

/** Calls of `shell` over MCP in one session, and what the server printed beside the protocol. */
async function served(
  environment: Readonly<Record<string, string>>,
  ...inputs: readonly (readonly [tool: string, input: object])[]
): Promise<{ readonly results: readonly ToolResult[]; readonly errors: string }> {
  const client = new LineClient(place.fixture, [], { environment });
  await client.initialize();
  const results: ToolResult[] = [];
  for (const [tool, input] of inputs) results.push(await client.call(tool, input));
  await client.end();
  return { results, errors: client.errors };
}

const run = (program: string, ...args: readonly string[]): readonly [string, object] => ["shell", { program, args }];

describe("the server over MCP", () => {
  const only = { exec: { only: ["echo"] } };
  test("echo runs with isError false, rm is denied as a tool error that names it", async () => {
    const { results } = await served({ AMBIT_CAVEATS: caveats(only) }, run("echo", "hi"), run("rm", "-rf", "/"));
    const [echo, remove] = results as [ToolResult, ToolResult];
    expect(echo.isError).toBe(false);
    expect(echo.structuredContent).toMatchObject({ exit_code: 0, stdout: "hi\n", stderr: "" });
    expect(remove.isError).toBe(true);
    expect(textOf(remove)).toMatch(/^denied: .*\brm\b/);
  });

  test("the web tool returns the page's Markdown once, and the metadata address is denied", async () => {
    const granted = { AMBIT_CAVEATS: caveats({ net: { only: ["127.0.0.1"] } }) };
    const metadata = { url: "http://169.254.169.254/latest/meta-data/" };
    const { results } = await served(granted, ["web_fetch", { url: page }], ["web_fetch", metadata]);
    const [got, refused] = results as [ToolResult, ToolResult];
    expect(got.structuredContent).toMatchObject({ status: 200, title: "Meadow", final_url: page });
    expect(
      got.content
        .map(({ text }) => text)
        .join("")
        .split("Larks"),
    ).toHaveLength(2);
    expect(refused.isError).toBe(true);
    const { results: all } = await served({ AMBIT_CAVEATS: caveats({}) }, ["web_fetch", metadata]);
    expect(all[0]).toMatchObject({ isError: true, structuredContent: { code: "address_refused" } });
  });
});

describe("the source of the leash", () => {
  const git = caveats({ exec: { only: ["true"] } });
  const echo = caveats({ exec: { only: ["echo"] } });
  const table = (program: string): string =>
    `[caveats]\nfs_read = "all"\nfs_write = "all"\nexec = { only = ["${program}"] }\nnet = "all"\nmax_calls = { at_most = 20 }\nvalid_for_generation = "all"\n`;
  const codes = (results: readonly ToolResult[]): readonly boolean[] => results.map(({ isError }) => isError === true);

  test("its own variable takes precedence over the other system's, which is accepted with a hint", async () => {
    const both = await served({ AMBIT_CAVEATS: echo, AGENT_BRIDLE_CAVEATS: git }, run("echo"), run("true"));
    expect(codes(both.results)).toEqual([false, true]);
    const other = await served({ AGENT_BRIDLE_CAVEATS: git }, run("echo"), run("true"));
    expect(codes(other.results)).toEqual([true, false]);
    expect(other.errors).toMatch(/grants come from AGENT_BRIDLE_CAVEATS\n {2}hint: set AMBIT_CAVEATS instead/);
  });

  test("an invalid variable denies everything, whatever files say", async () => {
    const { results } = await served({ AGENT_BRIDLE_CAVEATS: "{" }, run("echo"));
    expect(codes(results)).toEqual([true]);
  });

  // The home folder is the account's, whatever the environment says, so the files themselves are not placed here.
  test("the other system's file, and before it our own", () => {
    const file = (name: string, program: string): CaveatsFile => readCaveatsToml({ name, text: table(program) });
    const none = { environment: null, otherEnvironment: null };
    const other = chosenCaveats({ ...none, file: null, otherFile: file("config.toml", "true") });
    expect(other).toMatchObject({
      source: "config.toml",
      problem: null,
      hint: expect.stringContaining("caveats.toml"),
    });
    expect(JSON.parse(other.text)).toMatchObject({ exec: { only: ["true"] }, max_calls: { at_most: 20 } });
    const own = chosenCaveats({ ...none, file: file("own", "echo"), otherFile: file("config.toml", "true") });
    expect(own).toMatchObject({ source: "own", hint: null });
  });

  // Stricter than the page: its later versions deny as well, and running unconfined is a flag of its own.
  test("without any source nothing is granted", async () => {
    const { results, errors } = await served({}, run("echo"));
    expect(codes(results)).toEqual([true]);
    expect(errors).toMatch(/everything is denied/);
  });
});

// Last: a process with a session may not start servers with a leash of their own.
describe("a leash in code", () => {
  test("echo runs twice, rm never, and the third call finds the budget used up", async () => {
    const ambit = await place.open();
    const twice: Caveats = { ...EVERYTHING, exec: { only: ["echo"] }, max_calls: { at_most: 2 } };
    const session = await ambit.session("anonymous", { caveats: twice });
    const echo = { program: "echo", args: ["hello"] };
    expect(await session.call("shell", { program: "rm", args: ["-rf", "/"] })).toMatchObject({ ok: false });
    for (const _ of [1, 2])
      expect(await session.call("shell", echo)).toMatchObject({
        ok: true,
        value: { exit_code: 0, stdout: "hello\n" },
      });
    expect(await session.call("shell", echo)).toMatchObject({ ok: false, code: "budget_exhausted" });
    await session.close();
  });

  test("a leash with a missing field denies everything", async () => {
    const ambit = await place.open();
    const { net: _, ...rest } = EVERYTHING;
    const session = await ambit.session("anonymous", { caveats: rest as Caveats });
    expect(await session.call("shell", { argv: ["true"] })).toMatchObject({ ok: false });
    await session.close();
  });

  test("one host, and no other", async () => {
    const ambit = await place.open();
    const session = await ambit.session("anonymous", { caveats: { ...EVERYTHING, net: { only: ["127.0.0.1"] } } });
    expect(await session.call("web_fetch", { url: page })).toMatchObject({
      ok: true,
      value: { url: page, final_url: page, status: 200, title: "Meadow", markdown: expect.stringContaining("Larks") },
    });
    for (const url of ["https://not-allowed.test/", `${page}away`])
      expect(await session.call("web_fetch", { url })).toMatchObject({ ok: false });
    await session.close();
  });

  test.each([
    ...["127.0.0.2", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1"],
    ...["[::1]", "[fc00::1]", "[fe80::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]"],
  ])("no inner address under a leash that names none: %s", async (host) => {
    const ambit = await place.open();
    const session = await ambit.session("anonymous", { caveats: EVERYTHING });
    const answer = await session.call("web_fetch", { url: `http://${host}/` });
    expect(answer).toMatchObject({ ok: false, kind: "denied", code: "address_refused" });
    await session.close();
  });

  test("a path that leaves its scope, by `..` or by a link, is denied", async () => {
    const inside = join(place.fixture.project, "inside");
    mkdirSync(inside);
    symlinkSync("/etc", join(inside, "link"));
    writeFileSync(join(inside, "a"), "a");
    const ambit = await place.open();
    const session = await ambit.session("anonymous", { caveats: { ...EVERYTHING, fs_read: { only: [inside] } } });
    expect(await session.call("fs_read", { path: join(inside, "a") })).toMatchObject({ ok: true });
    for (const path of [`${inside}/../.ambit/agents/aide.md`, `${inside}/link/hostname`, `${inside}x`])
      expect(await session.call("fs_read", { path })).toMatchObject({ ok: false, kind: "denied" });
    await session.close();
  });

  test("a leash for a generation that is over grants nothing", async () => {
    const ambit = await place.open();
    const over: Caveats = { ...EVERYTHING, valid_for_generation: { only: [999_999] } };
    const session = await ambit.session("anonymous", { caveats: over });
    expect(await session.call("shell", { program: "echo", args: [] })).toMatchObject({ ok: false, kind: "denied" });
    await session.close();
  });
});
