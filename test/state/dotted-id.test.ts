// An agent of an org whose id has a dot: everywhere an id is written, it is one word.
import { afterAll, beforeAll, expect, test } from "vitest";
import { assistant, DirectedWalk } from "./directed.ts";

const walk = new DirectedWalk();

beforeAll(() => {
  walk.begin(
    "name: Org",
    "defaults: { client: claude }",
    "agents:",
    "  lead.team: { role: Lead, capabilities: { hire: ask } }",
    "  dev.v2: { role: Dev, reportsTo: lead.team, budget: { dailyCalls: 50 } }",
    "triggers:",
    "  t.1: { every: 7d, agent: dev.v2, prompt: quiet.jsonl }",
  );
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

test("it is delegated to, pays, keeps artifacts and has a schedule", () => {
  const id = walk.ran("lead.team", assistant("DELEGATE[dev.v2]: quiet.jsonl"));
  expect(walk.madeBy(id)).toMatchObject([{ agent: "dev.v2", state: "done", payers: ["lead.team"] }]);
  expect(walk.ambit("org", "budgets").out).toMatch(/agent dev\.v2\n\s+daily\s+\d+ of 50 calls/);
  const put = (key: string): string | null =>
    walk.call("dev.v2", "store_put", { store: "artifacts", key, value: { title: "larks", body: "two" } }).code;
  expect([put("dev.v2/larks"), put("dev/larks"), put("dev.v20/larks")]).toEqual([
    null,
    "scope_violation",
    "scope_violation",
  ]);
  expect(walk.ambit("schedules", "list").out).toContain("dev.v2");
  expect(walk.ambit("can", "dev.v2", "fs.read", "quiet.jsonl").status).toBe(0);
});

test("its capability is approved for good, by an edit of its own line", () => {
  const id = walk.ran("lead.team", assistant("HIRE[Tester v1.2]: You test."));
  const approval = /ambit approve (\S+)/.exec(walk.task(id).reason)?.[1] ?? "";
  expect(walk.ambit("approve", approval, "--for-good", "--yes").status).toBe(0);
  expect(walk.read(".ambit/org.yml")).toContain("lead.team: { role: Lead, capabilities: { hire: allow } }");
  walk.work();
  expect(walk.task(id).state).toBe("done");
  expect(walk.ambit("org", "show").out).toContain("lead.team/tester-v1-2");
});

test("it is the same in Markdown, as a file and as a record", () => {
  const { out } = walk.ambit("org", "export", "--to", "markdown");
  expect(out).toContain("- id: dev.v2");
  for (const to of ["yaml", "records"]) {
    const other = new DirectedWalk();
    other.write({ "QUORUM.md": out, ".ambit/config.yml": "{}\n" });
    expect(other.ambit("org", "import", "QUORUM.md", "--to", to)).toMatchObject({ status: 0 });
    // Records have no order.
    const lines = (text: string): readonly string[] => text.split("\n").sort();
    expect(lines(other.ambit("org", "export", "--to", "markdown").out)).toEqual(lines(out));
  }
});
