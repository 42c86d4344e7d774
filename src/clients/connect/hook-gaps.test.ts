import { describe, expect, it, test } from "vitest";
import type { Json } from "../../core/base/json.ts";
import { hookGaps, isOlder } from "./hook-gaps.ts";

const MAP = "permission";

interface Given {
  readonly client: string;
  readonly version?: string | null;
  readonly scope?: "project" | "user" | "managed";
  readonly files?: Readonly<Record<string, Json>>;
}

function gaps({ client, version = "99.0.0", scope = "project", files = {} }: Given): string {
  const found = hookGaps({
    ...{ client, version, scope, path: "/p/.codex/hooks.json" },
    value: (where, path) => files[`${where} ${path}`],
    text: (where, path) => {
      const text = files[`${where} ${path}`];
      return typeof text === "string" ? text : null;
    },
  });
  return found.join("\n");
}

describe("a hook that does not run is named", () => {
  it.each<readonly [string, Given, Given, string]>([
    [
      "switched off",
      { client: "claude", files: { "user .claude/settings.json": { disableAllHooks: true } } },
      { client: "claude", files: { "user .claude/settings.json": { disableAllHooks: false } } },
      "`disableAllHooks` in ~/.claude",
    ],
    [
      "managed only",
      {
        client: "claude",
        files: { "managed /etc/claude-code/managed-settings.json": { allowManagedHooksOnly: true } },
      },
      { client: "claude" },
      "managed settings allow their own",
    ],
    [
      "not loaded by a client of plain JSON",
      { client: "codex", files: { "project /p/.codex/hooks.json": '{"hooks": {},}' } },
      { client: "codex", files: { "project /p/.codex/hooks.json": '{"hooks": {}}' } },
      "loads nothing of it",
    ],
    ["--bare", { client: "claude" }, { client: "claude", scope: "managed" }, "--bare"],
    [
      "too old",
      { client: "claude", version: "2.1.99 (Claude Code)" },
      { client: "claude", version: "2.1.325 (Claude Code)" },
      "older than",
    ],
    ["not known", { client: "claude", version: null }, { client: "claude" }, "not known"],
    [
      "not trusted",
      { client: "codex" },
      {
        client: "codex",
        files: {
          "user .codex/config.toml": '[hooks.state."/p/.codex/hooks.json:pre_tool_use:0:0"]\ntrusted_hash = "x"\n',
        },
      },
      "skips it silently",
    ],
    [
      "hooks off",
      { client: "codex", files: { "user .codex/config.toml": "[features]\nhooks = false\n" } },
      { client: "codex" },
      "`hooks = false`",
    ],
    [
      "a terminal",
      { client: "codex" },
      { client: "codex", files: { "user .codex/config.toml": "unified_exec_tty = false\n" } },
      "unified_exec_tty",
    ],
    [
      "disabled by name",
      { client: "gemini", files: { "user .gemini/settings.json": { hooksConfig: { disabled: ["ambit"] } } } },
      { client: "gemini", files: { "user .gemini/settings.json": { hooksConfig: { disabled: ["other"] } } } },
      "hooksConfig.disabled",
    ],
    [
      "no base rule",
      { client: "opencode" },
      { client: "opencode", files: { "project opencode.json": { [MAP]: { "*": "ask" } } } },
      "without the plugin",
    ],
  ])("%s", (_, open, closed, text) => {
    expect(gaps(open)).toContain(text);
    expect(gaps(closed)).not.toContain(text);
  });
});

test.each([["codex"], ["gemini"], ["copilot"]])("%s runs tools after a timeout of its hook", (client) => {
  expect(gaps({ client })).toContain("times out");
});

test.each<[string, string, boolean]>([
  ["2.1.99", "2.1.325", true],
  ["2.1.325", "2.1.325", false],
  ["2.2", "2.1.325", false],
  ["v1.18.33", "1.18.33", false],
  ["no version", "0.0.1", true],
])("%s is older than %s: %s", (version, than, expected) => {
  expect(isOlder(version, than)).toBe(expected);
});
