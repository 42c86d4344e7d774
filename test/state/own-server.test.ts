// Our MCP server in a client that has our hook, too: the server decides its own calls, and no other server gets them by its name.
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { LineClient } from "../mcp/line-client.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.make();
  for (const agent of ["coder", "other", "narrow"]) fixture.agent(agent, ["fs.read"], "sandbox: .\n");
  fixture.user("ada", []);
  await fixture.begin();
});
afterAll(() => fixture?.remove());

/** The hook of Claude Code, run by this process as the client runs it. */
function hook(tool: string, ...more: readonly string[]): "allow" | "deny" {
  return hookOf({}, tool, ...more);
}

function hookOf(facts: object, tool: string, ...more: readonly string[]): "allow" | "deny" {
  const about = { session_id: "one", cwd: fixture.project, hook_event_name: "PreToolUse", ...facts };
  const { status, stdout, stderr } = spawnSync(
    nativeProgram(root),
    ["hook", fixture.folder, "20000", "claude", "coder", ...more],
    {
      ...{
        cwd: fixture.project,
        encoding: "utf8",
        input: JSON.stringify({ ...about, tool_name: tool, tool_input: {} }),
      },
    },
  );
  if (status === 2 && stderr.startsWith("ambit denied")) return "deny";
  expect(stdout).toContain('"allow"');
  return "allow";
}

type Client = "gemini" | "opencode" | "copilot" | "vscode";

/** `allow`: left to our server; `none`: to the client's own rules, where Gemini has no other answer; `deny`. */
function other(client: Client, tool: string, facts: object): "allow" | "none" | "deny" {
  const own = { session: "one", sessionId: "one", session_id: "one", cwd: fixture.project };
  const event = client === "gemini" ? "BeforeTool" : "PreToolUse";
  const about = {
    ...{ ...own, hook_event_name: event, tool, toolName: tool, tool_name: tool },
    ...{ input: {}, toolArgs: {}, tool_input: {}, ...facts },
  };
  const words = ["hook", fixture.folder, "20000", client, "coder", "--server"];
  const options = { cwd: fixture.project, encoding: "utf8", input: JSON.stringify(about) } as const;
  const { status, stdout, stderr } = spawnSync(nativeProgram(root), words, options);
  if (status === 2 && stderr.startsWith("ambit denied")) return "deny";
  expect(status).toBe(0);
  return stdout.includes("allow") ? "allow" : "none";
}

test("in clients whose names of tools can be read in two ways, the server that the client names counts", async () => {
  const server = new LineClient(fixture, ["--agent", "coder"]);
  await server.initialize();
  await server.names();
  const context = (name: string, tool: string): object => ({ mcp_context: { server_name: name, tool_name: tool } });
  for (const [client, tool, facts, wanted] of [
    ["gemini", "mcp_ambit_fs_read", context("ambit", "fs_read"), "none"],
    ["gemini", "mcp_ambit_fs_read", context("ambit_fs", "read"), "deny"],
    ["gemini", "mcp_ambit_fs_read", context("ambit", "fs_readx"), "deny"],
    ["gemini", "mcp_ambit_fs_read", {}, "none"],
    ["opencode", "ambit_fs_read", { servers: ["ambit", "docs"] }, "allow"],
    ["opencode", "ambit_fs_read", { servers: ["ambit", "ambit_fs"] }, "deny"],
    ["opencode", "ambit_fs_read", { servers: ["ambit", "ambit fs"] }, "deny"],
    ["opencode", "ambit_fs_read", { servers: ["ambit_fs"] }, "deny"],
    ["opencode", "ambit_fs_read", {}, "none"],
    ["copilot", "ambit-fs_read", {}, "allow"],
    ["copilot", "ambit-fs-read", {}, "deny"],
    ["vscode", "mcp_ambit_fs_read", {}, "none"],
    ["vscode", "mcp_ambit_shell_x", {}, "deny"],
  ] as const)
    expect({ client, tool, facts, is: other(client, tool, facts) }).toEqual({ client, tool, facts, is: wanted });
  await server.end();
  expect(other("copilot", "ambit-fs_read", {})).toBe("deny");
});

test("a call of our server's tool is left to the server while the client runs it, and only then", async () => {
  expect(hook("mcp__ambit__fs_read", "--server")).toBe("deny");
  const other = new LineClient(fixture, ["--agent", "other"]);
  await other.initialize();
  await other.names();
  // A server for another agent has other grants.
  expect(hook("mcp__ambit__fs_read", "--server")).toBe("deny");
  await other.end();
  const server = new LineClient(fixture, ["--agent", "coder"]);
  await server.initialize();
  await server.names();
  expect(hook("mcp__ambit__fs_read", "--server")).toBe("allow");
  expect(hook("mcp__ambit__fs_read")).toBe("deny");
  expect(hook("mcp__ambits__fs_read", "--server")).toBe("deny");
  expect(hook("mcp__other__mcp__ambit__fs_read", "--server")).toBe("deny");
  // Another server whose name starts like ours, and tools that ours does not have.
  for (const name of ["evil__upload", "fs_read__x", "nothing", "_fs_read", "fs.read", ""])
    expect(hook(`mcp__ambit__${name}`, "--server")).toBe("deny");
  // A sub-agent with a record of its own is judged by that record: the server has only the client's agent's.
  expect(hookOf({ agent_type: "narrow", agent_id: "n1" }, "mcp__ambit__fs_read", "--server")).toBe("deny");
  // For another user the record may be narrower.
  expect(hook("mcp__ambit__fs_read", "--server", "--user", "ada")).toBe("deny");
  await server.end();
  expect(hook("mcp__ambit__fs_read", "--server")).toBe("deny");
});
