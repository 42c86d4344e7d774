// What people do every day with a project, its users and its tools, through the built program and a real daemon.
import { afterAll, beforeAll, expect, test } from "vitest";
import { World } from "../state/world.ts";

let world: World;

beforeAll(async () => {
  world = await World.make();
  world.agent("scout", ["memory.read", "memory.write", "tool.invoke{tools=[builtin:**,forecast]}"]);
  world.write(
    "project/.ambit/tools/forecast.mjs",
    `export const tool = { name: "forecast", description: "Weather.", input: { type: "object", properties: { city: { type: "string" } } },
  capabilities: { network: { allowedHosts: ["api.weather.gov"] } }, execute: () => "rain" };\n`,
  );
  await world.begin();
});
afterAll(() => world?.remove());

function json(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

test("someone declares a tool that no agent may serve: doctor names it, with a request as the example", async () => {
  expect((await world.ambit("tools", "list")).out).toContain("forecast");
  const { out } = await world.ambit("doctor");
  expect(out).toContain("tool_exceeds_agents: `forecast` declares more than scout may do, for example net.");
  world.agent("scout", [
    "memory.read",
    "memory.write",
    "tool.invoke{tools=[builtin:**,forecast]}",
    ...["get", "post", "put", "delete"].map((verb) => `net.${verb}{hosts=[api.weather.gov]}`),
  ]);
  await world.trust();
  expect((await world.ambit("doctor")).out).not.toContain("tool_exceeds_agents");
});

test("someone writes a user's record with a mistake: doctor shows the line", async () => {
  world.write("config/ambit/users/bob.md", "---\nname: Bob\ncapabilities:\n  - memory.read:\nkeys: [a]\n---\n");
  const { out, status } = await world.ambit("doctor");
  expect([status, out.includes("user bob"), out.includes("users/bob.md:5:1")]).toEqual([3, true, true]);
  expect((await world.ambit("can", "scout", "memory.read", "a", "--user", "bob")).status).toBe(10);
  world.write("config/ambit/users/bob.md", "---\nname: Bob\ncapabilities:\n  - memory.read:\n      keys: [a]\n---\n");
  const sections = json((await world.ambit("doctor", "--json")).out)["sections"] as readonly { title: string }[];
  expect(sections.find(({ title }) => title === "user bob")).toMatchObject({ about: "user", findings: [] });
  expect((await world.ambit("can", "scout", "memory.read", "a", "--user", "bob")).status).toBe(0);
});
