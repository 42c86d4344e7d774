// An org file through the built program: its agents are agents of the workspace, inert until trusted.
import { describe, expect, test } from "vitest";
import { ALLOW, ASK, DENY, UNTRUSTED, Walk } from "./walk.ts";

const FILE = `# Acme Labs

A small studio.

- budget: 25
- defaults: { "capabilities": { "crm": "allow", "hire": "ask" } }

## Mission

Launch it.

## Agents

### CEO

You are the CEO.

### Engineer

- reports to: CEO
- capabilities: { "hire": "deny", "delegate": "deny" }

You build what is asked for.

### Field Researcher

- reports to: Engineer
- capabilities: { "code": "deny", "web": "allow" }

## Triggers

### Weekly review

- every: 7d

Review.
`;

describe("an org file", () => {
  const walk = new Walk();
  walk.write({ ".ambit/org.md": FILE });
  test("has no effect before it is trusted", () => {
    expect(walk.can("engineer", "agent.consult ceo")).toBe(UNTRUSTED);
  });
  test("the base applies to its agents, the org's defaults over it, the agent's own lines over both", () => {
    walk.trust();
    expect(walk.can("engineer", "agent.consult ceo")).toBe(ALLOW);
    expect(walk.can("engineer", "agent.create x")).toBe(DENY);
    expect(walk.can("ceo", "agent.create x")).toBe(ASK);
    expect(walk.can("ceo", "records.read id=a class=contact")).toBe(ALLOW);
    expect(walk.can("field-researcher", "fs.read a")).toBe(DENY);
    expect(walk.can("field-researcher", "net.get https://example.com/")).toBe(ALLOW);
    expect(walk.can("field-researcher", "proc.exec in=. root=rw -- claude")).toBe(DENY);
    expect(walk.can("engineer", "proc.exec in=. root=live -- claude")).toBe(ALLOW);
  });
  test("an agent's budget is a budget of its model grants; a budget of 0 leaves none", () => {
    const costly = new Walk();
    const file = FILE.replace("### CEO\n", "### CEO\n\n- budget: 2.5\n").replace(
      "- reports to: CEO\n",
      "- reports to: CEO\n- budget: 0\n",
    );
    costly.write({ ".ambit/org.md": file });
    costly.trust();
    expect(costly.ambit("agents", "show", "ceo").out).toContain("model.use{providers=[anthropic],money=2.50}");
    expect(costly.ambit("agents", "show", "engineer").out).not.toContain("model.use");
    expect(costly.ambit("agents", "show", "field-researcher").out).toContain("model.use{providers=[anthropic]}");
  });
  test("its agents are in every list", () => {
    expect(walk.ambit("agents", "list").out).toMatch(/ceo.*\n.*engineer.*\n.*field-researcher/);
    const { agents } = JSON.parse(walk.ambit("org", "show", "--json").out) as {
      agents: {
        id: string;
        reportsTo: string | null;
        capabilities: { capability: string; from: string; line: string }[];
      }[];
    };
    expect(agents.map(({ id, reportsTo }) => [id, reportsTo])).toEqual([
      ["ceo", null],
      ["engineer", "ceo"],
      ["field-researcher", "engineer"],
    ]);
    const hire = agents[1]?.capabilities.find(({ capability }) => capability === "hire");
    expect(hire).toMatchObject({ decision: "deny", from: "agent", line: ".ambit/org.md:21" });
  });
  test("a narrowing counts at once, a widening waits for trust", () => {
    walk.write({ ".ambit/org.md": FILE.replace('"delegate": "deny"', '"delegate": "deny", "web": "deny"') });
    expect(walk.can("engineer", "net.get https://example.com/")).toBe(DENY);
    walk.write({ ".ambit/org.md": FILE.replace('"hire": "deny", ', "") });
    expect(walk.can("engineer", "agent.create x")).toBe(UNTRUSTED);
    expect(walk.can("engineer", "agent.consult ceo")).toBe(ALLOW);
    walk.write({ ".ambit/org.md": FILE });
  });
  test("an error in an agent's part takes that agent's grants, one of the defaults takes all", () => {
    walk.write({ ".ambit/org.md": FILE.replace('"hire": "deny"', '"hire": "dny"') });
    expect(walk.can("engineer", "agent.consult ceo")).not.toBe(ALLOW);
    expect(walk.can("ceo", "agent.consult x")).toBe(ALLOW);
    expect(walk.ambit("org", "show").err).toMatch(/org\.md:21:\d+[\s\S]*\^\^/);
    walk.write({ ".ambit/org.md": FILE.replace('"hire": "ask"', '"hire": "sometimes"') });
    expect(walk.can("ceo", "agent.consult x")).not.toBe(ALLOW);
    walk.write({ ".ambit/org.md": FILE });
  });
  test("doctor examines its agents, and says what the file itself has wrong", () => {
    const examined = walk.ambit("doctor");
    for (const id of ["ceo", "engineer", "field-researcher"]) expect(examined.out).toMatch(new RegExp(`^${id} `, "m"));
    expect(examined.out).not.toContain("✗");
    expect(examined.out).toContain('= fix: - capabilities: { "web": "ask" }');
    const torn = new Walk();
    // Without `## Agents` the page's lines are those of the organisation.
    torn.write({ ".ambit/org.md": `# Acme\n\n### Engineer\n\n- capabilities: { "hire": "deny" }\n` });
    expect(torn.ambit("doctor")).toMatchObject({
      status: 3,
      out: expect.stringMatching(/this project\n {2}✗ bad_value: .*\n +--> \.ambit\/org\.md:/),
    });
  });
  test("a record of the same id, and a second org file, put both out of effect", () => {
    walk.record("ceo", "capabilities: [records.read]");
    expect(walk.ambit("can", "ceo", "agent.consult", "x").err).toMatch(/several files define/);
    walk.write({ ".ambit/agents/ceo.md": "" });
    const second = new Walk();
    second.write({ ".ambit/org.md": FILE, ".ambit/org.yml": "name: x\n" });
    second.ambit("trust", "--yes");
    expect(second.can("engineer", "agent.consult ceo")).not.toBe(ALLOW);
  });
  test("its agents are not edited as records", () => {
    expect(walk.ambit("agents", "grant", "engineer", "memory.read", "--yes").err).toMatch(
      /defined in \.ambit\/org\.md/,
    );
    expect(walk.read(".ambit/org.md")).toBe(FILE);
  });
});

