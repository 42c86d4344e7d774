// `ambit connect` and `ambit disconnect` on real settings files, and the shell line that they write.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONNECTIONS, connectionOf } from "../../src/clients/connect/connections.ts";
import { hookCommand } from "../../src/clients/connect/hook-command.ts";
import { serverFile } from "../../src/clients/connect/server-entry.ts";
import { clientSettingsPort } from "../../src/main/client-settings.ts";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "./fixture.ts";

const SETTINGS = `{
    // who may do what
    "tools": { "allowed": ["run_shell_command(npm run)"], "sandbox": false, },
\t"hooks": {
        "BeforeTool": [ {"matcher": "write_file", "hooks": []} ]   /* mine */
    }
}
`;

let fixture: Fixture;
let settings: string;
/** Of a client that reads comments. */
let lenient: string;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["fs.read"], "sandbox: .\n");
  settings = join(fixture.project, ".claude", "settings.json");
  lenient = join(fixture.project, ".gemini", "settings.json");
  mkdirSync(join(fixture.project, ".claude"));
  mkdirSync(join(fixture.project, ".gemini"));
  await fixture.begin();
});
afterAll(() => fixture?.remove());

const lenientText = (): string => readFileSync(lenient, "utf8");

const INITIALIZE = `${JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } },
})}\n`;

/** The words that a client starts our server with. */
function startOf(file: string): readonly string[] {
  const [, command = "", args = ""] = /^command = (.*)\nargs = (.*)$/m.exec(file) ?? [];
  if (command !== "") return [JSON.parse(command) as string, ...(JSON.parse(args) as string[])];
  const members = Object.values(JSON.parse(file) as Record<string, { ambit?: { command: string; args?: string[] } }>);
  const entry = members.find((one) => one.ambit !== undefined)?.ambit;
  return [entry?.command ?? [], entry?.args ?? []].flat();
}

