// What is detected in a project, and that nothing but names is returned.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { detect } from "./detect.ts";
import { serverNames } from "./server-names.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "ambit-detect-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("clients are recognized by their files", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    [".claude/settings.json", "claude"],
    ["CLAUDE.md", "claude"],
    [".codex/config.toml", "codex"],
    ["AGENTS.md", "codex"],
    ["opencode.json", "opencode"],
    [".gemini/settings.json", "gemini"],
    [".cursor/rules/a.mdc", "cursor"],
    [".github/copilot-instructions.md", "copilot"],
    [".vscode/mcp.json", "vscode"],
    [".vscode/settings.json", null],
    ["gemini/settings.json", null],
    ["CLAUDE.txt", null],
  ];
  test.each(rows)("%s: %s", (file, client) => {
    const { clients } = detect(folderOf({ [file]: "{}" }), null);
    expect(clients.map((one) => one.client)).toEqual(client === null ? [] : [client]);
  });

  test("or by their program, which must be one", () => {
    const bin = folderOf({ claude: "#!/bin/sh\n", codex: "", "gemini/x": "" });
    chmodSync(join(bin, "claude"), 0o755);
    const path = `relative:${bin}:/nonexistent`;
    expect(detect(folderOf({}), null, path).clients).toEqual([{ client: "claude", because: [join(bin, "claude")] }]);
  });
});

test("servers are named with their file, and nothing but the name is read", () => {
  const found = detect(
    folderOf({
      ".mcp.json": '{"mcpServers": {"github": {"env": {"TOKEN": "hidden-1"}}, "files": {"command": "hidden-2"}}}',
      ".codex/config.toml":
        '[mcp_servers.docs]\ncommand = "hidden-3"\n[mcp_servers."two words".env]\nKEY = "hidden-4"\n',
      "opencode.json": '{ // a comment\n "mcp": {"web": {"url": "https://hidden-5/"},}, }',
      ".gemini/settings.json": '{"mcpServers": ["hidden-6"]}',
    }),
    null,
  );
  expect(found.servers).toEqual([
    { name: "github", file: ".mcp.json" },
    { name: "files", file: ".mcp.json" },
    { name: "docs", file: ".codex/config.toml" },
    { name: "two words", file: ".codex/config.toml" },
    { name: "web", file: "opencode.json" },
  ]);
  expect(JSON.stringify(found)).not.toContain("hidden");
});

describe("settings that do not parse name no server", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["not JSON", "{"],
    ["a list", '["mcpServers"]'],
    ["another key", '{"mcpserver": {"a": {}}}'],
    ["inherited", '{"toString": {}}'],
    ["a name with terminal control characters", '{"mcpServers": {"\\u001b[31m": {}}}'],
    ["a name with a line break", '{"mcpServers": {"a\\nb": {}}}'],
    ["a name that is too long", `{"mcpServers": {"${"a".repeat(65)}": {}}}`],
  ];
  test.each(rows)("%s", (_title, text) => {
    expect(serverNames(text, "x.json", "mcpServers")).toEqual([]);
  });

  test("comments and commas inside a name are part of it", () => {
    expect(serverNames('{"mcpServers": {"a // b": {}, "c": {},}}', "x.json", "mcpServers")).toEqual(["a // b", "c"]);
  });
});

describe("a toolchain counts if the project needs it, with the folders of its programs", () => {
  const home = folderOf({
    ".nvm/versions/node/v1/bin/node": "",
    ".cargo/bin/cargo": "",
    ".cargo/credentials.toml": "",
  });
  const rows: readonly (readonly [string, readonly (readonly [string, string | null, readonly string[]])[]])[] = [
    ["package.json", [["node", "nvm", ["~/.nvm/versions"]]]],
    ["Cargo.toml", [["cargo", "rustup", ["~/.cargo/bin"]]]],
    ["pyproject.toml", [["python", null, []]]],
    ["go.mod", [["go", null, []]]],
    ["go.mode", []],
  ];
  test.each(rows)("%s", (file, wanted) => {
    const { toolchains } = detect(folderOf({ [file]: "" }), home);
    const found = toolchains.map(({ name, keeper }) => [name, keeper?.name ?? null, keeper?.folders ?? []]);
    expect(found).toEqual(wanted);
  });
});

test("git is found from subfolders, and so is its absence", () => {
  const project = folderOf({ ".git/HEAD": "", "a/b/c.txt": "" });
  expect(detect(join(project, "a", "b"), null).isGit).toBe(true);
  expect(detect(folderOf({ ".gitignore": "" }), null).isGit).toBe(false);
});
