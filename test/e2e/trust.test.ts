// Configuration and trust as a user meets them: real folders, real links, real processes, a real terminal.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { writeFiles } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";
import { onTerminal } from "./terminal.ts";

const program = join(root, "bin", "ambit");
let base = "";
let project = "";

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-trust-")));
  project = join(base, "project");
  mkdirSync(project);
});
afterEach(() => removeState(base));

const write = (path: string, text: string): void => writeFiles(base, { [path]: text });

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NO_COLOR: "1",
    ...state(),
  };
}

function state(): Record<string, string> {
  return { XDG_CONFIG_HOME: join(base, "config"), XDG_STATE_HOME: join(base, "state") };
}

function ambit(...words: readonly string[]): Ran {
  return ambitIn(project, {}, ...words);
}

function ambitIn(cwd: string, more: NodeJS.ProcessEnv, ...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd,
    encoding: "utf8",
    env: { ...environment(), ...more },
    timeout: 60_000,
  });
  return { status, out: stdout, err: stderr };
}

const record = (...lines: readonly string[]): string => ["---", ...lines, "---", ""].join("\n");
const HUB = record("capabilities:", '  - net.get: { hosts: ["*.github.com"] }');
const SCOUT = "project/.ambit/agents/scout.md";
const asked = ["can", "scout", "net.get", "https://api.github.com/x"] as const;

