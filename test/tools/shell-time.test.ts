// A script's seconds begin with its call: what its patterns took is not given again to its commands.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CallFiles } from "../../src/daemon/contexts/files.ts";
import { shellOwnerTool } from "../../src/daemon/tools/shell.ts";
import { type ProgramsWorld, programsWorld } from "./programs-world.ts";

let world: ProgramsWorld;
/** How long every look into a folder takes. */
let looking = 0;
beforeAll(() => {
  world = programsWorld(
    ({ programs, files }) => {
      const slow: CallFiles = {
        ...files.calls,
        use: async (...asked: Parameters<CallFiles["use"]>) => {
          await new Promise((done) => setTimeout(done, looking));
          return files.calls.use(...asked);
        },
      } as CallFiles;
      return [shellOwnerTool({ programs, files: slow, userName: () => "tester" })];
    },
    "proc.exec",
    "fs.read",
  );
  mkdirSync(join(world.folder, "names"));
  writeFileSync(join(world.folder, "names", "a"), "");
});
beforeEach(() => {
  looking = 0;
});
afterAll(() => world.close());

const LATE = { script: "sh -c 'sleep 1.5' names/*", seconds: 2 };

test("within them a script with patterns comes to its end", async () => {
  expect(await world.call("shell", { ...LATE, seconds: 60 })).toMatchObject({ value: { ending: { status: 0 } } });
}, 60_000);

test("what the look took is missing at the end", async () => {
  looking = 1_000;
  expect(await world.call("shell", LATE)).toMatchObject({ value: { ending: { kind: "ended", because: "time" } } });
}, 60_000);

test("a look that takes all of them runs nothing, and says so", async () => {
  looking = 2_500;
  expect(await world.call("shell", LATE)).toMatchObject({
    denied: "invalid_input",
    reason: "looking up its patterns took all of the script's `seconds`",
  });
}, 60_000);

test("the next call has its own", async () => {
  looking = 2_500;
  await world.call("shell", LATE);
  looking = 0;
  const input = { ...LATE, script: "sh -c 'sleep 0.01' names/*", seconds: 60 };
  expect(await world.call("shell", input)).toMatchObject({ value: { ending: { status: 0 } } });
}, 60_000);
