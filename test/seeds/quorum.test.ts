// The page about tools and permissions of an organisation's agents, from top to bottom.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOW, ASK, DENY, UNTRUSTED, Walk } from "./walk.ts";

const walk = new Walk();

beforeAll(() => {
  walk.write({
    ".ambit/config.yml":
      "policy: { crm: allow, hire: ask }\nagents:\n  boxed: { code: deny, web: ask }\n  grown: { delegate: allow }\n",
  });
  walk.record(
    "everything",
    "sandbox: .",
    "policy: { code: allow, consult: allow, web: allow, delegate: allow, hire: allow, schedule: allow, crm: allow }",
  );
  walk.record("engineer", 'policy: { "hire": "deny", "delegate": "deny" }');
  walk.record("researcher", "sandbox: .", 'policy: { "code": "deny", "web": "allow" }');
  walk.record("junior", "sandbox: .", "policy: { code: allow, hire: deny, delegate: deny }");
  walk.record("owner", "policy: { crm: allow }");
  walk.record("asker", "policy: { crm: ask }");
  walk.record("boxed", "sandbox: .", "capabilities: ['net.get{hosts=[example.com]}', 'proc.exec{cmds=[ls]}']");
  walk.record("grown", "capabilities: [records.read]");
  walk.record(
    "shut",
    "sandbox: .",
    "capabilities: ['net.get{hosts=[example.com]}', memory.read]",
    "policy: { code: deny, web: deny }",
  );
  walk.record("lead", "capabilities: ['net.get{hosts=[example.com]}', memory.read, 'agent.grant{ids=[shut]}']");
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("the capabilities", () => {
  test.each([
    ["code", "fs.read a"],
    ["code", "fs.write a"],
    ["code", "proc.exec in=. -- ls"],
    ["code", "proc.eval in=."],
    ["consult", "agent.consult scout"],
    ["web", "net.get https://example.com/"],
    ["web", "provider.web_search example.com"],
    ["delegate", "agent.delegate scout"],
    ["hire", "agent.create scout"],
    ["schedule", "task.schedule"],
    ["crm", "records.update id=a class=contact"],
  ])("%s: %s", (_, request) => {
    expect(walk.can("everything", request)).toBe(ALLOW);
    expect(walk.can("grown", request)).toBe(DENY);
  });
});

describe("the three decisions", () => {
  test("allow, deny, and ask, which waits for approval", () => {
    expect(walk.can("owner", "records.read id=a class=contact")).toBe(ALLOW);
    expect(walk.can("asker", "records.read id=a class=contact")).toBe(ASK);
    expect(walk.can("researcher", "proc.exec in=. -- ls")).toBe(DENY);
  });
  test("a tool that needs approval is withheld, and works once after approval", () => {
    const create = (): string | null =>
      walk.call("asker", "records_create", { id: "contacts/ann", class: "contact", body: "Ann" }).code;
    expect(create()).toBe("approval_required");
    expect(walk.ambit("approvals", "list").out).toMatch(/asker/);
    expect(walk.ambit("approve", "--yes").status).toBe(0);
    expect(create()).toBe(null);
    expect(create()).not.toBe(null);
  });
});

describe("resolution", () => {
  test("the record takes precedence over the organisation, which applies where it is silent", () => {
    expect(walk.can("engineer", "agent.create scout")).toBe(DENY);
    expect(walk.can("engineer", "records.read id=a class=contact")).toBe(ALLOW);
    expect(walk.can("owner", "agent.create scout")).toBe(ASK);
  });
  // Decision 0083: a record says what it grants, so the base is for agents of an organisation file.
  test("the base does not apply to an agent with a record", () => {
    expect(walk.can("engineer", "agent.consult scout")).toBe(DENY);
    expect(walk.can("grown", "agent.consult scout")).toBe(DENY);
  });
  test("naming an agent in a configuration only narrows it", () => {
    expect(walk.can("grown", "agent.delegate scout")).toBe(DENY);
    expect(walk.can("boxed", "proc.exec in=. -- ls")).toBe(DENY);
    expect(walk.can("boxed", "net.get https://example.com/")).toBe(ASK);
  });
});

describe("a deny always denies", () => {
  test("beside a list of capabilities", () => {
    expect(walk.can("shut", "net.get https://example.com/")).toBe(DENY);
    expect(walk.can("shut", "fs.read a")).toBe(DENY);
    expect(walk.can("shut", "memory.read a")).toBe(ALLOW);
  });
  test("applies to what another agent delegates", () => {
    const grants = ["net.get{hosts=[example.com]}", "memory.read"];
    expect(walk.call("lead", "agent_grant", { agent: "shut", grants }).code).toBe(null);
    expect(walk.call("shut", "web_fetch", { url: "https://example.com/" }).code).toMatch(
      /capability_absent|scope_violation/,
    );
    expect(walk.call("shut", "memory_get", { key: "a" }).code).toBe(null);
  });
  test("and doctor shows the line that has no effect", () => {
    expect(walk.ambit("doctor").out).toMatch(/the policy denies `web`, which removes net\.get/);
  });
  test("removing it is a widening that waits for trust", () => {
    walk.record("shut", "sandbox: .", "capabilities: ['net.get{hosts=[example.com]}', memory.read]");
    expect(walk.can("shut", "net.get https://example.com/")).toBe(UNTRUSTED);
    walk.trust();
    expect(walk.can("shut", "net.get https://example.com/")).toBe(ALLOW);
  });
});

describe("common patterns", () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, answer) => answer.end("larks"));
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    walk.write({ "a.txt": "x\n" });
  });
  afterAll(() => {
    server.close();
  });
  test("a read-only researcher searches the web and runs nothing", () => {
    expect(walk.can("researcher", "net.get https://example.com/")).toBe(ALLOW);
    expect(walk.call("researcher", "proc_exec", { argv: ["ls"], in: ".", root: "ro" }).code).toBe("capability_absent");
    expect(walk.call("researcher", "fs_write", { path: "b.txt", content: "x" }).code).toBe("capability_absent");
    // Whatever a name resolves to, the machine itself is not the open web.
    const { port } = server.address() as AddressInfo;
    expect(walk.call("researcher", "web_fetch", { url: `http://127.0.0.1:${port}/` }).code).not.toBe(null);
  });
  test("a locked-down junior does its work, and hires and delegates nothing", () => {
    expect(walk.call("junior", "proc_exec", { argv: ["cat", "a.txt"], in: ".", root: "ro" }).result).toMatchObject({
      stdout: "x\n",
    });
    expect(
      walk.call("junior", "agent_create", { id: "helper", instructions: "Help.", grants: ["memory.read"] }).code,
    ).toBe("capability_absent");
    expect(walk.can("junior", "agent.delegate scout")).toBe(DENY);
  });
  test("a gated owner of contacts beside one that needs approval", () => {
    expect(walk.call("owner", "records_create", { id: "contacts/bob", class: "contact", body: "Bob" }).code).toBe(null);
    expect(walk.call("asker", "records_read", { id: "contacts/bob" }).code).toBe("approval_required");
    expect(walk.call("boxed", "records_read", { id: "contacts/bob" }).code).toBe("capability_absent");
  });
});
