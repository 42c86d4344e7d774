// File tools do not read other processes' arguments and environment through /proc, however wide the grant.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let session: Session;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("reader", ["fs.read{in=/}"]);
  await fixture.begin();
  session = expectValue(await fixture.caller().open(fixture.project, "reader"));
});
afterAll(() => fixture?.remove());

const pid = process.pid;
test.each([
  ...["cmdline", "environ", "maps", "status", `task/${pid}/cmdline`, `task/${pid}/environ`].map(
    (name) => `${pid}/${name}`,
  ),
  ...["self/cmdline", "thread-self/cmdline", `self/../${pid}/cmdline`, "1/cmdline"],
])("/proc/%s is protected", async (name) => {
  const { said } = await session.do("fs_read", { path: `/proc/${name}` });
  expect(said).toBe("scope_violation");
});

test("also behind a link", async () => {
  symlinkSync(`/proc/${pid}/cmdline`, join(fixture.project, "link"));
  expect((await session.do("fs_read", { path: "link" })).said).not.toBe("done");
});

test("files that describe the machine are readable", async () => {
  const { said, value } = await session.do("fs_read", { path: "/proc/cpuinfo" });
  expect([said, JSON.stringify(value)]).toEqual(["done", expect.anything()]);
});
