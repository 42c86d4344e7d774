// The examples of the reference of built-in tools, run as they are printed, by the real program.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUILTIN_TOOLS } from "../../src/core/authority/axes/name.ts";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";

const page = readFileSync(join(root, "docs", "reference", "tools.md"), "utf8");
const lines = [...page.matchAll(/^ambit call (\w+) (\w+) '(.*)'(?: +#.*)?$/gm)].map(
  ([, agent = "", tool = "", input = ""]) => ({
    agent,
    tool,
    input,
  }),
);

let fixture: Fixture;
/** The placeholder for a version is replaced by the one of the example before. */
let version = "";

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scribe", ["records.read", "records.create", "records.update"]);
  fixture.agent("lead", ["agent.discover", "net.get{hosts=[api.github.com]}"]);
  await fixture.begin();
}, 120_000);
afterAll(() => fixture?.remove());

test("there are examples", () => {
  expect(lines.map(({ tool }) => tool)).toEqual([
    "records_create",
    "records_search",
    "records_update",
    "agent_discover",
    "lm_complete",
  ]);
});

// `complete.test.ts` asks a model of its own.
test.each(lines.filter(({ tool }) => tool !== "lm_complete"))(
  "ambit call $agent $tool",
  async ({ agent, tool, input }) => {
    const { status, out } = await fixture.ambit(
      "call",
      agent,
      tool,
      input.replace('"version": "ID"', `"version": ${JSON.stringify(version)}`),
      "--json",
    );
    const answer = JSON.parse(out) as { readonly ok: boolean; readonly result: { readonly version?: string } };
    expect([status, answer.ok]).toEqual([0, true]);
    version = answer.result.version ?? version;
  },
);

test("every built-in tool is on the page", () => {
  expect(BUILTIN_TOOLS.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`## ${name}`))).toEqual([]);
});

test("a person sees the same list as an agent's model, with the risk of everything a tool may do", async () => {
  const listed = async (agent: string) => {
    const { out } = await fixture.ambit("tools", "list", "--agent", agent, "--json");
    return (JSON.parse(out) as { readonly tools: readonly { readonly name: string; readonly risk: string }[] }).tools;
  };
  expect((await listed("lead")).find(({ name }) => name === "web_fetch")).toMatchObject({ risk: "high" });
  const names = (await listed("scribe")).map(({ name }) => name);
  expect([names.includes("records_read"), names.includes("web_fetch")]).toEqual([true, false]);
});
