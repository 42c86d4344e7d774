// Patterns of scripts over real folders: matching that costs too much is refused with a reason, and ends when the call is
// cancelled.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reading } from "../../src/core/notation/reading.ts";
import type { DaemonTool } from "../../src/daemon/tools/daemon-tool.ts";
import { type ProgramsFixture, programsFixture, shellIn } from "./programs-fixture.ts";

let fixture: ProgramsFixture;
let shell: DaemonTool;
beforeAll(() => {
  fixture = programsFixture(
    ({ programs, files }) => {
      shell = shellIn({ programs, files: files.calls });
      return [shell];
    },
    "proc.exec",
    "fs.read",
  );
  const many = join(fixture.folder, "many");
  mkdirSync(many);
  for (let at = 0; at < 1500; at++) writeFileSync(join(many, `${"a".repeat(236)}${at}`), "");
});
afterAll(() => fixture.close());

function reading(): Reading {
  const base = fixture.folder.split("/").slice(1);
  const pathSettings = { home: null, base, protectedPaths: [] };
  return { pathSettings, toAscii: (name) => name, ceiling: null, workingRoot: base };
}

const costly = `*${"a".repeat(120)}b*`;

test("one star over long names is cheap", async () => {
  const derived = await shell.derive?.({ script: `ls many/*${"a".repeat(120)}b` }, fixture.session, reading());
  expect(derived).toMatchObject({ ok: true });
  expect(derived?.ok === true ? derived.value.length : 0).toBeGreaterThan(0);
}, 60_000);

test("a pattern with too many comparisons is refused, with the reason", async () => {
  const derived = await shell.derive?.({ script: `ls many/${costly}` }, fixture.session, reading());
  expect(derived).toMatchObject({ ok: false, code: "too_long", message: expect.stringMatching(/too many files/) });
}, 60_000);

test("several patterns share one budget", async () => {
  const cheap = `many/*${"a".repeat(3)}b*`;
  expect(await shell.derive?.({ script: `ls ${cheap}` }, fixture.session, reading())).toMatchObject({ ok: true });
  const script = `ls ${Array(12).fill(cheap).join(" ")}`;
  expect(await shell.derive?.({ script }, fixture.session, reading())).toMatchObject({ ok: false, code: "too_long" });
}, 60_000);

test("a cancelled call stops matching", async () => {
  let turns = 0;
  const cancel = new AbortController();
  let isOver = false;
  const counting = (): void => {
    if (++turns >= 3) cancel.abort();
    if (!isOver) setImmediate(counting);
  };
  setImmediate(counting);
  const derived = await shell.derive?.(
    { script: `ls ${Array(100).fill("many/*b").join(" ")}` },
    fixture.session,
    reading(),
    cancel.signal,
  );
  isOver = true;
  expect(derived).toMatchObject({ ok: false, message: "the call was stopped" });
}, 60_000);

test("the number of concurrent lookups is limited, and freed afterwards", async () => {
  const ask = () => shell.derive?.({ script: "ls many/*b" }, fixture.session, reading());
  const answers = await Promise.all(Array.from({ length: 10 }, ask));
  expect(answers.map((one) => one?.ok)).toEqual([...Array(8).fill(true), false, false]);
  expect(await ask()).toMatchObject({ ok: true });
}, 60_000);
