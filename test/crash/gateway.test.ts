// The gateway, the daemon and a server are killed at every step of calls: no call is executed twice, and none without its decision
// in the log. The control executes calls of the same server without ambit: they are found as not recorded.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import { LineClient } from "../mcp/line-client.ts";
import { Fixture } from "../state/fixture.ts";

const SERVER = readFileSync(join(root, "test", "mcp", "servers", "counting.mjs"), "utf8");

let fixture: Fixture;
let counter: Server;
let port = 0;
/** Numbers in the order they were executed. */
const executed: number[] = [];
let next = 0;

beforeAll(async () => {
  counter = createServer((socket) => {
    let text = "";
    socket.on("data", (part) => {
      text += part.toString();
    });
    socket.on("end", () => executed.push(Number(text)));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((ready) => counter.listen(0, "127.0.0.1", ready));
  port = (counter.address() as { readonly port: number }).port;
  fixture = await Fixture.make();
  fixture.write("project/servers/counting.mjs", SERVER);
  const folder = join(fixture.project, "servers");
  fixture.write(
    "config/ambit/mcp.yml",
    `servers:
  counting:
    command: [node, "${join(folder, "counting.mjs")}", "${port}"]
    runtime: ["${folder}"]
    requires: [{ net.connect: { hosts: [127.0.0.1], ports: [${port}] } }]
`,
  );
  fixture.agent("scout", ["tool.invoke{tools=[counting__*]}"]);
  await fixture.begin();
});

afterAll(async () => {
  counter.close();
  await fixture.remove();
});

/** Numbers that were executed more than once, and numbers without an allowed decision in the log. */
async function faults(): Promise<{ readonly twice: readonly number[]; readonly unrecorded: readonly number[] }> {
  const decided = new Set<number>();
  for (const { kind, outcome, more } of await fixture.log({ kind: "decision" })) {
    const number = /"number":\s*(\d+)/.exec(JSON.stringify(more["requests"]).replaceAll("\\", ""))?.[1];
    if (kind === "decision" && outcome === "allow" && number !== undefined) decided.add(Number(number));
  }
  return {
    twice: executed.filter((number, at) => executed.indexOf(number) !== at),
    unrecorded: executed.filter((number) => !decided.has(number)),
  };
}

async function client(): Promise<LineClient> {
  const made = new LineClient(fixture, ["--agent", "scout"]);
  await made.initialize();
  return made;
}

/** Sends calls without waiting for them. */
function call(from: LineClient, more: object = {}): number {
  const number = ++next;
  const params = { name: "counting__count", arguments: { number, ...more } };
  from.send({ jsonrpc: "2.0", id: 1_000 + number, method: "tools/call", params });
  return number;
}

const isAnswered = (from: LineClient, number: number): boolean =>
  from.told.some((one) => typeof one !== "string" && one.id === 1_000 + number);

/** A call that runs to its end: whatever was killed is there again. */
async function settled(): Promise<void> {
  const fresh = await client();
  const number = call(fresh);
  await until(() => isAnswered(fresh, number), "a call after the kill is answered");
  await until(() => executed.includes(number) || fresh.told.length > 1, "it was executed, or denied");
  fresh.child.stdin?.end();
  await fresh.over;
}

describe("killed at every step of a call", () => {
  test("the first call of all is executed once, and recorded", async () => {
    await settled();
    expect(executed).toEqual([1]);
    expect(await faults()).toEqual({ twice: [], unrecorded: [] });
  });

  test.each([0, 3, 10, 30, 100, 300])("the gateway, after %i ms", async (milliseconds) => {
    const mine = await client();
    for (let at = 0; at < 4; at++) call(mine, { wait: at * 30 });
    await pause(milliseconds, "the kill falls into another step of the calls");
    mine.child.kill("SIGKILL");
    await mine.over;
    await settled();
    expect(await faults()).toEqual({ twice: [], unrecorded: [] });
  });

  test.each([0, 3, 10, 30, 100, 300])("the daemon, after %i ms", async (milliseconds) => {
    const mine = await client();
    const numbers = [0, 30, 60, 90].map((wait) => call(mine, { wait }));
    await pause(milliseconds, "the kill falls into another step of the calls");
    await fixture.killDaemon();
    await fixture.startDaemon();
    await until(() => numbers.every((number) => isAnswered(mine, number)), "every call is answered");
    mine.child.stdin?.end();
    await mine.over;
    await settled();
    expect(await faults()).toEqual({ twice: [], unrecorded: [] });
    expect((await fixture.ambit("audit", "verify")).status).toBe(0);
  });

  test.each(["before", "after"])("the server, %s the execution", async (exit) => {
    const mine = await client();
    const number = call(mine, { exit });
    await until(() => isAnswered(mine, number), "the caller is told");
    const [answer] = mine.told.filter((one) => typeof one !== "string" && one.id === 1_000 + number);
    expect(answer).toMatchObject({ result: { isError: true } });
    mine.child.stdin?.end();
    await mine.over;
    expect(executed.filter((one) => one === number)).toHaveLength(exit === "after" ? 1 : 0);
    expect(await faults()).toEqual({ twice: [], unrecorded: [] });
  });
});

test("the control: the same server without ambit executes what no log has", async () => {
  const child = spawn("node", [join(fixture.project, "servers/counting.mjs"), String(port)], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const send = (id: number): void => {
    const params = { name: "count", arguments: { number: 90_000 } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
  };
  send(1);
  send(2);
  await until(() => executed.filter((one) => one === 90_000).length === 2, "both were executed");
  expect(await faults()).toEqual({ twice: [90_000], unrecorded: [90_000, 90_000] });
  child.kill("SIGKILL");
  await once(child, "exit");
});
