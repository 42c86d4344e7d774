// `ambit agents` as people and scripts use it: on a pseudo-terminal with prompts, and without one.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";
import { type Answer, onTerminal, screenOf, type TerminalRan } from "./terminal.ts";

const SCOUT = `---
id: scout # who
sandbox: .
capabilities:
  # the web
  - net.get: { hosts: ["*.github.com", api.weather.gov] } # read only
tests:
  - { allow: net.get https://api.github.com/x }
---

You look things up.
`;

const program = join(root, "bin", "ambit");
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-agents-"));
  mkdirSync(join(folder, "project", ".ambit", "agents", "team"), { recursive: true });
  put("scout", SCOUT);
  ambit("trust", "--yes");
  return () => removeState(folder);
});

const cwd = (): string => join(folder, "project");
const fileOf = (id: string): string => join(cwd(), ".ambit", "agents", `${id}.md`);
const put = (id: string, text: string): void => writeFileSync(fileOf(id), text);
const textOf = (id: string): string => readFileSync(fileOf(id), "utf8");
const environment = (): Record<string, string> => ({ XDG_STATE_HOME: join(folder, "state") });

function agents(...words: readonly string[]): Ran {
  return ambit("agents", ...words);
}

function ambit(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: cwd(),
    encoding: "utf8",
    env: { ...process.env, ...environment(), NO_COLOR: "1" },
    timeout: 60_000,
  });
  return { status, out: stdout, err: stderr };
}

function asked(words: readonly string[], answers: readonly Answer[]): Promise<TerminalRan> {
  return onTerminal(cwd(), [process.execPath, program, "agents", ...words], answers, environment());
}

const DOWN = "\u001b[B";
const LEFT = "\u001b[D";
const ENTER = "\r";

