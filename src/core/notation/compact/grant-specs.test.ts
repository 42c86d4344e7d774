// Error messages about specs: which one is invalid and why, and nothing about the machine.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toAscii } from "../../../platform/ascii.ts";
import { realRoot } from "../../../platform/real-path.ts";
import type { Reading } from "../reading.ts";
import { parseSpecs, specFault } from "./grant-specs.ts";

let base: string;
let reading: Reading;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-specs-")));
  mkdirSync(join(base, "hidden-target"));
  symlinkSync(join(base, "hidden-target"), join(base, "link"));
  symlinkSync(join(base, "hidden-nowhere"), join(base, "away"));
  const pathSettings = { home: ["hidden-home"], base: ["hidden-base"], protectedPaths: [] };
  reading = { pathSettings, toAscii, ceiling: null, realRoot };
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const FINE = "memory.read{keys=[a]}";

test.each<[string, readonly string[], string]>([
  [
    "one alone",
    ["nonsense"],
    'the grant, "nonsense", cannot be parsed: "nonsense" is not a capability; an example is net.get',
  ],
  [
    "one of several",
    [FINE, "memory.raed", "nonsense"],
    'grant 2, "memory.raed", cannot be parsed: unknown capability "memory.raed"; did you mean memory.read?',
  ],
  [
    "a key",
    ["net.get{hots=[a.example]}"],
    'the grant, "net.get{hots=[a.example]}", cannot be parsed: unknown scope key `hots` on `net.get` (at character 9); did you mean hosts?',
  ],
  [
    "nothing",
    [FINE, ""],
    'grant 2, "", cannot be parsed: empty spec: start with a verb; write net.get{hosts=[api.example.com]}',
  ],
  [
    "a brace",
    ["memory.read{keys=[a]"],
    'the grant, "memory.read{keys=[a]", cannot be parsed: missing closing } (at character 12)',
  ],
])("%s", (_, specs, expected) => {
  expect(parseSpecs(specs, reading)).toBe(null);
  expect(specFault("grant", specs, reading)).toBe(expected);
});

test.each(["link", "away", "../away", "~/x", "x"])(
  "nothing of the machine is revealed, whatever is requested of %s",
  (name) => {
    const folder = /^[~.x]/.test(name) ? name : join(base, name);
    const told = [`fs.read{in=${folder},paths=[../../../out]}`, `fs.read{in=${folder},nothing=[a]}`].map((spec) => {
      expect(parseSpecs([spec], reading)).toBe(null);
      return specFault("grant", [spec], reading);
    });
    expect(told.join(" ")).not.toContain("hidden");
    expect(told[1]).toContain("unknown scope key `nothing`");
  },
);

test("effects of the machine alone are described in general", () => {
  const spec = `fs.read{in=${join(base, "away")}}`;
  expect(parseSpecs([spec], reading)).toBe(null);
  expect(specFault("grant", [spec], reading)).toMatch(/cannot be parsed: a folder in it does not resolve here$/);
});

test("is short, however long the spec was", () => {
  const told = specFault("grant", [`memory.read{keys=[${"a".repeat(100_000)}`], reading);
  expect(told.length).toBeLessThan(600);
});
