// The examples of docs/reference/mcp.md work as printed.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";
import { AS_CLIENT, LineClient, type Message } from "./line-client.ts";

const page = readFileSync(join(root, "docs", "reference", "mcp.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));

function block(language: string, holds: string): string {
  const found = blocks.find((one) => one.language === language && one.text.includes(holds));
  if (found === undefined) throw new Error(`no ${language} with ${holds}`);
  return found.text;
}

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["memory.read{keys=[notes/**]}"]);
  await fixture.begin();
  // The program by its installed name.
  mkdirSync(join(fixture.base, "bin"));
  symlinkSync(join(root, "bin", "ambit"), join(fixture.base, "bin", "ambit"));
});
afterAll(() => fixture?.remove());

function environment(): NodeJS.ProcessEnv {
  return { ...fixture.environment, PATH: `${join(fixture.base, "bin")}:${process.env["PATH"]}` };
}

test("the transcript of the shell", () => {
  const { stdout, status } = spawnSync("/bin/sh", ["-c", block("sh", "printf")], {
    cwd: fixture.project,
    env: environment(),
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(status).toBe(0);
  const told = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Message);
  const byId = new Map(told.map((one) => [one.id, one.result]));
  expect(byId.get(2)).toMatchObject({ structuredContent: { stdout: "hi\n" } });
  expect(byId.get(3)).toMatchObject({ isError: true, structuredContent: { code: "scope_violation" } });
});

test("the command line given to every client starts the server", async () => {
  const { command, args } = JSON.parse(block("json", '"command": "ambit"')) as { command: string; args: string[] };
  const opencode = JSON.parse(block("json", '"local"')) as { mcp: { ambit: { command: string[] } } };
  expect(opencode.mcp.ambit.command).toEqual([command, ...args]);
  expect(block("toml", "mcp_servers")).toContain(`args = ${JSON.stringify(args).replaceAll(",", ", ")}`);
  expect(block("sh", "claude mcp add")).toContain([command, ...args].join(" "));
  const input = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n';
  // A shell is started in between, so that the test counts as a person.
  const words = [...AS_CLIENT, command, ...args];
  const { stdout } = spawnSync("perl", words, { cwd: fixture.project, env: environment(), encoding: "utf8", input });
  expect(JSON.parse(stdout)).toMatchObject({ result: { tools: expect.any(Array) } });
});

test("the caveats in TOML are valid", async () => {
  mkdirSync(fixture.config, { recursive: true });
  writeFileSync(join(fixture.config, "caveats.toml"), block("toml", "[caveats]"));
  const client = new LineClient(fixture, []);
  const ran = await client.call("shell", { argv: ["echo", "hi"] });
  expect(ran.structuredContent).toMatchObject({ stdout: "hi\n" });
  await client.end();
  expect(client.errors).not.toMatch(/denied|missing/);
});

test("the denial", async () => {
  const printed = JSON.parse(block("json", '"isError": true').replaceAll("...", "")) as object;
  const client = new LineClient(fixture, ["--agent", "scout"]);
  const denied = await client.call("memory_get", { key: "diary/today" });
  expect(Object.keys(denied).sort()).toEqual(Object.keys(printed).sort());
  expect(denied.structuredContent).toMatchObject({ code: "scope_violation", need: "memory.read diary/today" });
  await client.end();
});

describe("help", () => {
  test.each([["mcp --help"], ["mcp serve --help"]])("ambit %s shows an example", async (words) => {
    const ran = await fixture.ambit(...words.split(" "));
    expect([ran.status, ran.out.includes("ambit mcp serve --agent scout")]).toEqual([0, true]);
  });

  test("is offered with the other commands, and completed", async () => {
    expect((await fixture.ambit("--help")).out).toMatch(/^ {2}mcp\b/m);
    expect((await fixture.ambit("__complete", "--", "mcp", "serve", "--agent", "")).out).toContain("scout");
  });
});
