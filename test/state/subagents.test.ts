// Sub-agents of a client, through its hook: one that is called like a record has that record, within what the client's agent holds.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.make();
  const inside = `in=${fixture.project}`;
  const narrow = `${inside},paths=[src/**]`;
  fixture.agent("coder", [`fs.read{${narrow}}`, `fs.write{${narrow},calls=2}`, `proc.exec{${inside},cmds=[cat]}`]);
  // More than the client's agent in one way, less in others.
  fixture.agent("reviewer", [`fs.read{${inside}}`, `proc.exec{${inside},cmds=[ls,cat]}`]);
  fixture.agent("writer", [`fs.write{${inside}}`]);
  fixture.agent("asking", [`fs.read{${inside},ask}`]);
  fixture.write("project/src/a.txt", "text\n");
  await fixture.begin();
  // Not trusted: it has nothing.
  fixture.agent("new", [`fs.read{${inside}}`]);
});
afterAll(() => fixture?.remove());

function hook(subagent: string | null, tool: string, input: object): { readonly code: string; readonly out: string } {
  const about = { session_id: "one", cwd: fixture.project, hook_event_name: "PreToolUse", agent_id: "a1" };
  const kind = subagent === null ? {} : { agent_type: subagent };
  const { status, stdout, stderr } = spawnSync(
    nativeProgram(root),
    ["hook", fixture.folder, "20000", "claude", "coder"],
    {
      ...{ cwd: fixture.project, encoding: "utf8" },
      input: JSON.stringify({ ...about, ...kind, tool_name: tool, tool_input: input }),
    },
  );
  if (status === 0) return { code: "allow", out: stdout };
  return { code: /\(([a-z_]+)\)/.exec(stderr)?.[1] ?? stderr, out: stderr };
}

const path = (name: string): string => join(fixture.project, name);

describe("a sub-agent", () => {
  test.each<[string, string | null, string, string, string]>([
    ["without a name has the grants of its client's agent", null, "Read", "src/a.txt", "allow"],
    ["without a record, too", "general-purpose", "Read", "src/a.txt", "allow"],
    ["without a record, too, and no more", "general-purpose", "Read", "a.txt", "scope_violation"],
    ["has its own record", "reviewer", "Read", "src/a.txt", "allow"],
    ["that may less does less", "reviewer", "Write", "src/a.txt", "capability_absent"],
    ["that may more has no more than its client's agent", "reviewer", "Read", "a.txt", "scope_violation"],
    ["that must ask asks", "asking", "Read", "src/a.txt", "approval_required"],
    ["whose record is not trusted has nothing", "new", "Read", "src/a.txt", "untrusted_policy"],
    ["is no file", "../agents/reviewer.md", "Write", "src/b.txt", "allow"],
    ["shares the budget of its client's agent", "writer", "Write", "src/b.txt", "allow"],
    ["and does not go beyond it", "writer", "Write", "src/b.txt", "budget_exhausted"],
    ["of another record neither", null, "Write", "src/b.txt", "budget_exhausted"],
  ])("%s (%s %s %s: %s)", (_, subagent, tool, name, code) => {
    expect(hook(subagent, tool, { file_path: path(name), content: "" }).code).toBe(code);
  });

  test("runs its commands in a session of its own record, and the log names both agents", async () => {
    expect(hook("reviewer", "Bash", { command: "ls" }).code).toBe("scope_violation");
    const { code, out } = hook("reviewer", "Bash", { command: "cat src/a.txt" });
    expect(code).toBe("allow");
    const { hookSpecificOutput } = JSON.parse(out) as { hookSpecificOutput: { updatedInput: { command: string } } };
    const { command } = hookSpecificOutput.updatedInput;
    expect(command).toMatch(/ call reviewer shell /);
    // What the record alone would allow, in the same session.
    const beyond = command.replace("cat src/a.txt", "ls");
    const ran = async (line: string): Promise<string> => {
      const child = spawn("sh", ["-c", line], { cwd: fixture.project, env: fixture.environment });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (text += part));
      await once(child, "close");
      return text;
    };
    expect(await ran(command)).toContain("text");
    expect(await ran(beyond)).toContain("scope_violation");
    const entries = await fixture.log({ agent: "reviewer", kind: "decision" });
    expect(new Set(entries.map(({ agents }) => JSON.stringify(agents)))).toEqual(new Set(['["coder","reviewer"]']));
  });

  test("has no more when the record of its client's agent is narrowed", () => {
    expect(hook("reviewer", "Read", { file_path: path("src/a.txt") }).code).toBe("allow");
    fixture.agent("coder", [`fs.write{in=${fixture.project},paths=[src/**],calls=2}`]);
    expect(hook("reviewer", "Read", { file_path: path("src/a.txt") }).code).toBe("capability_absent");
  });
});
