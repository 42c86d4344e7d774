// A trusted project with a git repository and tests, a daemon with a state of its own, and a provider on loopback.
import { execFileSync, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { rootFolder } from "../place.ts";

export interface RunFixture {
  readonly base: string;
  readonly project: string;
  /** The same with many more files. */
  readonly large: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Address of the scripted provider, without a path. */
  readonly provider: string;
  /** A client that is installed here, with the words that make it print its version; null: none. */
  readonly client: { readonly name: string; readonly path: string } | null;
  remove(): void;
}

export const AMBIT: readonly string[] = [process.execPath, join(rootFolder, "bin", "ambit")];
export const filesOfLarge = 2_000;
const CLIENTS = join(rootFolder, "test", "clients", "node_modules");
const RECORD =
  "---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: live }\n  - fs.read\n  - fs.write\n" +
  "  - model.use: { providers: [anthropic], models: [claude-*] }\n---\n";

export async function makeFixture(): Promise<RunFixture> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-run-")));
  const server = provider();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(base, "home"),
    TERM: "xterm-256color",
    SHELL: "/bin/sh",
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const [project, large] = [join(base, "project"), join(base, "large")];
  mkdirSync(join(base, "config", "ambit"), { recursive: true });
  mkdirSync(environment.HOME);
  const remove = (): void => {
    spawnSync(AMBIT[0] as string, [...AMBIT.slice(1), "daemon", "stop"], { cwd: base, env: environment });
    server.closeAllConnections();
    server.close();
    rmSync(base, { recursive: true, force: true });
  };
  try {
    const runtime = existsSync(CLIENTS) ? `runtime: [${CLIENTS}]\n` : "";
    const models = `models: { anthropic: { url: "http://${host}" } }\n`;
    writeFileSync(join(base, "config", "ambit", "config.yml"), `${runtime}${models}`);
    await ran([...AMBIT, "daemon", "start"], { cwd: base, env: environment });
    for (const [folder, files] of [
      [project, 40],
      [large, filesOfLarge],
    ] as const) {
      writeProject(folder, files, environment);
      await ran([...AMBIT, "trust", "--yes"], { cwd: folder, env: environment });
    }
    const set = `printf %s bench-key-0123456789abcdef | '${AMBIT.join("' '")}' secrets set model-key --tool model --host ${host}`;
    // A key is kept at a terminal only.
    await ran(["script", "-qec", set, "/dev/null"], { cwd: project, env: environment });
    const found = clientOf(environment.PATH);
    return { base, project, large, environment, provider: `http://${host}`, client: found, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function writeProject(folder: string, files: number, environment: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, ".ambit", "agents"), { recursive: true });
  writeFileSync(join(folder, ".ambit", "agents", "coder.md"), RECORD);
  writeFileSync(
    join(folder, "package.json"),
    '{"name":"small","version":"1.0.0","scripts":{"test":"node --test test/"}}\n',
  );
  mkdirSync(join(folder, "test"));
  const test = 'const { test } = require("node:test");\ntest("adds", () => require("node:assert").equal(1 + 1, 2));\n';
  writeFileSync(join(folder, "test", "add.test.js"), test);
  for (let at = 0; at < files; at++) {
    const place = join(folder, "src", `part-${Math.floor(at / 40)}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(
      join(place, `file-${at}.js`),
      `// the needle of file ${at}\n${"export const value = 1;\n".repeat(60)}`,
    );
  }
  writeFileSync(join(folder, "claude"), CLIENT);
  chmodSync(join(folder, "claude"), 0o755);
  const names = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
  for (const words of [
    ["init", "-q"],
    ["add", "-A"],
    [...names, "commit", "-qm", "all files"],
  ])
    execFileSync("git", words, { cwd: folder, env: environment });
}

function clientOf(path: string): RunFixture["client"] {
  const machine = `${process.platform}-${process.arch}`;
  const installed = [`claude-code-${machine}`, `claude-code-${machine}-musl`].map((name) =>
    join(CLIENTS, "@anthropic-ai", name, "claude"),
  );
  const found = [...installed, ...path.split(delimiter).map((one) => join(one, "claude"))].find((one) =>
    existsSync(one),
  );
  return found === undefined ? null : { name: "claude", path: found };
}

export const eventsOfLarge = 4_000;
const EVENT = `data: ${JSON.stringify({ type: "content_block_delta", delta: { type: "text_delta", text: "x".repeat(900) } })}\n\n`;
const STARTED = 'data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n';
const ENDED = 'data: {"type":"message_delta","usage":{"output_tokens":12}}\n\ndata: {"type":"message_stop"}\n\n';

/** Streams a few events, or many where the request has `max_tokens` above 1000. */
function provider(): Server {
  return createServer(async (request, response) => {
    let text = "";
    for await (const part of request.setEncoding("utf8")) text += part;
    const isLarge = (JSON.parse(text) as { readonly max_tokens: number }).max_tokens > 1_000;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(STARTED);
    for (let at = 0; at < (isLarge ? eventsOfLarge : 3); at++)
      if (!response.write(EVENT)) await once(response, "drain");
    response.end(ENDED);
  });
}

/** Sends requests one after the other, and prints the milliseconds to the first byte and to the end of each. */
const CLIENT = `#!/usr/bin/env node
const [count = "1", tokens = "9"] = process.argv.slice(2);
const http = require("node:http");
const agent = new http.Agent({ keepAlive: true });
const body = JSON.stringify({ model: "claude-x", max_tokens: Number(tokens), stream: true, messages: [{ role: "user", content: "hello" }] });
const headers = { "content-type": "application/json", "x-api-key": process.env.ANTHROPIC_API_KEY, "content-length": body.length };
const send = () => new Promise((done, fail) => {
  const began = performance.now();
  let [first, bytes] = [0, 0];
  const request = http.request(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", agent, headers }, (answer) => {
    if (answer.statusCode !== 200) fail(new Error("status " + answer.statusCode));
    answer.on("data", (part) => { first ||= performance.now() - began; bytes += part.length; });
    answer.on("end", () => done({ first, whole: performance.now() - began, bytes }));
  });
  request.on("error", fail);
  request.end(body);
});
(async () => {
  const all = [];
  for (let at = 0; at < Number(count); at++) all.push(await send());
  console.log(JSON.stringify(all));
  agent.destroy();
})();
`;

/** Standard output; throws unless the status is 0. */
export async function ran(words: readonly string[], options: SpawnOptions): Promise<string> {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) throw new Error(`${words.join(" ")} exited with ${status}: ${err}${out}`.slice(0, 2_000));
  return out;
}
