// The reference pages as a reader types them: every command runs, page by page, in a copy of examples/rows with what the page
// assumes, and exits as the page says.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { writeAgent, writeFiles } from "../house/files.ts";
import { ownFolder } from "../house/own-folder.ts";
import { blocksOf, read } from "./markdown.ts";
import { type Command, commandsOf, isExpected } from "./page-commands.ts";

const pages = readdirSync(join(root, "docs/reference")).filter((name) => name.endsWith(".md"));

/** Programs of others; `npm run test:clients` runs them. */
const FOREIGN = /^(claude|codex|opencode|gemini) /;
/** Commands that stay in the foreground, and the output by which they are ready. */
/** Commands that only a person at a terminal can use: without one they say so. */
const FOR_PEOPLE = /^ambit presence (set|delete)\b/;
/** Commands that follow what happens until they are ended: their help is asked for. */
const FOLLOWS = /^ambit approvals watch\b/;
/** Commands that ask a registry or an authorization server: their help is asked for here; test/mcp runs them against its own. */
const ASKS_OTHERS = /^ambit mcp (?:login|update|add(?= .* -- (?:npx|uvx) ))\b/;
const STAYS: readonly (readonly [RegExp, RegExp])[] = [[/^ambit mcp serve --http /, /listening|http:\/\//]];

/** What a page assumes of its reader's project, beside examples/rows. */
const ASSUMED: Readonly<Record<string, (project: string) => void>> = {
  "shell.md": (project) => {
    writeFiles(project, { names: "one\ntwo\none\n", "a.txt": "a\n", "src/x": "x\n" });
    writeAgent(project, "coder", "fs.read", "fs.write", "proc.exec{root=rw}");
  },
  "git.md": (project) => {
    writeFiles(project, { names: "one\ntwo\n" });
    writeAgent(project, "coder", "fs.read", "fs.write", "proc.exec{root=rw}");
  },
  "changes.md": (project) => {
    const scripts = { build: "echo built > built.txt", dev: "echo up" };
    writeFiles(project, { "package.json": JSON.stringify({ name: "shop", version: "1.0.0", scripts }) });
    writeAgent(project, "coder", "fs.read", "fs.write", "proc.exec{root=live}");
  },
  "tools.md": (project) => {
    writeAgent(project, "scribe", "records.read", "records.create", "records.update");
    writeAgent(project, "lead", "agent.discover");
  },
  "tool-hosts.md": (project) => writeAgent(project, "scout", "memory.read"),
  "records.md": (project) =>
    writeFiles(project, {
      ".ambit/skills/release-notes/SKILL.md": blocksOf(read(root, "docs/reference/records.md"), "markdown")[1] ?? "",
    }),
  "native-rules.md": (project) => {
    const settings = '{"permissions": {"allow": ["Bash(git log:*)"], "deny": ["WebFetch"]}}';
    writeFiles(project, { ".claude/settings.json": settings, ".claude/settings.local.json": settings });
  },
  "mcp-servers.md": (project) => {
    const mcpServers = { github: { command: "github-server" }, tracker: { command: "tracker-server" } };
    writeFiles(project, {
      "tools/docs-server.js": DOCS_SERVER,
      "docs/start": "Start here.\n",
      ".cursor/mcp.json": JSON.stringify({ mcpServers }),
    });
    writeAgent(project, "scout", "fs.read", "mcp.resource{servers=[docs],uris=[docs://pages/**]}");
    writeAgent(project, "coder", "fs.read");
  },
};

const AUTHOR = "-c user.name=u -c user.email=u@x.test";

/** A server with one tool and one resource. */
const DOCS_SERVER = `
  const text = "Start here.";
  const answers = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {}, resources: {} }, serverInfo: { name: "docs", version: "1" } },
    "tools/list": { tools: [{ name: "read_page", description: "Read a page.", inputSchema: { type: "object" } }] },
    "resources/list": { resources: [{ uri: "docs://pages/start", name: "start" }] },
    "resources/templates/list": { resourceTemplates: [] },
    "resources/read": { contents: [{ uri: "docs://pages/start", text }] },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] ?? {} }));
  });`;

/** A process of its own around the line: one that has answered hooks, or served a client, is taken for a client until it ends. */
const CLIENT = `
  const { spawn } = require("node:child_process");
  const child = spawn("bash", ["-c", process.argv[1] + "\\nexit $?"], { stdio: "inherit", detached: true });
  process.on("SIGTERM", () => process.kill(-child.pid, "SIGTERM"));
  child.on("close", (status) => process.exit(status ?? 1));`;

interface Ran {
  readonly status: number | null;
  readonly output: string;
}

async function run(project: string, text: string, waitFor: RegExp | null, stdin = "a long value\n"): Promise<Ran> {
  const own = { HOME: join(project, "..", "home"), PATH: `${join(root, "bin")}:${process.env["PATH"]}` };
  const child: ChildProcess = spawn(process.execPath, ["-e", CLIENT, text], {
    cwd: project,
    env: { ...environment, ...own },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin?.end(stdin);
  let output = "";
  const limit = setTimeout(() => child.kill("SIGTERM"), 60_000);
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (bytes: Buffer) => {
      output += bytes.toString("utf8");
      if (waitFor?.test(output) === true) child.kill("SIGTERM");
    });
  const [status] = (await once(child, "close")) as [number | null];
  clearTimeout(limit);
  const isReady = waitFor?.test(output) === true;
  return { status: isReady ? 0 : status, output };
}

describe("the reference pages", () => {
  const foreign: string[] = [];
  let checked = 0;

  test.each(pages)("%s prints commands that exit as it says", { timeout: 300_000 }, async (page) => {
    const folder = ownFolder("ambit-page-");
    const project = join(folder, "rows");
    cpSync(join(root, "examples", "rows"), project, { recursive: true });
    writeFiles(folder, { "home/.keep": "" });
    const made = await run(project, `git init -q . && git add -A && git ${AUTHOR} commit -qm first`, null);
    expect(made).toMatchObject({ status: 0 });
    ASSUMED[page]?.(project);
    const ready = await run(project, "ambit trust --yes", null);
    expect([page, ready.status, ready.output]).toEqual([page, 0, ready.output]);
    const text = read(root, join("docs/reference", page));
    const commands: Command[] = ["sh", "bash", "console"]
      .flatMap((language) => blocksOf(text, language))
      .flatMap(commandsOf);
    for (const command of commands) {
      if (FOREIGN.test(command.text)) {
        foreign.push(command.text);
        continue;
      }
      const stays = STAYS.find(([pattern]) => pattern.test(command.text))?.[1] ?? null;
      const stdin = command.text.startsWith("ambit hook") ? read(root, "examples/rows/question.json") : undefined;
      // The home of the person who runs the tests stays as it is.
      const line = /^ambit connect .*--user/.test(command.text)
        ? command.text.replace("ambit connect", "ambit connect --dry-run")
        : command.text.replace("127.0.0.1:8484", "127.0.0.1:0");
      const asked = line.replace(FOLLOWS, "$& --help").replace(ASKS_OTHERS, "$& --help");
      let { status, output } = await run(project, asked, stays, stdin);
      // A person is asked at a terminal; a script says yes beforehand.
      if (output.includes("no terminal to ask at") && !command.text.includes("--yes"))
        ({ status, output } = await run(project, line.replace(/^(ambit [a-z]+( [a-z]+)?)/, "$1 --yes"), stays, stdin));
      const isRight = FOR_PEOPLE.test(command.text)
        ? status !== 0 && /no terminal|presence_required/.test(output)
        : command.text.startsWith("ambit hook")
          ? status === 2 && output.includes("denied")
          : status !== null &&
            (page === "codes.md" ? status !== 1 && !output.includes("Usage:") : isExpected(command, status));
      expect.soft(isRight, `${page}: ${command.text}\nended with ${status}\n${output}`).toBe(true);
      checked++;
    }
  });

  test("have no commands in blocks that are not run", () => {
    for (const page of pages) {
      const text = read(root, join("docs/reference", page));
      const plain = ["", "text"]
        .flatMap((language) => blocksOf(text, language))
        .filter((block) => /^ambit /m.test(block));
      expect([page, plain]).toEqual([page, []]);
    }
    expect(pages.length).toBeGreaterThanOrEqual(15);
    expect(checked).toBeGreaterThanOrEqual(60);
    expect(foreign.length).toBeLessThanOrEqual(2);
  });
});
