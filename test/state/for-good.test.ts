// An approval for good: an edit of the org file that a person sees first, and that is trusted by their yes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOW, ASK, Walk } from "../seeds/walk.ts";

const walk = new Walk();
const MARKDOWN = [
  "# Org",
  "",
  "## Agents",
  "",
  "### Lead",
  "",
  "- client: sh",
  '- capabilities: { "code": "ask" }',
  "",
];

function parked(agent: string): { readonly id: string; readonly approval: string } {
  const added = JSON.parse(walk.ambit("tasks", "add", "--json", agent, "write.sh").out) as { task: { id: string } };
  walk.ambit("tasks", "work", "--once");
  const { task } = JSON.parse(walk.ambit("tasks", "show", added.task.id, "--json").out) as {
    task: { waitsFor: { approval: string } | null };
  };
  return { id: added.task.id, approval: task.waitsFor?.approval ?? "" };
}
const state = (id: string): string =>
  (JSON.parse(walk.ambit("tasks", "show", id, "--json").out) as { task: { state: string } }).task.state;

const YAML = [
  "# Who works here.",
  "name: Org",
  "defaults: { client: sh }",
  "agents:",
  "  # Writes the code.",
  "  coder: { role: Coder, capabilities: { code: ask } } # for now",
  "  other: { role: Other, capabilities: { code: ask } }",
  "",
].join("\n");

beforeAll(() => {
  walk.write({ ".ambit/org.yml": YAML, "write.sh": "echo made > made.txt\n" });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("ambit approve --for-good", () => {
  test("shows the edit, writes it, trusts it and re-opens the task; from then on nothing asks", () => {
    const { id, approval } = parked("coder");
    const shown = walk.ambit("approve", approval, "--for-good");
    expect(shown.status).not.toBe(0);
    expect(walk.read(".ambit/org.yml")).toBe(YAML);
    const done = walk.ambit("approve", approval, "--for-good", "--yes");
    expect(done.status).toBe(0);
    expect(done.out).toContain("-  coder: { role: Coder, capabilities: { code: ask } } # for now");
    expect(done.out).toContain("+  coder: { role: Coder, capabilities: { code: allow } } # for now");
    expect(walk.read(".ambit/org.yml")).toBe(YAML.replace("code: ask } } # for now", "code: allow } } # for now"));
    expect(walk.can("coder", `fs.write ${walk.folder}/x`)).toBe(ALLOW);
    expect(walk.can("other", `fs.write ${walk.folder}/x`)).toBe(ASK);
    expect(walk.ambit("status").out).not.toContain("ambit trust");
    walk.ambit("tasks", "work", "--once");
    expect(state(id)).toBe("done");
    expect(walk.read("made.txt")).toBe("made\n");
    const second = parked("coder");
    expect(state(second.id)).toBe("done");
    expect(walk.ambit("log", "--text", "approve --for-good", "--json").out).toContain("coder code");
  });
  test("does not trust what a person had not trusted before, and says so", () => {
    const before = walk.read(".ambit/org.yml");
    const { approval } = parked("other");
    walk.write({ ".ambit/org.yml": `${before}  third: { role: Third }\n` });
    const done = walk.ambit("approve", approval, "--for-good", "--yes");
    expect(done.status).toBe(0);
    expect(walk.can("other", `fs.write ${walk.folder}/x`)).toBe(ALLOW);
    // The agent that was added by hand is not trusted by that.
    expect(walk.can("third", `fs.read ${walk.folder}/x`)).not.toBe(ALLOW);
    expect(walk.read(".ambit/org.yml")).toContain("third: { role: Third }");
    walk.trust();
  });
  test.each([
    ["an approval of no task", ["nothing"]],
    ["an approval that is answered", []],
  ])("refuses %s", (_, words) => {
    const { approval } = words.length === 0 ? { approval: "a_0000" } : { approval: words[0] ?? "" };
    const before = walk.read(".ambit/org.yml");
    expect(walk.ambit("approve", approval, "--for-good", "--yes").err).toContain("no task of this workspace waits for");
    expect(walk.read(".ambit/org.yml")).toBe(before);
  });
});

test("in Markdown, with JSON output", () => {
  const own = new Walk();
  own.write({ ".ambit/org.md": MARKDOWN.join("\n"), "write.sh": "echo made > made.txt\n" });
  own.trust();
  own.ambit("tasks", "add", "lead", "write.sh");
  own.ambit("tasks", "work", "--once");
  const { tasks } = JSON.parse(own.ambit("tasks", "list", "--json").out) as {
    tasks: readonly { id: string; waitsFor: { approval: string } }[];
  };
  const ran = own.ambit("approve", tasks[0]?.waitsFor.approval ?? "", "--for-good", "--yes", "--json");
  expect(JSON.parse(ran.out)).toMatchObject({
    ...{ file: ".ambit/org.md", agent: "lead", capabilities: ["code"], written: true, isTrusted: true, isOpen: true },
    difference: ['-- capabilities: { "code": "ask" }', '+- capabilities: { "code": "allow" }'],
  });
  expect(own.can("lead", `fs.write ${own.folder}/x`)).toBe(ALLOW);
});
