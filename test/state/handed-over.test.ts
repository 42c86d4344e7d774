// Calls that no daemon served are not lost: the next daemon logs them.
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LineClient } from "../mcp/line-client.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["memory.read", "memory.write", "proc.exec"], "sandbox: .\n");
  await fixture.begin();
});
afterAll(() => fixture?.remove());

test("calls that no daemon served are logged as denied by the next one, once", async () => {
  fixture.stopDaemon();
  const database = join(fixture.state, "state.db");
  // The daemon cannot start on this.
  renameSync(database, `${database}.away`);
  writeFileSync(database, "no database", { mode: 0o600 });
  expect((await fixture.ambit("call", "coder", "memory_get", '{"key":"a"}')).status).not.toBe(0);
  expect((await fixture.ambit("exec", "coder", "--", "true")).status).not.toBe(0);
  const client = new LineClient(fixture, ["--agent", "coder"]);
  await client.initialize();
  await client.call("memory_set", { key: "a", value: "b" });
  await client.end();
  expect(statSync(join(fixture.state, "refused-calls.jsonl")).mode & 0o777).toBe(0o600);
  renameSync(`${database}.away`, database);
  await fixture.startDaemon();
  const handed = async (): Promise<readonly unknown[]> =>
    (await fixture.log({ code: "not_available", outcome: "deny" })).map(({ agent, tool, more }) => [
      agent,
      tool,
      more["face"],
    ]);
  const expected = [
    ["coder", "memory_get", "call"],
    ["coder", "proc_exec", "exec"],
    ["coder", "memory_set", "mcp"],
  ];
  expect(await handed()).toEqual(expected);
  fixture.stopDaemon();
  await fixture.startDaemon();
  expect(await handed()).toEqual(expected);
});
