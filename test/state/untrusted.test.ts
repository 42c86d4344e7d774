// An untrusted project: what it would have allowed is denied with one code by every command and protocol, and nothing else is.
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeOf, LineClient } from "../mcp/line-client.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.write("project/a.txt", "one line\n");
  fixture.agent(
    "coder",
    ["memory.read{keys=[a]}", "fs.read", "fs.write", "proc.exec", "fs.delete{paths=[gone]}"],
    "sandbox: .\n",
  );
  await fixture.begin();
});
afterAll(() => fixture?.remove());

async function revoked(): Promise<void> {
  const ran = await fixture.ambit("trust", "--revoke");
  if (ran.status !== 0) throw new Error(ran.out);
}

test("one code everywhere, a hint for a person, and nothing is allowed", async () => {
  const session = expectValue(await fixture.caller().open(fixture.project, "coder"));
  expect((await session.do("memory_get", { key: "a" })).said).toBe("done");
  await revoked();
  const told = await session.do("memory_get", { key: "a" });
  expect([told.said, String(told.value["hint"])]).toEqual(["untrusted_policy", expect.stringMatching(/ambit trust/)]);
  const short = expectValue(
    await fixture.caller().open(fixture.project, "coder", { pledge: ["memory.read{keys=[b]}"] }),
  );
  expect((await short.do("memory_get", { key: "a" })).said).not.toMatch(/done|untrusted_policy/);
  // What its text would deny as well is not reported as untrusted.
  expect((await session.do("memory_get", { key: "b" })).said).toBe("capability_absent");

  const called = await fixture.ambit("call", "coder", "fs_read", '{"path": "a.txt"}', "--json");
  expect(called.status).toBe(14);
  expect(called.out).toContain('"code":"untrusted_policy"');
  expect(called.out).not.toContain("one line");
  expect((await fixture.ambit("can", "coder", "fs.read", "a.txt")).status).toBe(14);
  const run = await fixture.ambit("exec", "coder", "--json", "--", "ls");
  expect([run.status, run.out]).toEqual([125, expect.stringContaining('"code":"untrusted_policy"')]);
  const pledged = await fixture.ambit("exec", "coder", "--json", "--pledge", "memory.read", "--", "ls");
  expect(pledged.out).toContain('"code":"capability_absent"');
  const client = new LineClient(fixture, ["--agent", "coder"]);
  await client.initialize();
  const answer = await client.call("fs_read", { path: "a.txt" });
  await client.end();
  expect(codeOf(answer)).toBe("untrusted_policy");

  const log = (await fixture.log({})).filter(({ code }) => code === "untrusted_policy");
  expect(log.length).toBeGreaterThanOrEqual(4);
  for (const { outcome, more } of log) expect([outcome, more["suggest"]]).toEqual(["deny", null]);
  const why = await fixture.ambit("agents", "grant", "--from", log[0]?.id ?? "");
  expect(why.out).toContain("fix: ambit trust");

  await fixture.trust();
  expect((await session.do("memory_get", { key: "a" })).said).toBe("done");
});

test("a denial outside the agent's root proposes no grant, and one inside does", async () => {
  await fixture.trust();
  const session = expectValue(await fixture.caller().open(fixture.project, "coder"));
  const denied = async (path: string): Promise<unknown> => {
    const { said, value } = await session.do("fs_delete", { path });
    const entry = (await fixture.log({})).find(({ id }) => id === value["id"]);
    return [said, entry?.more["suggest"]];
  };
  expect(await denied("/etc/passwd")).toEqual([expect.any(String), null]);
  expect(await denied("a.txt")).toEqual(["scope_violation", expect.stringContaining("fs.delete")]);
});

test("a protected path is reported before a tool runs, with the tool's code", async () => {
  await fixture.trust();
  for (const path of [".git/hooks/x", ".vscode/tasks.json", "sub/.git/config"]) {
    const asked = await fixture.ambit("can", "coder", "fs.write", path, "--json");
    expect([path, asked.status]).toEqual([path, 10]);
    expect(JSON.parse(asked.out)).toMatchObject({
      outcome: "deny",
      code: "self_modification",
      held: "self_modification",
    });
    const called = await fixture.ambit("call", "coder", "fs_write", JSON.stringify({ path, content: "x" }), "--json");
    expect([path, called.status, called.out]).toEqual([path, 10, expect.stringContaining("self_modification")]);
  }
  const said = await fixture.ambit("can", "coder", "fs.write", ".git/hooks/x");
  expect(said.out).toMatch(/self_modification[\s\S]*protected from tools/);
  for (const path of ["a.txt", "sub/.vscodes/x", ".gitignore"])
    expect([path, (await fixture.ambit("can", "coder", "fs.write", path)).status]).toEqual([path, 0]);
  expect((await fixture.ambit("can", "coder", "fs.read", ".git/hooks/x")).status).toBe(0);
});
