// Settings of clients in the shapes that people have them: our hook is added and taken out again, byte for byte, 200 times; and
// without what was edited since.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientSettings } from "../../src/cli/connect/connect.ts";
import { CONNECTIONS, type SettingsFile } from "../../src/clients/connect/connections.ts";
import { HOOK_MARK } from "../../src/clients/connect/hook-command.ts";
import { serverFile } from "../../src/clients/connect/server-entry.ts";
import { clientSettingsPort } from "../../src/main/client-settings.ts";
import { root } from "../e2e/ambit.ts";

let base: string;
let settings: ClientSettings;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-shapes-")));
  for (const name of ["project", "home", "state"]) mkdirSync(join(base, name), { mode: 0o700 });
  settings = clientSettingsPort({
    ...{ workspace: join(base, "project"), cwd: join(base, "project"), home: join(base, "home") },
    ...{ state: join(base, "state"), program: root, environment: {} },
  });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const COMMAND = `${HOOK_MARK} claude coder; exit 2`;
const clients = CONNECTIONS.filter(({ client }) => ["claude", "codex", "gemini", "cursor"].includes(client));

/** Members as public settings have them, some of them where ours go. */
const members = fc
  .subarray(
    [
      '"model": "opus"',
      '"env": {"A": "1", "B": "}"}',
      '"hooks": {}',
      '"hooks": {"PreToolUse": []}',
      '"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}], "Stop": []}',
      '"hooks": {"preToolUse": [{"command": "x"}], "BeforeTool": [ ]}',
      '"version": 1',
      '"permissions": {"allow": ["Bash(git:*)"], "deny": []}',
      '"text": "// no comment /* neither */ \\" ü 語"',
      '"list": [1, 2.50, -0, 1e9, true, null]',
      '"enabledPlugins": {"a@b": true}',
    ],
    { minLength: 0, maxLength: 6 },
  )
  .filter((list) => new Set(list.map((one) => one.split(":")[0])).size === list.length);

const layout = fc.record({
  newline: fc.constantFrom("\n", "\r\n"),
  indent: fc.constantFrom("", "  ", "\t", "       "),
  before: fc.constantFrom("", "\n\n", "// settings\n", "/* a\n b */ "),
  comment: fc.constantFrom("", " // why", " /* here */"),
  comma: fc.boolean(),
  end: fc.constantFrom("", "\n", "\n\n", "\n// end\n"),
});

const shape = fc.tuple(members, layout).map(([list, { newline, indent, before, comment, comma, end }]) => {
  const lines = list.map(
    (one, at) => `${indent}${one}${at < list.length - 1 || (comma && list.length > 0) ? "," : ""}${comment}`,
  );
  const text = `${before}{\n${lines.join("\n")}${lines.length === 0 ? "" : "\n"}}${end}`;
  return newline === "\n" ? text : text.replaceAll("\n", "\r\n");
});

function fileOf(client: string): { readonly path: string; readonly file: SettingsFile } {
  const [file] = CONNECTIONS.find((one) => one.client === client)?.files("project", COMMAND) ?? [];
  const path = file === undefined ? null : settings.pathOf("project", file.path);
  if (file === undefined || path === null) throw new Error(client);
  mkdirSync(dirname(path), { recursive: true });
  return { path, file };
}

test("connected and disconnected, each file has its bytes again", () => {
  let changed = 0;
  fc.assert(
    fc.property(fc.constantFrom(...clients.map(({ client }) => client)), shape, (client, text) => {
      const { path, file } = fileOf(client);
      writeFileSync(path, text);
      const written = settings.write(path, file);
      const after = readFileSync(path, "utf8");
      // What cannot be edited stays as it is.
      if (!written.ok) {
        expect(after).toBe(text);
        return;
      }
      changed++;
      expect(after).toContain(HOOK_MARK);
      expect(settings.restore(path, file)).toEqual({ ok: true, value: "restored" });
      expect(readFileSync(path, "utf8")).toBe(text);
    }),
    { numRuns: 200 },
  );
  expect(changed).toBeGreaterThan(150);
});

test("edited since, only the hook is taken out: what the person wrote stays", () => {
  fc.assert(
    fc.property(fc.constantFrom(...clients.map(({ client }) => client)), shape, (client, text) => {
      const { path, file } = fileOf(client);
      writeFileSync(path, text);
      if (!settings.write(path, file).ok) return;
      writeFileSync(path, `${readFileSync(path, "utf8")}\n// added by the person\n`);
      expect(settings.restore(path, file)).toEqual({ ok: true, value: "merged" });
      const after = readFileSync(path, "utf8");
      expect(after).not.toContain(HOOK_MARK);
      expect(after).toContain("// added by the person");
      for (const part of ['"text":', '"model":', '"env":']) expect(after.includes(part)).toBe(text.includes(part));
    }),
    { numRuns: 40 },
  );
});

