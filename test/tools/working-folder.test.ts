// The working directory of a program: inside the agent's grants, or the call says that it is not, and nothing is started.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtinTool } from "../../src/daemon/tools/daemon-tool.ts";
import { PROGRAM_TOOLS } from "../../src/tools/programs/program-tools.ts";
import { type ProgramsFixture, programsFixture, shellIn } from "./programs-fixture.ts";

let fixture: ProgramsFixture;
beforeAll(() => {
  fixture = programsFixture(({ programs, files }) => [
    ...PROGRAM_TOOLS.map(builtinTool),
    shellIn({ programs, files: files.calls }),
  ]);
  const { folder, outside } = fixture;
  fixture.grants = ["tool.invoke", `proc.exec{in=${folder}}`, `fs.read{in=${folder}}`];
  mkdirSync(join(outside, "elsewhere"));
  mkdirSync(join(folder, "inner"));
  writeFileSync(join(folder, "file"), "");
  symlinkSync("../elsewhere", join(folder, "out"));
  symlinkSync("/usr", join(folder, "system"));
  symlinkSync("inner", join(folder, "in"));
  symlinkSync("nowhere", join(folder, "broken"));
});
afterAll(() => fixture.close());

const run = (folder: string) =>
  fixture.call("proc_exec", { argv: ["pwd"], in: join(fixture.folder, folder), root: "ro" });

test.each(["", "inner", "in"])("%j is inside, and a program runs there", async (folder) => {
  expect(await run(folder)).toMatchObject({ value: { ending: { kind: "exited", status: 0 } } });
});

test.each(["out", "system"])("%j leads out: the message says that, not that there is no program", async (folder) => {
  const said = await run(folder);
  expect(said).toMatchObject({
    failed: "scope_violation",
    message: `the working folder ${join(fixture.folder, folder)} is a link to a folder outside the agent's root`,
  });
  // The target is not revealed to the agent.
  expect(JSON.stringify(said)).not.toContain("elsewhere");
});

test.each(["absent", "file", "broken"])("%j is not a folder, and the message says so", async (folder) => {
  expect(await run(folder)).toMatchObject({
    failed: "not_available",
    message: `the working folder ${join(fixture.folder, folder)} does not exist or is not a folder`,
  });
});

test("a script gets the same message", async () => {
  const said = await fixture.call("shell", { script: "pwd", in: join(fixture.folder, "out") });
  expect(JSON.stringify(said)).toContain("a link to a folder outside the agent's root");
});
