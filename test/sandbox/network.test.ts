// A sandbox with a network and the real broker: sockets are handed over before anything runs, denials are reported with their
// command, and the judge of the current command decides.
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Judge } from "../../src/core/ports/judge.ts";
import type { RunResult } from "../../src/core/ports/process.ts";
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import { BrokerClient } from "../../src/sandbox/network/client.ts";
import { NetworkGrants, readChains } from "../../src/sandbox/network/network-grants.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { bundleBroker, ownAddress } from "../broker/fixture.ts";
import { NamesOutside } from "../broker/names-outside.ts";
import { DENY_ALL, OWNER, ownFolder, planFor, removeFolder, sandboxEnvironment } from "./fixture.ts";
import { processesLeft } from "./leftovers.ts";

const PORT = 17_107;
const here = ownAddress(3);
const names = new NamesOutside();
const server: Server = createServer((socket) => socket.on("error", () => {}).end("hello\n"));
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
  plan = planFor(project, { network: { ports: [{ low: PORT, high: PORT }], loopback: [], chains } });
  sandboxes = new LinuxSandboxes({
    environment: sandboxEnvironment(),
    groups: null,
    broker: { open: (wish) => broker.open({ ...wish, resolver: { servers } }) },
    drafts: new DraftFolders(`${folder}/state`),
  });
});
afterAll(async () => {
  await sandboxes.end(null);
  await broker.stop();
  names.stop();
  server.close();
  const left = await processesLeft(project);
  removeFolder(folder);
  removeFolder(project);
  expect(left).toEqual([]);
});

/** What the server said, and the denials of the command. */
async function call(name: string, judge: Judge = granted, port = PORT): Promise<readonly [string, readonly string[]]> {
  const heard: string[] = [];
  const sinks = { output: (bytes: Uint8Array) => void heard.push(Buffer.from(bytes).toString()), errors: () => {} };
  const argv = ["/bin/bash", "-c", `cat < /dev/tcp/${name}/${port}`] as const;
  const result: RunResult = await sandboxes.run(OWNER, plan, { argv: [...argv], input: null }, sinks, judge, null);
  if (!result.ok) throw new Error(result.refused.message);
  return [heard.join(""), result.ran.denials.map(({ code, request, times }) => `${code} ${request} ${times}`)];
}

describe("a program in a sandbox with a network", () => {
  test("reaches granted hosts, and every denied attempt is reported", async () => {
    expect(await call("api.example.test")).toEqual(["hello\n", []]);
    const [heard, denials] = await call("evil.example.test");
    expect(heard).toBe("");
    expect(denials).toEqual([expect.stringMatching(/^scope_violation net\.connect evil\.example\.test:\d+ \d+$/)]);
    expect((await call("evil.example.test"))[1]).toEqual([expect.stringMatching(/^scope_violation .* \d+$/)]);
    expect(await call("api.example.test")).toEqual(["hello\n", []]);
  });

  test("uses the judge of the current run, not of an earlier one", async () => {
    expect((await call("api.example.test"))[0]).toBe("hello\n");
    const [heard, denials] = await call("api.example.test", DENY_ALL);
    expect(heard).toBe("");
    expect(denials).toEqual([expect.stringContaining("not_available net.connect api.example.test")]);
    expect((await call("api.example.test"))[0]).toBe("hello\n");
  });

  test("finds nothing of the host on loopback", async () => {
    expect((await call("127.0.0.1"))[0]).toBe("");
    expect((await call(here))[0]).toBe("");
  });

  test("reports what enforced it", async () => {
    const silent = { output: () => {}, errors: () => {} };
    const result = await sandboxes.run(OWNER, plan, { argv: ["true"], input: null }, silent, granted, null);
    expect(result.ok && result.ran.enforcement.find(({ axis }) => axis === "host")?.strength).toBe("broker");
  });
});

describe("a command that does not end by itself", () => {
  test("gets its denials reported all the same", async () => {
    const limited = { ...plan, limits: { ...plan.limits, wallMilliseconds: 1_500 } };
    const argv = ["/bin/bash", "-c", "cat < /dev/tcp/evil.example.test/80; sleep 600"] as const;
    const silent = { output: () => {}, errors: () => {} };
    const result = await sandboxes.run(OWNER, limited, { argv: [...argv], input: null }, silent, granted, null);
    expect(result).toMatchObject({
      ran: { ending: { because: "time" }, denials: [{ code: "scope_violation" }] },
    });
  });

  test("and none is lost if its sandbox is ended", async () => {
    const argv = ["/bin/bash", "-c", "cat < /dev/tcp/evil.example.test/80; echo tried; sleep 600"] as const;
    const sinks = { output: () => void sandboxes.end(null), errors: () => {} };
    const result = await sandboxes.run(OWNER, plan, { argv: [...argv], input: null }, sinks, granted, null);
    expect(result).toMatchObject({
      ran: { ending: { kind: "signalled", signal: 9 }, denials: [{ code: "scope_violation" }] },
    });
  });
});

describe("a broker that has exited", () => {
  test("ends its sandboxes, and the next sandbox has another", async () => {
    expect((await call("api.example.test"))[0]).toBe("hello\n");
    await broker.stop();
    expect((await call("api.example.test"))[0]).toBe("hello\n");
  });
});
