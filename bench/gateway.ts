// `npm run bench -- gateway`: the same tool of server-everything called directly, through ambit with policy, sandbox and durable log,
// through a proxy that only copies bytes, and through a proxy of the SDK's client and server; a list of 2,000 tools; the memory
// of the gateway with 50 idle servers.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Goal } from "./decide/goals.ts";
import { figure, goalsTable, ratio, table } from "./decide/table.ts";
import { type Machine, machine } from "./machine.ts";
import { McpClient, type ServerWords } from "./mcp/client.ts";
import { rootFolder } from "./place.ts";
import { measuredValue, type Row } from "./row.ts";
import { byTurns, type Contender, inFlight, LEAST, P95, timeRounds } from "./sandbox/turns.ts";

const [DIRECT, OURS, BYTES, NAIVE] = ["direct", "ambit", "a proxy of bytes", "a proxy of the SDK"] as const;
const ECHO = "a call of echo";
const ECHO_32 = "a call of echo, 32 in flight";
const LIST = "a list of 2,000 tools";
const MEMORY_BEFORE = "memory of the gateway with one server";
const MEMORY = "memory of the gateway with 50 idle servers";
const lanes = 32;
const callsPerTurn = 25;
const callsPerLane = 8;
const turns = 20;
const warmCalls = 500;
const idleServers = 50;

const packages = join(rootFolder, "node_modules");
const everything = join(packages, "@modelcontextprotocol", "server-everything", "dist", "index.js");
const sdk = join(packages, "@modelcontextprotocol", "sdk", "dist", "esm");

const BYTE_PROXY = `import { spawn } from "node:child_process";
const child = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "ignore"] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
`;
const SDK_PROXY = `import { Client } from "${sdk}/client/index.js";
import { StdioClientTransport } from "${sdk}/client/stdio.js";
import { Server } from "${sdk}/server/index.js";
import { StdioServerTransport } from "${sdk}/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "${sdk}/types.js";
const client = new Client({ name: "proxy", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: process.argv.slice(2), stderr: "ignore" }));
const server = new Server({ name: "proxy", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => client.listTools());
server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params));
process.stdin.on("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
`;
/** A server of few bytes, so that fifty of them fit on any machine. */
const SMALL = `$| = 1;
while (<STDIN>) {
  my ($id) = /"id":(\\d+)/ or next;
  my ($version) = /"protocolVersion":"([^"]+)"/;
  my $result = /"initialize"/ ? qq({"protocolVersion":"$version","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}})
    : /"tools\\/list"/ ? TOOLS
    : qq({"content":[{"type":"text","text":"hello"}]});
  print qq({"jsonrpc":"2.0","id":$id,"result":$result}\\n);
}
`;
const ONE_TOOL = `'{"tools":[{"name":"echo","description":"Echo.","inputSchema":{"type":"object"}}]}'`;
const MANY_TOOLS = `'{"tools":[' . join(",", map { qq({"name":"t$_","description":"The tool $_, which does what a tool does.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"value":{"type":"number"}},"required":["path"]}}) } 0..1999) . ']}'`;

interface GatewayFixture {
  readonly node: Omit<ServerWords, "subject" | "words">;
  readonly base: string;
  ambit(agent: string): ServerWords;
  /** The process of the daemon. */
  daemon(): number;
  remove(): void;
}

