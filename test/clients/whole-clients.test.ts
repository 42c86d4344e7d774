// The real Claude Code, Codex, opencode and Gemini CLI, whole, in `ambit run`: without a terminal and under tmux. The model is
// scripted on loopback. Each works as outside within its grants, and gets nothing beyond them.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ModelProvider } from "../../src/clients/trial/model-providers.ts";
import { blocksOf, read } from "../docs/markdown.ts";
import { type Ran, root } from "../e2e/ambit.ts";
import { onTerminal } from "../e2e/terminal.ts";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { AgentModel, type AgentStep, DONE, PROMPT } from "./agent-model.ts";
import { clientsFolder, wholeClients } from "./place.ts";

const KEY = "sk-outside-7f3a9c0123456789abcdefKEY";
const SSH = "-----BEGIN OPENSSH PRIVATE KEY----- outside-only";

interface Client {
  readonly provider: ModelProvider;
  /** Without a terminal: the prompt and the permissions that ambit makes superfluous. */
  readonly headless: readonly string[];
  readonly interactive: readonly string[];
  /** Settings with the MCP server, of the project or of the client's home inside; null where options say it. */
  readonly server: { readonly path: string; readonly isHome: boolean; readonly settings: string } | null;
  readonly hasSubAgents: boolean;
}

const SERVER = { command: "ambit", args: ["mcp", "serve"] };
const CLAUDE_SERVER = ["--mcp-config", JSON.stringify({ mcpServers: { ambit: { type: "stdio", ...SERVER } } })];
const CODEX_SERVER = [
  'mcp_servers.ambit.command="ambit"',
  'mcp_servers.ambit.args=["mcp","serve"]',
  // Codex passes a few variables of its own to servers, and others by name.
  'mcp_servers.ambit.env_vars=["AMBIT_DOOR"]',
  'mcp_servers.ambit.default_tools_approval_mode="approve"',
].flatMap((one) => ["-c", one]);

const CLIENTS: Readonly<Record<keyof typeof wholeClients, Client>> = {
  claude: {
    provider: "anthropic",
    headless: [...CLAUDE_SERVER, "--permission-mode", "bypassPermissions", "-p", PROMPT],
    interactive: [
      "--permission-mode",
      "default",
      "--allowedTools",
      "Bash,mcp__ambit__fs_read,Task,Agent",
      ...CLAUDE_SERVER,
      "--",
      PROMPT,
    ],
    server: null,
    hasSubAgents: true,
  },
  codex: {
    provider: "openai",
    headless: ["exec", "-m", "gpt-5.1-codex", ...CODEX_SERVER, PROMPT],
    interactive: ["-m", "gpt-5.1-codex", "-c", "approval_policy=never", ...CODEX_SERVER, PROMPT],
    server: null,
    hasSubAgents: false,
  },
  opencode: {
    provider: "anthropic",
    headless: ["run", "-m", "anthropic/claude-sonnet-4-5", PROMPT],
    interactive: ["-m", "anthropic/claude-sonnet-4-5", "--prompt", PROMPT],
    server: {
      path: ".config/opencode/config.json",
      isHome: true,
      // Without a terminal it refuses other folders than the project by itself.
      settings:
        '{"mcp":{"ambit":{"type":"local","command":["ambit","mcp","serve"],"enabled":true}},"permission":{"external_directory":"allow"}}',
    },
    hasSubAgents: true,
  },
  gemini: {
    provider: "gemini",
    headless: ["-m", "gemini-2.5-pro", "-p", PROMPT, "--yolo"],
    interactive: ["-m", "gemini-2.5-pro", "--yolo", "-i", PROMPT],
    server: {
      path: ".gemini/settings.json",
      isHome: false,
      // On a terminal of its own it loses what short commands print on a busy machine.
      settings: JSON.stringify({
        mcpServers: { ambit: { ...SERVER, trust: true } },
        tools: { shell: { enableInteractiveShell: false } },
      }),
    },
    hasSubAgents: false,
  },
};

type Name = keyof typeof CLIENTS;
const NAMES = Object.keys(CLIENTS) as readonly Name[];

const SETTINGS = [
  ".claude/settings.json",
  ".codex/config.toml",
  ".gemini/settings.json",
  ".config/opencode/opencode.json",
];

