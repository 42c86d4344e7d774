// Calls that no daemon served are not lost: the next daemon logs them.
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LineClient } from "../mcp/line-client.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.make();
  world.agent("coder", ["memory.read", "memory.write", "proc.exec"], "sandbox: .\n");
  await world.begin();
});
afterAll(() => world?.remove());

test("calls that no daemon served are logged as denied by the next one, once", async () => {
  world.stopDaemon();
  const database = join(world.state, "state.db");
  // The daemon cannot start on this.
  renameSync(database, `${database}.away`);
  writeFileSync(database, "no database", { mode: 0o600 });
  expect((await world.ambit("call", "coder", "memory_get", '{"key":"a"}')).status).not.toBe(0);
  expect((await world.ambit("exec", "coder", "--", "true")).status).not.toBe(0);
  const client = new LineClient(world, ["--agent", "coder"]);
  await client.initialize();
  await client.call("memory_set", { key: "a", value: "b" });
  await client.end();
  expect(statSync(join(world.state, "refused-calls.jsonl")).mode & 0o777).toBe(0o600);
  renameSync(`${database}.away`, database);
  await world.startDaemon();
  const handed = async (): Promise<readonly unknown[]> =>
    (await world.log({ code: "not_available", outcome: "deny" })).map(({ agent, tool, more }) => [
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
  world.stopDaemon();
  await world.startDaemon();
  expect(await handed()).toEqual(expected);
});
