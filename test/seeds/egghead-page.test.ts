// The page about capabilities of agents, the parts that `egghead.test.ts` leaves out, from top to bottom: the split of records and
// agents, risk, scope keys, the sandbox and its levels, attenuation, the command line, doctor, provider tools.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAmbit } from "../../src/node-entry.ts";
import { environment } from "../e2e/ambit.ts";
import { ALLOW, DENY, Walk } from "./walk.ts";

const walk = new Walk();

beforeAll(() => {
  walk.write({ "src/a.txt": "a\n", "foo/a.txt": "a\n", "foo/sub/a.txt": "a\n", "bar/a.txt": "a\n" });
  walk.record("clerk", "capabilities: [records.read, records.update, records.create, records.delete]");
  walk.record("other", "capabilities: [records.read]");
  walk.record(
    "both",
    "capabilities:",
    "  - fs.read: { in: foo, paths: ['*.txt'] }",
    "  - fs.read: { in: bar }",
    "  - net.get: { hosts: [github.com] }",
  );
  walk.record("granter", "capabilities:", "  - net.get: { hosts: ['*.github.com'] }", "  - agent.grant");
  walk.record("peer", "capabilities: [records.read]");
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("resource families", () => {
  test("records.* never reaches an agent's record", () => {
    expect(walk.can("clerk", "records.update id=note class=note")).toBe(ALLOW);
    expect(walk.can("clerk", "agent.update other")).toBe(DENY);
    const before = walk.read(".ambit/agents/other.md");
    for (const id of ["agents/other", "../agents/other"])
      expect(walk.call("clerk", "records_update", { id, body: "x" }).code).not.toBe(null);
    expect(walk.call("clerk", "agent_update", { id: "other", instructions: "x" }).code).toBe("capability_absent");
    expect(walk.read(".ambit/agents/other.md")).toBe(before);
  });

  test.each([
    ["low", "records.read records.create"],
    ["medium", "records.update fs.read net.get agent.update"],
    ["high", "records.delete fs.write fs.delete net.post net.put net.delete"],
    ["high", "proc.exec proc.eval agent.delete agent.grant"],
  ])("risk %s: %s", (risk, names) => {
    const { verbs } = JSON.parse(walk.ambit("explain", "--json").out) as { verbs: { name: string; risk: string }[] };
    for (const name of names.split(" "))
      expect([name, verbs.find((verb) => verb.name === name)?.risk]).toEqual([name, risk]);
  });
});

describe("scope keys", () => {
  const KEYS: readonly (readonly [verbs: string, keys: string])[] = [
    ["records.create", "classes"],
    ["records.update", "classes paths"],
    ["records.delete", "classes"],
    ["agent.create", "id"],
    ["agent.update", "id ids paths"],
    ["agent.delete", "id ids"],
    ["agent.grant", "id"],
    ["fs.read fs.write fs.delete", "in paths"],
    ["net.get net.post net.put net.delete", "hosts"],
    ["proc.exec", "in cmds patterns"],
    ["proc.eval", "in"],
  ];
  test.each(KEYS)("%s: %s", (names, keys) => {
    const { verbs } = JSON.parse(walk.ambit("explain", "--json").out) as { verbs: { name: string; keys: string[] }[] };
    for (const name of names.split(" "))
      expect(verbs.find((verb) => verb.name === name)?.keys).toEqual(expect.arrayContaining(keys.split(" ")));
  });

  test.each(["../bar/**", "sub/../../bar", "/etc/**", "/etc/passwd"])(
    "a path that leaves `in` is an error: %s",
    (path) => {
      walk.record("leaves", `capabilities: [{ fs.read: { in: foo, paths: ['${path}'] } }]`);
      expect(walk.ambit("doctor", "leaves").out).toMatch(/✗ escapes_root: .* leaves its root/);
      walk.trust();
      expect(walk.can("leaves", "fs.read bar/a.txt")).toBe(DENY);
      expect(walk.can("leaves", "fs.read foo/a.txt")).toBe(DENY);
    },
  );

  test("grants of one verb add up, and there is no exception syntax", () => {
    expect(walk.can("both", "fs.read foo/a.txt")).toBe(ALLOW);
    expect(walk.can("both", "fs.read foo/sub/a.txt")).toBe(DENY);
    expect(walk.can("both", "fs.read bar/a.txt")).toBe(ALLOW);
    walk.record("except", "capabilities: [{ fs.read: { in: foo, paths: ['!sub/**'] } }]");
    expect(walk.ambit("doctor", "except").out).toMatch(/✗ bad_pattern/);
  });
});

describe("the sandbox", () => {
  test("the root comes from the grant, else from the agent, else from the configuration; deeper levels narrow", () => {
    const roots = new Walk();
    roots.write({ "work/in/a": "", "work/a": "", ".ambit/config.yml": "sandbox: work\n" });
    roots.record("grant", "sandbox: work", "capabilities: [{ fs.read: { in: work/in } }]");
    roots.record("agent", "sandbox: work/in", "capabilities: [fs.read]");
    roots.record("config", "capabilities: [fs.read, { net.get: { hosts: [example.com] } }]");
    roots.record("wide", "sandbox: /etc", "capabilities: [fs.read]");
    roots.trust();
    expect(roots.can("agent", "fs.read work/in/a")).toBe(ALLOW);
    expect(roots.can("agent", "fs.read work/a")).toBe(DENY);
    expect(roots.can("config", "fs.read work/a")).toBe(ALLOW);
    expect(roots.can("config", "fs.read .ambit/config.yml")).toBe(DENY);
    expect(roots.can("config", "net.get https://example.com/")).toBe(ALLOW);
    // The page clamps an outer root with a warning.
    expect(roots.can("wide", "fs.read /etc/hostname")).toBe(DENY);
    expect(roots.can("wide", "fs.read work/a")).toBe(ALLOW);
    expect(roots.ambit("doctor", "wide").out).toMatch(/⚠ clamped: the sandbox becomes .*work/);
    roots.ambit("daemon", "stop");
  });

  test("without a root at any level a grant is inert, and doctor has the fix", () => {
    walk.record("rootless", "capabilities: [fs.read, proc.exec]");
    expect(walk.ambit("doctor", "rootless").out).toMatch(/inert[\s\S]*= fix: sandbox: \./);
    walk.trust();
    expect(walk.can("rootless", "fs.read src/a.txt")).toBe(DENY);
    expect(walk.can("rootless", "proc.exec in=. -- ls")).toBe(DENY);
  });

  test("a program cannot leave its root, whatever it tries", () => {
    walk.record("runner", "sandbox: foo", "capabilities: [proc.eval]");
    walk.trust();
    const ran = walk.ambit(
      "exec",
      "runner",
      "--shell",
      "--",
      `cat ${walk.folder}/src/a.txt ../src/a.txt /etc/shadow; cat a.txt`,
    );
    expect(ran.out).toBe("a\n");
  });

  test("doctor says which mechanism this machine has", () => {
    expect(walk.ambit("doctor").out).toMatch(/this machine[\s\S]*✓ sandbox: bubblewrap/);
  });
});

describe("attenuation, as the page has it", () => {
  test("a part is passed on, more is not, and itself never", () => {
    const grant = (agent: string, spec: string): string | null =>
      walk.call("granter", "agent_grant", { agent, grants: [spec] }).code;
    expect(grant("peer", "net.get{hosts=[github.com]}")).toBe(null);
    expect(walk.can("peer", "net.get https://github.com/")).toBe(ALLOW);
    expect(walk.can("peer", "net.get https://api.github.com/")).toBe(DENY);
    expect(walk.ambit("agents", "capabilities", "peer").out).toContain("net.get{hosts=[github.com]}");
    expect(grant("peer", "net.get{hosts=[*]}")).toBe("exceeds_grantor_authority");
    expect(grant("granter", "net.get{hosts=[github.com]}")).toBe("self_modification");
  });
});

describe("the commands of the page", () => {
  test.each(["net.get{hosts=[*.github.com,api.anthropic.com]}", "proc.exec{in=~/Work,cmds=[rg,jq]}"])(
    "grant scout %s, and revoke it",
    (spec) => {
      walk.record("scout", "access: rw");
      walk.trust();
      expect(walk.ambit("agents", "grant", "scout", spec, "--yes")).toMatchObject({ status: 0 });
      expect(walk.read(".ambit/agents/scout.md")).toContain(`- ${spec}`);
      expect(walk.ambit("agents", "revoke", "scout", spec, "--yes")).toMatchObject({ status: 0 });
      expect(walk.read(".ambit/agents/scout.md")).not.toContain(spec);
      expect(walk.ambit("agents", "revoke", "scout", "records.update", "--yes")).toMatchObject({ status: 0 });
      expect(walk.read(".ambit/agents/scout.md")).not.toMatch(/access|records\.update/);
    },
  );

  test("grant without a spec asks at a terminal, and says so without one", () => {
    walk.record("scout", "access: rw");
    expect(walk.ambit("agents", "grant", "scout")).toMatchObject({
      status: 2,
      err: expect.stringContaining("no grant named, and no terminal to ask at"),
    });
  });
});

test.each<[finding: string, lines: readonly string[], shown: RegExp]>([
  [
    "an unknown capability, with the nearest",
    ["capabilities: [records.raed]"],
    /unknown_verb[\s\S]*did you mean records\.read\?/,
  ],
  [
    "an unknown scope key",
    ["capabilities: [{ fs.read: { in: foo, pathz: ['*'] } }]"],
    /unknown_key[\s\S]*did you mean paths\?/,
  ],
  [
    "a value of another type",
    ["capabilities: [{ net.get: { hosts: github.com } }]"],
    /wrong_type: `hosts` must be a list/,
  ],
  [
    "fs.write over the records",
    ["capabilities: [{ fs.write: { in: ., paths: ['.ambit/**'] } }]"],
    /⚠ records_writable: `fs\.write` covers/,
  ],
  ["proc.exec without any scope", ["sandbox: .", "capabilities: [proc.exec]"], /proc\.exec/],
  ["no root", ["capabilities: [proc.exec]"], /inert/],
])("doctor warns of %s, and the record still loads", (_, lines, shown) => {
  walk.record("checked", ...lines);
  expect(walk.ambit("doctor", "checked").out).toMatch(shown);
  expect(walk.ambit("agents", "show", "checked").out).toContain("checked");
});

// Stricter than the page: the folder is protected, so that a grant around it does not cover it (decision 0012).
test("fs.write around the records does not reach them", () => {
  walk.record("around", "capabilities: [{ fs.write: { in: . } }]");
  walk.trust();
  expect(walk.can("around", "fs.write src/a.txt")).toBe(ALLOW);
  expect(walk.can("around", "fs.write .ambit/agents/around.md")).toBe(DENY);
});

test("a provider's tool is in the request only with its grant, and with the grant's hosts", async () => {
  walk.record("searcher", "capabilities: [{ provider.web_search: { hosts: [github.com] } }]");
  walk.record("plain", "capabilities: [records.read]");
  walk.trust();
  for (const name of ["XDG_STATE_HOME", "XDG_CONFIG_HOME"]) process.env[name] = environment[name];
  const ambit = await createAmbit({ workspace: walk.folder });
  const [searcher, plain] = [await ambit.session("searcher"), await ambit.session("plain")];
  expect(JSON.stringify(await searcher.providerTools("anthropic"))).toMatch(
    /web_search.*"allowed_domains":\["github\.com"\]/,
  );
  expect(JSON.stringify(await plain.providerTools("anthropic"))).not.toContain('"allowed_domains"');
  await searcher.close();
  await plain.close();
});