describe("connect and disconnect", () => {
  test("doctor runs no line of a project's settings that ambit did not write", async () => {
    const planted = join(fixture.project, "planted");
    const hooks = {
      PreToolUse: [{ hooks: [{ type: "command", command: `: ambit-hook claude coder; touch ${planted}` }] }],
    };
    writeFileSync(settings, JSON.stringify({ hooks }));
    const told = await fixture.ambit("doctor");
    expect(told.out).toContain("differs from the one this ambit writes");
    expect(existsSync(planted)).toBe(false);
  });

  test("keep comments and formatting, deny a canary, and restore every byte", async () => {
    writeFileSync(lenient, SETTINGS);
    const connected = await fixture.ambitAtTerminal("connect", "gemini", "--agent", "coder", "--yes");
    expect(connected.out).toContain("the hook denied a canary call");
    expect(connected.out).toContain("allowed: 1 rule");
    expect(connected.out).toContain("shell commands: kernel");
    expect(lenientText()).toContain("// who may do what");
    expect(lenientText()).toContain("/* mine */");
    expect((await fixture.ambitAtTerminal("connect", "gemini", "--agent", "coder", "--yes")).out).toContain("keep");
    expect((await fixture.ambitAtTerminal("disconnect", "gemini")).out).toContain("restored");
    expect(lenientText()).toBe(SETTINGS);
    expect((await fixture.ambitAtTerminal("disconnect", "gemini")).out).toContain("no hook of ambit in");
    expect(lenientText()).toBe(SETTINGS);
    rmSync(lenient);
  });

  test("a file that was edited since loses the hook alone", async () => {
    writeFileSync(lenient, SETTINGS);
    await fixture.ambitAtTerminal("connect", "gemini", "--agent", "coder", "--yes");
    writeFileSync(lenient, lenientText().replace("// who may do what", "// changed"));
    expect((await fixture.ambitAtTerminal("disconnect", "gemini")).out).toContain("edited since");
    expect(lenientText()).not.toContain("ambit");
    expect(lenientText()).toContain("// changed");
    expect(lenientText()).toContain("/* mine */");
    rmSync(lenient);
  });

  test.each([
    '{"permissions" : {"allow":["Bash(*)"], },}',
    '// mine\n{\n\t"permissions" : {"allow":["Bash(*)"], } }\n',
    '{ "hooks":{"BeforeTool":[ {"matcher":"Write","hooks":[]} ]}, "x" :1 }',
    '{\r\n  "x": [1,2 , 3],  "y": {}   // odd\r\n}',
  ])("what is not ours stays as it is written, on the same line too: %j", async (before) => {
    writeFileSync(lenient, before);
    await fixture.ambitAtTerminal("connect", "gemini", "--agent", "coder", "--yes");
    expect(lenientText()).toContain(": ambit-hook gemini coder");
    // As an edit by another program: the file is not what we wrote last.
    writeFileSync(lenient, `${lenientText()}\n`);
    expect((await fixture.ambitAtTerminal("disconnect", "gemini")).out).toContain("edited since");
    expect(lenientText().replace(/\s+/g, "")).toBe(before.replace(/\s+/g, ""));
    for (const part of before.match(/"(?:permissions|matcher|x|y)"[^}\]]*/g) ?? [])
      expect(lenientText()).toContain(part.trim());
    rmSync(lenient);
  });

  test.each([
    ["claude", ".claude/settings.json", '{"model": "opus",}'],
    ["claude", ".claude/settings.json", '// mine\n{"model": "opus"}'],
    ["codex", ".codex/hooks.json", '{"hooks": {} /* mine */}'],
  ])("%s would load nothing of its file, so nothing is written: %s %j", async (client, file, before) => {
    const path = join(fixture.project, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, before);
    const { status, out } = await fixture.ambitAtTerminal("connect", client, "--agent", "coder", "--yes");
    expect({ status, out }).toEqual({ status: 1, out: expect.stringContaining("loads nothing of such a file") });
    expect(readFileSync(path, "utf8")).toBe(before);
    rmSync(path);
    if (client === "codex") rmSync(dirname(path), { recursive: true });
  });

  test("a second file that cannot be written takes the first one back, and the fix is named", async () => {
    const dead = join(fixture.project, "opencode.json");
    symlinkSync("/nonexistent/opencode.json", dead);
    const { status, out } = await fixture.ambitAtTerminal("connect", "opencode", "--agent", "coder", "--yes");
    expect({ status, out }).toEqual({
      status: 1,
      out: expect.stringContaining("opencode.json: is a link to a file that does not exist"),
    });
    expect(existsSync(join(fixture.project, ".opencode"))).toBe(false);
    rmSync(dead);
  });

  test("a file that was not there is removed again", async () => {
    rmSync(settings, { force: true });
    await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes");
    expect(existsSync(settings)).toBe(true);
    await fixture.ambitAtTerminal("disconnect", "claude");
    expect(existsSync(settings)).toBe(false);
  });

  test("change nothing that is no JSON, that leads out of the project, or for an agent that is not there", async () => {
    writeFileSync(settings, '{ "hooks": ');
    expect((await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes")).status).toBe(1);
    expect(readFileSync(settings, "utf8")).toBe('{ "hooks": ');
    writeFileSync(settings, '{ "hooks": [] }');
    expect((await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes")).out).toContain(
      "is not an object",
    );
    rmSync(settings);
    const outside = join(fixture.base, "settings.json");
    writeFileSync(outside, "{}");
    symlinkSync(outside, settings);
    expect((await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes")).status).toBe(1);
    expect(readFileSync(outside, "utf8")).toBe("{}");
    rmSync(settings);
    expect((await fixture.ambitAtTerminal("connect", "claude", "--agent", "absent", "--yes")).status).toBe(1);
    expect((await fixture.ambitAtTerminal("connect", "clyde", "--agent", "coder", "--yes")).status).toBe(2);
    expect(existsSync(settings)).toBe(false);
  });

  test("a dry run writes nothing", async () => {
    const shown = await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--dry-run");
    expect(shown.out).toContain("create");
    expect(existsSync(settings)).toBe(false);
  });

  test.each(CONNECTIONS.filter(({ scopes }) => scopes.includes("project")).map(({ client }) => client))(
    "of %s: the line in its settings denies a canary, its server is started, and nothing is left afterwards",
    async (client) => {
      const words = ["connect", client, "--agent", "coder", "--yes", "--project", "--mcp"];
      const connected = await fixture.ambitAtTerminal(...words);
      expect(connected.out).toContain("the hook denied a canary call");
      // Only where there is a profile for the client, and a failure of the hook is not closed.
      expect(connected.out.includes("ambit run coder")).toBe(["codex", "gemini"].includes(client));
      expect(connected.out).toMatch(/MCP server ambit: .*\/bin\/ambit mcp serve --agent coder --in /);
      const added = serverFile(client, "project", []);
      const path = join(fixture.project, added?.path ?? "");
      const [program = "", ...rest] = startOf(readFileSync(path, "utf8"));
      const started = spawnSync(program, rest, {
        ...{ cwd: "/", env: { PATH: "/usr/bin:/bin", HOME: fixture.base }, encoding: "utf8", input: INITIALIZE },
      });
      expect(started.stdout).toContain('"serverInfo"');
      const removed = await fixture.ambitAtTerminal("disconnect", client, "--project");
      expect(removed.out).toContain("restored");
      for (const file of [...(connectionOf(client)?.files("project", "") ?? []), added])
        expect(existsSync(join(fixture.project, file?.path ?? ""))).toBe(false);
      // Neither are folders: the one of Claude Code was there before.
      expect(readdirSync(fixture.project).sort()).toEqual([".ambit", ".claude", ".gemini"]);
    },
  );

  test.each(CONNECTIONS.filter(({ scopes }) => scopes.includes("user")).map(({ client }) => client))(
    "of %s with --user: in the home that the client has, or in the folder that its own variable names",
    async (client) => {
      const [home, own] = [join(fixture.base, "home"), join(fixture.base, "own")];
      mkdirSync(home);
      mkdirSync(own);
      const named = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"];
      try {
        for (const [folder, variables] of [
          // `XDG_CONFIG_HOME` of the fixture is ambit's own, and opencode's.
          [client === "opencode" ? join(fixture.base, "config") : home, { HOME: home }],
          [
            client === "cursor" ? home : own,
            { HOME: home, ...Object.fromEntries(named.slice(0, -1).map((name) => [name, own])) },
          ],
        ] as const) {
          if (client === "opencode" && folder === own) continue;
          mkdirSync(folder, { recursive: true });
          const before = readdirSync(folder);
          fixture.variables = variables;
          const connected = await fixture.ambitAtTerminal("connect", client, "--agent", "coder", "--yes", "--user");
          expect(connected.out).toContain("the hook denied a canary call");
          expect(connected.out).toContain(`create  ${folder}/`);
          expect(readdirSync(folder)).not.toEqual(before);
          expect((await fixture.ambitAtTerminal("doctor")).out).toContain(`hook of ${client} in ${folder}/`);
          const removed = await fixture.ambitAtTerminal("disconnect", client, "--user");
          expect(removed.out).toContain("restored");
          expect(readdirSync(folder)).toEqual(before);
        }
      } finally {
        fixture.variables = {};
        rmSync(home, { recursive: true });
        rmSync(own, { recursive: true });
      }
    },
  );

  test("folders that hold something else, or that the person made, stay", async () => {
    const [shared, hooks] = [join(fixture.project, ".github"), join(fixture.project, ".github", "hooks")];
    const both = async (word: string, ...more: readonly string[]): Promise<void> => {
      for (const client of ["copilot", "vscode"]) {
        const { status, out } = await fixture.ambitAtTerminal(word, client, "--project", ...more);
        expect({ status, out }).toMatchObject({ status: 0 });
      }
    };
    // Made for the first client, used by the second: gone with the last file.
    await both("connect", "--agent", "coder", "--yes", "--no-verify");
    await both("disconnect");
    expect(existsSync(shared)).toBe(false);
    // With a file of the person in it.
    await both("connect", "--agent", "coder", "--yes", "--no-verify");
    writeFileSync(join(shared, "mine.md"), "x");
    await both("disconnect");
    expect(readdirSync(shared)).toEqual(["mine.md"]);
    // There before, though empty.
    rmSync(join(shared, "mine.md"));
    mkdirSync(hooks);
    await both("connect", "--agent", "coder", "--yes", "--no-verify");
    await both("disconnect");
    expect(readdirSync(hooks)).toEqual([]);
    rmSync(shared, { recursive: true });
    // Made by us, removed and made anew by the person.
    await both("connect", "--agent", "coder", "--yes", "--no-verify");
    rmSync(shared, { recursive: true });
    mkdirSync(hooks, { recursive: true });
    await both("disconnect");
    expect(readdirSync(hooks)).toEqual([]);
    rmSync(shared, { recursive: true });
  });

  test("a file that cannot be written leaves no folder behind, also behind a link out of the project", async () => {
    const outside = join(fixture.base, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(fixture.project, ".github"));
    const refused = await fixture.ambitAtTerminal("connect", "copilot", "--agent", "coder", "--yes", "--project");
    expect(refused.status).toBe(1);
    expect(readdirSync(outside)).toEqual([]);
    rmSync(join(fixture.project, ".github"));
  });

  test("doctor tries no plugin of a project that ambit did not write, though its line is ours", async () => {
    const path = join(fixture.project, ".opencode", "plugin", "ambit.js");
    await fixture.ambitAtTerminal("connect", "opencode", "--agent", "coder", "--yes", "--project", "--no-verify");
    writeFileSync(path, `${readFileSync(path, "utf8")}// more\n`);
    expect((await fixture.ambit("doctor")).out).toContain("differs from the one this ambit writes");
    await fixture.ambitAtTerminal("disconnect", "opencode", "--project");
  });

  test("a managed file of servers, which would shut out the others, is not written", async () => {
    const shown = await fixture.ambitAtTerminal(
      "connect",
      "claude",
      "--agent",
      "coder",
      "--managed",
      "--mcp",
      "--dry-run",
    );
    expect(shown.status).toBe(2);
    expect(shown.out).toContain("--user --mcp");
  });

  test("a table of our server that is in the file already is not defined twice", async () => {
    const path = join(fixture.project, ".codex", "config.toml");
    mkdirSync(join(fixture.project, ".codex"), { recursive: true });
    const own = '[mcp_servers.ambit]\ncommand = "ambit"\n';
    writeFileSync(path, own);
    const refused = await fixture.ambitAtTerminal(
      "connect",
      "codex",
      "--agent",
      "coder",
      "--yes",
      "--project",
      "--mcp",
    );
    expect(refused.status).toBe(1);
    expect(refused.out).toContain("would not be valid TOML");
    expect(readFileSync(path, "utf8")).toBe(own);
    expect(existsSync(join(fixture.project, ".codex", "hooks.json"))).toBe(false);
    rmSync(path);
  });
});

describe("any settings file", () => {
  const base = mkdtempSync(join(tmpdir(), "ambit-settings-"));
  afterAll(() => rmSync(base, { recursive: true }));

  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom("1", "true", "null", '"x"', '"\\u0000 // no comment"', '"/* */"'),
      tie("list"),
      tie("map"),
    ),
    list: fc.array(tie("any"), { maxLength: 3 }).map((all) => `[${all.join(" , ")}]`),
    map: fc.dictionary(fc.constantFrom("a", "permissions", "env", "model", "b c"), tie("any"), { maxKeys: 4 }).map(
      (all) =>
        `{${Object.entries(all)
          .map(([key, one]) => `${JSON.stringify(key)} :\t${one}`)
          .join(",")}}`,
    ),
  })).map as fc.Arbitrary<string>;
  const space = fc.constantFrom("", "\n", " // c\n", "/* x */", "\r\n", "\t");
  const file = fc
    .tuple(space, value, space, fc.boolean())
    .map(([before, map, after, isOther]) =>
      isOther
        ? `${before}${map.replace(/^\{/, `{"hooks":{"PreToolUse":[{"matcher":"X"}],"Stop":[]}${map === "{}" ? "" : ","}`)}${after}`
        : `${before}${map}${after}`,
    );

  test("is the same after connecting and disconnecting, and has the hook in between", () => {
    const path = join(base, "settings.json");
    const machine = clientSettingsPort({
      ...{ workspace: base, cwd: base, home: base, state: join(base, "state"), program: root, environment: {} },
    });
    const choice = { client: "claude", agent: "a'b", user: null, folder: base, isConfined: true, hasServer: false };
    const [planned] = connectionOf("claude")?.files("project", machine.command(choice) ?? "") ?? [];
    if (planned === undefined) throw new Error("no file");
    fc.assert(
      fc.property(file, (content) => {
        writeFileSync(path, content);
        expect(machine.write(path, planned)).toMatchObject({ ok: true });
        expect(readFileSync(path, "utf8")).toContain(": ambit-hook claude");
        expect(machine.restore(path, planned)).toEqual({ ok: true, value: "restored" });
        expect(readFileSync(path, "utf8")).toBe(content);
      }),
      { numRuns: 200 },
    );
  });
});

