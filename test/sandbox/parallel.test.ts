// Many starts at once in one folder: every one of them runs, and nothing is left but what is documented.
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PROJECT_NAMES } from "../../src/sandbox/protected-names.ts";
import { OWNER, ownFolder, planFor, ranOf, removeFolder, sandboxesIn, segments, shell } from "./ground.ts";
import { mountsNaming, processesLeft } from "./leftovers.ts";

const starts = 64;
let folder = "";
beforeAll(() => {
  folder = ownFolder();
});
afterAll(() => removeFolder(folder));

test(`${starts} starts at once in one folder`, async () => {
  const pins = PROJECT_NAMES.map(({ path, kind, absent }) => ({
    path,
    action: "readonly" as const,
    absent: absent === "make" ? kind : ("leave" as const),
  }));
  const plan = planFor(folder, { pinned: [{ base: segments(folder), pins }] });
  const sandboxes = sandboxesIn(folder);
  const told = await Promise.all(
    Array.from({ length: starts }, (_, at) =>
      shell(sandboxes, plan, `echo ${at} > file-${at}; echo ${at}`, { owner: { ...OWNER, session: String(at % 8) } }),
    ),
  );
  await sandboxes.end(null);
  expect(told.map(({ output }) => output)).toEqual(Array.from({ length: starts }, (_, at) => `${at}\n`));
  expect(new Set(told.map((one) => JSON.stringify(ranOf(one).ending)))).toEqual(
    new Set([JSON.stringify({ kind: "exited", status: 0 })]),
  );
  expect([await processesLeft(folder), mountsNaming(folder)]).toEqual([[], []]);
  const made = PROJECT_NAMES.filter(({ absent }) => absent === "make").map(({ path }) => path.join("/"));
  const files = Array.from({ length: starts }, (_, at) => `file-${at}`);
  expect(readdirSync(folder).sort()).toEqual([...made, ...files].sort());
});
