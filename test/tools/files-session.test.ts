// The worker behind a session's file tools: started when needed, restarted when the session's grants change, and ended with it.
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { compile } from "../../src/core/authority/compiled.ts";
import { SessionFiles } from "../../src/daemon/contexts/session-files.ts";
import type { Session } from "../../src/daemon/session.ts";
import { newFolder, path } from "../files/fixture.ts";
import { nativeMissing, nativeProgram, nativeWalls } from "../files/native.ts";
import { startSwapping } from "../files/swapper.ts";
import { until } from "../house/until.ts";
import { chainOf, newSession, said, toolsIn, write } from "./files-fixture.ts";

const GATE = "scope_violation: by the gate";
const OUTSIDE = "scope_violation: a symbolic link in the path leads outside your grants";

/** File workers that this process has started and that still run. */
function workers(): readonly number[] {
  return readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8")
      .split(" ")
      .filter((pid) => pid !== "" && isWorker(pid))
      .map(Number),
  );
}

function isWorker(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("ambit-native\0files");
  } catch {
    return false;
  }
}

describe.skipIf(nativeMissing() !== null)("a session's files", () => {
  let above = "";
  let root = "";
  beforeEach(() => {
    above = newFolder();
    root = join(above, "project");
    for (const folder of ["project/src", "other", "closed"]) mkdirSync(join(above, folder), { recursive: true });
    write(root, { a: "a\n", "src/b": "b\n" });
    write(above, { "other/o": "o\n", "closed/loot": "loot\n" });
  });
  const read = (path: string) => ["fs_read", { path }] as const;

  test("are served by one worker for all calls, which exits when the session is closed", async () => {
    const { call, session } = toolsIn({ granted: [["read", root]], folder: root });
    expect(workers()).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => call(...read("a"))));
    expect(workers()).toHaveLength(1);
    session.close();
    await until(() => workers().length === 0, "the workers are as many as the session needs");
    expect(await said(call(...read("a")))).toBe("revoked: the session has no grants any more");
    expect(workers()).toEqual([]);
  });

  test("open a tree at the next call with a wider grant, and close it with a narrower one", async () => {
    const fixture = toolsIn({ granted: [["read", root]], folder: root });
    const other = join(above, "other");
    expect(await said(fixture.call(...read("a")))).toMatchObject({ text: "a\n" });
    expect(await said(fixture.call(...read("../other/o")))).toBe(GATE);
    fixture.authority = [chainOf(["read", root], ["read", other])];
    expect(await said(fixture.call(...read("../other/o")))).toMatchObject({ text: "o\n" });
    fixture.authority = [chainOf(["read", other])];
    expect(await said(fixture.call(...read("a")))).toBe(GATE);
    expect(await said(fixture.call(...read("../other/o")))).toMatchObject({ text: "o\n" });
    await until(() => workers().length === 1, "the workers are as many as the session needs");
  });

  test("are not touched by a call whose grant is revoked while it is queued", async () => {
    const fixture = toolsIn({ granted: [["write", root]], folder: root });
    const decided = await fixture.decide("fs_write", { path: "a", content: "x" });
    if (typeof decided !== "function") throw new Error(decided.ok ? "" : decided.code);
    fixture.authority = [chainOf(["write", join(above, "other")])];
    expect(await said(decided())).toMatch(/^scope_violation/);
    fixture.authority = [chainOf(["write", root])];
    fixture.moment = { revoked: () => true };
    expect(await said(decided())).toMatch(/^revoked/);
    fixture.moment = {};
    expect(readFileSync(join(root, "a"), "utf8")).toBe("a\n");
    expect(readFileSync(join(root, "src/b"), "utf8")).toBe("b\n");
  });

  test("after a change of the records a decision is made again, and the call is not done if it is now denied", async () => {
    const fixture = toolsIn({ granted: [["write", root]], folder: root });
    const pathSettings = { home: null, base: path(join(root, "src")), protectedPaths: [] };
    const before = { pathSettings, toAscii: (name: string) => name, ceiling: null };
    const decided = await fixture.decide("fs_write", { path: "b", content: "x" }, false, before);
    if (typeof decided !== "function") throw new Error(decided.ok ? "" : decided.code);
    // By now relative names begin in the parent folder.
    expect(await said(decided())).toMatch(/^not_available: the working/);
    expect(readFileSync(join(root, "src/b"), "utf8")).toBe("b\n");
  });

  test("when a worker is killed its requests fail, and the next call starts another", async () => {
    const { call } = toolsIn({ granted: [["read", root]], folder: root });
    await call(...read("a"));
    const [pid] = workers();
    if (pid === undefined) throw new Error("no worker");
    const pending = Array.from({ length: 50 }, () => call("fs_grep", { text: "a" }));
    process.kill(pid, "SIGKILL");
    for (const answer of await Promise.all(pending))
      if (!answer.ok) expect(answer).toMatchObject({ code: "not_available" });
    await until(() => !workers().includes(pid), "the workers are as many as the session needs");
    const again = await said(call(...read("a")));
    expect(again).toMatchObject({ text: "a\n" });
    expect(workers()).toHaveLength(1);
  });

  test("of too many workers the one idle longest is ended, and started again when needed", async () => {
    const files = new SessionFiles(nativeProgram, nativeWalls(), 2);
    const sessions = [newSession(root), newSession(root), newSession(root)] as const;
    const asked = {
      trees: [{ path: path(root), mode: "read" as const }],
      judge: () => ({ outcome: "allow" as const, by: { chain: 0, grants: [0] } }),
      protectedPaths: [],
    };
    const use = (session: Session) =>
      files.use(session, asked, (one) => one.read(path(join(root, "a")), { offset: 0, bytesMax: 9 }));
    try {
      for (const session of sessions) expect(await use(session)).toMatchObject({ ok: true });
      expect(sessions.map((one) => files.has(one))).toEqual([false, true, true]);
      await until(() => workers().length === 2, "the workers are as many as the session needs");
      expect(await use(sessions[0])).toMatchObject({ ok: true });
      expect(sessions.map((one) => files.has(one))).toEqual([true, false, true]);
    } finally {
      files.close();
    }
    await until(() => workers().length === 0, "the workers are as many as the session needs");
  });

  test("without the native program nothing is done", async () => {
    const { call } = toolsIn({
      granted: [
        ["read", root],
        ["write", root],
      ],
      folder: root,
      program: above,
    });
    expect(await said(call(...read("a")))).toBe("not_available: the file worker cannot run here");
    expect(await said(call("fs_write", { path: "a", content: "x" }))).toBe(
      "not_available: the file worker cannot run here",
    );
    expect(readFileSync(join(root, "a"), "utf8")).toBe("a\n");
  });

  test("a root that was moved away and created again is the new one", async () => {
    const { call } = toolsIn({
      granted: [
        ["read", root],
        ["write", root],
      ],
      folder: root,
    });
    await call(...read("a"));
    renameSync(root, join(above, "moved"));
    mkdirSync(root);
    expect(await said(call("fs_write", { path: "a", content: "new" }))).toMatchObject({ bytes: 3 });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("new");
    expect(readFileSync(join(above, "moved/a"), "utf8")).toBe("a\n");
  });

  test("a root that does not exist yet works once it is created", async () => {
    const later = join(above, "later");
    const { call } = toolsIn({
      granted: [
        ["read", later],
        ["write", later],
      ],
      folder: above,
    });
    expect(await said(call(...read("later/x")))).toMatch(/^not_found/);
    mkdirSync(later);
    expect(await said(call("fs_write", { path: "later/x", content: "x" }))).toMatchObject({ bytes: 1 });
    expect(await said(call(...read("later/x")))).toMatchObject({ text: "x" });
  });

  describe("a call that needs approval", () => {
    test("is done once approved, for the approved request and nothing else", async () => {
      const { call } = toolsIn({
        granted: [
          ["read", root, undefined, 1],
          ["write", root, undefined, 1],
        ],
        folder: root,
      });
      expect(await said(call(...read("a")))).toBe("approval_required: by the gate");
      expect(await said(call("fs_read", { path: "a" }, true))).toMatchObject({ text: "a\n" });
      expect(await said(call("fs_write", { path: "new", content: "x" }, true))).toMatchObject({ bytes: 1 });
      expect(await said(call("fs_edit", { path: "a", edits: [{ old: "a", new: "b" }] }, true))).toMatchObject({
        bytes: 2,
      });
      symlinkSync("src/b", join(root, "link"));
      expect(await said(call("fs_read", { path: "link" }, true))).toMatch(/^approval_required/);
    });

    test("of a folder covers what the same grant covers below it", async () => {
      const closed = join(above, "closed");
      const { call } = toolsIn({
        granted: [
          ["read", above, ["project", "project/**"], 1],
          ["read", closed, undefined, 1],
        ],
        folder: above,
      });
      expect(await said(call("fs_list", { path: "project" }, true))).toMatchObject({
        entries: [{ name: "a" }, { name: "src" }],
      });
      expect(await said(call("fs_grep", { text: "b", in: "project" }, true))).toMatchObject({
        matches: [{ path: "project/src/b" }],
      });
      symlinkSync("../closed/loot", join(root, "out"));
      expect(await said(call("fs_read", { path: "project/out" }, true))).toMatch(/^approval_required/);
    });
  });

  test("a counted grant covers what was paid for, and no path on the way", async () => {
    const fixture = toolsIn({ granted: [["read", root]], folder: root });
    const [first] = fixture.authority;
    const grants = first?.[0].link.grants.map((one) => ({ ...one, conditions: { ...one.conditions, calls: 1 } })) ?? [];
    const record = first?.[0];
    if (record === undefined) throw new Error("no record");
    fixture.authority = [[compile({ ...record.link, grants })]];
    symlinkSync("src/b", join(root, "link"));
    expect(await said(fixture.call(...read("a")))).toMatchObject({ text: "a\n" });
    expect(await said(fixture.call(...read("link")))).toBe(OUTSIDE);
  });

  test("names that are exchanged as fast as possible never lead outside", async () => {
    const { call } = toolsIn({
      granted: [
        ["read", root],
        ["write", root],
        ["delete", root],
      ],
      folder: root,
    });
    mkdirSync(join(root, "turn"));
    write(root, { "turn/loot": "inside\n", plain: "inside\n" });
    symlinkSync(join(above, "closed"), join(root, "decoy"));
    symlinkSync(join(above, "closed/loot"), join(root, "decoy-file"));
    const folders = await startSwapping(join(root, "turn"), join(root, "decoy"), join(root, "spare"));
    const files = await startSwapping(join(root, "plain"), join(root, "decoy-file"), join(root, "spare-file"));
    try {
      for (let rounds = 0; rounds < 150; rounds++) {
        const answers = await Promise.all([
          call("fs_read", { path: "turn/loot" }),
          call("fs_read", { path: "plain" }),
          call("fs_grep", { text: "loot", in: "." }),
          call("fs_write", { path: "turn/loot", content: "inside\n" }),
          call("fs_edit", { path: "plain", edits: [{ old: "loot", new: "taken", all: true }] }),
        ]);
        const [one, two, grep] = answers;
        for (const answer of [one, two])
          if (answer?.ok === true) expect(answer.value).toMatchObject({ text: "inside\n" });
        if (grep?.ok === true) expect(grep.value).toMatchObject({ matches: [] });
      }
    } finally {
      await folders.stop();
      await files.stop();
    }
    expect(readFileSync(join(above, "closed/loot"), "utf8")).toBe("loot\n");
    expect(readdirSync(join(above, "closed"))).toEqual(["loot"]);
  }, 120_000);

  test("a link placed where a pattern begins opens nothing", async () => {
    const { call } = toolsIn({
      granted: [
        ["read", root, ["door/**"]],
        ["write", root, ["door/**"]],
      ],
      folder: root,
    });
    symlinkSync(join(above, "closed"), join(root, "door"));
    expect(await said(call(...read("door/loot")))).toBe(OUTSIDE);
    expect(await said(call("fs_write", { path: "door/new", content: "x" }))).toBe(OUTSIDE);
    expect(readdirSync(join(above, "closed"))).toEqual(["loot"]);
  });

  test("state and configuration are never written, whatever is granted", async () => {
    const state = join(above, "state");
    mkdirSync(join(state, "trust"), { recursive: true });
    const { call } = toolsIn({
      granted: [
        ["write", above],
        ["delete", above],
      ],
      folder: above,
      state,
    });
    writeFileSync(join(state, "ledger"), "kept");
    expect(await said(call("fs_write", { path: "state/ledger", content: "x" }))).toMatch(/^self_modification/);
    expect(await said(call("fs_delete", { path: "state/ledger" }))).toMatch(/^self_modification/);
    expect(await said(call("fs_write", { path: "statement", content: "x" }))).toMatchObject({ bytes: 1 });
    expect(readFileSync(join(state, "ledger"), "utf8")).toBe("kept");
  });
});
