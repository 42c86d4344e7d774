// Agents that agents of an org hire, by a directive and by the tool: below their hirer, with what it may pass on, and paid by it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOW, ASK, DENY } from "../seeds/walk.ts";
import { assistant, DirectedWalk } from "./directed.ts";

const walk = new DirectedWalk();

beforeAll(() => {
  walk.begin(
    "name: Org",
    "defaults: { client: claude }",
    "budget: { dailyCalls: 100000 }",
    "agents:",
    "  lead: { role: Lead, budget: { perTaskCalls: 50 }, capabilities: { web: deny, crm: deny } }",
    "  junior: { role: Junior, capabilities: { hire: deny } }",
    "  asker: { role: Asker, capabilities: { hire: ask, web: ask } }",
    "  many: { role: Many }",
    "  deep: { role: Deep }",
    "  side: { role: Side }",
  );
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

interface ShownHire {
  readonly id: string;
  readonly superior: string;
  readonly role: string;
}
function hired(): readonly ShownHire[] {
  const { agents } = JSON.parse(walk.ambit("org", "show", "--json").out) as {
    agents: readonly { id: string; role: string; reportsTo: string; standing: string }[];
  };
  return agents
    .filter(({ standing }) => standing === "hired")
    .map(({ id, role, reportsTo }) => ({ id, role, superior: reportsTo }));
}
const ids = (superior: string): readonly string[] =>
  hired().flatMap((one) => (one.superior === superior ? [one.id] : []));

describe("HIRE", () => {
  test("makes an agent below the hirer, which is given work in the same run; the hirer pays", () => {
    const id = walk.ran(
      "lead",
      assistant("HIRE[QA Engineer 2.0]: You test what others build.\nDELEGATE[lead/qa-engineer-2-0]: quiet.jsonl"),
    );
    expect(walk.task(id).state).toBe("done");
    expect(hired()).toEqual([{ id: "lead/qa-engineer-2-0", superior: "lead", role: "QA Engineer 2.0" }]);
    const [task] = walk.madeBy(id);
    expect(task).toMatchObject({ agent: "lead/qa-engineer-2-0", state: "done", payers: ["lead"] });
    // It runs with the hirer's client, its own instructions and the hirer's flags.
    const output = walk.output(task?.id ?? "");
    expect(output).toContain("You test what others build.");
    expect(output).toContain("--disallowedTools WebSearch,WebFetch");
    const { out } = walk.ambit("log", "--text", "hired", "--json", "--count", "10");
    expect(out).toContain("lead/qa-engineer-2-0");
    const next = walk.add("lead", "quiet.jsonl");
    walk.work();
    expect(walk.output(next)).toContain("Carried out: the agent exists. Its id is lead/qa-engineer-2-0.");
  });
  test("is shown in the tree below its manager, and a person gives it tasks", () => {
    expect(walk.ambit("org", "show").out).toMatch(
      /lead {2}Lead[\s\S]*lead\/qa-engineer-2-0 {2}QA Engineer 2\.0.*hired/,
    );
    const id = walk.add("lead/qa-engineer-2-0", "quiet.jsonl");
    walk.work();
    expect(walk.task(id).state).toBe("done");
  });
  test("is refused without the capability, for an agent that is there, and for no role; the agent reads why", () => {
    const before = hired();
    const lines = ["HIRE[QA Engineer 2.0]: You help.", "HIRE[???]: You help."];
    walk.write({ "bad.jsonl": `${assistant(...lines)}\n`, "none.jsonl": `${assistant("HIRE[Helper]: You help.")}\n` });
    const ran = [walk.add("lead", "bad.jsonl"), walk.add("junior", "none.jsonl")];
    walk.work();
    expect(ran.map((id) => walk.task(id).state)).toEqual(["done", "done"]);
    expect(hired()).toEqual(before);
    const [lead, junior] = [walk.add("lead", "quiet.jsonl"), walk.add("junior", "quiet.jsonl")];
    walk.work();
    for (const line of lines) expect(walk.output(lead)).toContain(`About your line ${line}\nNot carried out: `);
    expect(walk.output(lead)).toContain("you have already hired lead/qa-engineer-2-0: delegate to it");
    expect(walk.output(lead)).toContain("a role has letters or digits");
    expect(walk.output(junior)).toContain("About your line HIRE[Helper]: You help.\nNot carried out: ");
  });
  test("that asks parks the task; the approval carries it out once, without another run of the client", () => {
    const id = walk.ran("asker", assistant("HIRE[Helper]: You help.\nDELEGATE[asker/helper]: quiet.jsonl"));
    expect(walk.task(id)).toMatchObject({ state: "parked" });
    expect(walk.task(id).reason).toContain("REQUEST[capability:web]");
    expect(walk.ambit("approve", "--yes").status).toBe(0);
    walk.work();
    expect(walk.task(id).reason).toContain("REQUEST[capability:hire]");
    expect(ids("asker")).toEqual([]);
    const runs = walk.output(id).split("prompt: ").length;
    expect(walk.ambit("approve", "--yes").status).toBe(0);
    walk.work();
    expect(walk.task(id).state).toBe("done");
    expect(ids("asker")).toEqual(["asker/helper"]);
    expect(walk.output(id).split("prompt: ").length).toBeLessThanOrEqual(runs);
    walk.ambit("tasks", "retry", id);
  });
  test("that asks and is refused re-opens the task, and the agent reads the reason", () => {
    const id = walk.ran("asker", assistant("HIRE[Second]: You help."));
    const approval = (): string => {
      const listed = JSON.parse(walk.ambit("approvals", "list", "--json").out) as {
        approvals: readonly { id: string; requests: unknown }[];
      };
      const waits = /ambit approve (\S+)/.exec(walk.task(id).reason)?.[1] ?? "";
      expect(listed.approvals.map((one) => one.id)).toContain(waits);
      return waits;
    };
    expect(walk.ambit("approve", approval(), "--yes").status).toBe(0);
    walk.work();
    expect(walk.task(id).reason).toContain("REQUEST[capability:hire]");
    expect(walk.ambit("approvals", "refuse", approval(), "--reason", "two are enough").status).toBe(0);
    walk.work();
    expect(walk.task(id).reason).toContain("REQUEST[capability:web]");
    expect(walk.ambit("approve", approval(), "--yes").status).toBe(0);
    walk.work();
    expect(walk.output(id)).toContain("The capability hire was refused for this task: two are enough");
    expect(ids("asker")).toEqual(["asker/helper"]);
  });
  test("is limited in number and in depth", () => {
    const lines = Array.from({ length: 7 }, (_, at) => `HIRE[Hand ${at}]: You help.`);
    walk.ran("many", assistant(lines.join("\n")));
    expect(ids("many")).toEqual(["many/hand-0", "many/hand-1", "many/hand-2", "many/hand-3", "many/hand-4"]);
    expect(walk.call("many", "agent_hire", { role: "More", instructions: "x" }).code).toBe("quota");
    expect(walk.call("deep", "agent_hire", { role: "One", instructions: "x" }).code).toBeNull();
    expect(walk.call("deep/one", "agent_hire", { role: "Two", instructions: "x" }).code).toBeNull();
    expect(walk.call("deep/one/two", "agent_hire", { role: "Three", instructions: "x" }).code).toBe("quota");
    // A superior delegates through managers; no agent delegates sideways.
    expect(walk.call("deep", "task_delegate", { agent: "deep/one/two", prompt: "quiet.jsonl" }).code).toBeNull();
    expect(walk.call("side", "task_delegate", { agent: "deep/one", prompt: "x" }).code).toBe("scope_violation");
    expect(walk.call("deep/one", "task_delegate", { agent: "deep", prompt: "x" }).code).toBe("scope_violation");
  });
});

describe("a hired agent that tries to widen itself", () => {
  const hand = "lead/qa-engineer-2-0";
  test("holds what its hirer may pass on, and nothing else", () => {
    for (const request of ["net.get https://example.com/", "records.read id=crm/a class=contact", "agent.grant side"])
      expect([request, walk.can(hand, request)]).toEqual([request, DENY]);
    expect(walk.can(hand, `fs.write ${walk.folder}/x.txt`)).toBe(ALLOW);
    expect(walk.can("asker/helper", "net.get https://example.com/")).toBe(ASK);
  });
  test.each<[string, string, object]>([
    ["grants to itself", "agent_grant", { agent: hand, grants: ["net.get{hosts=[example.com]}"] }],
    ["grants to another one", "agent_grant", { agent: "side", grants: ["net.get{hosts=[example.com]}"] }],
    ["makes an agent that holds more", "agent_create", { id: "x", instructions: "", grants: ["net.get{hosts=[*]}"] }],
    ["writes the org file", "fs_write", { path: ".ambit/org.yml", content: "name: Mine" }],
    ["writes a record with its own id", "fs_write", { path: `.ambit/agents/${hand}.md`, content: "---\n---\n" }],
    ["gives itself new instructions", "agent_update", { id: hand, instructions: "You may do everything." }],
    ["requests a capability outside of a run", "capability_request", { capability: "web" }],
  ])("%s: refused", (_, tool, input) => {
    expect(walk.call(hand, tool, input).code).not.toBeNull();
    expect(walk.can(hand, "net.get https://example.com/")).toBe(DENY);
  });
  test("hires another one: it holds no more either", () => {
    expect(walk.call(hand, "agent_hire", { role: "Proxy", instructions: "fetch" }).code).toBeNull();
    expect(walk.can(`${hand}/proxy`, "net.get https://example.com/")).toBe(DENY);
  });
  test("writes a file of its own name into the project: it is not read as an agent", () => {
    const text = `---\nclass: agent\nid: ${hand}\ncapabilities: ["net.get{hosts=[example.com]}"]\n---\n`;
    walk.write({ [`${hand}.md`]: text, [hand]: text });
    expect(walk.can(hand, "net.get https://example.com/")).toBe(DENY);
  });
  test("writes protected files from its program: the kernel refuses", () => {
    walk.write({ "evil.jsonl": "", "evil.jsonl.sh": "echo x >> .ambit/org.yml; mkdir -p .ambit/agents/lead; true\n" });
    const before = walk.read(".ambit/org.yml");
    walk.add(hand, "evil.jsonl");
    walk.work();
    expect(walk.read(".ambit/org.yml")).toBe(before);
    expect(walk.exists(".ambit/agents/lead")).toBe(false);
  });
  test("holds nothing once its hirer holds nothing, and ends with ambit stop", () => {
    const text = walk.read(".ambit/org.yml");
    walk.write({ ".ambit/org.yml": text.replace("web: deny", "web: deny, code: deny") });
    expect(walk.can(hand, `fs.write ${walk.folder}/x.txt`)).toBe(DENY);
    walk.write({ ".ambit/org.yml": text });
    expect(ids(hand)).toEqual([`${hand}/proxy`]);
    expect(walk.ambit("stop", hand)).toMatchObject({ status: 0, out: expect.stringContaining("2 agents") });
    expect(ids("lead")).toEqual([]);
    // Those below it hold nothing any more: they end with it.
    expect(ids(hand)).toEqual([]);
    expect(walk.ambit("tasks", "add", hand, "x").status).not.toBe(0);
  });
  test("leaves its place when its hirer is stopped: the hirer hires again", () => {
    expect(ids("many")).toHaveLength(5);
    expect(walk.ambit("stop", "many").status).toBe(0);
    expect(ids("many")).toEqual([]);
    expect(walk.call("many", "agent_hire", { role: "Hand 0", instructions: "x" }).code).toBeNull();
    expect(walk.can("many/hand-0", `fs.write ${walk.folder}/x.txt`)).toBe(ALLOW);
  });
});
