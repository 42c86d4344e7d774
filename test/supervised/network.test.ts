// The network of a sandbox without namespaces: names and connections go through the supervisor to the real broker, and
// nothing goes past it.
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Judge } from "../../src/core/ports/judge.ts";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import { BrokerClient } from "../../src/sandbox/network/client.ts";
import { NetworkGrants, readChains } from "../../src/sandbox/network/network-grants.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { bundleBroker, ownAddress } from "../broker/fixture.ts";
import { NamesOutside } from "../broker/names-outside.ts";
import { OWNER, ownFolder, planFor, removeFolder, segments } from "../sandbox/fixture.ts";
import { supervisedIn } from "./fixture.ts";

const PORT = 17_126;
const here = ownAddress(2);
const names = new NamesOutside();
let accepted = 0;
const server: Server = createServer((socket) => {
  accepted++;
  socket.on("error", () => {}).end("hello\n");
});
let folder = "";
let project = "";
let broker: BrokerClient;
let sandboxes: LinuxSandboxes;
let plan: Plan;
let granted: Judge;

beforeAll(async () => {
  folder = ownFolder();
  project = ownFolder();
  await bundleBroker(`${folder}/broker.cjs`);
  broker = new BrokerClient(`${folder}/broker.cjs`);
  await new Promise<void>((resolve) => server.listen(PORT, here, resolve));
  const servers = [await names.start()];
  names.names.set("api.example.test", [[here]]);
  const chains = [[[`net.connect{hosts=[api.example.test],ports=[${PORT}],private=[api.example.test=${here}]}`]]];
  const authority = readChains(chains);
  if (authority === null) throw new Error("the grants do not parse");
  const grants = new NetworkGrants(authority, () => Date.now());
  granted = (request) => grants.judge(request);
  plan = planFor(project, {
    root: { path: segments(project), mode: "ro" },
    network: { ports: [{ low: PORT, high: PORT }], loopback: [], chains },
  });
  sandboxes = supervisedIn(folder, {
    broker: { open: (wish) => broker.open({ ...wish, resolver: { servers } }) },
  });
});

afterAll(async () => {
  await sandboxes.end(null);
  await broker.stop();
  names.stop();
  server.close();
  removeFolder(folder);
  removeFolder(project);
});

interface Heard {
  readonly output: string;
  readonly denials: readonly string[];
}

async function run(...argv: readonly [string, ...string[]]): Promise<Heard> {
  const parts: string[] = [];
  const keep = (bytes: Uint8Array): void => void parts.push(Buffer.from(bytes).toString());
  const result = await sandboxes.run(OWNER, plan, { argv, input: null }, { output: keep, errors: keep }, granted, null);
  if (!result.ok) throw new Error(result.refused.message);
  const denials = result.ran.denials.map(({ code, request }) => `${code} ${request}`);
  return { output: parts.join(""), denials };
}

const python = (...lines: readonly string[]): Promise<Heard> =>
  run("python3", "-c", ["import ctypes, errno, os, socket, struct, threading, time", ...lines].join("\n"));

const CAUGHT = "def tried(act):\n  try: return act()\n  except OSError as error: return errno.errorcode[error.errno]";