describe("import and export", () => {
  test("to records and back loses nothing, and grants the same", () => {
    const walk = new Walk();
    walk.write({ "QUORUM.md": FILE, ".ambit/config.yml": "{}\n" });
    expect(walk.ambit("org", "import", "QUORUM.md").status).toBe(0);
    const back = walk.ambit("org", "export").out;
    const other = new Walk();
    other.write({ ".ambit/org.md": back });
    expect(other.ambit("org", "export", "--to", "yaml").out).toBe(
      plain(FILE).ambit("org", "export", "--to", "yaml").out,
    );
    walk.trust();
    expect(walk.can("engineer", "agent.create x")).toBe(DENY);
    expect(walk.can("engineer", "agent.consult x")).toBe(ALLOW);
    expect(walk.can("ceo", "agent.create x")).toBe(ASK);
  });
  test("never overwrites", () => {
    const walk = plain(FILE);
    walk.write({ "QUORUM.md": "# Other\n" });
    expect(walk.ambit("org", "import", "QUORUM.md", "--to", "yaml")).toMatchObject({ status: 1 });
    expect(walk.exists(".ambit/org.yml")).toBe(false);
  });
});

function plain(text: string): Walk {
  const walk = new Walk();
  walk.write({ ".ambit/org.md": text });
  return walk;
}