describe("on a terminal", () => {
  test("a grant is shown with its risk and effect, and made after a yes", async () => {
    const ran = await asked(
      ["grant", "scout", "net.post{hosts=[api.github.com],ask}"],
      [["Grant this?", LEFT + ENTER]],
    );
    expect(screenOf(ran.raw)).toBe(
      [
        "agent    scout  .ambit/agents/scout.md",
        "grant    net.post{hosts=[api.github.com],ask}",
        "risk     HIGH",
        "effect   post to the network: api.github.com, any port; asks first",
        "example  net.post https://api.github.com/",
        "spelled  out in the record from now on: sandbox",
        "",
        "  +   - fs.read",
        "  +   - fs.write",
        "  +   - proc.exec",
        "  +   - net.post{hosts=[api.github.com],ask}",
        "",
        "│",
        "◇  Grant this?",
        "│  Yes",
        "granted net.post{hosts=[api.github.com],ask} to scout",
        "  ambit agents undo scout",
      ].join("\n"),
    );
    expect(ran.raw).toContain("\u001b[31mHIGH\u001b[39m");
    expect(ran.status).toBe(0);
    expect(textOf("scout")).toBe(
      SCOUT.replace(
        "# read only\n",
        "# read only\n  - fs.read\n  - fs.write\n  - proc.exec\n  - net.post{hosts=[api.github.com],ask}\n",
      ),
    );
  });

  test("Enter alone means no, and so does leaving", async () => {
    for (const keys of [ENTER, "\u0003"]) {
      const ran = await asked(["revoke", "scout", "net.get{hosts=[api.weather.gov]}"], [["Revoke this?", keys]]);
      expect(screenOf(ran.raw)).toContain("nothing was changed");
      expect(ran.status).toBe(1);
      expect(textOf("scout")).toBe(SCOUT);
    }
  });

  test("without a spec the catalog is offered, sorted by risk, with a prompt for the scopes the verb needs", async () => {
    put("aide", "---\ncapabilities: []\n---\n");
    const ran = await asked(
      ["grant", "aide"],
      [
        ["agent.consult", DOWN.repeat(16)],
        ["fetch from the network", ENTER],
        ["Which hosts", ENTER],
        ["required: without it the grant covers nothing", `api.github.com, *.weather.gov${ENTER}`],
        ["Which ports", `443${ENTER}`],
        ["Grant this?", `y`],
      ],
    );
    const first = screenOf(ran.raw.slice(0, ran.raw.indexOf("└")));
    expect(first).toBe(
      [
        "│",
        "◆  Which verb?",
        "│  ● agent.consult              low (ask other agents)",
        "│  ○ agent.discover             low",
        "│  ○ memory.read                low",
        "│  ○ obs.append                 low",
        "│  ○ obs.query                  low",
        "│  ○ records.create             low",
        "│  ○ records.read               low",
        "│  ○ agent.create               medium",
        "│  ○ agent.delegate             medium",
        "│  ○ agent.update               medium",
        "│  ○ fs.read                    medium",
        "│  ...",
        "│  ↑/↓ to navigate • Enter: confirm",
      ].join("\n"),
    );
    expect(screenOf(ran.raw)).toContain(
      [
        "grant    net.get{hosts=[api.github.com,*.weather.gov],ports=[443]}",
        "risk     MEDIUM",
        "effect   fetch from the network: api.github.com, *.weather.gov, port 443",
      ].join("\n"),
    );
    expect(screenOf(ran.raw)).toContain("with     tool.invoke{tools=[builtin:**]}");
    expect(textOf("aide")).toBe(
      '---\ncapabilities: ["net.get{hosts=[api.github.com,*.weather.gov],ports=[443]}"]\n---\n',
    );
    expect(ran.status).toBe(0);
  });

  test("a new agent is offered the catalog by risk, one grant after another, and Ctrl-C creates none", async () => {
    const ran = await asked(
      ["new", "fresh"],
      [
        ["no more grants", DOWN.repeat(3)],
        ["read memory", ENTER],
        ["Which keys", `notes/**${ENTER}`],
        ["no more grants", DOWN.repeat(11)],
        ["read files", ENTER],
        ["In which folder?  (empty: this project)", ENTER],
        ["Which paths", ENTER],
        ["no more grants", ENTER],
        ["Create this agent?", "y"],
      ],
    );
    expect([ran.status, screenOf(ran.raw)]).toEqual([0, expect.stringContaining("created fresh")]);
    expect(textOf("fresh")).toContain("capabilities:\n  - memory.read{keys=[notes/**]}\n  - fs.read{in=.}\n---");
    const left = await asked(["new", "never"], [["no more grants", "\u0003"]]);
    expect([left.status, screenOf(left.raw)]).toEqual([1, expect.stringContaining("nothing was changed")]);
    expect(agents("show", "never").status).not.toBe(0);
  });

  test("capabilities are sorted and coloured by risk", async () => {
    const ran = await asked(["capabilities", "scout"], []);
    expect(screenOf(ran.raw).replaceAll(cwd(), "/project")).toBe(
      [
        "scout",
        "● fs.write{in=/project}  (sandbox)",
        "    high: write files: anything in /project",
        "● proc.exec{in=/project}  (sandbox)",
        "    high: run programs: in /project, any program",
        "● fs.read{in=/project}  (sandbox)",
        "    medium: read files: anything in /project",
        "● net.get{hosts=[*.github.com,api.weather.gov]}",
        "    medium: fetch from the network: *.github.com, api.weather.gov, any port",
        "● tool.invoke{tools=[builtin:**]}  (default)",
        "    medium: call tools: builtin:**",
        "5 capabilities",
        "no daemon is running: delegations, agents created by agents, used budgets and a freeze are not included",
      ].join("\n"),
    );
    expect(ran.raw).toContain("\u001b[33m●\u001b[39m fs.read");
    expect(ran.raw).toContain("\u001b[31m●\u001b[39m fs.write");
  });
});

