import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { Diagnostics } from "../diagnostic.ts";
import { covers, HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, spanOf, treeOf } from "../testing/notation.ts";
import {
  BASE_POLICY,
  effectivePolicy,
  type PolicyTable,
  policyGrants,
  policyRequests,
  readOrgTable,
  readPolicyTable,
} from "./policy.ts";

function table(value: Json): PolicyTable {
  const diagnostics = new Diagnostics();
  const found = readPolicyTable(treeOf(value), diagnostics);
  if (found === null) throw new Error(diagnosticLines(diagnostics).join());
  return found;
}

function refused(value: Json): { said: string[]; suggestion: string | null } {
  const diagnostics = new Diagnostics();
  expect(readPolicyTable(treeOf(value), diagnostics)).toBe(null);
  return { said: diagnosticLines(diagnostics), suggestion: diagnostics.list[0]?.suggestion ?? null };
}

describe("a capability is resolved from the agent over the org to the base", () => {
  test.each<[string, Json, Json, Json, readonly string[]]>([
    ["the base alone", {}, {}, { code: "allow", crm: "ask", hire: "allow" }, ["capability:crm"]],
    ["the agent beats the org", { hire: "deny" }, { hire: "ask", crm: "allow" }, { hire: "deny", crm: "allow" }, []],
    ["the org beats the base", {}, { hire: "ask", crm: "allow" }, { hire: "ask", crm: "allow" }, ["capability:hire"]],
    ["an agent may have more than the org", { crm: "allow" }, { crm: "deny" }, { crm: "allow" }, []],
    ["each capability by itself", { web: "ask" }, {}, { web: "ask", crm: "ask" }, ["capability:web", "capability:crm"]],
  ])("%s", (_, agent, org, expected, requests) => {
    const effective = effectivePolicy(table(agent), table(org));
    expect(Object.fromEntries([...effective].map(([name, { ruling }]) => [name, ruling]))).toMatchObject(
      expected as object,
    );
    expect(effective.size).toBe(7);
    expect(policyRequests(effective)).toEqual(requests);
  });
  test("its source is shown", () => {
    const effective = effectivePolicy(table({ code: "deny" }), table({ web: "deny" }));
    expect([effective.get("code")?.from, effective.get("web")?.from, effective.get("hire")?.from]).toEqual([
      "agent",
      "org",
      "base",
    ]);
  });
  test("the base counts only inside a written org table", () => {
    expect([...effectivePolicy(table({ web: "allow" }), null).keys()]).toEqual(["web"]);
    expect(effectivePolicy(null, null).size).toBe(0);
    expect(effectivePolicy(null, table({})).size).toBe(7);
    expect(BASE_POLICY.get("crm")).toBe("ask");
  });
});

describe("a ruling becomes grants", () => {
  const grants = (
    agent: Json,
    root: readonly string[] | null = ["work"],
  ): { list: ReturnType<typeof policyGrants>; said: string[] } => {
    const diagnostics = new Diagnostics();
    const list = policyGrants(table(agent), null, { reading: READING, diagnostics, span: spanOf("policy"), root });
    return { list, said: diagnosticLines(diagnostics) };
  };
  test.each([
    ["code", "fs.read /work/a", "fs.read /workx/a"],
    ["code", "fs.write /work/a", "fs.delete /work/a"],
    ["code", "proc.exec in=/work -- sh", "proc.exec in=/ -- sh"],
    ["code", "proc.eval in=/work root=rw", "proc.eval in=/home"],
    ["consult", "agent.consult scout", "agent.delegate scout"],
    ["web", "net.get https://x.com/", "net.post https://x.com/"],
    ["web", "provider.web_search x.com", "provider.code_execution"],
    ["delegate", "agent.delegate scout", "agent.create scout"],
    ["hire", "agent.create scout", "agent.grant scout"],
    ["schedule", "task.schedule", "sandbox.exec"],
    ["crm", "records.update id=a class=contact", "records.update id=a class=contacts"],
    ["crm", "records.create class=contact", "records.delete class=contact"],
  ])("%s: %s, not %s", (capability, allowed, denied) => {
    const { list } = grants({ [capability]: "allow" });
    expect(covers(list, allowed)).toBe(true);
    expect(covers(list, denied)).toBe(false);
    expect(list.every((grant) => grant.implied === `policy ${capability}` && grant.conditions.ask === 0)).toBe(true);
    expect(grants({ [capability]: "ask" }).list.every((grant) => grant.conditions.ask === 1)).toBe(true);
    expect(grants({ [capability]: "deny" }).list).toEqual([]);
  });
  test("grants from the base are marked as such", () => {
    const list = policyGrants(table({}), table({ web: "deny", code: "deny" }), {
      reading: READING,
      diagnostics: new Diagnostics(),
      span: spanOf(""),
      root: null,
    });
    expect(new Set(list.map((grant) => grant.implied))).toEqual(
      new Set([
        "policy consult (base)",
        "policy delegate (base)",
        "policy hire (base)",
        "policy schedule (base)",
        "policy crm (base)",
      ]),
    );
  });
  test.each<[string, readonly string[] | null]>([
    ["without a root", null],
    ["with the whole machine as root", []],
  ])("code %s covers nothing, and that is reported", (_, root) => {
    expect(grants({ code: "allow" }, root)).toEqual({ list: [], said: ["warning inert policy"] });
  });
  test("code outside the outer root covers nothing", () => {
    const context = {
      reading: { ...READING, ceiling: ["home"] },
      diagnostics: new Diagnostics(),
      span: spanOf(""),
      root: ["work"],
    };
    expect(policyGrants(table({ code: "allow" }), null, context)).toEqual([]);
  });
});

