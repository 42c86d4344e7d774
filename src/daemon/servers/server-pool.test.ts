// How long processes of servers live, with a fake clock. The programs port is fake too: it runs a server that answers from memory.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { readServerFile } from "../../core/notation/servers/server-file.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import type { CompletedRun, Sinks } from "../../core/ports/process.ts";
import { readYaml } from "../../text/yaml.ts";
import type { CatalogServer } from "./server-catalog.ts";
import { ServerPool } from "./server-pool.ts";
import type { ServerOwner, ServerRunOptions } from "./server-run.ts";
import { Upstream } from "./upstream.ts";

const minute = 60_000;
const secondsMax = 100;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Program {
  readonly input: AsyncIterable<Uint8Array>;
  readonly sinks: Sinks;
  readonly signal: AbortSignal;
}

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
  "tools/list": { tools: [] },
  "resources/subscribe": {},
};

/** Answers until it is stopped, or until `exits`. */
async function serve({ input, sinks, signal }: Program, exits: Promise<void>): Promise<CompletedRun["ending"]> {
  const stopped = new Promise<void>((over) => signal.addEventListener("abort", () => over(), { once: true }));
  const read = async (): Promise<void> => {
    for await (const bytes of input) {
      const message = JSON.parse(Buffer.from(bytes).toString("utf8")) as Json;
      const [id, method] = isJsonObject(message) ? [member(message, "id"), member(message, "method")] : [];
      const result = ANSWERS[String(method)];
      if (id === undefined || result === undefined) continue;
      await sinks.output(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`));
    }
  };
  void read();
  const isStopped = await Promise.race([stopped.then(() => true), exits.then(() => false)]);
  return isStopped ? { kind: "ended", because: "stopped" } : { kind: "exited", status: 1 };
}

const USAGE = { wallMicroseconds: 0, userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };

/** A pool whose servers exit as `exits` says, and what it logged. */
function poolOf(exits: () => Promise<void>): { pool: ServerPool; starts: () => number; ends: string[] } {
  const ends: string[] = [];
  let starts = 0;
  const run: ServerRunOptions = {
    programs: {
      run: async (_, { input, sinks, signal }) => {
        if (input == null || sinks == null || signal == null) throw new Error("a server has input, output and an end");
        const ending = await serve({ input: input as Program["input"], sinks, signal }, exits());
        const ran = { ending, usage: USAGE, denials: [], enforcement: [], outputDropped: 0, draft: null };
        return { ok: true, ran };
      },
    },
    packages: { folderOf: async () => ({ ok: true, folder: "/" }) as never, has: () => true },
    fetch: async () => ({ ok: false, code: "not_available", message: "there is no network" }),
    listen: async () => ({ ok: false, code: "not_available", message: "there is no network" }),
    resolver: () => null as never,
    secret: async () => null,
    ceiling: () => null,
    needsReview: () => false,
    signInAt: () => ({ token: async () => null, renew: async () => false, challenged: () => undefined }),
    isFrozen: () => false,
    now: () => 0,
  };
  const pool = new ServerPool({
    run,
    elapsed: () => performance.now(),
    redacted: (value) => value,
    onEvent: (_, __, event, facts) => {
      if (event === "started") starts++;
      if (event === "ended") ends.push(String(facts["why"]));
    },
    onListChanged: () => undefined,
  });
  return { pool, starts: () => starts, ends };
}

const { tree } = readYaml({ name: "mcp.yml", text: "servers:\n  notes: { command: [notes-server] }\n" });
const [server] = tree === null ? [] : readServerFile(tree, "user", READING).servers;
if (server === undefined) throw new Error("there is no server");
const ENTRY: CatalogServer = { server, digest: "d", workspace: null, reading: READING, waits: null };
const OWNER: ServerOwner = {
  facts: { id: "s_1", name: { agent: "scout", workspace: null }, cwd: "/" },
  isClosed: false,
  onClose: () => undefined,
};

const wanted = (pool: ServerPool): ReturnType<ServerPool["server"]> => pool.server(OWNER, ENTRY, READING.pathSettings);

async function started(pool: ServerPool): Promise<Upstream> {
  const upstream = wanted(pool);
  if (!(upstream instanceof Upstream)) throw new Error(upstream.message);
  expect(await upstream.started).toMatchObject({ ok: true });
  return upstream;
}

const never = (): Promise<void> => new Promise(() => undefined);

test("a process that is not used for five minutes is ended, and started again when it is", async () => {
  const { pool, starts, ends } = poolOf(never);
  const first = await started(pool);
  await vi.advanceTimersByTimeAsync(4 * minute);
  // A use starts the time again.
  expect(wanted(pool)).toBe(first);
  await vi.advanceTimersByTimeAsync(4 * minute);
  expect(first.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(first.isOver).toBe(true);
  expect(ends).toEqual([expect.stringContaining("it was idle")]);
  // It did not fail: nothing is waited for.
  expect(await started(pool)).not.toBe(first);
  expect(starts()).toBe(2);
  pool.close();
});

test("a process that works, or whose resource is watched, is not idle", async () => {
  const { pool } = poolOf(never);
  const upstream = await started(pool);
  const stopping = new AbortController();
  // It never answers a call.
  const call = upstream.request("tools/call", { name: "t" }, stopping.signal, 60 * minute);
  await vi.advanceTimersByTimeAsync(20 * minute);
  expect(upstream.isOver).toBe(false);
  stopping.abort();
  await call;
  await vi.advanceTimersByTimeAsync(6 * minute);
  expect(upstream.isOver).toBe(true);
  pool.close();
});

test("a process that fails again and again is started after a pause that doubles, at most a minute", async () => {
  const { pool, starts } = poolOf(async () => undefined);
  const pauses: number[] = [];
  let found = wanted(pool);
  while (pauses.length < 9) {
    if (!(found instanceof Upstream)) throw new Error(found.message);
    await found.ended;
    await vi.advanceTimersByTimeAsync(0);
    let seconds = 0;
    for (found = wanted(pool); !(found instanceof Upstream) && seconds < secondsMax; found = wanted(pool)) {
      expect(found.message).toMatch(/; it is started again in \d+ seconds$/);
      await vi.advanceTimersByTimeAsync(1_000);
      seconds++;
    }
    pauses.push(seconds);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(starts()).toBe(10);
  pool.close();
});