describe("without a terminal", () => {
  test("there is no prompt: the command to run is printed, and nothing is written", () => {
    const ran = agents("grant", "scout", "net.post{hosts=[it.example]}", "--for", "30m");
    expect(ran.status).toBe(2);
    expect(ran.err).toContain("ambit agents grant scout 'net.post{hosts=[it.example]}' --for 30m --yes");
    expect(agents("grant", "scout").status).toBe(2);
    expect(agents("delete", "scout").err).toContain("ambit agents delete scout --yes");
    expect(textOf("scout")).toBe(SCOUT);
  });

  test("--dry-run shows the lines and writes nothing; --yes writes them; undo restores the old text", () => {
    expect(agents("revoke", "scout", "fs.write", "--dry-run").out).toMatch(
      /\+ {3}- fs\.write\{in=\[\]\}[\s\S]*--dry-run/,
    );
    expect(textOf("scout")).toBe(SCOUT);
    expect(agents("revoke", "scout", "fs.write", "--yes").status).toBe(0);
    const lines = "# read only\n  - fs.read\n  - proc.exec\n  - fs.write{in=[]}\n";
    expect(textOf("scout")).toBe(SCOUT.replace("# read only\n", lines));
    expect(agents("revoke", "scout", "fs.write", "--yes").out).toContain("no change");
    expect(agents("undo", "scout", "--yes").out).toContain("grants again fs.write");
    expect(textOf("scout")).toBe(SCOUT);
    expect(agents("undo", "scout", "--yes").status).toBe(1);
  });

  test("--for and --uses become conditions, and --json contains everything", () => {
    const ran = agents("grant", "scout", "memory.write{keys=[a]}", "--for", "30m", "--uses", "5", "--yes", "--json");
    const data = JSON.parse(ran.out);
    expect(data).toMatchObject({ agent: "scout", action: "grant", risk: "medium", changed: true, written: true });
    expect(data.spec).toMatch(/^memory\.write\{keys=\[a\],calls=5,expires=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\}$/);
    expect(data.after).toContain(data.spec);
    expect(data.before).not.toContain(data.spec);
    expect(data.lines).toHaveLength(4);
    expect(data.dissolved).toEqual(["sandbox"]);
    expect(JSON.parse(agents("capabilities", "scout", "--json").out).capabilities).toContainEqual({
      grant: data.spec,
      risk: "medium",
      effect: expect.stringContaining("at most 5 calls"),
      implied: null,
      isExpired: false,
    });
  });

  const rows: readonly (readonly [number, RegExp, readonly string[]])[] = [
    [2, /unknown_verb[\s\S]*did you mean net\.get/, ["grant", "scout", "net.gett{hosts=[a.b]}", "--yes"]],
    [2, /unknown_key[\s\S]*\^\^\^\^[\s\S]*hosts/, ["grant", "scout", "net.get{host=[a.b]}", "--yes"]],
    [2, /grant nothing/, ["grant", "scout", "net.get", "--yes"]],
    [2, /inert[\s\S]*outside/, ["grant", "scout", "fs.read{in=/etc}", "--yes"]],
    [2, /must be a duration/, ["grant", "scout", "obs.query", "--for", "soon", "--yes"]],
    [2, /whole number/, ["grant", "scout", "obs.query", "--uses", "0", "--yes"]],
    [1, /host.*all but/, ["revoke", "scout", "net.get{hosts=[gist.github.com]}", "--yes"]],
    [1, /own test/, ["revoke", "scout", "net.get", "--yes"]],
    [1, /no agent and no file called "missing"[\s\S]*agents here: .*scout/, ["grant", "missing", "obs.query", "--yes"]],
    [1, /already exists/, ["new", "scout", "--yes"]],
    [1, /is not a valid agent id/, ["new", "../x", "--yes"]],
    [1, /is a file name/, ["new", "team/late.md", "--yes"]],
    [2, /no preset[\s\S]*ambit:reader@1/, ["new", "x", "--extends", "readr", "--yes"]],
  ];
  for (const [status, pattern, words] of rows) {
    test(words.join(" "), () => {
      const ran = agents(...words);
      expect(ran.err).toMatch(pattern);
      expect(ran.status).toBe(status);
      expect(textOf("scout")).toBe(SCOUT);
    });
  }

  test("a record that does not parse is not edited, and the position of the error is shown", () => {
    put("bad", "---\ncapabilities: [*x]\n---\n");
    const ran = agents("grant", "bad", "obs.query", "--yes");
    expect(ran.err).toMatch(/syntax[\s\S]*bad\.md:2:/);
    expect(ran.status).toBe(3);
  });
});

