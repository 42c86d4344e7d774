// Where each client looks for the settings of its user.
import { expect, test } from "vitest";
import { userPath } from "./user-path.ts";

test.each<[string, Readonly<Record<string, string>>, string | null]>([
  [".claude/settings.json", {}, "/home/ada/.claude/settings.json"],
  [".claude/settings.json", { HOME: "/tmp/h" }, "/tmp/h/.claude/settings.json"],
  [".claude/settings.json", { CLAUDE_CONFIG_DIR: "/c/" }, "/c/settings.json"],
  [".claude.json", { CLAUDE_CONFIG_DIR: "/c" }, "/c/.claude.json"],
  [".codex/hooks.json", { CODEX_HOME: "/c", HOME: "/tmp/h" }, "/c/hooks.json"],
  [".codex/hooks.json", { CLAUDE_CONFIG_DIR: "/c" }, "/home/ada/.codex/hooks.json"],
  [".copilot/hooks/ambit.json", { COPILOT_HOME: "/c" }, "/c/hooks/ambit.json"],
  [".gemini/settings.json", { GEMINI_CLI_HOME: "/c" }, "/c/.gemini/settings.json"],
  [".config/opencode/opencode.json", { XDG_CONFIG_HOME: "/c" }, "/c/opencode/opencode.json"],
  // No folder, so the client has its usual one.
  [".codex/hooks.json", { CODEX_HOME: "here", HOME: "" }, "/home/ada/.codex/hooks.json"],
])("%s with %j", (path, environment, wanted) => {
  expect(userPath(path, "/home/ada", environment)).toBe(wanted);
});

test("without any home folder there is no path", () => {
  expect(userPath(".claude/settings.json", null, {})).toBe(null);
});
