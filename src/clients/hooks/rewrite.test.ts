// What a model wrote, inside a command line that a client types or runs.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { rewrittenCommand } from "./rewrite.ts";

const HOSTILE = 'echo "\u007f\u0008\u0015\u001b[A\r\n\' \\ $(id) `id` !! ü \u{1f600} %s ; touch pwned #"';

test("a script is printable ASCII, and reaches the program unchanged by a shell", () => {
  const line = rewrittenCommand(["printf", "%s\\n"], {
    agent: "coder",
    session: "s_1",
    input: { script: HOSTILE },
    waitSeconds: 3,
  });
  expect(line).toMatch(/^[ -~]*$/);
  const [, , , json = "", ...rest] = execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" }).split("\n");
  expect(JSON.parse(json)).toEqual({ script: HOSTILE });
  expect(rest).toEqual(["--session", "s_1", "--wait", "3", ""]);
});

test("no single quote, no exclamation mark and no escaped quote is left in what the model wrote", () => {
  const line = rewrittenCommand(["ambit"], {
    agent: "coder",
    session: "s_1",
    input: { script: "'\\'!\"" },
    waitSeconds: 0,
  });
  const json = line.slice(line.indexOf("'") + 1, line.lastIndexOf("'"));
  expect(json).not.toMatch(/['!]|\\["\\]/);
  expect(JSON.parse(json)).toEqual({ script: "'\\'!\"" });
});
