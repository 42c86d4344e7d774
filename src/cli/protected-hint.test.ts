import { expect, test } from "vitest";
import { ProtectedHint } from "./protected-hint.ts";

function lineOf(...said: readonly string[]): string | null {
  const hint = new ProtectedHint();
  for (const part of said) hint.hear(Buffer.from(part));
  return hint.line;
}

test.each([
  ["error: could not write config file .git/config: Device or resource busy", ".git/config"],
  ["error: could not lock config file /w/.git/config: Read-only file system", "/w/.git/config"],
  ["sh: 1: cannot create .git/hooks/pre-commit: Read-only file system", ".git/hooks/pre-commit"],
  ["mv: cannot move '.git' to 'x': Device or resource busy", ".git"],
  ["touch: cannot touch '.vscode/tasks.json': Read-only file system", ".vscode/tasks.json"],
  ["Error: EROFS: read-only file system, open '.ambit/config.yml'", ".ambit/config.yml"],
])("%s", (said, name) => {
  expect(lineOf(`before\n${said}\nafter\n`)).toContain(`${name} is protected`);
  expect(lineOf(said.slice(0, 20), said.slice(20))).toContain(`${name} is protected`);
});

test("what decides about agents is not told as something that programs run", () => {
  expect(lineOf("sh: cannot create .ambit/agents/a.md: Read-only file system")).toContain(
    "it decides what agents may do",
  );
  expect(lineOf("sh: cannot create .git/hooks/x: Read-only file system")).toContain("programs of yours outside run");
});

test.each([
  "error: could not lock config file .git/config: File exists",
  "touch: cannot touch 'src/a.ts': Read-only file system",
  "fatal: not a git repository",
  "cannot create x.gitx: Read-only file system",
  "",
])("%j is no complaint about a protected name", (said) => {
  expect(lineOf(said)).toBeNull();
});

test("a flood leaves only its end, and nothing of it speaks to the terminal", () => {
  expect(lineOf("touch .git/config: Read-only file system\n", "x".repeat(100_000))).toBeNull();
  expect(lineOf("touch a\u001b[31m/.git/config: Read-only file system") ?? "").not.toContain("\u001b");
});