describe("a project with its own authority", () => {
  test("has no effect until it is trusted, and says so in one line with the command", () => {
    write(SCOUT, HUB);
    const before = ambit(...asked);
    expect(before.status).toBe(14);
    expect(before.out).toMatch(/deny .*untrusted_policy/);
    expect(before.err.trim().split("\n")).toHaveLength(1);
    expect(before.err).toMatch(/not trusted.*ambit trust/);
    expect(JSON.parse(ambit(...asked, "--json").out)).toMatchObject({ outcome: "deny", code: "untrusted_policy" });
    expect(ambit("test").status).toBe(0);

    const shown = ambit("trust");
    expect(shown.status).toBe(14);
    expect(shown.out).toMatch(
      /^ {2}\+ scout {2}net\.get\{hosts=\[\*\.github\.com\]\} {2}\.ambit\/agents\/scout\.md:\d+$/m,
    );
    expect(ambit("trust", "--all").out).toMatch(/now allowed: net\.get https:\/\/any\.github\.com\//);
    expect(shown.err).toMatch(/ambit trust --yes/);
    expect(ambit(...asked).status).toBe(14);

    expect(ambit("trust", "--yes").status).toBe(0);
    expect(ambit(...asked).status).toBe(0);
    expect(ambit("test").status).toBe(0);
    expect(ambit("trust").status).toBe(0);

    expect(ambit("trust", "--revoke").status).toBe(0);
    expect(ambit(...asked).status).toBe(14);
  });

  test("keeps its trust outside of the project", () => {
    write(SCOUT, HUB);
    ambit("trust", "--yes");
    expect(readdirSync(project)).toEqual([".ambit"]);
    expect(readdirSync(join(project, ".ambit"))).toEqual(["agents"]);
    expect(readdirSync(join(base, "state", "ambit", "trust"))).toHaveLength(1);
  });

  test("cannot bring its own trust, whatever the environment says", () => {
    write(SCOUT, HUB);
    const inside = { XDG_STATE_HOME: join(project, "state") };
    write("elsewhere/.keep", "");
    // Trusted for a state folder that is then moved into the project.
    ambitIn(project, { XDG_STATE_HOME: join(base, "elsewhere") }, "trust", "--yes");
    spawnSync("cp", ["-a", join(base, "elsewhere"), join(project, "state")]);
    expect(ambitIn(project, { XDG_STATE_HOME: join(base, "elsewhere") }, ...asked).status).toBe(0);
    expect(ambitIn(project, inside, ...asked).status).toBe(14);
    expect(ambitIn(project, { XDG_STATE_HOME: "state" }, ...asked).status).toBe(14);
  });

  test("is another project in another folder", () => {
    write(SCOUT, HUB);
    ambit("trust", "--yes");
    spawnSync("cp", ["-a", project, join(base, "copy")]);
    expect(ambitIn(join(base, "copy"), {}, ...asked).status).toBe(14);
    symlinkSync(project, join(base, "same"));
    expect(ambitIn(join(base, "same"), {}, ...asked).status).toBe(0);
  });

  test("applies a narrowing at the next command, and a widening only once it is trusted", () => {
    write(SCOUT, HUB);
    ambit("trust", "--yes");
    write(SCOUT, HUB.replace("*.github.com", "www.github.com"));
    expect(ambit(...asked).status).toBe(10);
    write(SCOUT, HUB.replace("*.github.com", "*.com"));
    expect(ambit(...asked).status).toBe(0);
    const wider = ambit("can", "scout", "net.get", "https://gitlab.com/");
    expect(wider.status).toBe(14);
    expect(wider.err).toMatch(/no effect.*ambit trust/);
    expect(ambit("can", "scout", "net.get", "https://gitlab.org/").status).toBe(10);
    const json = JSON.parse(ambit("trust", "--json").out);
    expect(json).toMatchObject({ state: "changed", trusted: false, files: [{ change: "changed" }] });
    expect(json.agents[0].widened[0].example).toBe("net.get https://any.com/");
    expect(ambit("trust", "--yes", "--json").status).toBe(0);
    expect(ambit("can", "scout", "net.get", "https://gitlab.com/").status).toBe(0);
  });

  test("prompts at a terminal, and any answer but yes means no", async () => {
    write(SCOUT, HUB);
    const typed = async (keys: string): Promise<number | null> =>
      (await onTerminal(project, [process.execPath, program, "trust"], [["Trust this project?", keys]], state()))
        .status;
    expect(await typed("\r")).toBe(14);
    expect(await typed("n")).toBe(14);
    expect(await typed("\u0003")).toBe(14);
    expect(ambit(...asked).status).toBe(14);
    expect(await typed("\u001b[D\r")).toBe(0);
    expect(ambit(...asked).status).toBe(0);
  });

  test("cannot send control characters to the terminal", () => {
    write("project/.ambit/agents/a\u001b[2Jb.md", record("id: 'x\u202ey'", "access: r"));
    write(SCOUT, HUB);
    for (const words of [["trust"], ["status"], ["trust", "--yes"]] as const) {
      const { out, err } = ambit(...words);
      for (const character of ["\u001b", "\u202e"]) expect(out + err).not.toContain(character);
    }
  });

  test("whose failing test is removed has to be trusted again", () => {
    write(SCOUT, record("access: rw", "tests: [{ deny: records.read id=a }]"));
    expect(ambit("trust", "--yes").status).toBe(0);
    write(SCOUT, record("access: rw"));
    expect(ambit("can", "scout", "records.read", "id=a").status).toBe(14);
  });

  test("may be trusted by several processes at once", async () => {
    for (let at = 0; at < 5; at++) write(`project/.ambit/agents/a${at}.md`, HUB);
    write("project/.ambit/config.yml", "sandbox: .\n");
    const ends = await Promise.all(
      Array.from(
        { length: 8 },
        () =>
          new Promise<number | null>((done) => {
            spawn(process.execPath, [program, "trust", "--yes"], { cwd: project, env: environment() }).on("exit", done);
          }),
      ),
    );
    expect(ends).toEqual(Array(8).fill(0));
    expect(JSON.parse(ambit("status", "--json").out)).toMatchObject({ trust: "trusted" });
    for (let at = 0; at < 5; at++) expect(ambit("can", `a${at}`, "net.get", "https://api.github.com/").status).toBe(0);
  });
});

describe("the user's own folder", () => {
  test("is trusted: no other user could have written it", () => {
    write("config/ambit/.ambit/agents/scout.md", HUB);
    expect(ambitIn(join(base, "config/ambit"), {}, ...asked).status).toBe(0);
    expect(JSON.parse(ambitIn(join(base, "config/ambit"), {}, "status", "--json").out)).toMatchObject({ trust: "own" });
  });
});

describe("configuration", () => {
  test("narrows a root from user over project to agent, and clamps what is outside", () => {
    write("config/ambit/config.yml", `sandbox: ${project}\n`);
    write("project/.ambit/config.yml", "sandbox: ./src\n");
    write(SCOUT, record("capabilities: [fs.read]"));
    ambit("trust", "--yes");
    expect(ambit("can", "scout", "fs.read", "src/a.ts").status).toBe(0);
    expect(ambit("can", "scout", "fs.read", "srcs/a.ts").status).toBe(10);
    write("project/.ambit/config.yml", "sandbox: /\n");
    ambit("trust", "--yes");
    expect(ambit("status").err).toMatch(/clamped[\s\S]*outside the user's/);
    expect(ambit("can", "scout", "fs.read", "srcs/a.ts").status).toBe(0);
    expect(ambit("can", "scout", "fs.read", "/etc/passwd").status).toBe(10);
  });

  test("is compared after links are resolved", () => {
    write("real/a.txt", "");
    write("config/ambit/config.yml", `sandbox: ${join(base, "linked")}\n`);
    symlinkSync(base, join(base, "linked"));
    symlinkSync(join(base, "real"), join(project, "inner"));
    write(SCOUT, record("sandbox: ./inner", "capabilities: [fs.read]"));
    ambit("trust", "--yes");
    expect(ambit("can", "scout", "fs.read", join(base, "real/a.txt")).status).toBe(0);
    expect(ambit("can", "scout", "fs.read", "a.txt").status).toBe(10);
    // The same text, but the link now leads to the whole machine.
    rmSync(join(project, "inner"));
    symlinkSync("/", join(project, "inner"));
    expect(ambit("can", "scout", "fs.read", "/etc/hostname").status).toBe(10);
    rmSync(join(base, "config/ambit/config.yml"));
    expect(ambit("can", "scout", "fs.read", "/etc/hostname").status).toBe(14);
  });

  test("a root that does not exist yet counts, and one behind a dangling link does not", () => {
    write(SCOUT, record("sandbox: ./later/on"));
    ambit("trust", "--yes");
    expect(ambit("can", "scout", "fs.read", "later/on/a").status).toBe(0);
    symlinkSync(join(base, "nowhere"), join(project, "later"));
    const lost = ambit("can", "scout", "fs.read", "later/on/a");
    expect(lost.status).toBe(10);
    expect(lost.err).toMatch(/does not resolve to a folder/);
  });

  test("limits every agent to the user's ceiling", () => {
    write("config/ambit/config.yml", "ceiling:\n  - net.get: { hosts: [www.github.com] }\n");
    write(SCOUT, HUB);
    ambit("trust", "--yes");
    expect(ambit(...asked).status).toBe(10);
    expect(ambit("can", "scout", "net.get", "https://www.github.com/").status).toBe(0);
    expect(ambit("can", "scout", "tool.invoke", "web_fetch", "{}").status).toBe(0);
  });

  test("gives agents with a policy the org's defaults and nothing of the base, and lists of capabilities nothing", () => {
    write("project/.ambit/config.yml", "policy: { web: ask, consult: deny }\nagents: { named: { hire: deny } }\n");
    write("project/.ambit/agents/org.md", record("policy: {}"));
    write("project/.ambit/agents/own.md", record("policy: { web: allow }"));
    write("project/.ambit/agents/listed.md", record("capabilities: []"));
    write("project/.ambit/agents/named.md", record("title: someone"));
    ambit("trust", "--yes");
    const ends = (agent: string, ...words: readonly string[]): number | null => ambit("can", agent, ...words).status;
    expect(ends("org", "net.get", "https://a.example/")).toBe(11);
    expect(ends("own", "net.get", "https://a.example/")).toBe(0);
    expect(ends("listed", "net.get", "https://a.example/")).toBe(10);
    expect(ends("named", "net.get", "https://a.example/")).toBe(10);
    expect(ends("org", "agent.consult", "other")).toBe(10);
    expect(ends("org", "agent.create", "other")).toBe(10);
    expect(ends("named", "agent.create", "other")).toBe(10);
  });

  test.each<[string, string, string, RegExp]>([
    ["a misspelt key of the project", "project/.ambit/config.yml", "sandbx: .\n", /config\.yml is fixed/],
    ["no YAML", "project/.ambit/config.yml", "a: [\n", /config\.yml is fixed/],
    ["a config under another name", "project/.ambit/config.yaml", "sandbox: .\n", /must be named config\.yml/],
    [
      "shadow mode from a project",
      "project/.ambit/config.yml",
      "mode: shadow\n",
      /shadow mode is a setting of the user/,
    ],
    ["a ceiling from a project", "project/.ambit/config.yml", "ceiling: ['records.read']\n", /a setting of the user/],
    ["secrets from a project", "project/.ambit/config.yml", "secrets: { a: 'env:A' }\n", /a setting of the user/],
    ["a misspelt key of the user", "config/ambit/config.yml", "cieling: []\n", /config\.yml is fixed/],
    ["bytes that are not text", "config/ambit/config.yml", "\u0000", /config\.yml/],
  ])("%s grants nothing, with one clear error", (_, path, text, said) => {
    write(SCOUT, HUB);
    ambit("trust", "--yes");
    expect(ambit(...asked).status).toBe(0);
    write(path, text);
    const ran = ambit(...asked);
    expect(ran.status).toBe(3);
    expect(ran.err.match(/^error/gm)).toHaveLength(1);
    expect(ran.err).toMatch(said);
    expect(ambit("status").status).toBe(3);
    expect([0, 3]).toContain(ambit("trust", "--yes").status);
    rmSync(join(base, path));
    expect(ambit(...asked).status).toBe(0);
  });

  test("a folder at the path of a configuration is not ignored", () => {
    write(SCOUT, HUB);
    ambit("trust", "--yes");
    mkdirSync(join(project, ".ambit/config.yml"));
    expect(ambit(...asked).status).toBe(3);
  });
});

describe("status", () => {
  test("says that shadow mode has no effect, and a denial stays one", () => {
    write(SCOUT, HUB);
    write("config/ambit/config.yml", "mode: shadow\n");
    ambit("trust", "--yes");
    expect(ambit("can", "scout", "net.get", "https://other.example/").status).toBe(10);
    const said = ambit("status");
    expect(said.status).toBe(0);
    expect(said.err).toMatch(/`mode: shadow` in your config\.yml names no agent/);
    const { problems, notProtected } = JSON.parse(ambit("status", "--json").out) as Record<string, readonly string[]>;
    expect(problems).toEqual([expect.stringContaining("names no agent")]);
    expect(notProtected?.filter((line) => line.includes("shadow"))).toEqual([]);
    write("config/ambit/config.yml", "mode: enforce\n");
    expect(ambit("status").err).not.toMatch(/shadow/);
  });

  test("says where it is, what counts, and what is not protected", () => {
    write(SCOUT, HUB);
    write("project/.ambit/agents/odd.md", record("capabilities: [records.reed]"));
    const { status, out } = ambit("status", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      workspace: project,
      trust: "untrusted",
      agents: [
        { agent: "odd", standing: "untrusted", errors: 1 },
        { agent: "scout", standing: "untrusted", risk: { low: 0, medium: 2, high: 0 }, errors: 0 },
      ],
      errors: 1,
    });
    const text = ambit("status").out;
    expect(text).toMatch(/not trusted.*ambit trust/);
    expect(text).toMatch(/not protected:\n {2}! only calls through ambit are checked/);
  });

  test("an unreadable file is named, not ignored", () => {
    write(SCOUT, HUB);
    write("project/.ambit/agents/bytes.md", "");
    writeFileSync(join(project, ".ambit/agents/bytes.md"), new Uint8Array([0xff, 0xfe]));
    symlinkSync(join(base, "nowhere"), join(project, ".ambit/agents/gone.md"));
    const { problems } = JSON.parse(ambit("status", "--json").out);
    expect(problems).toEqual([
      expect.stringMatching(/bytes\.md is not UTF-8/),
      expect.stringMatching(/gone\.md is a broken link/),
    ]);
  });

  test("without a workspace it says so", () => {
    expect(ambitIn(base, {}, "status").out).toMatch(/no workspace here/);
    expect(ambitIn(base, {}, "trust").status).toBe(1);
  });
});

test("a read-only state folder is an error, and nothing is trusted", () => {
  write(SCOUT, HUB);
  write("state/ambit", "not a folder");
  chmodSync(join(base, "state"), 0o700);
  const ran = ambit("trust", "--yes");
  expect(ran.status).toBe(4);
  expect(ran.err).toMatch(/folder_refused/);
  expect(ambit(...asked).status).toBe(14);
});

test("someone trusts a project of thirty agents: one page, what has consequences first", () => {
  const grants = [
    "memory.read",
    "net.get: { hosts: [a.example] }",
    "fs.write: { in: . }",
    "obs.append",
    "records.read",
  ];
  const record = `---\ncapabilities:\n${grants.map((one) => `  - ${one}\n`).join("")}---\n`;
  for (let at = 0; at < 30; at++) write(`project/.ambit/agents/many/a${at}.md`, record);
  const page = ambit("trust").out.trimEnd().split("\n");
  expect(page.length).toBeLessThan(60);
  const at = (line: RegExp): number => page.findIndex((one) => line.test(one));
  expect([at(/^high risk$/), at(/^medium risk$/), at(/^low risk$/)]).toEqual(
    [at(/^high risk$/), at(/^medium risk$/), at(/^low risk$/)].toSorted((left, right) => left - right),
  );
  expect(at(/^high risk$/)).toBeGreaterThan(0);
  expect(page.filter((line) => / fs\.write\{/.test(line)).length).toBeGreaterThanOrEqual(30);
  expect(page.some((line) => /and \d+ more: ambit trust --all/.test(line))).toBe(true);
  expect(ambit("trust", "--all").out.split("\n").length).toBeGreaterThan(150);
  // The worst line is the last of the last agent, behind more high risk than fits on a page.
  write("project/.ambit/agents/many/z.md", "---\ncapabilities:\n  - fs.write: { in: / }\n---\n");
  const high = ambit("trust").out.split("\n");
  expect(high.filter((line) => / fs\.write\{/.test(line)).length).toBe(31);
  expect(high.some((line) => line.includes("many/z  fs.write{in=/}"))).toBe(true);
});

test("someone trusts a project with tools: the page shows what each declares, the risky ones first, before anything is trusted", () => {
  const tool = (name: string, capabilities: string): string =>
    `export default { name: "${name}", description: "d", capabilities: ${capabilities}, input: {}, execute: () => 1 };\n`;
  prepareState(join(base, "state"), join(base, "config"));
  const hosts = [...Array.from({ length: 200 }, (_, at) => `h${at}.example.com`), "last.example.com"];
  write("project/.ambit/tools/a.mjs", tool("a_reader", '{ fs_reach: { read: ["notes"] } }'));
  write("project/.ambit/tools/b.mjs", tool("b_runner", '{ process: { allowedBinaries: ["sh"] } }'));
  write("project/.ambit/tools/c.mjs", tool("c_nothing", "{}"));
  write("project/.ambit/tools/d.mjs", tool("d_hosts", `{ network: { allowedHosts: ${JSON.stringify(hosts)} } }`));
  write("project/.ambit/tools/e.mjs", "throw new Error('not before trust');\n");
  const { status, out } = ambit("trust");
  expect(status).toBe(14);
  const page = out.split("\n");
  const at = (text: string): number => page.findIndex((line) => line.includes(text));
  expect(out).toContain('high  b_runner (b.mjs) declares {"process":{"allowedBinaries":["sh"]}}');
  expect(out).toContain('medium  a_reader (a.mjs) declares {"fs_reach":{"read":["notes"]}}');
  expect(out).toContain("low  c_nothing (c.mjs) declares nothing");
  expect(out).toContain("last.example.com");
  expect(out).toMatch(/not loaded {2}e\.mjs: /);
  expect(at("b_runner")).toBeLessThan(at("a_reader"));
  expect(at("a_reader")).toBeLessThan(at("c_nothing"));
  const data = JSON.parse(ambit("trust", "--json").out) as { tools: { declared: { name: string }[] } };
  expect(data.tools.declared.map(({ name }) => name)).toEqual(["a_reader", "b_runner", "c_nothing", "d_hosts"]);
  expect(ambit("trust", "--yes").status).toBe(0);
  // Trusted tools are not shown again with another change.
  write("project/.ambit/agents/later.md", "---\ncapabilities:\n  - memory.read\n---\n");
  expect(ambit("trust").out).not.toContain("b_runner");
});