test("list --can names the agents that hold at least that grant, and no other", () => {
  put("wide", "---\ncapabilities: ['net.get{hosts=[*]}']\n---\n");
  put("team/none", "---\ncapabilities: ['net.get{hosts=[+.github.com]}']\n---\n");
  ambit("trust", "--yes");
  const can = (spec: string): string[] =>
    JSON.parse(agents("list", "--can", spec, "--json").out).agents.map((one: { id: string }) => one.id);
  expect(can("net.get{hosts=[*.github.com]}")).toEqual(["scout", "wide"]);
  expect(can("net.get{hosts=[api.github.com]}")).toEqual(["scout", "team/none", "wide"]);
  expect(can("net.get{hosts=[*.com]}")).toEqual(["wide"]);
  expect(agents("list", "--can", "net.gett").status).toBe(2);
  expect(agents("tree").out).toMatch(/^● scout[\s\S]*^team\/\n {2}● none/m);
});

test("tree shows folders, risk, what may be delegated, and that there are no delegations yet", () => {
  put(
    "team/lead",
    "---\ncapabilities: ['agent.grant{ids=[aide]}', memory.read, 'net.get{hosts=[a.example],pass=use}']\n---\n",
  );
  put("team/aide", "---\ncapabilities: [memory.read]\n---\n");
  put("team/closed", "---\ncapabilities: ['agent.grant{ids=[aide],pass=pass}', memory.read]\n---\n");
  ambit("trust", "--yes");
  const ran = agents("tree");
  const [workspace, ...lines] = ran.out.split("\n");
  expect(workspace).toMatch(/^\//);
  expect(lines).toEqual([
    "● scout  5 capabilities, up to high",
    "team/",
    "  ● aide  2 capabilities, up to medium",
    "  ● closed  3 capabilities, up to high",
    "  ● lead  4 capabilities, up to high",
    "      may delegate up to high: agent.grant{id=aide}, tool.invoke{tools=[builtin:**]}, memory.read  by agent.grant{id=aide}",
    "4 agents",
    "delegations: the daemon is not running",
    "",
  ]);
  expect(ran.status).toBe(0);
  const data = JSON.parse(agents("tree", "--json").out);
  expect(data).toMatchObject({ folders: ["team"], delegations: [] });
  const of = (id: string): unknown => data.agents.find((one: { id: string }) => one.id === id);
  expect(of("team/lead")).toMatchObject({
    folder: "team",
    risk: "high",
    passesOn: { by: ["agent.grant{id=aide}"], risk: "high" },
  });
  expect(of("team/closed")).toMatchObject({ folder: "team", passesOn: { by: [], grants: [], risk: null } });
  expect(of("scout")).toMatchObject({ folder: null, passesOn: { by: [], grants: [], risk: null } });
  put("team/bad", "---\ncapabilities: [*x]\n---\n");
  expect(agents("tree")).toMatchObject({ status: 3, out: expect.stringMatching(/^ {2}✗ bad {2}not valid/m) });
});

test("new, rename, delete and undo move one whole file", () => {
  expect(agents("new", "team/aide", "--extends", "reader", "--yes").status).toBe(0);
  expect(textOf("team/aide")).toContain("extends: ambit:reader@1");
  expect(agents("rename", "scout", "team/scout", "--yes").status).toBe(0);
  expect(textOf("team/scout")).toBe(SCOUT.replace("id: scout", "id: team/scout"));
  expect(readdirSync(join(cwd(), ".ambit", "agents"))).toEqual(["team"]);
  expect(agents("delete", "team/scout", "--yes").status).toBe(0);
  expect(readdirSync(join(cwd(), ".ambit", "agents", "team"))).toEqual(["aide.md"]);
  expect(agents("undo", "team/scout", "--yes").status).toBe(0);
  expect(textOf("team/scout")).toBe(SCOUT.replace("id: scout", "id: team/scout"));
});
