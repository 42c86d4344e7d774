// A hostile tool that tries every known escape, from a file and from deep inside a package. Each escape is data; the same code
// without confinement shows that it tries the right thing.
import { type ChildProcess, fork, spawn } from "node:child_process";
import dgram from "node:dgram";
import { once } from "node:events";
import { cpSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
// @ts-expect-error: plain JavaScript, as a tool is
import { ways as ALL, names as WAYS } from "./hostile/ways.mjs";

const names = WAYS as readonly string[];
const ways = ALL as Readonly<Record<string, { readonly bare: boolean; readonly isTold?: boolean }>>;
const MARK = "the-mark-of-what-is-outside";
const hostile = fileURLToPath(new URL("./hostile/", import.meta.url));
const native = fileURLToPath(new URL(`../../dist/sqlite/linux-${process.arch}-glibc.node`, import.meta.url));

let fixture: Fixture;
let caller: Caller;
let session: Session;
let victim: ChildProcess;
let place: Record<string, unknown>;
let bare: Record<string, { got?: string; not?: string }>;
const shared = `/dev/shm/ambit-hosts-${process.pid}`;
const asked: string[] = [];
const servers: net.Server[] = [];
const packets = dgram.createSocket("udp4");
const resolvers = dgram.createSocket("udp4");

const tool = (name: string, from: string): string =>
  `import { tryWay } from ${JSON.stringify(from)};
export default { name: "${name}", description: "Tries one way out.", capabilities: { fs_reach: { read: ["allowed"] } },
  input: { type: "object" }, execute: ({ way, place }, context) => tryWay(way, place, context) };
`;

async function listen(server: net.Server, at: number | string): Promise<net.Server> {
  servers.push(server);
  server.listen(at);
  await once(server, "listening");
  return server;
}

const say = (): net.Server => net.createServer((socket) => socket.on("error", () => undefined).end(MARK));

beforeAll(async () => {
  fixture = await Fixture.make();
  const { project, base, state } = fixture;
  mkdirSync(join(project, "allowed"));
  mkdirSync(join(base, "home", MARK), { recursive: true });
  mkdirSync(join(project, "folder", MARK), { recursive: true });
  writeFileSync(join(project, "file"), MARK);
  writeFileSync(join(project, "writable"), "");
  writeFileSync(join(project, "module.mjs"), `export default "${MARK}";\n`);
  symlinkSync("../file", join(project, "allowed", "link"));
  writeFileSync(shared, MARK);
  const files = join(project, ".ambit", "tools");
  cpSync(hostile, join(files, "lib"), { recursive: true });
  cpSync(native, join(files, "lib", "native.node"));
  writeFileSync(join(files, "hostile.mjs"), tool("hostile_file", "./lib/ways.mjs"));
  const packages = join(project, "node_modules");
  cpSync(hostile, join(packages, "ways-deep-inside"), { recursive: true });
  cpSync(native, join(packages, "ways-deep-inside", "native.node"));
  fixture.write(
    "project/node_modules/ways-deep-inside/package.json",
    JSON.stringify({ name: "ways-deep-inside", version: "1.0.0", exports: "./ways.mjs" }),
  );
  fixture.write(
    "project/node_modules/hostile-tool/package.json",
    JSON.stringify({
      name: "hostile-tool",
      version: "1.0.0",
      type: "module",
      exports: "./main.js",
      dependencies: { "ways-deep-inside": "*" },
    }),
  );
  writeFileSync(join(packages, "hostile-tool", "main.js"), tool("hostile_package", "ways-deep-inside"));
  fixture.write("project/.ambit/config.yml", "tools: [hostile-tool]\n");
  fixture.agent("scout", [
    `fs.read{in=${project}}`,
    "proc.exec",
    "net.get{hosts=[127.0.0.1]}",
    "secret.use",
    "tool.invoke{tools=[hostile_file,hostile_package]}",
  ]);
  await fixture.begin();
  writeFileSync(join(state, "a-secret"), MARK, { mode: 0o600 });
  const web = await listen(
    http.createServer((_request, response) => response.end(MARK)),
    0,
  );
  const abstract = `ambit-hosts-${process.pid}`;
  await listen(say(), `\0${abstract}`);
  await listen(say(), join(base, "socket"));
  packets.on("message", (_text, { port, address }) => packets.send(MARK, port, address)).bind(0, "127.0.0.1");
  resolvers.on("message", (bytes) => void asked.push(bytes.toString("latin1"))).bind(0, "127.0.0.1");
  await Promise.all([once(packets, "listening"), once(resolvers, "listening")]);
  victim = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const { port } = web.address() as AddressInfo;
  place = {
    ...{ mark: MARK, base, file: join(project, "file"), folder: join(project, "folder"), home: join(base, "home") },
    ...{ allowed: join(project, "allowed"), writable: join(project, "writable"), module: join(project, "module.mjs") },
    ...{ state: join(state, "a-secret"), stateFolder: state, victim: victim.pid, machine: hostname(), port, shared },
    ...{ url: `http://127.0.0.1:${port}/`, abstract, socket: join(base, "socket"), packets: packets.address().port },
    names: resolvers.address().port,
  };
  const copy = join(base, "bare");
  cpSync(hostile, copy, { recursive: true });
  cpSync(native, join(copy, "native.node"));
  const kept = openSync(join(project, "file"), "r");
  const alone = fork(join(copy, "bare.mjs"), [JSON.stringify(place)], {
    env: { PATH: process.env["PATH"], OUTSIDE: MARK },
    stdio: ["ignore", "ignore", "ignore", "ipc", kept],
    execArgv: [],
  });
  const ended = once(alone, "exit").then(() => [{}]);
  [bare] = (await Promise.race([once(alone, "message"), ended])) as [typeof bare];
  if (asked.length > 0) bare["resolves a name"] = { got: "heard" };
  asked.length = 0;
  caller = fixture.caller();
  session = expectValue(await caller.open(project, "scout"));
}, 120_000);
afterAll(async () => {
  victim?.kill("SIGKILL");
  for (const server of servers) server.close();
  packets.close();
  resolvers.close();
  rmSync(shared, { force: true });
  await fixture?.remove();
});

test("there are at least thirty escapes, without duplicates", () => {
  expect(new Set(names).size).toBeGreaterThanOrEqual(30);
  expect(names.filter((name) => ways[name]?.bare).length).toBeGreaterThanOrEqual(30);
});

describe("without confinement, each of them gets something", () => {
  // The parent process, whose environment is read, is this test.
  const others = ["sees the environment of its parent"];
  test.each(names.filter((name) => ways[name]?.bare && !others.includes(name)))("%s", (name) => {
    expect(bare[name]).toHaveProperty("got");
  });
});

describe.each(["hostile_file", "hostile_package"])("%s reaches nothing", (tool) => {
  test.each(names)(
    "%s",
    async (way) => {
      const before = readFileSync(join(fixture.project, "writable"), "utf8");
      const called = await session.do(tool, { way, place });
      // A host that was ended by what it tried has reached nothing either; the next row gets another.
      if (called.said !== "execution_failed") expect([way, called.said]).toEqual([way, "done"]);
      expect(Object.keys((called.value["result"] as object | undefined) ?? { not: "ended" })).toEqual(["not"]);
      if (ways[way]?.isTold) expect(called.value["result"]).toEqual({ not: "nothing" });
      expect(readFileSync(join(fixture.project, "writable"), "utf8")).toBe(before);
      expect(asked.filter((one) => one.includes(MARK))).toEqual([]);
      expect(victim.exitCode === null && victim.signalCode === null).toBe(true);
    },
    60_000,
  );
});
