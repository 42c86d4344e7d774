// Hints about what a program printed: each is given for its message, and for nothing that looks like it.
import { expect, test } from "vitest";
import type { RunResult } from "../../core/ports/process.ts";
import { PLAN } from "../../sandbox/plan/testing/plan.ts";
import { RunExplanation } from "./run-explanation.ts";

function hintFor(printed: readonly string[], status = 128): string | null {
  const explanation = new RunExplanation("owner", ["git", "push"]);
  explanation.planned({ ...PLAN, network: null });
  const sink = explanation.watched(() => undefined);
  for (const text of printed) void sink(Buffer.from(text));
  const ran = {
    ending: { kind: "exited", status } as const,
    usage: { wallMicroseconds: 1, userMicroseconds: 1, systemMicroseconds: 1, memoryKibibytes: 1 },
    ...{ denials: [], enforcement: [], outputDropped: 0, draft: null },
  };
  const result: RunResult = explanation.of({ ok: true, ran });
  return result.ok ? (result.ran.hint ?? null) : null;
}

test.each([
  [["ssh: Could not resolve hostname example.com: Name or service not known\n"], "there is no ssh key"],
  [["pushing\nssh", ": connect to host example.com port 22: Network is unreachable\n"], "there is no ssh key"],
  [["git@example.com: Permission denied (publickey).\r\n"], "there is no ssh key"],
  [["Host key verification failed.\r\n"], "there is no ssh key"],
  [["fatal: Could not resolve host: example.com\n"], "this sandbox has no network"],
  [["fatal: './x' does not appear to be a git repository\nfatal: Could not read from remote repository.\n"], null],
  [["see also the manual of ssh: it is long\n"], null],
  [["Permission denied\n"], null],
] as const)("after %j the hint is %j", (printed, expected) => {
  const hint = hintFor(printed);
  if (expected === null) expect(hint).toBeNull();
  else expect(hint).toContain(expected);
});

test("a program that succeeds gets no hint", () => {
  expect(hintFor(["ssh: Could not resolve hostname example.com\n"], 0)).toBeNull();
});
