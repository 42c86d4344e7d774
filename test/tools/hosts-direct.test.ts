// One tool host in a real sandbox: timeouts, invalid frames, frames that are too long, and a tool that describes itself
// differently to different hosts.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { ToolHost } from "../../src/daemon/hosts/host.ts";
import { HostPool } from "../../src/daemon/hosts/pool.ts";
import { Session } from "../../src/daemon/session.ts";
import { sha256 } from "../../src/platform/digest.ts";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { detectSandbox } from "../../src/sandbox/linux/detect-sandbox.ts";
import { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import { ToolFrames, toolFrame } from "../../src/sandbox/tool-host/frames.ts";
import { clearSnapshots, snapshotOf } from "../../src/sandbox/tool-host/snapshot.ts";
import type { ToolSource } from "../../src/sandbox/tool-host/sources.ts";
import { root } from "../e2e/ambit.ts";
import { removeState } from "../house/remove-state.ts";

let state = "";
let pool: HostPool;
let session: Session;

const sourceOf = (code: string): ToolSource => ({
  ...{
    name: "a.mjs",
    kind: "file",
    digest: sha256(code),
    lines: [],
    links: [],
    entry: "tools/a.mjs",
  },
  files: [{ path: "tools/a.mjs", bytes: Buffer.from(code) }],
});
const tool = (body: string, before = ""): ToolSource =>
  sourceOf(
    `import fs from "node:fs"; ${before} export default { name: "one", description: "d", input: {}, execute: async (input, context) => { ${body} } };`,
  );

beforeAll(() => {
  state = realpathSync(mkdtempSync(join(tmpdir(), "ambit-host-")));
  const detected = detectSandbox({ native: nativeProgram(root), install: () => "" });
  if (!detected.ok) throw new Error(detected.refused.message);
  const sandboxes = new LinuxSandboxes({
    environment: detected.environment,
    groups: null,
    broker: null,
    drafts: new DraftFolders(state),
  });
  pool = new HostPool({ state, program: join(root, "dist", "tool-host.cjs"), sandboxes: () => sandboxes });
  session = new Session({ name: { agent: "scout", workspace: null }, id: "s", user: null, trace: "t" } as never);
});
afterAll(async () => {
  await pool.close();
  removeState(state);
});

const never = new AbortController().signal;
const refusing = async (): Promise<Json> => ({ ok: false, code: "capability_absent", verb: null, message: "" });

async function run(
  source: ToolSource,
  milliseconds = 20_000,
  serve: (use: JsonObject) => Promise<Json> = refusing,
): Promise<unknown> {
  const host = pool.host(session, source);
  if (!(host instanceof ToolHost)) throw new Error(host.message);
  return host.execute("one", {}, serve, never, milliseconds);
}

test("a snapshot can be removed by its owner, and so can one of an earlier version", () => {
  const folder = snapshotOf(state, tool("return 1;"), join(root, "dist", "tool-host.cjs"));
  expect(folder).not.toBeNull();
  expect(statSync(folder ?? "").mode & 0o777).toBe(0o700);
  const before = join(state, "before");
  mkdirSync(join(before, "tool-hosts", "old"), { recursive: true });
  writeFileSync(join(before, "tool-hosts", "old", "host.cjs"), "", { mode: 0o400 });
  chmodSync(join(before, "tool-hosts", "old"), 0o500);
  clearSnapshots(before);
  clearSnapshots(before);
  expect(existsSync(join(before, "tool-hosts"))).toBe(false);
});

describe("a host", () => {
  test("that floods is slowed down: the event loop keeps turning, and other hosts answer", async () => {
    const flood = `const body = Buffer.from(JSON.stringify({ kind: "use", call: 1, use: 1, asked: {} }));
      const head = Buffer.alloc(4); head.writeUInt32LE(body.length);
      const many = Buffer.concat(Array.from({ length: 2000 }, () => Buffer.concat([head, body])));
      for (;;) { try { fs.writeSync(1, many); } catch {} }`;
    let isOver = false;
    const flooding = run(tool(flood), 6_000).finally(() => {
      isOver = true;
    });
    // Each answer needs several turns of the event loop, and all of them arrive during the flood.
    const other = tool("return 1 + 1;");
    for (let at = 0; at < 3; at++) expect(await run(other, 60_000)).toEqual({ ok: true, value: 2 });
    expect(isOver).toBe(false);
    expect(await flooding).toMatchObject({ ok: false, message: "it took more than 6 seconds" });
  });

  test("that exceeds its time is ended, and the next call gets another host", async () => {
    const source = tool("if (fs.existsSync('/nowhere')) return 1; for (;;);");
    expect(await run(source, 1500)).toMatchObject({ ok: false, code: "execution_failed" });
    expect(await run(source, 1500)).toMatchObject({ ok: false, message: "it took more than 1.5 seconds" });
    expect(await run(tool("return 2;"))).toEqual({ ok: true, value: 2 });
  }, 60_000);
  test("that sends an invalid frame is ended", async () => {
    expect(
      await run(tool("fs.writeSync(1, 'x'.repeat(1000)); await new Promise(() => setTimeout(() => {}, 1e6));")),
    ).toMatchObject({
      ok: false,
      code: "execution_failed",
    });
  }, 60_000);
  test("that announces a frame of a hundred million bytes is ended before they arrive", async () => {
    const body =
      "const head = Buffer.alloc(4); head.writeUInt32LE(100_000_000); fs.writeSync(1, head); await new Promise(() => setTimeout(() => {}, 1e6));";
    expect(await run(tool(body))).toMatchObject({ ok: false, code: "execution_failed" });
  }, 60_000);
  test("with no tool to load says why", async () => {
    expect(await pool.described(sourceOf("throw new Error('not today');"))).toMatchObject({
      ok: false,
      message: "Error: not today",
    });
    expect(await pool.described(sourceOf("export default 7;"))).toMatchObject({ ok: true, tools: [] });
    expect(await pool.described(sourceOf("process.exit(3);"))).toMatchObject({ ok: false, isTools: true });
  }, 60_000);
  test("runs calls side by side, and each use is answered for its own call", async () => {
    let begun = 0;
    let release = (): void => undefined;
    const everyCall = new Promise<void>((go) => {
      release = go;
    });
    // No call is answered before all of them have asked: one after the other they would never end.
    const serving = (value: string) => async (): Promise<Json> => {
      if (++begun === 3) release();
      await everyCall;
      return { ok: true, value };
    };
    const source = tool("return (await context.files.readText('/a')).value;");
    const all = await Promise.all(["x", "y", "z"].map((value) => run(source, 20_000, serving(value))));
    expect(all).toEqual(["x", "y", "z"].map((value) => ({ ok: true, value })));
  }, 60_000);
  test("ends with its session", async () => {
    const host = pool.host(session, tool("return 3;"));
    if (!(host instanceof ToolHost)) throw new Error(host.message);
    expect(host.isOver).toBe(false);
    session.close();
    expect(host.isOver).toBe(true);
    expect(pool.host(session, tool("return 3;"))).toEqual({ message: "the session is closed" });
  }, 60_000);
});

test("frames are parsed wherever the chunks end", () => {
  const whole = Buffer.concat([toolFrame({ a: 1 }), toolFrame({ b: "é" }), toolFrame({})] as Buffer[]);
  for (let size = 1; size <= whole.length; size++) {
    const frames = new ToolFrames();
    const heard: unknown[] = [];
    for (let at = 0; at < whole.length; at += size)
      heard.push(...(frames.take(whole.subarray(at, at + size)) ?? ["broken"]));
    expect(heard).toEqual([{ a: 1 }, { b: "é" }, {}]);
  }
  expect(new ToolFrames().take(Buffer.from([255, 255, 255, 255]))).toBeNull();
  expect(new ToolFrames().take(Buffer.concat([Buffer.from([2, 0, 0, 0]), Buffer.from("{x")]))).toBeNull();
});
