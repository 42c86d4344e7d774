// The page about capability tokens, from top to bottom: tokens, globs, domains, the order of checks, manifests.
import { spawnSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment } from "../e2e/ambit.ts";
import { ALLOW, DENY, Walk } from "./walk.ts";

const walk = new Walk();
const at = (path: string): string => join(walk.folder, path);

function manifest(name: string, capabilities: readonly string[], more = ""): string {
  const list = capabilities.map((token) => `    - ${JSON.stringify(token)}\n`).join("");
  return `kind: AgentManifest\nmetadata: { name: ${name} }\nspec:\n  capabilities:\n${list}${more}`;
}

beforeAll(() => {
  walk.write({
    "notes/day.txt": "rain\n",
    "keys/day.txt": "dry\n",
    ".ambit/agents/page.yml": manifest("page", [
      "tool.invoke:lm.complete",
      "tool.invoke:web.fetch",
      "tool.invoke:fs.read",
      `fs.read:${at("notes")}/**`,
      "memory.read:*",
      "memory.write:notes",
      "obs.append",
      "secret.use:openai-key",
    ]),
    ".ambit/agents/every.yml": manifest("every", [
      "fs.read",
      `fs.write:${at("notes")}/**`,
      "tool.invoke:echo",
      "net.connect:*.example.com:443",
      "secret.use:my-api-key",
      "secret.use:db-*",
      "secret.use:openai-*",
      "memory.read:config",
      "memory.write:*",
      "obs.append",
      "obs.query",
      "sandbox.exec",
      "agent.discover",
    ]),
    ".ambit/agents/any.yml": manifest("any", ["tool.invoke:*", "sandbox.exec"]),
    ".ambit/agents/files.yml": manifest("files", ["tool.invoke:fs.*"]),
    ".ambit/agents/closed.yml": manifest("closed", ["tool.invoke:echo"], "  network: { policy: none }\n"),
    ".ambit/agents/torn.yml": manifest("torn", ["net.connect:example.com:443"], "  network: { policy: none }\n"),
    ".ambit/agents/local.yml": manifest("local", ["tool.invoke:echo"], "  network: { policy: local }\n"),
  });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("tokens, and the globs after their colon", () => {
  test.each([
    ["a token without a scope is everything", "every", "fs.read /etc/hostname", "fs.write /etc/hostname"],
    ["two stars are any number of folders", "page", `fs.read ${at("notes/a/b")}`, `fs.read ${at("keys/a")}`],
    ["and the folder itself", "page", `fs.read ${at("notes")}`, `fs.read ${at("note")}`],
    ["one tool", "every", "tool.invoke echo {}", "tool.invoke echoes {}"],
    ["the tools of a namespace", "files", "tool.invoke fs.write {}", "tool.invoke web.fetch {}"],
    ["any tool", "any", "tool.invoke whatever {}", "fs.read /etc/hostname"],
    ["a subdomain and a port", "every", "net.connect a.example.com:443", "net.connect a.example.com:80"],
    // Stricter than a glob could be: decision 0002 keeps the apex out of an imported `*.x`.
    ["strictly below", "every", "net.connect b.a.example.com:443", "net.connect example.com:443"],
    ["a secret", "every", "secret.use my-api-key", "secret.use my-api-keys"],
    ["secrets of one provider", "every", "secret.use openai-main", "secret.use openai"],
    ["one host and port", "every", "net.connect api.example.com:443", "net.connect api.example.com:8443"],
    ["secrets by prefix", "every", "secret.use db-main", "secret.use dbmain"],
    ["one memory key", "every", "memory.read config", "memory.read configs"],
    ["any memory key", "page", "memory.read a/b/c", "memory.write a/b/c"],
    ["any memory key to write", "every", "memory.write a/b/c", "memory.read a/b/c"],
    ["observations", "every", "obs.append", "task.schedule"],
    ["code in a temporary sandbox", "every", "sandbox.exec", "proc.exec in=. -- ls"],
    ["finding agents", "every", "agent.discover page", "agent.create page"],
  ])("%s", (_, agent, allowed, denied) => {
    expect(walk.can(agent, allowed)).toBe(ALLOW);
    expect(walk.can(agent, denied)).toBe(DENY);
  });
});

describe("the manifest of the page, as an agent by its name", () => {
  test("reads files with the tool and the path, by either name of the tool", () => {
    expect(walk.call("page", "fs.read", { path: "notes/day.txt" }).result).toMatchObject({ text: "rain\n" });
    expect(walk.call("page", "fs_read", { path: "notes/day.txt" }).result).toMatchObject({ text: "rain\n" });
  });
  test("the tool alone reads nothing else, and the path alone is not a tool", () => {
    expect(walk.call("page", "fs.read", { path: "/etc/passwd" }).code).toBe("scope_violation");
    expect(walk.call("page", "fs.read", { path: "keys/day.txt" }).code).toBe("scope_violation");
    expect(walk.call("every", "fs.read", { path: "notes/day.txt" }).code).toBe("scope_violation");
  });
  test("memory and observations need no token for a tool", () => {
    expect(walk.call("page", "memory_set", { key: "notes", value: "x" }).code).toBe(null);
    expect(walk.call("page", "memory_get", { key: "notes" }).result).toMatchObject({ value: "x" });
    expect(walk.call("page", "memory_set", { key: "other", value: "x" }).code).toBe("scope_violation");
    expect(walk.call("page", "obs_append", { text: "seen" }).code).toBe(null);
    expect(walk.call("page", "obs_query").code).not.toBe(null);
    expect(walk.call("every", "obs_query").code).toBe(null);
    expect(walk.call("every", "agent_discover", { can: ["fs.*"] }).code).toBe(null);
  });
  test("a secret is referred to by its handle, and needs its token", () => {
    const headers = { authorization: "{{secret:other-key}}" };
    expect(walk.call("page", "web.fetch", { url: "https://example.com/", headers }).code).not.toBe(null);
  });
});

describe("the order of checks", () => {
  test("the registry first", () => {
    expect(walk.call("any", "lm.complete").code).toBe("invalid_input");
    expect(walk.call("any", "nothing.here").code).toBe("unknown_tool");
  });
  test("then the capability of the tool, before its arguments are checked", () => {
    expect(walk.call("page", "fs.write", { nonsense: true }).code).toBe("scope_violation");
    expect(walk.call("page", "fs.read", { nonsense: true }).code).toBe("invalid_input");
    expect(walk.call("page", "echo", { text: "x" }).code).toBe("scope_violation");
  });
  test("then a person's approval, before the tool runs", () => {
    walk.record("asks", "capabilities: ['tool.invoke{tools=[echo],ask}']");
    walk.trust();
    expect(walk.call("asks", "nothing.here").code).toBe("unknown_tool");
    expect(walk.call("asks", "fs.read", { path: "notes/day.txt" }).code).not.toBe("approval_required");
    expect(walk.call("asks", "echo", { text: "hello" }).code).toBe("approval_required");
  });
  test("the tool last", () => {
    expect(walk.call("every", "echo", { text: "hello" }).result).toEqual({ text: "hello" });
  });
});

describe("sandbox.exec", () => {
  test("runs code of a language without any files of this machine", () => {
    const code = `ls ${walk.folder}; echo done`;
    const { result } = walk.call("any", "sandbox.exec", { code, language: "sh" });
    expect(result).toMatchObject({ ending: { kind: "exited", status: 0 }, stdout: "done\n" });
    expect(walk.call("any", "sandbox.exec", { code: "x", language: "cobol" }).code).toBe("invalid_input");
    expect(walk.call("any", "sandbox.exec", { code: "x", argv: ["ls"] }).code).toBe("invalid_input");
  });
  test("needs its capability and its tool", () => {
    expect(walk.call("every", "sandbox.exec", { code: "echo x" }).code).toBe("scope_violation");
    expect(walk.call("files", "sandbox.exec", { code: "echo x" }).code).toBe("scope_violation");
  });
});

describe("spec.network", () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, answer) => answer.end("here"));
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  });
  afterAll(() => {
    server.close();
  });
  test("none means no connection, and an error beside a token that opens one", () => {
    expect(walk.can("closed", "net.connect example.com:443")).toBe(DENY);
    expect(walk.can("torn", "net.connect example.com:443")).toBe(DENY);
    expect(walk.ambit("doctor").out).toMatch(/net\.connect beside the network policy `none`/);
  });
  test("local is this machine, by address and by name, and nothing else", () => {
    const { port } = server.address() as AddressInfo;
    expect(walk.can("local", `net.connect 127.0.0.1:${port}`)).toBe(ALLOW);
    expect(walk.can("local", `net.connect localhost:${port}`)).toBe(ALLOW);
    expect(walk.can("local", `net.connect 10.0.0.1:${port}`)).toBe(DENY);
  });
});

test("two files that define one agent define none", () => {
  walk.write({ ".ambit/agents/double.yml": manifest("double", ["tool.invoke:echo"]) });
  walk.record("double", "capabilities: [records.read]");
  const { status, err } = walk.ambit("can", "double", "records.read", "id=a");
  expect(status).not.toBe(ALLOW);
  expect(err).toMatch(/several files define "double"/);
  spawnSync("rm", [at(".ambit/agents/double.yml"), at(".ambit/agents/double.md")], { env: environment });
});

test("`ambit agents grant` refuses to edit a manifest, and says so", () => {
  expect(walk.ambit("agents", "grant", "page", "fs.read{in=.}", "--yes").err).toMatch(
    /page\.yml is not a record: edit it by hand/,
  );
});
