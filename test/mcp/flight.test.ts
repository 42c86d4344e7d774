// Concurrent calls, cancelled calls, clients and daemons that disconnect: every call with a waiting client is answered, and no
// program runs on without one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { pause } from "../house/pause.ts";
import { processesWith } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { Fixture } from "../state/fixture.ts";
import { codeOf, LineClient } from "./line-client.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("runner", ["memory.read", "memory.write", "proc.exec{cmds=[sleep,echo]}"], "sandbox: .\n");
  fixture.agent("asking", ["memory.read{ask}", "memory.write"]);
  await fixture.begin();
});
afterAll(() => fixture?.remove());

/** A number that no other process of this machine has among its arguments. */
let mark = 3_000 + (process.pid % 1_000);
beforeEach(() => {
  mark++;
});
const napping = (): string => `${mark}.25`;
const nap = (): object => ({ argv: ["sleep", napping()], in: ".", root: "ro" });

describe("a thousand concurrent calls", () => {
  test("are all answered, each once", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    const ids = Array.from({ length: 1000 }, (_, at) =>
      client.request("tools/call", { name: "memory_set", arguments: { key: `k/${at}`, value: `${at}` } }),
    );
    for (const id of ids) expect((await client.answer(id)).result?.["isError"] ?? false).toBe(false);
    const answered = client.told.flatMap((one) => (typeof one === "string" ? [] : [one.id]));
    expect(new Set(answered).size).toBe(answered.length);
    expect(await client.end()).toBe(0);
  });

  test("of programs, too: those above the limit are queued", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    const ids = Array.from({ length: 100 }, (_, at) =>
      client.request("tools/call", {
        name: "proc_exec",
        arguments: { argv: ["echo", `${at}`], in: ".", root: "ro" },
      }),
    );
    for (const [at, id] of ids.entries())
      expect((await client.answer(id)).result).toMatchObject({ structuredContent: { stdout: `${at}\n` } });
    expect(await client.end()).toBe(0);
  });

  test("are all answered to a client that closed its output after the last request", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    for (let at = 0; at < 300; at++)
      client.request("tools/call", { name: "memory_get", arguments: { key: `k/${at}` } });
    expect(await client.end()).toBe(0);
    expect(client.told).toHaveLength(300);
  });
});

describe("a cancelled call", () => {
  test("kills its program, and is not answered", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    const id = client.request("tools/call", { name: "proc_exec", arguments: nap() });
    await until(() => processesWith(napping()).length > 0, "it sleeps");
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "no" } });
    await until(() => processesWith(napping()).length === 0, "it is ended");
    expect(await client.ask("ping")).toMatchObject({ result: {} });
    expect(client.told.some((one) => typeof one !== "string" && one.id === id)).toBe(false);
    expect(await client.end()).toBe(0);
  });

  test("never begins if it is still queued", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    const asleep = Array.from({ length: 64 }, () =>
      client.request("tools/call", { name: "proc_exec", arguments: nap() }),
    );
    const late = client.request("tools/call", { name: "memory_set", arguments: { key: "late", value: "x" } });
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: late } });
    for (const requestId of asleep)
      client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    await until(() => processesWith(napping()).length === 0, "all are ended");
    expect((await client.call("memory_get", { key: "late" })).structuredContent).not.toMatchObject({ value: "x" });
    expect(await client.end()).toBe(0);
  });
});

describe("a client that disappears", () => {
  const CLIENT = `
    const { spawn } = require("node:child_process");
    const [program, ...words] = process.argv.slice(1);
    const server = spawn(process.execPath, [program, "mcp", "serve", "--agent", "runner"], { stdio: ["pipe", "pipe", "inherit"] });
    server.stdin.write(words[0] + "\\n");
    setInterval(() => undefined, 1000);
  `;

  test.each(["SIGKILL", "SIGTERM"] as const)("ends the programs it started (%s)", async (signal) => {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "proc_exec", arguments: nap() } };
    const words = ["-e", CLIENT, join(root, "bin", "ambit"), JSON.stringify(call)];
    const child = spawn(process.execPath, words, { cwd: fixture.project, env: fixture.environment, stdio: "ignore" });
    await until(() => processesWith(napping()).length > 0, "it sleeps");
    const before = (await fixture.status()).sessions.filter(({ face }) => face === "mcp").length;
    expect(before).toBeGreaterThan(0);
    const over = once(child, "close");
    child.kill(signal);
    await over;
    await until(() => processesWith(napping()).length === 0, "it is ended");
    await until(
      async () => (await fixture.status()).sessions.every(({ face }) => face !== "mcp"),
      "the session is over",
    );
  });

  test("if only its end of the pipe closes, the server exits with the next write", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    client.child.stdout?.destroy();
    client.request("ping");
    client.request("ping");
    await until(
      async () => (await fixture.status()).sessions.every(({ face }) => face !== "mcp"),
      "the session is over",
    );
    client.child.stdin?.end();
    await client.over;
  });
});

