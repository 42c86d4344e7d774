// A native program that cannot run here is told before a shell would read it as a script.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { nativeProblem } from "./native-program.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-native-"));
afterAll(() => rmSync(folder, { recursive: true }));

const elf = (machine: number): Buffer => {
  const header = Buffer.alloc(64);
  header.write("\x7fELF", "latin1");
  header.writeUInt16LE(machine, 18);
  return header;
};
const OWN: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };
const own = OWN[process.arch] ?? 0;
const other = own === 62 ? 183 : 62;

test.each<[string, string | Buffer, RegExp | null]>([
  ["of this processor", elf(own), null],
  ["of another processor", elf(other), /is for (x64|arm64), and this machine is/],
  ["of a processor that has no name here", elf(9999), null],
  ["that is a script", "#!/bin/sh\nexit 0 # and more\n", null],
  ["that is a text", "echo this would be run by a shell", /is no program/],
  ["that is empty", "", /is no program/],
])("one %s", (_, content, message) => {
  const path = join(folder, "ambit-native");
  writeFileSync(path, content);
  const problem = nativeProblem(path);
  if (message === null) expect(problem).toBe(null);
  else {
    expect(problem?.message).toMatch(message);
    expect(problem?.fix).toContain("native.mjs");
  }
});

test("one that is not there", () => {
  expect(nativeProblem(join(folder, "missing"))).not.toBe(null);
});
