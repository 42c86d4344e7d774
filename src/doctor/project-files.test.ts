// Programs beside files: those that run without approval what the agent may write, and reads that no sandbox confines.
import { expect, test } from "vitest";
import { findingsOf } from "../../test/doctor/probe.ts";
import type { FindingCode } from "./finding.ts";

const list = (...items: readonly string[]): string => `capabilities:\n${items.map((item) => `  - ${item}`).join("\n")}`;

const ROWS: readonly (readonly [FindingCode, string, told: string, not: string])[] = [
  [
    "unasked_script",
    "a test command beside a writable root",
    `sandbox: /x\n${list("fs.write", 'proc.exec{patterns=["npm test"]}')}`,
    `sandbox: /x\n${list("fs.write", 'proc.exec{patterns=["npm test"],ask}')}`,
  ],
  [
    "unasked_script",
    "a build tool as a whole",
    `sandbox: /x\n${list("fs.write", "proc.exec{cmds=[make]}")}`,
    `sandbox: /x\n${list("fs.write", "proc.exec{cmds=[mkdir]}")}`,
  ],
  [
    "unasked_script",
    "a script by its name",
    `sandbox: /x\n${list("fs.write", 'proc.exec{patterns=["node script.js"]}')}`,
    `sandbox: /x\n${list("fs.write{paths=[]}", 'proc.exec{patterns=["node script.js"]}')}`,
  ],
  [
    "unasked_script",
    "a script with arguments, behind a launcher",
    list("fs.write{in=/x}", 'proc.exec{in=/x,patterns=["timeout 60 python3 x.py **"]}'),
    list("fs.write{in=/y}", 'proc.exec{in=/x,patterns=["timeout 60 python3 x.py **"]}'),
  ],
  [
    "unasked_script",
    "a program of the project",
    list("fs.write{in=/x}", 'proc.exec{in=/x,patterns=["./run.sh **"]}'),
    list("fs.write{in=/x}", 'proc.exec{in=/x,patterns=["/usr/bin/wc **"]}'),
  ],
  [
    "unasked_script",
    "the older preset, and not the newer one",
    "extends: ambit:coder@1\nsandbox: /x",
    "extends: ambit:coder@2\nsandbox: /x",
  ],
  [
    "unheld_read",
    "a pattern that is no folder, beside programs",
    `sandbox: /x\n${list('fs.read{paths=["**/*.md"]}', "proc.exec{cmds=[cat]}")}`,
    `sandbox: /x\n${list("fs.read{paths=[docs/**]}", "proc.exec{cmds=[cat]}")}`,
  ],
  [
    "unheld_read",
    "one star below the root",
    `sandbox: /x\n${list('fs.read{paths=["*.md"]}', "proc.exec{cmds=[cat]}")}`,
    `sandbox: /x\n${list('fs.read{paths=["*.md"]}', "proc.exec{cmds=[]}")}`,
  ],
];

test.each(ROWS)("%s: %s", (code, _what, told, not) => {
  expect(findingsOf(told, code).map((finding) => finding.code)).toEqual([code]);
  expect(findingsOf(not, code)).toEqual([]);
});
