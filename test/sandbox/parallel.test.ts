// Concurrent starts in one folder: every one of them runs, each has a draft of its own, and the folder is unchanged.
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  changedBy,
  draftsIn,
  OWNER,
  ownFolder,
  planFor,
  ranOf,
  removeFolder,
  sandboxesIn,
  segments,
  shell,
} from "./fixture.ts";
import { mountsNaming, processesLeft } from "./leftovers.ts";

const starts = 64;
let folder = "";
beforeAll(() => {
  folder = ownFolder();
});
afterAll(() => removeFolder(folder));

test(`${starts} concurrent starts in one folder`, async () => {
  const plan = planFor(folder, { masked: [segments(`${folder}/.env`)] });
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
  expect(readdirSync(folder)).toEqual([]);
  for (const [at, one] of told.entries()) expect(readdirSync(changedBy(one, folder))).toEqual([`file-${at}`]);
  expect(draftsIn(folder).list()).toHaveLength(starts);
});
