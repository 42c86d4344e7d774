// Hooks are tried with the canary by a person: such a trial is no client of an agent, and keeps no other command from being a person's.
import { afterAll, beforeAll, expect, test } from "vitest";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["proc.exec{cmds=[ls]}", "fs.read"], "sandbox: .\n");
  fixture.agent("worker", ["fs.read"]);
  await fixture.begin();
});
afterAll(() => fixture?.remove());

test("several hooks are tried at once from one place, and each is connected", async () => {
  const person = fixture.caller();
  const input = JSON.stringify({
    ...{ session_id: "ambit_canary", cwd: fixture.project, hook_event_name: "PreToolUse" },
    ...{ tool_name: "ambit_canary", tool_input: {} },
  });
  const words = [nativeProgram(root), "hook", fixture.folder, "20000", "claude", "coder"];
  const tries = `for at in $(seq 40); do printf %s "$0" | "$@" 2>/dev/null; done`;
  const trying = [1, 2].map(() => person.spawn(fixture.project, "sh", "-c", tries, input, ...words));
  const connect = fixture.words("connect", "claude", "--agent", "coder", "--project", "--no-verify", "--yes");
  const connected = await Promise.all([1, 2, 3, 4, 5, 6].map(() => person.spawn(fixture.project, ...connect)));
  await Promise.all(trying);
  expect(connected.map(({ status, out }) => (status === 0 ? "" : out))).toEqual(["", "", "", "", "", ""]);
});

test("a trial that names a sub-agent with a record of its own leaves no session behind", async () => {
  const person = fixture.caller();
  const input = JSON.stringify({
    ...{ session_id: "ambit_canary", cwd: fixture.project, hook_event_name: "PreToolUse", agent_type: "worker" },
    ...{ tool_name: "ambit_canary", tool_input: {} },
  });
  const words = [nativeProgram(root), "hook", fixture.folder, "20000", "claude", "coder"];
  const { out } = await person.spawn(fixture.project, "sh", "-c", 'printf %s "$0" | "$@"', input, ...words);
  expect(out).toContain("ambit_canary");
  expect((await fixture.status()).sessions.map(({ agent }) => agent)).toEqual([]);
});
