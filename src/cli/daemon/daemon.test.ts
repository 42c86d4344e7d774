import { expect, test } from "vitest";
import type { ControlMessages, DaemonStatus } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient, Refusal } from "../../core/ports/daemon/exchange.ts";
import { EXIT } from "../terminal/exit.ts";
import { PLAIN } from "../terminal/paint.ts";
import { type DaemonPorts, daemonLogs, daemonStart, daemonStatus, daemonStop } from "./daemon.ts";

const STATUS: DaemonStatus = {
  pid: 4711,
  version: "0.1.0",
  protocol: 1,
  started: 0,
  state: "/home/me/.local/state/ambit",
  isFrozen: false,
  sessions: [
    {
      session: "s1",
      agent: "scout\u202e",
      workspace: "/work",
      user: null,
      face: "mcp",
      opened: 60_000,
      isClean: true,
      calls: 3,
      running: 1,
    },
  ],
  waiting: 2,
  entries: 12,
  denials: [{ code: "scope_violation", times: 4 }],
  sandboxes: 1,
  connections: 5,
  problems: ["the second sink is not reached"],
};

const refused = (code: string): Refusal => ({ ok: false, code, message: "no", fix: null });

interface Said {
  readonly ports: DaemonPorts;
  readonly out: string[];
  readonly err: string[];
  readonly asked: string[];
}

function fixtureWith(running: Answer<DaemonStatus | null>, more: Partial<DaemonPorts> = {}, stop?: Refusal): Said {
  const [out, err, asked]: [string[], string[], string[]] = [[], [], []];
  const control = {
    ask: async (name: string) => {
      asked.push(name);
      if (name === "daemon.stop") return stop ?? { ok: true, value: {} };
      return { ok: true, value: STATUS };
    },
    close: () => asked.push("close"),
  } as unknown as MessageClient<ControlMessages>;
  const ports: DaemonPorts = {
    paint: PLAIN,
    terminal: null as never,
    now: () => 7_300_000,
    control: async () => ({ ok: true, value: control }),
    running: async () => running,
    startDaemon: async () => ({ ok: true, value: control }),
    awaitDaemonEnd: async () => {
      asked.push("awaited");
      return "ended";
    },
    endDaemon: async () => {
      asked.push("ended");
      return "ended";
    },
    daemonLog: () => ["one", "two\u001b[2J"],
    print: (text) => out.push(text),
    printError: (text) => err.push(text),
    ...more,
  };
  return { ports, out, err, asked };
}

const up: Answer<DaemonStatus> = { ok: true, value: STATUS };
const down: Answer<null> = { ok: true, value: null };

test("status shows what runs, what is pending and what is wrong, and escapes names", async () => {
  const { ports, out } = fixtureWith(up);
  expect(await daemonStatus(ports, { json: false })).toBe(EXIT.ok);
  const [text = ""] = out;
  for (const part of [
    "process 4711",
    "since 2h",
    "2 pending; list them with: ambit approvals list",
    "3 calls, 1 running",
    "scope_violation 4",
    "scout\\u{202e} in /work",
    "problem: the second",
  ])
    expect(text).toContain(part);
  expect(text).not.toContain("frozen");
});

test("status without a daemon has its own exit status, and starts none", async () => {
  const { ports, out, asked } = fixtureWith(down);
  expect(await daemonStatus(ports, { json: true })).toBe(EXIT.daemon);
  expect(JSON.parse(out[0] ?? "")).toEqual({ running: false });
  expect(asked).toEqual([]);
});

test("status passes a refusal on", async () => {
  const { ports, out } = fixtureWith(refused("control_refused"));
  expect(await daemonStatus(ports, { json: true })).toBe(EXIT.daemon);
  expect(JSON.parse(out[0] ?? "")).toMatchObject({ code: "control_refused" });
});

test("start prints the process id, and closes its connection", async () => {
  const { ports, out, asked } = fixtureWith(down);
  expect(await daemonStart(ports, { json: false })).toBe(EXIT.ok);
  expect(out).toEqual(["running, process 4711"]);
  expect(asked).toEqual(["daemon.status", "close"]);
  const failing = fixtureWith(down, { startDaemon: async () => refused("folder_refused") });
  expect(await daemonStart(failing.ports, { json: false })).toBe(EXIT.daemon);
});

test("stop asks it to end and waits until it has", async () => {
  const { ports, out, asked } = fixtureWith(up);
  expect(await daemonStop(ports, { json: true })).toBe(EXIT.ok);
  expect(asked).toEqual(["daemon.stop", "close", "awaited"]);
  expect(JSON.parse(out[0] ?? "")).toEqual({ running: false, wasRunning: true });
});

test("stop reports that there was none", async () => {
  const { ports, out } = fixtureWith(down, { endDaemon: async () => "absent" });
  expect(await daemonStop(ports, { json: false })).toBe(EXIT.ok);
  expect(out).toEqual(["the daemon was not running"]);
});

test.each(["wrong_protocol", "no_answer", "not_available"])(
  "stop kills one by its pid that answers %s",
  async (code) => {
    const { ports, asked } = fixtureWith(refused(code));
    expect(await daemonStop(ports, { json: false })).toBe(EXIT.ok);
    expect(asked).toEqual(["ended"]);
  },
);

test("stop does not kill a daemon that refuses us", async () => {
  const told = fixtureWith(up, {}, refused("control_refused"));
  expect(await daemonStop(told.ports, { json: false })).toBe(EXIT.daemon);
  const seen = fixtureWith(refused("control_refused"));
  expect(await daemonStop(seen.ports, { json: false })).toBe(EXIT.daemon);
  expect([...told.asked, ...seen.asked]).not.toContain("ended");
});

test("stop reports that it does not end", async () => {
  const { ports, err } = fixtureWith(up, { awaitDaemonEnd: async () => "stays" });
  expect(await daemonStop(ports, { json: false })).toBe(EXIT.daemon);
  expect(err[0]).toContain("did not exit");
});

test("logs prints the last lines, and nothing that moves the cursor", () => {
  const { ports, out } = fixtureWith(down);
  expect(daemonLogs(ports, 10, { json: false })).toBe(EXIT.ok);
  expect(out).toEqual(["one\ntwo\\u{1b}[2J"]);
  const none = fixtureWith(down, { daemonLog: () => null });
  expect(daemonLogs(none.ports, 10, { json: true })).toBe(EXIT.ok);
  expect(none.out).toEqual(['{"lines":[]}']);
});