function makeFixture(): GatewayFixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-gateway-")));
  const project = join(base, "project");
  const write = (path: string, text: string): void => {
    mkdirSync(join(base, path, ".."), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  write("bytes.mjs", BYTE_PROXY);
  write("sdk.mjs", SDK_PROXY);
  write("programs/one.pl", SMALL.replace("TOOLS", ONE_TOOL));
  write("programs/many.pl", SMALL.replace("TOOLS", MANY_TOOLS));
  const small = (name: string, program: string): string =>
    `  ${name}: { command: [perl, "${join(base, "programs", program)}"], runtime: ["${join(base, "programs")}"] }\n`;
  const idle = Array.from({ length: idleServers }, (_, at) => `idle-${at}`);
  write(
    "config/ambit/mcp.yml",
    `servers:\n  every: { command: [node, "${everything}"], runtime: ["${packages}"] }\n${small("many", "many.pl")}${idle
      .map((name) => small(name, "one.pl"))
      .join("")}`,
  );
  const agent = (id: string, tools: readonly string[]): void =>
    write(`project/.ambit/agents/${id}.md`, `---\ncapabilities: ["tool.invoke{tools=[${tools.join(",")}]}"]\n---\n`);
  agent("caller", ["every__*"]);
  agent("lister", ["many__*"]);
  agent(
    "idler",
    idle.map((name) => `${name}__*`),
  );
  const environment = {
    PATH: process.env["PATH"],
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const program = join(rootFolder, "bin", "ambit");
  const run = (...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      cwd: project,
      env: environment,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`ambit ${words.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };
  const node = { command: process.execPath, cwd: project, environment };
  const remove = (): void => {
    spawnSync(process.execPath, [program, "daemon", "stop"], { cwd: project, env: environment });
    rmSync(base, { recursive: true, force: true });
  };
  try {
    run("trust", "--yes");
    run("daemon", "start");
  } catch (problem) {
    remove();
    throw problem;
  }
  const ambit = (id: string): ServerWords => ({
    ...node,
    subject: OURS,
    words: [program, "mcp", "serve", "--agent", id],
  });
  const daemon = (): number => (JSON.parse(run("daemon", "status", "--json")) as { readonly pid: number }).pid;
  return { base, node, ambit, daemon, remove };
}

export async function gatewayBench(json: boolean): Promise<void> {
  const before = machine();
  const fixture = makeFixture();
  try {
    const say = (what: string): void => void process.stderr.write(`bench: ${what}\n`);
    const rows = [...(await calls(fixture, say)), ...(await list(fixture, say)), ...(await memory(fixture, say))];
    process.stdout.write(
      json ? `${JSON.stringify({ bench: "gateway", machine: before, rows })}\n` : report(before, rows),
    );
  } finally {
    fixture.remove();
  }
}

async function calls({ base, node, ambit }: GatewayFixture, say: (what: string) => void): Promise<readonly Row[]> {
  say(ECHO);
  const words = (subject: string, ...given: readonly string[]): ServerWords => ({ ...node, subject, words: given });
  const servers = [
    words(DIRECT, everything),
    ambit("caller"),
    words(BYTES, join(base, "bytes.mjs"), everything),
    words(NAIVE, join(base, "sdk.mjs"), everything),
  ];
  const clients = await Promise.all(servers.map((one) => McpClient.start(one)));
  const callers = servers.map(({ subject }, at) => ({
    subject,
    call: async (): Promise<void> => {
      const text = await clients[at]?.call(subject === OURS ? "every__echo" : "echo", { message: "hello" });
      if (text?.includes("hello") !== true) throw new Error(`${subject} answered ${text}`);
    },
  }));
  try {
    for (const { call } of callers) for (let at = 0; at < warmCalls; at++) await call();
    const alone = callers.map(
      ({ subject, call }): Contender => ({
        subject,
        turn: async () => {
          const taken: number[] = [];
          for (let at = 0; at < callsPerTurn; at++) taken.push(...(await timeRounds(call)));
          return taken;
        },
      }),
    );
    const together = callers.map(
      ({ subject, call }): Contender => ({
        subject,
        turn: async () => [await inFlight(lanes, callsPerLane, call)],
      }),
    );
    return [...(await byTurns(ECHO, turns, alone)), ...(await byTurns(ECHO_32, turns, together))];
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function list({ ambit }: GatewayFixture, say: (what: string) => void): Promise<readonly Row[]> {
  say(LIST);
  const client = await McpClient.start(ambit("lister"));
  try {
    const turn = async (): Promise<readonly number[]> =>
      timeRounds(async () => {
        const count = await client.list();
        if (count !== 2_000) throw new Error(`the list has ${count} tools`);
      });
    await turn();
    return await byTurns(LIST, turns, [{ subject: OURS, turn }]);
  } finally {
    await client.end();
  }
}

/** Of the processes that are the gateway: the server that a client starts, the daemon and the broker. */
async function memory(fixture: GatewayFixture, say: (what: string) => void): Promise<readonly Row[]> {
  say(MEMORY);
  const row = (name: string): Row => ({ subject: OURS, case: name, value: residentBytes(fixture), unit: "bytes" });
  const other = await McpClient.start(fixture.ambit("caller"));
  const before = row(MEMORY_BEFORE);
  await other.end();
  const client = await McpClient.start(fixture.ambit("idler"));
  try {
    for (let at = 0; at < idleServers; at++) await client.call(`idle-${at}__echo`, {});
    return [before, row(MEMORY)];
  } finally {
    await client.end();
  }
}

function residentBytes({ base, daemon }: GatewayFixture): number {
  const pid = daemon();
  let bytes = 0;
  for (const one of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const text = (file: string): string => readFileSync(`/proc/${one}/${file}`, "utf8");
      const status = text("status");
      const isServing = text("cmdline").includes("\0mcp\0serve\0") && text("environ").includes(base);
      const isBroker = new RegExp(`^PPid:\\s+${pid}$`, "m").test(status) && text("cmdline").startsWith("ambit-broker");
      if (Number(one) === pid || isServing || isBroker)
        bytes += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
    } catch {
      // It has ended.
    }
  }
  return bytes;
}

function report({ processor, cores, memory: size, node, platform, load }: Machine, rows: readonly Row[]): string {
  const shown = rows.filter((row) => !row.case.endsWith(P95) && !row.case.endsWith(LEAST));
  return [
    `${processor}, ${cores} cores, ${size}, ${platform}, Node ${node}, load ${load}`,
    "",
    table(
      ["case", "subject", "median", "least", "of direct"],
      shown.map(({ subject, case: name, value, unit }) => [
        name,
        subject,
        figure(value, unit),
        cell(measuredValue(rows, subject, `${name}${LEAST}`), (least) => figure(least, unit)),
        cell(measuredValue(rows, DIRECT, name), (direct) => ratio(value / direct)),
      ]),
      2,
    ),
    "",
    "figures to reach",
    goalsTable(goals(rows)),
    "",
  ].join("\n");
}

const overDirectMax = 3_000_000;
const secondNanoseconds = 1_000_000_000;
const callsPerSecondMin = 1_000;
const listMax = 20_000_000;
const memoryMax = 150 * 1024 * 1024;

/** Nothing where it was not measured. */
function cell(value: number | null | undefined, text: (value: number) => string): string {
  return value === null || value === undefined ? "" : text(value);
}

function goals(rows: readonly Row[]): readonly Goal[] {
  const of = (subject: string, name: string): number => measuredValue(rows, subject, name) ?? Number.NaN;
  const over = of(OURS, ECHO) - of(DIRECT, ECHO);
  const cost = of(OURS, MEMORY) - of(OURS, MEMORY_BEFORE);
  const rate = (subject: string): number => secondNanoseconds / of(subject, ECHO_32);
  return [
    { goal: "one in flight: at most 3 ms over direct", measured: figure(over, "ns"), ok: over <= overDirectMax },
    {
      goal: "32 in flight: at least 1,000 calls a second",
      measured: `${Math.round(rate(OURS))} (the SDK's proxy: ${Math.round(rate(NAIVE))})`,
      ok: rate(OURS) >= callsPerSecondMin,
    },
    { goal: "2,000 tools in less than 20 ms", measured: figure(of(OURS, LIST), "ns"), ok: of(OURS, LIST) < listMax },
    {
      goal: "50 idle servers cost the gateway less than 150 MiB",
      measured: figure(cost, "bytes"),
      ok: cost < memoryMax,
    },
  ];
}
