// A script's time limit begins with its call: the time its patterns took is not added again for its commands.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CallFiles } from "../../src/daemon/contexts/files.ts";
import { pause } from "../house/pause.ts";
import { type ProgramsFixture, programsFixture, shellIn } from "./programs-fixture.ts";

let fixture: ProgramsFixture;
/** How long each folder lookup takes. */
let looking = 0;
beforeAll(() => {
  fixture = programsFixture(
    ({ programs, files }) => {
      const slow: CallFiles = {
        ...files.calls,
        use: async (...asked: Parameters<CallFiles["use"]>) => {
          await pause(looking, "each lookup takes this long");
          return files.calls.use(...asked);
        },
      } as CallFiles;
      return [shellIn({ programs, files: slow })];
    },
    "proc.exec",
    "fs.read",
  );
  mkdirSync(join(fixture.folder, "names"));
  writeFileSync(join(fixture.folder, "names", "a"), "");
});
beforeEach(() => {
  looking = 0;
});
afterAll(() => fixture.close());

const LATE = { script: "sh -c 'sleep 1.5' names/*", seconds: 2 };

test("a script with patterns completes within the limit", async () => {
  expect(await fixture.call("shell", { ...LATE, seconds: 60 })).toMatchObject({ value: { ending: { status: 0 } } });
}, 60_000);

test("the time of the lookups is subtracted from the commands' time", async () => {
  looking = 1_000;
  expect(await fixture.call("shell", LATE)).toMatchObject({ value: { ending: { kind: "ended", because: "time" } } });
}, 60_000);

test("lookups that take all of it run nothing, and say so", async () => {
  looking = 2_500;
  expect(await fixture.call("shell", LATE)).toMatchObject({
    denied: "invalid_input",
    reason: "expanding its patterns took longer than the script's `seconds`",
  });
}, 60_000);

test("the next call has its own time limit", async () => {
  looking = 2_500;
  await fixture.call("shell", LATE);
  looking = 0;
  const input = { ...LATE, script: "sh -c 'sleep 0.01' names/*", seconds: 60 };
  expect(await fixture.call("shell", input)).toMatchObject({ value: { ending: { status: 0 } } });
}, 60_000);
