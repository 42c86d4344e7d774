// An edit replaces the whole file once, in place, and the previous text can be restored.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AgentFiles } from "../agents/disk/agent-files.ts";
import { ownIdentity, stateOf } from "./daemon/process-identity.ts";
import { type Change, type EditResult, editFile, undoFolder } from "./edit-file.ts";

let folder = "";
let state = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-edit-"));
  state = join(folder, "state");
  mkdirSync(join(folder, "project"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name = "a.md"): string => join(folder, "project", name);

function edit(change: Change<string>, path = file()): EditResult<string> {
  return editFile(path, { state, inside: join(folder, "project"), charactersMax: 1000 }, change);
}

function write(text: string): Change<string> {
  return () => ({ kind: "write", text });
}

describe("a change is atomic", () => {
  test("the mode is kept, no draft is left, and the text is as given", () => {
    writeFileSync(file(), "old");
    chmodSync(file(), 0o640);
    expect(edit(write("\uFEFFnew\r\n"))).toEqual({ kind: "done", others: 0 });
    expect(readFileSync(file(), "utf8")).toBe("\uFEFFnew\r\n");
    expect(statSync(file()).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(folder, "project"))).toEqual(["a.md"]);
  });

  test("a concurrent change is noticed, and the edit is applied to it", () => {
    writeFileSync(file(), "one");
    let times = 0;
    const done = edit((text) => {
      if (times++ === 0) writeFileSync(file(), "two");
      return { kind: "write", text: `${text} and three` };
    });
    expect(done.kind).toBe("done");
    expect(readFileSync(file(), "utf8")).toBe("two and three");
    expect(times).toBe(2);
  });

  test("a file that changes every time ends the edit, and its text stays", () => {
    let times = 0;
    writeFileSync(file(), "x");
    const done = edit((text) => {
      writeFileSync(file(), `other ${times++}`);
      return { kind: "write", text: `${text}!` };
    });
    expect(done).toMatchObject({ kind: "failed", message: expect.stringContaining("keeps being changed") });
    expect(readFileSync(file(), "utf8")).toMatch(/^other \d+$/);
  });

  test("a refusal changes nothing", () => {
    writeFileSync(file(), "old");
    expect(edit(() => ({ kind: "refuse", refusal: "no" }))).toEqual({ kind: "refused", refusal: "no" });
    expect(readFileSync(file(), "utf8")).toBe("old");
  });

  test("drafts of killed processes are removed by the next edit, other files are not", () => {
    writeFileSync(file(), "old");
    writeFileSync(file(".a.md.0123456789ab.ambit-draft"), "half");
    writeFileSync(file(".b.md.0123456789ab.ambit-draft"), "of another file");
    edit(write("new"));
    expect(readdirSync(join(folder, "project")).sort()).toEqual([".b.md.0123456789ab.ambit-draft", "a.md"]);
  });
});

describe("symbolic links", () => {
  test("a link that leads out of the folder is refused, one that stays inside is followed", () => {
    writeFileSync(join(folder, "outside.md"), "old");
    symlinkSync(join(folder, "outside.md"), file("out.md"));
    expect(edit(write("new"), file("out.md"))).toMatchObject({ kind: "failed" });
    expect(readFileSync(join(folder, "outside.md"), "utf8")).toBe("old");
    writeFileSync(file(), "old");
    symlinkSync("a.md", file("in.md"));
    expect(edit(write("new"), file("in.md"))).toMatchObject({ kind: "done" });
    expect(readFileSync(file(), "utf8")).toBe("new");
    expect(readdirSync(join(folder, "project")).sort()).toEqual(["a.md", "in.md", "out.md"]);
  });

  test("a file with a second hard link is replaced, and that is reported", () => {
    writeFileSync(file(), "old");
    linkSync(file(), join(folder, "other.md"));
    expect(edit(write("new"))).toEqual({ kind: "done", others: 1 });
    expect(readFileSync(join(folder, "other.md"), "utf8")).toBe("old");
  });

  test("what is not a text file is not changed", () => {
    mkdirSync(file("b.md"));
    expect(edit(write("new"), file("b.md"))).toMatchObject({ kind: "failed" });
    writeFileSync(file(), new Uint8Array([0xff, 0xfe]));
    expect(edit(write("new"))).toMatchObject({ kind: "failed", message: expect.stringContaining("UTF-8") });
    writeFileSync(file(), "x".repeat(1001));
    expect(edit(write("new"))).toMatchObject({ kind: "failed", message: expect.stringContaining("longer") });
  });
});

describe("locks", () => {
  test("a lock whose process is gone is released, one of a running process is kept", () => {
    writeFileSync(file(), "old");
    edit(write("new"));
    const turns = undoFolder(state, file());
    const gone = { ...ownIdentity(), start: "1" };
    expect(stateOf(gone)).toBe("gone");
    expect(stateOf(ownIdentity())).toBe("running");
    expect(stateOf({ ...ownIdentity(), where: "another machine" })).toBe("elsewhere");
    writeFileSync(join(turns, "7.turn"), JSON.stringify(gone));
    expect(edit(write("newer"))).toMatchObject({ kind: "done" });
    expect(readdirSync(turns).filter((name) => name.endsWith(".turn"))).toEqual(["8.turn"]);
  });
});

describe("undo", () => {
  const files = (): AgentFiles =>
    new AgentFiles({ cwd: join(folder, "project"), workspace: join(folder, "project"), state, charactersMax: 1000 });
  const record = (): string => file(".ambit/agents/a.md");
  const text = (): string => readFileSync(record(), "utf8");
  const put = (value: string): EditResult<string> => files().edit<string>("a", () => ({ kind: "write", text: value }));
  beforeEach(() => {
    mkdirSync(file(".ambit/agents"), { recursive: true });
    writeFileSync(record(), "0");
  });

  function back(): boolean {
    const step = files().step("a");
    return step !== null && files().undo("a", step).kind === "done";
  }

  test("goes back edit by edit, and no further than the first", () => {
    put("1");
    put("2");
    expect([back(), text(), back(), text(), back()]).toEqual([true, "1", true, "0", false]);
  });

  test("the last twenty edits are kept", { timeout: 60_000 }, () => {
    for (let at = 1; at <= 25; at++) put(String(at));
    let count = 0;
    while (count < 100 && back()) count++;
    expect([count, text()]).toEqual([20, "5"]);
  });

  test("a later change by another program is never lost", () => {
    put("1");
    writeFileSync(record(), "by hand");
    expect(back()).toBe(false);
    expect(text()).toBe("by hand");
  });

  test("an edit that was killed before it was made is skipped", () => {
    put("1");
    const folderOf = undoFolder(state, record());
    writeFileSync(join(folderOf, "9.json"), JSON.stringify({ before: "1", after: "no such text" }));
    expect([back(), text()]).toEqual([true, "0"]);
  });

  test("a removed record is restored, a new one is removed again", () => {
    expect(files().remove("a", "0").kind).toBe("done");
    expect(back()).toBe(true);
    expect(text()).toBe("0");
    expect(files().create("team/b", "x").kind).toBe("done");
    expect(files().create("team/b", "y")).toMatchObject({ kind: "refused" });
    expect(files().create("../b", "x")).toMatchObject({ kind: "failed" });
    const step = files().step("team/b");
    expect(step).toMatchObject({ before: null });
    if (step !== null) expect(files().undo("team/b", step).kind).toBe("done");
    expect(readdirSync(file(".ambit/agents/team"))).toEqual([]);
  });
});
