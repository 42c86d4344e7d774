// File tools as a user calls them: `ambit call`, the real daemon, a trusted project.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { VERSION } from "../../src/core/base/version.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import { daemonFolder } from "../../src/platform/daemon/daemon-start.ts";
import { root as ourPackage } from "../e2e/ambit.ts";
import { nativeMissing } from "../files/native.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";
import { write } from "./files-fixture.ts";

describe.skipIf(nativeMissing() !== null)("ambit call", () => {
  let base = "";
  let project = "";
  const ambit = (cwd: string, ...words: readonly string[]) => {
    const folders = { HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
    const env = { PATH: process.env["PATH"], NO_COLOR: "1", ...folders };
    const all = [join(ourPackage, "bin", "ambit"), ...words];
    return spawnSync(process.execPath, all, { cwd, encoding: "utf8", env, timeout: 120_000 });
  };
  const call = (agent: string, tool: string, input: Json, cwd = project) => {
    const { status, stdout, stderr } = ambit(cwd, "call", agent, tool, JSON.stringify(input), "--json");
    return { status, answer: stdout === "" ? stderr : (JSON.parse(stdout) as unknown) };
  };

  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-file-tools-")));
    project = join(base, "project");
    mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
    mkdirSync(join(project, "src"));
    prepareState(join(base, "state"), join(base, "config"));
    writeAgent(project, "coder", "fs.read", "fs.write", "fs.delete");
    writeAgent(project, "reader", "fs.read", "fs.write{paths=[]}");
    writeAgent(project, "careful", "fs.read", "fs.write{clean=true}", "fs.delete{ask=true}");
    write(project, {
      "README.md": "# Title\n",
      "src/a.ts": "one\n",
    });
    write(base, { outside: "outside\n" });
    symlinkSync("../outside", join(project, "way-out"));
    expect(ambit(project, "trust", "--yes")).toMatchObject({ status: 0 });
  }, 120_000);
  // The daemon exits by itself once its folder is removed.
  afterAll(() => removeState(base));

  test("reads, writes, edits, finds and deletes", () => {
    expect(call("coder", "fs_read", { path: "README.md" })).toMatchObject({
      status: 0,
      answer: { ok: true, result: { path: "README.md", text: "# Title\n", more: false } },
    });
    expect(call("coder", "fs_write", { path: "src/b.ts", content: "two\n" })).toMatchObject({ status: 0 });
    expect(call("coder", "fs_edit", { path: "src/b.ts", edits: [{ old: "two", new: "three" }] })).toMatchObject({
      status: 0,
    });
    expect(readFileSync(join(project, "src/b.ts"), "utf8")).toBe("three\n");
    expect(call("coder", "fs_list", { path: "src" })).toMatchObject({
      answer: { result: { entries: [{ name: "a.ts" }, { name: "b.ts" }] } },
    });
    expect(call("coder", "fs_glob", { pattern: "**/*.ts" })).toMatchObject({
      answer: { result: { paths: ["src/a.ts", "src/b.ts"] } },
    });
    expect(call("coder", "fs_grep", { text: "three" }, join(project, "src"))).toMatchObject({
      answer: { result: { matches: [{ path: "b.ts", line: 1, text: "three" }] } },
    });
    expect(call("coder", "fs_delete", { path: "src/b.ts" })).toMatchObject({ status: 0 });
    // 4 means that no daemon is reachable, and nothing else.
    expect(call("coder", "fs_read", { path: "src/b.ts" })).toMatchObject({
      status: 1,
      answer: { ok: false, code: "not_found" },
    });
  }, 120_000);

  test("denials have a code, the need and a hint", () => {
    expect(call("coder", "fs_read", { path: "../outside" })).toMatchObject({
      status: 10,
      answer: {
        ok: false,
        code: "scope_violation",
        need: `fs.read ${join(base, "outside")}`,
        hint: expect.any(String),
      },
    });
    expect(call("reader", "fs_write", { path: "README.md", content: "x" })).toMatchObject({
      status: 10,
      answer: { ok: false },
    });
    expect(call("coder", "fs_write", { path: ".ambit/agents/coder.md", content: "x" })).toMatchObject({
      status: 10,
      answer: { code: "scope_violation" },
    });
    expect(call("coder", "fs_read", { path: "README.md", more: 1 })).toMatchObject({
      answer: { code: "invalid_input" },
    });
    expect(call("coder", "fs_read", { path: "way-out" })).toMatchObject({
      status: 10,
      answer: { ok: false, code: "scope_violation" },
    });
    expect(call("coder", "fs_write", { path: ".git/hooks/pre-commit", content: "x" })).toMatchObject({
      status: 10,
      answer: { ok: false, code: "self_modification" },
    });
    expect(readFileSync(join(project, "README.md"), "utf8")).toBe("# Title\n");
  }, 120_000);

  test("a session that has read a file is no longer clean", async () => {
    expect(call("careful", "fs_write", { path: "noted", content: "x" })).toMatchObject({ status: 0 });
    const connected = await connect("call", { folder: daemonFolder(join(base, "state", "ambit")), version: VERSION });
    if (!connected.ok) throw new Error(connected.message);
    const calls = connected.value;
    const open = { agent: "careful", user: null, trace: null, face: "test", pledge: null, token: null };
    const opened = await calls.ask("session.open", { ...open, cwd: project, environment: {}, isForParent: false });
    if (!opened.ok) throw new Error(opened.message);
    const { session } = opened.value;
    const ask = (tool: string, input: JsonObject) =>
      calls.ask("call.do", { session, tool, input, requests: null, waitMilliseconds: 0 });
    expect(await ask("fs_write", { path: "noted", content: "y" })).toMatchObject({ value: { outcome: "done" } });
    expect(await ask("fs_delete", { path: "noted" })).toMatchObject({ value: { code: "approval_required" } });
    expect(await ask("fs_read", { path: "README.md" })).toMatchObject({ value: { outcome: "done" } });
    expect(await ask("fs_write", { path: "noted", content: "z" })).toMatchObject({
      value: { code: "untrusted_content" },
    });
    expect(readFileSync(join(project, "noted"), "utf8")).toBe("y");
    const pledged = await calls.ask("session.pledge", { session, specs: [`fs.read{in=${join(project, "src")}}`] });
    expect(pledged).toMatchObject({ ok: true });
    expect(await ask("fs_read", { path: "README.md" })).toMatchObject({ value: { code: "scope_violation" } });
    expect(await ask("fs_read", { path: "src/a.ts" })).toMatchObject({ value: { result: { text: "one\n" } } });
    await calls.ask("session.close", { session });
    calls.close();
  }, 120_000);

  test("a text full of characters that need escaping still fits into a response", () => {
    write(project, { signs: "\u0001".repeat(400_000), lines: "\u0001\n".repeat(60_000) });
    expect(call("coder", "fs_read", { path: "signs" })).toMatchObject({
      status: 0,
      answer: { result: { more: true } },
    });
    const input = { path: "lines", limit: 10_000, numbers: true };
    expect(call("coder", "fs_read", input)).toMatchObject({ status: 0, answer: { result: { lines: 10_000 } } });
  }, 120_000);
});
