// Networks and the broker process that serves them: bytes, closing, limits, and what happens when the broker dies.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectionsMax } from "../../src/sandbox/network/limits.ts";
import { BACKENDS, Fixture, type Inside, ownAddress } from "./fixture.ts";
import { ServersOutside } from "./servers-outside.ts";

describe.each(BACKENDS)("%s", (backend) => {
  const fixture = new Fixture(backend);
  const servers = new ServersOutside();
  const here = ownAddress(1);
  const PORT = 17_009;
  const GREETING = 17_010;
  /** Timeout for events from another process. */
  const WAIT = { timeout: 60_000 } as const;
  const answerBytes = 24 * 1024 * 1024;

  beforeAll(async () => {
    process.env["AMBIT_TEST_SECRET"] = "hidden";
    await fixture.start();
    await servers.counting(here, PORT, answerBytes);
    await servers.greeting(here, GREETING);
    fixture.names.names.set("api.example.test", [[here]]);
  });

  afterAll(async () => {
    await fixture.stop();
    await servers.stop();
  });

  const SPEC = `net.connect{hosts=[api.example.test],ports=[${PORT},${GREETING}],private=[api.example.test=${here}]}`;
  const open = (): Promise<Inside> => fixture.open({ specs: [SPEC], ports: [PORT, GREETING] });

  const UPLOAD = `
  const net = require("node:net");
  const socket = net.connect(${PORT}, "api.example.test", () => socket.end(Buffer.alloc(Number(process.argv[1]))));
  let bytes = 0, last = "";
  socket.on("data", (chunk) => { bytes += chunk.length; last = chunk.toString("latin1").slice(-16); });
  socket.on("end", () => console.log(bytes + " " + last.match(/took .*/)[0]));
  socket.on("error", (error) => console.log(error.code));
`;

  /** Prints the server's greeting, then how the connection ended. */
  const STAY = `
  const net = require("node:net");
  let left = Number(process.argv[1]);
  const said = {};
  for (let at = left; at > 0; at--) {
    const socket = net.connect(${GREETING}, "api.example.test");
    const end = (word) => { said[word] = (said[word] || 0) + 1; if (--left === 0) console.log(JSON.stringify(said)); };
    socket.once("data", (bytes) => { console.log(String(bytes).trim()); });
    socket.on("error", (error) => end(error.code)).on("end", () => end("end"));
  }
`;

  test("all bytes arrive in both directions and are counted", async () => {
    const sandbox = await open();
    const upBytes = 32 * 1024 * 1024;
    const { output } = await sandbox.run("node", "-e", UPLOAD, `${upBytes}`);
    const tail = `took ${upBytes}\n`;
    expect(output).toBe(`${answerBytes + tail.length} ${tail}`);
    const counters = await sandbox.network.close();
    expect(counters).toEqual({
      connections: 1,
      bytesUp: upBytes,
      bytesDown: answerBytes + tail.length,
      denials: [],
      unnamedDenials: 0,
    });
    expect(await sandbox.network.close()).toBe(null);
    await sandbox.end();
  });

  /** Waits until a command's output matches; these commands do not end by themselves. */
  async function begun(sandbox: Inside, argv: readonly string[], wanted: RegExp): Promise<void> {
    sandbox.owner.begin({ argv, environment: ["PATH=/usr/bin"] });
    let output = "";
    while (!wanted.test(output)) {
      const frame = await sandbox.owner.next();
      if (frame === null) throw new Error("the sandbox ended");
      output += Buffer.from(frame.payload).toString("latin1");
    }
  }

  test("closing a network resets its connections and no others", async () => {
    const one = await open();
    const other = await open();
    await begun(one, ["node", "-e", STAY, "3"], /(welcome\s+){3}/);
    await begun(other, ["node", "-e", STAY, "1"], /welcome/);
    expect((await one.network.close())?.connections).toBe(3);
    expect((await one.owner.done()).output).toContain('{"ECONNRESET":3}');
    other.owner.send("K");
    expect((await other.owner.done()).output).not.toContain("ECONNRESET");
    await one.end();
    await other.end();
  });

  test("the number of concurrent connections of a sandbox is limited", async () => {
    const sandbox = await open();
    await begun(sandbox, ["node", "-e", STAY, `${connectionsMax + 5}`], new RegExp(`(welcome\\s+){${connectionsMax}}`));
    await expect
      .poll(() => sandbox.told, WAIT)
      .toEqual([`budget_exhausted net.connect api.example.test:${GREETING} (limit)`]);
    await sandbox.end();
  });

  test("when the broker dies, its sandboxes get an event, their connections close, and the next use starts a new broker", async () => {
    const sandbox = await open();
    await begun(sandbox, ["node", "-e", STAY, "1"], /welcome/);
    const pid = fixture.client.pid;
    if (pid === null) throw new Error("no broker");
    process.kill(pid, "SIGKILL");
    expect((await sandbox.owner.done()).output).toMatch(/ECONNRESET|"end"/);
    await expect.poll(() => sandbox.lost, WAIT).toHaveLength(1);
    expect(await sandbox.network.count()).toBe(null);
    expect(fixture.client.pid).toBe(null);
    await sandbox.end();
    const next = await open();
    expect(fixture.client.pid).not.toBe(pid);
    await begun(next, ["node", "-e", STAY, "1"], /welcome/);
    await next.end();
  });

  test("the broker does not see the daemon's environment", async () => {
    const sandbox = await open();
    const environment = readFileSync(`/proc/${fixture.client.pid}/environ`, "utf8");
    expect(environment).not.toContain("hidden");
    expect(environment).not.toContain("PATH=");
    await sandbox.end();
  });

  test.each([
    ["a chain without links", [[]]],
    ["a spec that does not parse", [[["net.connect{hosts=[api.example.test],portz=[443]}"]]]],
    ["a spec for another verb than net.connect", [[["net.get{hosts=[api.example.test]}"]]]],
    ["one valid spec and one that does not parse", [[[SPEC, "net.connect{"]]]],
  ])("no network is opened for %s", async (_, chains) => {
    const opened = await fixture.client.open({
      sandbox: "odd",
      chains,
      resolver: null,
      judge: () => ({ outcome: "allow", by: { chain: 0, grants: [0] } }),
      events: { denied: () => undefined, lost: () => undefined },
    });
    expect(opened).toBe(null);
  });

  test.each([
    ["a word", "open"],
    ["another kind", { kind: "other", number: 1, sandbox: "s" }],
    ["an unknown key", { kind: "close", number: 1, sandbox: "s", more: true }],
    ["a missing key", { kind: "close", number: 1 }],
    ["an invalid sandbox name", { kind: "close", number: 1, sandbox: "../s" }],
    ["a denial without its code", { kind: "decision", number: 1, outcome: "deny", code: null }],
  ])("the broker exits when the daemon sends %s", async (_, message) => {
    const child = fork(fixture.bundle, [], { env: {}, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.send(message);
    expect(await once(child, "exit")).toEqual([3, null]);
  });

  test("the broker exits when the daemon disconnects", async () => {
    const child = fork(fixture.bundle, [], { env: {}, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.send({ kind: "close", number: 1, sandbox: "s" });
    expect((await once(child, "message"))[0]).toEqual({ kind: "answered", number: 1, done: false });
    child.disconnect();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("with transparent interception, an unlisted address and port are refused by name", async ({ skip }) => {
    const sandbox = await fixture.open({ specs: [SPEC], ports: [PORT], transparent: true });
    try {
      skip(sandbox.mode !== 2, "this kernel does not intercept every port");
      const script = `
      const net = require("node:net");
      for (const [host, port] of [["203.0.113.7", 9], ["2001:db8::7", 443], ["169.254.169.254", 80]])
        net.connect(port, host).on("error", (error) => console.log(host + " " + error.code));
    `;
      const { output } = await sandbox.run("node", "-e", script);
      expect(output.trim().split("\n").sort()).toEqual([
        "169.254.169.254 ECONNRESET",
        "2001:db8::7 ECONNRESET",
        "203.0.113.7 ECONNRESET",
      ]);
      expect([...(await sandbox.refused())].sort()).toEqual([
        "scope_violation net.connect '[2001:db8::7]:443' (authority)",
        "scope_violation net.connect 169.254.169.254:80 (authority)",
        "scope_violation net.connect 203.0.113.7:9 (authority)",
      ]);
      expect((await sandbox.run("node", "-e", UPLOAD, "7")).output).toContain("took 7");
    } finally {
      await sandbox.end();
    }
  });
});
