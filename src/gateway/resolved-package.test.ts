import { expect, test } from "vitest";
import { ownProgram } from "./resolved-package.ts";

test.each([
  ["npm", "@a/server", ["server"], "server"],
  ["npm", "@a/server", ["mcp-server"], "mcp-server"],
  ["npm", "@a/server", ["other", "server"], "server"],
  ["npm", "@a/server", ["one", "two"], null],
  ["npm", "@a/server", [], null],
  ["pypi", "server[cli]", ["other", "server"], "server"],
  ["pypi", "server", ["one", "two"], null],
] as const)("the program of %s %s among %j", (kind, name, programs, program) => {
  expect(ownProgram({ kind, name }, programs)).toBe(program);
});
