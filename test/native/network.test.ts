// The network of a sandbox: real sockets, passed to this very process, that accept the connections of a program inside.
import dgram from "node:dgram";
import net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { NODE, type Owner, start } from "./owner.ts";
import { users, variants } from "./program.ts";

const [PORTS, TRANSPARENT] = [1, 2];
const EBADF = 9;

interface Message {
  readonly kind: string;
  readonly port?: number;
}

/** Connects to each address in turn and prints what it receives, or why it receives nothing. */
const CALLER = `
const net = require("node:net");
const call = (place) => new Promise((resolve) => {
  const at = place.lastIndexOf(":");
  const socket = net.connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)) });
  let heard = "";
  socket.on("data", (chunk) => { heard += chunk; });
  socket.on("error", (problem) => resolve(problem.code));
  socket.on("end", () => resolve(heard));
});
(async () => { for (const place of process.argv.slice(1)) console.log(await call(place)); })();
`;

const ASKER = `
const socket = require("node:dgram").createSocket("udp4");
socket.connect(Number(process.argv[2]), process.argv[1], () => socket.send("question"));
socket.on("message", (answer) => { console.log(String(answer)); socket.close(); });
socket.on("error", (problem) => { console.log(problem.code); socket.close(); });
`;

const callers = variants.flatMap(([variant, program]) =>
  users.map((user) => [variant, user ?? "self", program] as const),
);

