// The host's loopback: a database or a development server is reached by the programs it is granted to, and by no others.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";

let fixture: Fixture;
const servers: Server[] = [];
let own: ChildProcess;
let [granted, byAddress, closed, six, ours] = [0, 0, 0, 0, 0];

async function listening(host: string, says: string): Promise<number> {
  const server = createServer((socket) => socket.end(says)).listen(0, host);
  servers.push(server);
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

/** A listening process with the title of our own processes. */
async function startOwn(): Promise<number> {
  const code = `process.title = "ambit-console";
    const server = require("node:net").createServer((socket) => socket.end("ours")).listen(0, "127.0.0.1");
    server.on("listening", () => console.log(server.address().port));`;
  own = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(own.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return Number(line.toString());
}

beforeAll(async () => {
  fixture = await Fixture.make();
  granted = await listening("127.0.0.1", "granted");
  byAddress = await listening("127.0.0.1", "by address");
  closed = await listening("127.0.0.1", "never");
  six = await listening("::1", "over six");
  ours = await startOwn();
  const grants = [`proc.exec{in=${fixture.project}}`, "fs.write{paths=[]}"];
  const connect = (host: string, ...ports: number[]): string =>
    `net.connect{hosts=[${host}],ports=[${ports.join(",")}]}`;
  fixture.agent("named", [...grants, connect("localhost", granted, six, ours)], "sandbox: .\n");
  fixture.agent("literal", [...grants, connect("127.0.0.1", byAddress, ours)], "sandbox: .\n");
  fixture.agent("star", [...grants, connect('"*"', granted, byAddress)], "sandbox: .\n");
  fixture.agent("none", grants, "sandbox: .\n");
  await fixture.begin();
}, 240_000);

afterAll(async () => {
  own?.kill();
  for (const server of servers) server.close();
  await fixture?.remove();
});

/** What the server said, or how the connection failed. */
const CONNECT = `
  const [host, port] = process.argv.slice(1);
  const socket = require("node:net").connect(Number(port), host);
  let text = "";
  socket.on("data", (bytes) => (text += bytes)).on("end", () => console.log(text));
  socket.on("error", ({ code }) => console.log(code));
`;

async function said(agent: string, host: string, port: number): Promise<string> {
  const { out } = await fixture.ambit("exec", agent, "--", "node", "-e", CONNECT, host, `${port}`);
  return out;
}

describe("a port of the host's loopback", () => {
  test("granted as localhost is reached by that name and by its address", async () => {
    expect(await said("named", "localhost", granted)).toMatch(/^granted\n/);
    expect(await said("named", "127.0.0.1", granted)).toMatch(/^granted\n/);
  });

  test("granted by its address is reached by it", async () => {
    expect(await said("literal", "127.0.0.1", byAddress)).toMatch(/^by address\n/);
  });

  test("on which the server listens on IPv6 alone is reached as localhost", async () => {
    expect(await said("named", "localhost", six)).toMatch(/^over six\n/);
  });

  test.each([
    ["named", "localhost", () => closed],
    ["named", "127.0.0.1", () => byAddress],
    ["literal", "127.0.0.1", () => granted],
    ["star", "localhost", () => granted],
    ["star", "127.0.0.1", () => byAddress],
    ["none", "localhost", () => granted],
  ])("that is not granted stays closed: %s, %s", async (agent, host, port) => {
    expect(await said(agent, host, port())).toMatch(/ECONN(REFUSED|RESET)/);
  });

  test("of ambit itself is refused, granted or not", async () => {
    for (const agent of ["named", "literal"]) {
      const out = await said(agent, "127.0.0.1", ours);
      expect(out).toContain("ECONNRESET");
      expect(out).toContain("address_refused");
    }
  });

  test("on which a program inside listens stays inside", async () => {
    const inside = `
      const net = require("node:net");
      const server = net.createServer((socket) => socket.end("inside")).listen(Number(process.argv[1]), "127.0.0.1", () => {
        net.connect(Number(process.argv[1]), "localhost").on("data", (bytes) => { console.log(String(bytes)); server.close(); });
      });`;
    const { out } = await fixture.ambit("exec", "named", "--", "node", "-e", inside, `${closed}`);
    expect(out).toMatch(/^inside\n/);
  });

  test("that is granted is in use inside: the program is told, and never answers in place of the host", async () => {
    const listen = `require("node:net").createServer().on("error", ({ code }) => console.log(code)).listen(Number(process.argv[1]), "127.0.0.1");`;
    const { out } = await fixture.ambit("exec", "named", "--", "node", "-e", listen, `${granted}`);
    expect(out).toMatch(/^EADDRINUSE\n/);
  });
});