describe("a daemon that exits", () => {
  test("during a call: the call is answered, and the next one uses another daemon", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    expect((await client.call("memory_set", { key: "kept", value: "yes" })).isError ?? false).toBe(false);
    const id = client.request("tools/call", { name: "proc_exec", arguments: nap() });
    await until(() => processesWith(napping()).length > 0, "it sleeps");
    await fixture.killDaemon();
    const { result } = await client.answer(id);
    expect(result).toMatchObject({ isError: true, structuredContent: { code: "no_daemon" } });
    const again = await client.call("memory_get", { key: "kept" });
    expect(again.structuredContent).toMatchObject({ value: "yes" });
    expect((await fixture.status()).sessions.map(({ face, isClean }) => [face, isClean])).toEqual([["mcp", false]]);
    expect(await client.end()).toBe(0);
  });

  test("and with it the record of the user: the session is not continued without the ceiling", async () => {
    fixture.user("ann", ["memory.read{keys=[kept]}"]);
    const client = new LineClient(fixture, ["--agent", "runner", "--user", "ann"]);
    await client.initialize();
    expect(await client.call("memory_get", { key: "other" })).toMatchObject({ isError: true });
    const path = join(fixture.config, "users", "ann.md");
    for (const away of [() => rmSync(path), () => renameSync(path, join(fixture.config, "users", "anna.md"))]) {
      fixture.user("ann", ["memory.read{keys=[kept]}"]);
      expect((await client.call("memory_get", { key: "kept" })).isError ?? false).toBe(false);
      away();
      await fixture.killDaemon();
      await fixture.startDaemon();
      for (const key of ["other", "kept"])
        expect(await client.call("memory_get", { key })).toMatchObject({
          isError: true,
          structuredContent: { code: "unknown_user" },
        });
    }
    expect((await fixture.log({ code: "unknown_user" })).length).toBeGreaterThan(0);
    expect(await client.end()).toBe(0);
  });

  test("is not started again by an idle server", async () => {
    const client = new LineClient(fixture, ["--agent", "runner"]);
    await client.initialize();
    await client.names();
    await fixture.killDaemon();
    await pause(2500, "an idle server would have started it by then");
    expect((await fixture.ambit("daemon", "status")).out).toMatch(/not running|no daemon/i);
    expect(await client.names()).toContain("memory_get");
    expect(await client.end()).toBe(0);
  });
});

describe("a call that needs approval", () => {
  test("is answered at once, and once approved the same call succeeds exactly once", async () => {
    const client = new LineClient(fixture, ["--agent", "asking"]);
    await client.initialize();
    const first = await client.call("memory_get", { key: "a" });
    expect([first.isError, codeOf(first)]).toEqual([true, "approval_required"]);
    const approval = String(first.structuredContent["approval"]);
    expect(await fixture.approve(approval)).toMatchObject({ ok: true });
    expect((await client.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    expect(codeOf(await client.call("memory_get", { key: "a" }))).toBe("approval_required");
    expect(await client.end()).toBe(0);
  });

  test("waits if configured to, and continues the moment it is approved", async () => {
    const client = new LineClient(fixture, ["--agent", "asking", "--wait", "600"]);
    await client.initialize();
    const id = client.request("tools/call", { name: "memory_get", arguments: { key: "slow" } });
    await until(() => /ambit approve a_\w+/.test(client.errors), "it says what waits");
    const approval = /ambit approve (a_\w+)/.exec(client.errors)?.[1] ?? "";
    expect(client.told.some((one) => typeof one !== "string" && one.id === id)).toBe(false);
    expect(await fixture.approve(approval)).toMatchObject({ ok: true });
    expect((await client.answer(id)).result?.["isError"] ?? false).toBe(false);
    expect(await client.end()).toBe(0);
  });

  test("cannot be approved over the protocol alone", async () => {
    const client = new LineClient(fixture, ["--agent", "asking"]);
    client.request("initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } });
    const refused = await client.call("memory_get", { key: "b" });
    expect(codeOf(refused)).toBe("approval_required");
    // The client got no request that it could have answered.
    expect(client.told.some((one) => typeof one !== "string" && one.method !== undefined)).toBe(false);
    const answers = { inputResponses: { approve: { action: "accept", content: { ok: true } } }, requestState: "a" };
    expect(codeOf(await client.call("memory_get", { key: "b" }, answers))).toBe("invalid_input");
    expect(codeOf(await client.call("memory_get", { key: "b" }))).toBe("approval_required");
    expect(await client.end()).toBe(0);
  });
});