/** Everything a session does, each with what its result must contain. */
function steps(place: ClientMachine, hasSubAgents: boolean): readonly AgentStep[] {
  const shell = (line: string, text: string): AgentStep => ({ shell: line, text });
  return [
    shell("echo second >> a.txt && cat a.txt", "second"),
    shell("sh ./check.sh", "all tests passed"),
    shell("git add -A && git commit -qm 'made inside' && git log -1 --format=%s", "made inside"),
    shell(`ls -a ~/.ssh; cat ${join(place.home, ".ssh", "id_ed25519")}; echo read: $?`, "read: 1"),
    shell("curl -sS -m 10 https://ungranted.example.com/; echo curl: $?", "curl: "),
    shell("echo '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo hooked", "hooked"),
    shell(
      `cd ~; mkdir -p .claude .codex .gemini .config/opencode; for one in ${SETTINGS.join(" ")}; do echo planted > $one; done; echo planted`,
      "planted",
    ),
    shell("echo seen; env | sort; cat /proc/[0-9]*/environ | tr '\\0' '\\n'", "seen"),
    { mcp: "fs_read", input: { path: "a.txt" }, text: "second" },
    ...(hasSubAgents ? [{ agent: "echo made by a sub-agent > sub.txt", text: "agent" } as const] : []),
  ];
}

interface ClientMachine {
  readonly base: string;
  readonly home: string;
  readonly project: string;
  readonly model: AgentModel;
  readonly environment: Readonly<Record<string, string>>;
  ambit(...words: readonly string[]): Promise<Ran>;
}

const open: ClientMachine[] = [];
afterEach(() => {
  for (const { base, model } of open.splice(0)) {
    model.close();
    removeState(base);
  }
});

