// What a second trial with the whole settings file adds to one that held with the hook alone.
import { expect, test } from "vitest";
import { withWholeFile } from "./client-trials.ts";

const HELD = { kind: "held", version: "1.2", note: null } as const;
const FILE = ".claude/settings.json";
const TEXT = `These settings files did not load:\n  ${FILE} (model): Expected string, but received number\n`;

test("a hook that held in both trials: the result is unchanged", () => {
  expect(withWholeFile(HELD, HELD, { file: FILE, text: "" })).toEqual(HELD);
});

test("a client that leaves the hook out with the rest of the file is an error, with its own words", () => {
  expect(withWholeFile(HELD, { kind: "ran", version: "1.2" }, { file: FILE, text: TEXT })).toEqual({
    ...{ kind: "unloaded", version: "1.2", file: FILE },
    why: `${FILE} (model): Expected string, but received number`,
  });
  expect(withWholeFile(HELD, { kind: "ran", version: "1.2" }, { file: FILE, text: "" })).toMatchObject({ why: "" });
});

test("a second trial without a result keeps the first one, with a note", () => {
  const unknown = { kind: "unknown", why: "it ended with 1" } as const;
  const note = `not tried together with the other settings of ${FILE}: it ended with 1`;
  expect(withWholeFile(HELD, unknown, { file: FILE, text: TEXT })).toEqual({ ...HELD, note });
  const noted = { ...HELD, note: "without trust" };
  expect(withWholeFile(noted, unknown, { file: FILE, text: TEXT })).toMatchObject({ note: `without trust; ${note}` });
});