describe("a table with a mistake in it grants nothing", () => {
  test.each<[Json, string, string | null]>([
    [{ cod: "deny" }, "error unknown_key cod:", "code"],
    [{ web: "allow", __proto_: "deny" }, "error unknown_key __proto_:", null],
    [{ code: "denny" }, "error bad_value code", "deny"],
    [{ code: "Deny" }, "error bad_value code", "deny"],
    [{ code: false }, "error bad_value code", null],
    [{ code: { ruling: "deny" } }, "error bad_value code", null],
    [[], "error wrong_type ", null],
    [null, "error wrong_type ", null],
    ["deny", "error wrong_type ", null],
  ])("%j", (value, said, suggestion) => {
    expect(refused(value)).toEqual({ said: [said], suggestion });
  });
  test("hostile keys and rulings", () => {
    for (const text of HOSTILE_TEXTS) {
      refused({ code: text });
      refused(JSON.parse(`{${JSON.stringify(text)}: "allow"}`) as Json);
    }
  });
});

describe("an org table", () => {
  const read = (value: Json): { org: ReturnType<typeof readOrgTable>; said: string[] } => {
    const diagnostics = new Diagnostics();
    return { org: readOrgTable(treeOf(value), diagnostics), said: diagnosticLines(diagnostics) };
  };
  test("has defaults and agents", () => {
    const { org } = read({
      defaults: { capabilities: { crm: "allow" } },
      agents: { engineer: { capabilities: { hire: "deny" } }, lead: {} },
    });
    expect(org?.defaults?.get("crm")).toBe("allow");
    expect(org?.agents.get("engineer")?.get("hire")).toBe("deny");
    expect(org?.agents.get("lead")?.size).toBe(0);
    expect(read({}).org).toEqual({ defaults: null, agents: new Map() });
  });
  test("an agent whose table has a mistake is denied everything, not given the defaults", () => {
    const { org, said } = read({
      defaults: { capabilities: { code: "allow" } },
      agents: { engineer: { capabilities: { cod: "deny" } } },
    });
    expect(org?.agents.get("engineer")?.get("code")).toBe("deny");
    expect(said).toEqual(["error unknown_key agents.engineer.capabilities.cod:"]);
  });
  test.each<[string, Json]>([
    ["defaults with a mistake", { defaults: { capabilities: { cod: "deny" } } }],
    ["defaults that are not a map", { defaults: "deny" }],
    ["an unknown key", { default: { capabilities: { code: "deny" } } }],
    ["agents that are a list", { agents: [] }],
    ["text", "deny"],
  ])("%s is not a table", (_, value) => {
    const { org, said } = read(value);
    expect(org).toBe(null);
    expect(said.length).toBeGreaterThan(0);
  });
});