describe("the shell line blocks", () => {
  const base = mkdtempSync(join(tmpdir(), "ambit-line-"));
  afterAll(() => rmSync(base, { recursive: true }));

  function program(name: string, script: string): string {
    const path = join(base, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  function run(native: string, ambit: readonly string[]): { readonly status: number | null; readonly err: string } {
    const options = { client: "claude", agent: "it's", user: null, folder: null, isConfined: true, hasServer: false };
    const line = hookCommand({ ...options, native, daemon: base, ambit });
    const ran = spawnSync("/bin/sh", ["-c", line], { input: "{}", encoding: "utf8", env: { PATH: "/usr/bin:/bin" } });
    return { status: ran.status, err: ran.stderr };
  }

  const missing = join(base, "missing");

  test.each<[string, string, string | null]>([
    ["nothing of ours is there", missing, null],
    ["the program is no program", join(base, "."), null],
    ["it fails", "exit 1", null],
    ["it is killed", "kill -9 $$", null],
    ["it crashes", "kill -11 $$", null],
    ["no daemon runs, and ambit is not there", "exit 75", null],
    ["no daemon runs, and ambit fails", "exit 75", "exit 1"],
    ["no daemon runs, and ambit is killed", "exit 75", "kill -9 $$"],
    ["another status", "exit 42", "exit 0"],
  ])("if %s", (_, native, ambit) => {
    const { status, err } = run(native.startsWith("/") ? native : program("native", native), [
      ambit === null ? missing : program("ambit", ambit),
    ]);
    expect(status).toBe(2);
    expect(err).toMatch(/ambit: no verdict \(status \d+\): the call is blocked/);
  });

  test("with the program's own reason, and lets an answer through", () => {
    const denied = run(program("native", "echo no >&2; exit 2"), [missing]);
    expect(denied).toEqual({ status: 2, err: "no\n" });
    expect(run(program("native", "exit 0"), [missing]).status).toBe(0);
    expect(run(missing, [program("ambit", "exit 0")]).status).toBe(0);
  });
});

test("a daemon of another user counts as none, before anything is read: `ambit hook` asks the user's own", () => {
  const base = mkdtempSync(join(tmpdir(), "ambit-other-"));
  try {
    chmodSync(base, 0o755);
    const [native, folder] = [join(base, "native"), join(base, "daemon")];
    copyFileSync(nativeProgram(root), native);
    chmodSync(native, 0o755);
    mkdirSync(folder, { mode: process.getuid?.() === 0 ? 0o700 : 0 });
    const words = [native, "hook", folder, "5000", "claude", "coder"];
    const other = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];
    const [program = "", ...rest] = [...other, "/bin/sh", "-c", `${words.join(" ")}; echo $?; cat`];
    const { stdout, stderr } = spawnSync(program, rest, { cwd: "/", encoding: "utf8", input: "the question" });
    expect({ stdout, stderr }).toEqual({ stdout: "75\nthe question", stderr: "" });
  } finally {
    rmSync(base, { recursive: true });
  }
});