describe("the network of a program without namespaces", () => {
  test.each([
    ["bash", ["/bin/bash", "-c", `cat < /dev/tcp/api.example.test/${PORT}`]],
    ["curl", ["curl", "-sS", `telnet://api.example.test:${PORT}`]],
    ["node", ["node", "-e", `require("net").connect(${PORT}, "api.example.test").pipe(process.stdout)`]],
    [
      "python, without waiting",
      [
        "python3",
        "-c",
        `import asyncio\nasync def main():\n  reader, writer = await asyncio.open_connection("api.example.test", ${PORT})\n  print((await reader.read()).decode(), end="")\nasyncio.run(main())`,
      ],
    ],
  ] as const)("reaches a granted host by its name: %s", async (_, argv) => {
    const before = accepted;
    expect(await run(...(argv as readonly string[] as [string, ...string[]]))).toEqual({
      output: "hello\n",
      denials: [],
    });
    expect(accepted).toBe(before + 1);
  });

  test("a name, an address and a port without a grant are denied and reported", async () => {
    const before = accepted;
    const name = await run("/bin/bash", "-c", `cat < /dev/tcp/evil.example.test/${PORT}`);
    expect(name.denials).toEqual([expect.stringMatching(/^scope_violation net\.connect evil\.example\.test:\d+$/)]);
    const address = await run("/bin/bash", "-c", `cat < /dev/tcp/${here}/${PORT}`);
    expect(address.denials).toEqual([`scope_violation net.connect ${here}:${PORT}`]);
    const port = await run("/bin/bash", "-c", "cat < /dev/tcp/api.example.test/17127");
    expect(port.denials).toEqual(["scope_violation net.connect api.example.test:17127"]);
    const six = await python(
      CAUGHT,
      "s = socket.socket(socket.AF_INET6)",
      `print(tried(lambda: s.connect(("2001:db8::1", ${PORT}))), tried(lambda: s.recv(1)))`,
    );
    expect(six).toEqual({
      output: "None ECONNRESET\n",
      denials: [`scope_violation net.connect '[2001:db8::1]:${PORT}'`],
    });
    expect(accepted).toBe(before);
  });

  test("the socket it gets keeps its number, its flags and its state", async () => {
    const told = await python(
      "import fcntl",
      CAUGHT,
      `to = (socket.gethostbyname("api.example.test"), ${PORT})`,
      "s = socket.socket(); number = s.fileno(); s.setblocking(False); os.set_inheritable(number, True)",
      "print(s.connect_ex(to), s.fileno() == number, os.get_blocking(number), os.get_inheritable(number))",
      "print(tried(lambda: s.connect(to)))",
      "t = socket.socket(); t.connect(to)",
      "print(os.get_blocking(t.fileno()), os.get_inheritable(t.fileno()), t.getpeername()[0], t.recv(9))",
      "t.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); t.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)",
    );
    expect(told.output).toBe("0 True False True\nEISCONN\nTrue False 127.0.0.1 b'hello\\n'\n");
  });

  test.each([
    ["binding", "s = socket.socket(); tried(lambda: s.bind(('127.0.0.1', 0)))", "EACCES"],
    ["listening without binding", "s = socket.socket(); tried(lambda: s.listen())", "EACCES"],
    ["a Unix socket with a name", "tried(lambda: socket.socket(socket.AF_UNIX))", "EAFNOSUPPORT"],
    ["netlink", "tried(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))", "EAFNOSUPPORT"],
    ["packets", "tried(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))", "EAFNOSUPPORT"],
    ["a virtual machine's sockets", "tried(lambda: socket.socket(40, socket.SOCK_STREAM))", "EAFNOSUPPORT"],
    ["raw sockets", "tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))", "EPROTONOSUPPORT"],
    ["ping sockets", "tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1))", "EPROTONOSUPPORT"],
    ["multipath TCP", "tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))", "EPROTONOSUPPORT"],
    ["SCTP", "tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))", "EPROTONOSUPPORT"],
    ["sending that connects", "s = socket.socket(); tried(lambda: s.sendto(b'x', 0x20000000, ADDRESS))", "ENOTSUP"],
    [
      "sending a message that connects",
      "s = socket.socket(); tried(lambda: s.sendmsg([b'x'], [], 0x20000000, ADDRESS))",
      "ENOTSUP",
    ],
    [
      "sending to an address over TCP",
      "s = socket.socket(); tried(lambda: s.sendmsg([b'x'], [], 0x4000, ADDRESS))",
      "EPIPE",
    ],
    [
      "a source route",
      "s = socket.socket(); tried(lambda: s.setsockopt(0, 4, bytes([131, 7, 4, 127, 0, 0, 1, 0])))",
      "ENOPROTOOPT",
    ],
    [
      "a routing header",
      "s = socket.socket(socket.AF_INET6); tried(lambda: s.setsockopt(41, 57, bytes(8)))",
      "ENOPROTOOPT",
    ],
    [
      "disconnecting, to connect again",
      "s = socket.socket(); s.connect(ADDRESS); libc = ctypes.CDLL(None, use_errno=True); (libc.connect(s.fileno(), bytes(16), 16), errno.errorcode[ctypes.get_errno()])[1]",
      "EAFNOSUPPORT",
    ],
    [
      "datagrams to another port",
      "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); tried(lambda: s.connect(ADDRESS))",
      "ENETUNREACH",
    ],
    [
      "connecting a file",
      "f = open('/dev/null'); libc = ctypes.CDLL(None, use_errno=True); (libc.connect(f.fileno(), struct.pack('HH12x', 2, 0), 16), errno.errorcode[ctypes.get_errno()])[1]",
      "ENOTSOCK",
    ],
    [
      "an address that is not there",
      "s = socket.socket(); libc = ctypes.CDLL(None, use_errno=True); (libc.connect(s.fileno(), ctypes.c_void_p(8), 16), errno.errorcode[ctypes.get_errno()])[1]",
      "EFAULT",
    ],
    [
      "an address that is too long",
      "s = socket.socket(); libc = ctypes.CDLL(None, use_errno=True); (libc.connect(s.fileno(), bytes(200), 200), errno.errorcode[ctypes.get_errno()])[1]",
      "EINVAL",
    ],
    [
      "an address that is too short",
      "s = socket.socket(); libc = ctypes.CDLL(None, use_errno=True); (libc.connect(s.fileno(), bytes(200), 1), errno.errorcode[ctypes.get_errno()])[1]",
      "EINVAL",
    ],
    [
      "io_uring",
      "libc = ctypes.CDLL(None, use_errno=True); (libc.syscall(425, 1, bytes(120)), errno.errorcode[ctypes.get_errno()])[1]",
      "EPERM",
    ],
    [
      "a socket of another process",
      "libc = ctypes.CDLL(None, use_errno=True); (libc.syscall(438, 0, 0, 0), errno.errorcode[ctypes.get_errno()])[1]",
      "EPERM",
    ],
  ])("refuses %s", async (_, statements, expected) => {
    const lines = statements.replaceAll("ADDRESS", `('${here}', ${PORT})`).split("; ");
    const last = lines.pop() ?? "";
    const before = accepted;
    const told = await python(CAUGHT, ...lines, `print(${last})`);
    expect(told.output).toBe(`${expected}\n`);
    expect(accepted).toBe(before);
  });

  test("datagrams reach our name server, whatever address they are sent to, and nothing else", async () => {
    const question =
      "bytes.fromhex('123401000001000000000000') + b'\\x03api\\x07example\\x04test\\x00\\x00\\x01\\x00\\x01'";
    const told = await python(
      CAUGHT,
      "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)",
      `s.sendto(${question}, ("192.0.2.1", 53)); print(socket.inet_ntoa(s.recv(512)[-4:]).startswith("198.18."))`,
      `s.sendmsg([${question}], [], 0, ("192.0.2.1", 4433)); print(len(s.recv(512)) > 40)`,
      "print(tried(lambda: s.send(b'x' * 5000)), tried(lambda: s.getsockname()) in ('', b'', None))",
    );
    expect(told).toEqual({ output: "True\nTrue\n5000 True\n", denials: [] });
  });

  test("threads that rewrite an address while it is looked at reach nothing but what was decided", async () => {
    const before = accepted;
    const told = await python(
      "libc = ctypes.CDLL(None, use_errno=True)",
      `good = struct.pack(">HH4s8x", 0, ${PORT}, socket.inet_aton(socket.gethostbyname("api.example.test")))`,
      `evil = struct.pack(">HH4s8x", 0, ${PORT}, socket.inet_aton("${here}"))`,
      "good = struct.pack('H', 2) + good[2:]; evil = struct.pack('H', 2) + evil[2:]",
      "buffer = ctypes.create_string_buffer(good, 16); over = False",
      "def rewrite():",
      "  while not over: ctypes.memmove(buffer, evil, 16); ctypes.memmove(buffer, good, 16)",
      "threads = [threading.Thread(target=rewrite) for _ in range(2)]",
      "for one in threads: one.start()",
      "heard = refused = 0",
      "for _ in range(200):",
      "  s = socket.socket(); libc.connect(s.fileno(), buffer, 16)",
      "  try: data = s.recv(6)",
      "  except OSError: data = b''",
      "  if data == b'hello\\n': heard += 1",
      "  else: refused += 1",
      "  s.close()",
      "over = True",
      "print(heard, refused)",
    );
    const [heard = 0, refused = 0] = told.output.trim().split(" ").map(Number);
    expect([heard + refused, accepted - before]).toEqual([200, heard]);
    const evil = told.denials.filter((one) => one.includes(here));
    expect(evil.length > 0).toBe(refused > 0);
  });

  test("threads that exchange the socket while it is connected get what they asked for, in their own process", async () => {
    const told = await python(
      `to = (socket.gethostbyname("api.example.test"), ${PORT})`,
      "over = False; spare = socket.socket(); target = socket.socket(); number = target.fileno()",
      "def exchange():",
      "  while not over: os.dup2(spare.fileno(), number)",
      "thread = threading.Thread(target=exchange); thread.start()",
      "for _ in range(100):",
      "  try: target.connect(to)",
      "  except OSError: pass",
      "over = True; thread.join(); print('alive')",
    );
    expect(told).toEqual({ output: "alive\n", denials: [] });
  });

  test("a flood of connections slows its own program and nothing else, and the sandbox goes on", async () => {
    const told = await python(
      "import multiprocessing",
      `address = ("${here}", ${PORT})`,
      "for child in range(8):",
      "  if os.fork() == 0:",
      "    for _ in range(100):",
      "      s = socket.socket()",
      "      try: s.connect(address)",
      "      except OSError: pass",
      "    os._exit(0)",
      "for child in range(8): os.wait()",
      "print('over')",
    );
    expect(told.output).toBe("over\n");
    expect(told.denials).toEqual([`scope_violation net.connect ${here}:${PORT}`]);
    expect((await run("/bin/bash", "-c", `cat < /dev/tcp/api.example.test/${PORT}`)).output).toBe("hello\n");
  });
});