describe("our server", () => {
  const jsonClients = ["claude", "opencode", "gemini", "cursor", "copilot", "vscode"];
  const WORDS = ["/usr/bin/node", "/opt/ambit/bin/ambit", "mcp", "serve", "--agent", "coder"];
  /** Where servers are, or what is in the way. */
  const more = fc.constantFrom(
    "",
    '"mcpServers": {"docs": {"command": "docs"}},',
    '"mcpServers": {}, "servers": {"a": {}}, "mcp": {"b": {"type": "remote"}},',
    '"mcpServers": {"ambit": {"command": "ambit", "args": ["mcp", "serve"]}},',
    '"mcp": {"ambit": {"type": "local", "command": ["/x/ambit", "mcp", "serve"]}},',
    '"servers": [], "mcpServers": 1, "mcp": null,',
  );
  const server = (client: string): { readonly path: string; readonly file: SettingsFile } => {
    const file = serverFile(client, "project", WORDS);
    const path = file === null ? null : settings.pathOf("project", file.path);
    if (file === null || path === null) throw new Error(client);
    mkdirSync(dirname(path), { recursive: true });
    return { path, file };
  };
  const text = fc.tuple(shape, more).map(([plain, first]) => plain.replace("{", `{${first}`));

  test("added and taken out, each file has its bytes again", () => {
    let changed = 0;
    fc.assert(
      fc.property(fc.constantFrom(...jsonClients), text, (client, content) => {
        const { path, file } = server(client);
        writeFileSync(path, content);
        const written = settings.write(path, file);
        if (!written.ok) {
          expect(readFileSync(path, "utf8")).toBe(content);
          return;
        }
        changed++;
        expect(readFileSync(path, "utf8")).toContain("/opt/ambit/bin/ambit");
        expect(settings.restore(path, { ...file })).toEqual({ ok: true, value: "restored" });
        expect(readFileSync(path, "utf8")).toBe(content);
      }),
      { numRuns: 200 },
    );
    expect(changed).toBeGreaterThan(100);
  });

  test("edited since, the entry alone is taken out, whatever its words were", () => {
    fc.assert(
      fc.property(fc.constantFrom(...jsonClients), shape, (client, content) => {
        const { path, file } = server(client);
        writeFileSync(path, content);
        if (!settings.write(path, file).ok) return;
        writeFileSync(path, `${readFileSync(path, "utf8")}\n// added by the person\n`);
        const any = serverFile(client, "project", []);
        if (any === null) throw new Error(client);
        expect(settings.restore(path, any)).toEqual({ ok: true, value: "merged" });
        const after = readFileSync(path, "utf8");
        expect(after).not.toContain("bin/ambit");
        expect(after).toContain("// added by the person");
        for (const part of ['"text":', '"model":', '"env":']) expect(after.includes(part)).toBe(content.includes(part));
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ["their own entry", '{"mcpServers": {"ambit": {"command": "ambit", "args": ["mcp", "serve"]}}}'],
    ["another entry", '{"mcpServers": {"other": {"command": "/x/bin/ambit", "args": ["mcp", "serve"]}}}'],
    ["no entry", "{}"],
    ["no JSON", "{"],
  ])("a person's file with %s is left alone", (_, content) => {
    const { path, file } = server("claude");
    writeFileSync(path, content);
    settings.restore(path, file);
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  test.each([
    ["", true],
    ['model = "x"', true],
    ['# a comment\r\n[mcp_servers.docs]\r\ncommand = "docs"\r\n', true],
    ["[features]\nhooks = true\n\n\n", true],
    ['[mcp_servers.ambit]\ncommand = "x"\n', false],
    ['mcp_servers.ambit.command = "x"\n', false],
    ["[mcp_servers\n", false],
  ])("TOML %j", (content, isWritten) => {
    const { path, file } = server("codex");
    writeFileSync(path, content);
    expect(settings.write(path, file).ok).toBe(isWritten);
    expect(readFileSync(path, "utf8").includes("/opt/ambit/bin/ambit")).toBe(isWritten);
    if (isWritten) expect(settings.restore(path, file)).toEqual({ ok: true, value: "restored" });
    expect(readFileSync(path, "utf8")).toBe(content);
    if (!isWritten) return;
    settings.write(path, file);
    writeFileSync(path, `# by the person\n${readFileSync(path, "utf8")}`);
    expect(settings.restore(path, file)).toEqual({ ok: true, value: "merged" });
    const rest = readFileSync(path, "utf8");
    expect(rest.trimEnd()).toBe(`# by the person\n${content}`.trimEnd());
  });
});

test("a link is followed inside the project only, and a file that cannot be written is left alone", () => {
  const { path, file } = fileOf("claude");
  rmSync(path, { force: true });
  const outside = join(base, "outside.json");
  writeFileSync(outside, "{}\n");
  symlinkSync(outside, path);
  expect(settings.write(path, file).ok).toBe(false);
  expect([readFileSync(outside, "utf8"), lstatSync(path).isSymbolicLink()]).toEqual(["{}\n", true]);
  rmSync(path);
  writeFileSync(path, "{}\n", { mode: 0o400 });
  if (process.getuid?.() !== 0) {
    chmodSync(dirname(path), 0o500);
    expect(settings.write(path, file).ok).toBe(false);
    chmodSync(dirname(path), 0o700);
    expect(readFileSync(path, "utf8")).toBe("{}\n");
  }
});