describe.each(callers)("%s, as %s", (_variant, caller, program) => {
  const opened: { close(): unknown }[] = [];
  let owner: Owner | undefined;

  afterEach(async () => {
    for (const one of opened.splice(0)) one.close();
    expect(await owner?.end()).not.toBe(99);
  });

  /** Serves every socket that arrives: a connection is told its listener and its intended destination. */
  async function open(transparent: boolean, ports: readonly number[]): Promise<{ mode: number; kinds: Message[] }> {
    const started = await start({ program, user: caller === "self" ? null : caller, network: true });
    owner = started.owner;
    const kinds: Message[] = [];
    owner.child.on("message", (message: Message, handle: unknown) => {
      kinds.push(message);
      if (message.kind === "dns") {
        const socket = dgram.createSocket("udp4");
        opened.push(socket);
        socket.on("message", (question, from) => socket.send(`answer to ${question}`, from.port, from.address));
        socket.bind(handle as dgram.BindOptions);
        return;
      }
      const server = net.createServer((socket) => {
        socket.on("error", () => undefined);
        socket.end(`${message.kind} ${socket.localAddress} ${socket.localPort}`);
      });
      opened.push(server);
      server.listen(handle as net.ListenOptions);
    });
    const payload = new PayloadWriter()
      .u8(transparent ? 1 : 0)
      .u16(ports.length)
      .u16(0);
    for (const port of ports) payload.u16(port);
    owner.send("N", payload.done());
    owner.send("G");
    return { mode: (await owner.ready()).network, kinds };
  }

  async function call(...places: readonly string[]): Promise<readonly string[]> {
    const { output, errors } = await (owner as Owner).run({ argv: [NODE, "-e", CALLER, ...places] });
    expect(errors).toBe("");
    return output.trim().split("\n");
  }

  async function ask(address: string, port: number): Promise<string> {
    return (await (owner as Owner).run({ argv: [NODE, "-e", ASKER, address, String(port)] })).output.trim();
  }

  test("ports: one listener each, at every fake address, and nothing else", async () => {
    const { mode, kinds } = await open(false, [443, 8080, 53]);
    expect(mode).toBe(PORTS);
    expect(kinds).toEqual([
      { kind: "dns" },
      { kind: "dns-tcp" },
      { kind: "broker" },
      { kind: "tcp", port: 443 },
      { kind: "tcp", port: 8080 },
      { kind: "tcp", port: 53 },
    ]);
    expect(
      await call("198.18.0.9:443", "198.19.255.254:8080", "198.18.0.53:53", "198.18.7.7:53", "198.18.0.2:1"),
    ).toEqual([
      "tcp 198.18.0.9 443",
      "tcp 198.19.255.254 8080",
      "dns-tcp 198.18.0.53 53",
      "tcp 198.18.7.7 53",
      "broker 198.18.0.2 1",
    ]);
    expect(await call("198.18.0.9:444", "192.0.2.1:443", "2001:db8::1:443", "198.18.0.3:1")).toEqual([
      "ECONNREFUSED",
      "ENETUNREACH",
      "ENETUNREACH",
      "ECONNREFUSED",
    ]);
  });

  test("transparent: every address and port arrives with its destination, both protocols", async () => {
    const { mode, kinds } = await open(true, [443]);
    expect(mode).toBe(TRANSPARENT);
    expect(kinds.map(({ kind }) => kind)).toEqual(["dns", "dns-tcp", "broker", "transparent", "transparent"]);
    const called = [
      "198.18.0.9:443",
      "192.0.2.1:65535",
      "10.0.0.1:22",
      "2001:db8::1:443",
      "fd00::7:8080",
      "198.18.0.1:15001",
    ];
    expect(await call(...called)).toEqual([
      "transparent 198.18.0.9 443",
      "transparent 192.0.2.1 65535",
      "transparent 10.0.0.1 22",
      "transparent 2001:db8::1 443",
      "transparent fd00::7 8080",
      "transparent 198.18.0.1 15001",
    ]);
    expect(await call("198.18.0.53:53", "198.18.0.2:1", "127.0.0.1:443", "::1:443", "198.18.0.53:80")).toEqual([
      "dns-tcp 198.18.0.53 53",
      "broker 198.18.0.2 1",
      "ECONNREFUSED",
      "ECONNREFUSED",
      "ECONNREFUSED",
    ]);
  });

  test("a program's own loopback is its own, also on a port that is intercepted elsewhere", async () => {
    await open(true, []);
    const script = `
      const net = require("node:net");
      const server = net.createServer((socket) => socket.end("own")).listen(15001, "127.0.0.1", () =>
        net.connect(15001, "127.0.0.1").on("data", (chunk) => { console.log(String(chunk)); server.close(); }));`;
    expect(await (owner as Owner).run({ argv: [NODE, "-e", script] })).toMatchObject({ output: "own\n", errors: "" });
  });

  test("names are resolved at one address; every other datagram is dropped", async () => {
    await open(true, []);
    expect(await ask("198.18.0.53", 53)).toBe("answer to question");
    expect(await ask("198.18.0.54", 53)).toBe("ECONNREFUSED");
    expect(await ask("192.0.2.1", 443)).toBe("ECONNREFUSED");
  });

  test("the listeners outlive the setup and serve the next command as well", async () => {
    await open(true, []);
    for (let round = 0; round < 3; round++) expect(await call("192.0.2.9:80")).toEqual(["transparent 192.0.2.9 80"]);
  });

  test("git's credential helper hands out nothing, and says what the user can do", async () => {
    await open(true, []);
    const run = (action: string, input: string): ReturnType<Owner["run"]> =>
      (owner as Owner).run({ argv: ["/run/ambit/ambit-native", "credential", action], input });
    const asked = "protocol=https\nhost=example.com\npath=a/b.git\nusername=x\nwwwauth[]=Basic\n\n";
    const errors =
      "ambit: example.com wants a credential, and no secret for git is kept for it; " +
      "the user can keep one: ambit secrets set NAME --tool git --host example.com\n";
    expect(await run("get", asked)).toMatchObject({ value: 0, output: "", errors });
    for (const action of ["store", "erase"])
      expect(await run(action, asked)).toMatchObject({ value: 0, output: "", errors: "" });
    for (const input of ["", "host=\n", "host=a\tb\n", "host=a\nhost=b\n", `host=${"a".repeat(70_000)}\n`])
      expect(await run("get", input)).toMatchObject({ value: 1, output: "", errors: "" });
    expect(await run("other", "")).toMatchObject({ value: 1 });
  });

  test("a network without a channel to pass it on is a failure", async () => {
    const { owner: started } = await start({ program, user: caller === "self" ? null : caller });
    owner = started;
    started.send("N", new PayloadWriter().u8(1).u16(0).u16(0).done());
    started.send("G");
    expect((await started.failure()).errno).toBe(EBADF);
    expect(await started.exit()).toBe(125);
  });
});