async function place(
  name: Name,
  script: (place: ClientMachine) => readonly AgentStep[],
  budget = "",
): Promise<ClientMachine> {
  const { provider, server } = CLIENTS[name];
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-whole-")));
  chmodSync(base, 0o755);
  const home = join(base, "home");
  const project = join(base, "project");
  const environment = {
    PATH: `${join(base, "bin")}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    TERM: "xterm-256color",
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const write = (path: string, text: string): void => {
    mkdirSync(join(base, path, ".."), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  prepareState(join(base, "state"), join(base, "config"));
  write("home/.ssh/id_ed25519", SSH);
  if (server?.isHome === false) write(`project/${server.path}`, server.settings);
  write("project/a.txt", "first\n");
  write("project/check.sh", "grep -q second a.txt && echo all tests passed\n");
  const use = `  - model.use: { providers: [${provider}], models: ["*"]${budget} }\n`;
  const record = `---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: live }\n  - fs.read\n  - fs.write\n${use}---\n`;
  write("project/.ambit/agents/coder.md", record);
  const git = (...words: readonly string[]): string =>
    execFileSync("git", words, { cwd: project, env: environment, encoding: "utf8" });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@example.com");
  git("add", "-A");
  git("commit", "-qm", "begun outside");
  const made: ClientMachine = {
    ...{ base, home, project, environment },
    model: new AgentModel(provider, []),
    ambit: async (...words) => {
      const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
        ...{ cwd: project, env: { ...environment, NO_COLOR: "1" } },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (part: string) => (out += part));
      child.stderr.setEncoding("utf8").on("data", (part: string) => (err += part));
      const [status] = (await once(child, "close")) as [number | null];
      return { status, out, err };
    },
  };
  const model = new AgentModel(provider, script(made));
  const port = await model.listen();
  write(
    "config/ambit/config.yml",
    `runtime: [${clientsFolder}]\nmodels: { ${provider}: { url: "http://127.0.0.1:${port}" } }\n`,
  );
  const whole = { ...made, model };
  open.push(whole);
  await whole.ambit("trust", "--yes");
  const set = `printf %s ${KEY} | ${process.execPath} ${join(root, "bin", "ambit")} secrets set model-key --tool model --host 127.0.0.1:${port}`;
  const kept = await onTerminal(project, ["sh", "-c", set], [], environment);
  expect({ status: kept.status, raw: kept.status === 0 ? "" : kept.raw }).toEqual({ status: 0, raw: "" });
  if (server?.isHome === true) {
    const line = `mkdir -p ~/$(dirname ${server.path}); echo '${server.settings}' > ~/${server.path}`;
    expect((await whole.ambit("run", "coder", "--", "sh", "-c", line)).status).toBe(0);
  }
  return whole;
}

/** Processes inside, from outside: they have the address of the session's door. */
function insideProcesses(): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes("AMBIT_DOOR=");
    } catch {
      return false;
    }
  });
}

const pieceBytes = 4_194_304;

/** Whether the memory of a process has these bytes. Pages that are not there are skipped. */
function memoryHas(pid: string, text: string): boolean {
  const wanted = Buffer.from(text);
  const piece = Buffer.alloc(pieceBytes);
  let descriptor: number;
  try {
    descriptor = openSync(`/proc/${pid}/mem`, "r");
  } catch {
    return false;
  }
  try {
    for (const [start, end] of residentRanges(pid))
      for (let at = start; at < end; at += BigInt(pieceBytes - wanted.length)) {
        const length = Number(end - at < BigInt(pieceBytes) ? end - at : BigInt(pieceBytes));
        try {
          const read = readSync(descriptor, piece, 0, length, at as unknown as number);
          if (piece.subarray(0, read).includes(wanted)) return true;
        } catch {
          // A range that cannot be read, such as one of the kernel's.
        }
      }
    return false;
  } finally {
    closeSync(descriptor);
  }
}

function residentRanges(pid: string): readonly (readonly [bigint, bigint])[] {
  const found: (readonly [bigint, bigint])[] = [];
  let range: readonly [bigint, bigint] | null = null;
  let lines: readonly string[] = [];
  try {
    lines = readFileSync(`/proc/${pid}/smaps`, "latin1").split("\n");
  } catch {
    // It has exited.
  }
  for (const line of lines) {
    const head = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line);
    if (head !== null) range = [BigInt(`0x${head[1]}`), BigInt(`0x${head[2]}`)];
    else if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) range = null;
    else if (range !== null && /^Rss: +[1-9]/.test(line)) found.push(range);
  }
  return found;
}

/** What holds after every session, whatever the client. */
async function checkOutside(whole: ClientMachine, name: Name): Promise<void> {
  const { project, home, base, model } = whole;
  const git = (...words: readonly string[]): string => execFileSync("git", words, { cwd: project, encoding: "utf8" });
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("first\nsecond\n");
  expect(git("log", "--format=%s")).toBe("made inside\nbegun outside\n");
  expect(existsSync(join(project, ".git", "hooks", "pre-commit"))).toBe(false);
  const own = [userInfo().homedir, home].flatMap((folder) => SETTINGS.map((one) => join(folder, one)));
  for (const path of own) if (existsSync(path)) expect(readFileSync(path, "utf8")).not.toContain("planted");
  if (CLIENTS[name].hasSubAgents) expect(readFileSync(join(project, "sub.txt"), "utf8")).toBe("made by a sub-agent\n");
  const seen = model.results.join("\n");
  for (const hidden of [KEY, SSH]) expect(seen).not.toContain(hidden);
  expect(model.headers.some((headers) => JSON.stringify(headers).includes(KEY))).toBe(true);
  const denied = await whole.ambit("log", "--outcome", "deny", "--json");
  expect(denied.out).toContain("ungranted.example.com");
  // The client sends the placeholder and nothing else.
  expect((await whole.ambit("log", "--kind", "alarm", "--json")).out).toBe("");
  // The key is in no file that a client could have written.
  const places = [project, home, join(base, "state", "ambit", "homes")];
  const found = spawnSync("grep", ["-rlF", KEY, ...places], { encoding: "utf8" });
  expect({ status: found.status, out: found.stdout }).toEqual({ status: 1, out: "" });
}

test("nothing but loopback can be reached from here", () => {
  const lines = readFileSync("/proc/net/dev", "utf8").trim().split("\n").slice(2);
  expect(lines.map((line) => line.split(":")[0]?.trim())).toEqual(["lo"]);
});

const GUIDES: Readonly<Record<Name, string>> = {
  claude: "claude-code.md",
  codex: "codex.md",
  opencode: "opencode.md",
  gemini: "gemini.md",
};

describe.each(NAMES.filter((name) => wholeClients[name] !== null))(
  "%s",
  (name) => {
    const program = wholeClients[name] ?? "";

    test("without a terminal", async () => {
      const whole = await place(name, (made) => steps(made, CLIENTS[name].hasSubAgents));
      const found: string[] = [];
      let looked = 0;
      whole.model.onStep = async (step) => {
        if (step !== 8) return;
        for (const pid of insideProcesses()) {
          // Their memory can be read: it has what they were started with.
          if (memoryHas(pid, "AMBIT_DOOR=")) looked++;
          if (memoryHas(pid, KEY)) found.push(readFileSync(`/proc/${pid}/cmdline`, "latin1"));
        }
      };
      const { status, out, err } = await whole.ambit("run", "coder", "--", program, ...CLIENTS[name].headless);
      expect({
        problems: whole.model.problems,
        status,
        err: status === 0 ? "" : err,
        out: status === 0 ? "" : out,
      }).toEqual({
        ...{ problems: [], status: 0, err: "", out: "" },
      });
      expect(out).toContain(DONE);
      expect({ looked: looked > 0, found }).toEqual({ looked: true, found: [] });
      await checkOutside(whole, name);
    });

    test("under tmux", async () => {
      const whole = await place(name, (made) => steps(made, CLIENTS[name].hasSubAgents));
      const { base, project, environment } = whole;
      const socket = join(base, "tmux");
      const tmux = (...words: readonly string[]): string =>
        execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], {
          cwd: project,
          env: environment,
          encoding: "utf8",
        });
      const words = [
        process.execPath,
        join(root, "bin", "ambit"),
        "run",
        "coder",
        "--",
        program,
        ...CLIENTS[name].interactive,
      ];
      const line = words.map((word) => `'${word}'`).join(" ");
      const ended = join(base, "status");
      // A Ctrl-C after the client's end must not end the shell that writes the status.
      tmux("new-session", "-d", "-x", "120", "-y", "40", `trap : INT; ${line}; echo $? > ${ended}`);
      try {
        await vi.waitFor(
          () => {
            const pane = tmux("capture-pane", "-p");
            // The client's own question, which a person answers.
            if (pane.includes("Do you want to proceed?")) tmux("send-keys", "Enter");
            expect({ problems: whole.model.problems, pane }).toEqual({
              problems: [],
              pane: expect.stringContaining(DONE),
            });
            // A sub-agent may work in the background.
            expect(existsSync(join(project, "sub.txt"))).toBe(CLIENTS[name].hasSubAgents);
          },
          { timeout: 120_000, interval: 500 },
        );
        // Clients end at the second Ctrl-C, and the session of tmux with them.
        await vi.waitFor(
          () => {
            if (!existsSync(ended)) tmux("send-keys", "C-c");
            expect(existsSync(ended)).toBe(true);
          },
          { timeout: 60_000, interval: 400 },
        );
      } finally {
        spawnSync("tmux", ["-S", socket, "kill-server"]);
      }
      await checkOutside(whole, name);
    });

    test("a budget of tokens ends it, and the client shows why", async () => {
      const whole = await place(name, () => [{ shell: "echo one", text: "one" }], ", tokens: 2000");
      const { out, err } = await whole.ambit("run", "coder", "--", program, ...CLIENTS[name].headless);
      expect(`${out}${err}`).toContain("budget_exhausted");
      expect(`${out}${err}`).not.toContain(DONE);
    });

    // As printed; only the host of the key, the prompt and where the client is installed are others here.
    test("the guide, from nothing to a running client", async () => {
      const whole = await place(name, () => [{ shell: "echo second >> a.txt && cat a.txt", text: "second" }]);
      const { base, project, environment } = whole;
      rmSync(join(project, ".ambit"), { recursive: true });
      const settings = join(base, "config", "ambit", "config.yml");
      const config = readFileSync(settings, "utf8");
      writeFileSync(settings, `${config}programs: { add: [${dirname(program)}] }\n`);
      const [, host = ""] = /url: "http:\/\/([^"]+)"/.exec(config) ?? [];
      const blocks = blocksOf(read(root, join("docs", "guides", GUIDES[name])), "sh");
      expect(blocks).toHaveLength(3);
      const path = `${join(root, "bin")}:${environment["PATH"]}`;
      let printed = "";
      for (const block of blocks) {
        const text = block
          .replace("fix the failing test", PROMPT)
          .replace(
            /^ambit secrets set \S+ (.*) --host .*$/m,
            `printf %s ${KEY} | ambit secrets set guide-key $1 --host ${host}`,
          );
        const { status, raw } = await onTerminal(project, ["bash", "-ec", text], [], { ...environment, PATH: path });
        printed += raw;
        expect({ status, raw: status === 0 ? "" : raw }).toEqual({ status: 0, raw: "" });
      }
      expect(printed).toContain(DONE);
      expect(printed).not.toContain(KEY);
      expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("first\nsecond\n");
    });
  },
  300_000,
);
