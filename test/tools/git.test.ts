// The `git` tool in real sandboxes: what it reports of a repository, what it changes, and what a hostile repository cannot do.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import { builtinTool } from "../../src/daemon/tools/daemon-tool.ts";
import { GIT_TOOL } from "../../src/tools/git/git-tool.ts";
import { processesWith } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { type ProgramsFixture, programsFixture, type Said } from "./programs-fixture.ts";

let fixture: ProgramsFixture;
beforeEach(() => {
  fixture = programsFixture(() => [builtinTool(GIT_TOOL)], "proc.exec", "fs.read", "fs.write");
  host("init", "--quiet", "--initial-branch=main");
  host("config", "user.name", "Ann");
  host("config", "user.email", "ann@example.test");
  put("a", "one\n");
  host("add", "a");
  host("commit", "--quiet", "--message=first", "--message=The body.");
});
afterEach(() => fixture.close());

function host(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", ["-C", fixture.folder, ...words], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function put(name: string, content: string): void {
  writeFileSync(join(fixture.folder, name), content);
}

const git = (command: string, more: JsonObject = {}): Promise<Said> => fixture.call("git", { command, ...more });

async function told(command: string, more: JsonObject = {}): Promise<JsonObject> {
  const said = await git(command, more);
  if (!("value" in said)) throw new Error(JSON.stringify(said));
  return said.value;
}

describe("git reports", () => {
  test("changed files as entries", async () => {
    expect(await told("status")).toMatchObject({ branch: "main", upstream: null, isClean: true, entries: [] });
    put("a", "two\n");
    put("b c\nd", "new\n");
    host("mv", "a", "renamed é");
    expect(await told("status")).toMatchObject({
      isClean: false,
      more: false,
      entries: [
        { path: "renamed é", staged: "renamed", unstaged: "modified", from: "a" },
        { path: "b c\nd", staged: null, unstaged: "untracked", from: null },
      ],
    });
    expect(await told("status", { paths: ["b*"] })).toMatchObject({ entries: [{ path: "b c\nd" }] });
  });

  test("differences as text, of files, of the index, and between two revisions", async () => {
    put("a", "two\n");
    expect(await told("diff")).toMatchObject({ more: false, text: expect.stringMatching(/-one\n\+two\n$/) });
    expect(await told("diff", { staged: true })).toMatchObject({ text: "" });
    host("commit", "--quiet", "--all", "--message=second");
    expect(await told("diff", { revision: "HEAD~1", to: "HEAD", paths: ["a"] })).toMatchObject({
      text: expect.stringMatching(/\+two\n$/),
    });
    expect(await told("diff", { revision: "HEAD~1..HEAD", stat: true })).toMatchObject({
      text: expect.stringMatching(/1 file changed/),
    });
  });

  test("a text that is too long as truncated", async () => {
    put("a", "\u0001".repeat(400_000));
    const { text, more } = await told("diff");
    expect(more).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(600_000);
  });

  test("commits, newest first, and whether there are more", async () => {
    host("commit", "--quiet", "--allow-empty", "--message=second\u0001 %G? %x00");
    const { commits, more } = await told("log", { limit: 1 });
    expect([commits, more]).toMatchObject([[{ subject: "second\u0001 %G? %x00", author: "Ann", body: "" }], true]);
    const all = await told("log");
    expect(all).toMatchObject({
      more: false,
      commits: [
        { parents: [host("rev-parse", "HEAD~1").trim()] },
        { subject: "first", body: "The body.", parents: [] },
      ],
    });
    expect(await told("log", { paths: ["a"] })).toMatchObject({ commits: [{ subject: "first" }] });
    expect(await told("log", { revision: "HEAD~1..HEAD", paths: ["gone"] })).toEqual({ commits: [], more: false });
  });

  test("one commit with its changes, and a file as it was", async () => {
    host("tag", "--annotate", "--message=a tag", "v1");
    put("a", "two\n");
    host("commit", "--quiet", "--all", "--message=second");
    expect(await told("show", { revision: "v1" })).toMatchObject({
      commit: { subject: "first", body: "The body." },
      text: expect.stringMatching(/^diff --git[\s\S]*\+one\n$/),
    });
    expect(await told("show", { revision: "v1", file: "a" })).toEqual({ text: "one\n", more: false });
    mkdirSync(join(fixture.folder, "sub"));
    expect(await told("show", { revision: "v1", file: "../a", in: "sub" })).toMatchObject({ text: "one\n" });
  });

  test("branches, those of remotes on request", async () => {
    host("update-ref", "refs/remotes/origin/topic", "HEAD");
    host("branch", "topic");
    const commit = host("rev-parse", "HEAD").trim();
    expect(await told("branch")).toEqual({
      more: false,
      branches: [
        { name: "main", commit, isCurrent: true, isRemote: false, upstream: null },
        { name: "topic", commit, isCurrent: false, isRemote: false, upstream: null },
      ],
    });
    const { branches } = await told("branch", { all: true });
    expect(branches).toHaveLength(3);
  });

  test("errors as git wrote them", async () => {
    expect(await told("log", { revision: "missing" })).toMatchObject({
      ending: { kind: "exited", status: 128 },
      stderr: expect.stringMatching(/missing/),
    });
  });
});

describe("git changes", () => {
  test("the index, commits and branches", async () => {
    put("-x", "dashed\n");
    put("b", "b\n");
    expect(await told("add", { paths: ["-x"] })).toEqual({ notes: "" });
    const { commit } = await told("commit", { message: '-m, a message\n\nwith "quotes" and $(words)' });
    expect(host("rev-parse", "HEAD")).toMatch(new RegExp(`^${String(commit)}`));
    expect(host("log", "-1", "--format=%B")).toBe('-m, a message\n\nwith "quotes" and $(words)\n\n');
    expect(host("show", "--name-only", "--format=", "HEAD")).toBe("-x\n");
    await told("add", { all: true });
    expect(host("status", "--porcelain")).toBe("A  b\n");
    expect(await told("branch", { name: "topic/one", revision: "HEAD~1" })).toEqual({ name: "topic/one", notes: "" });
    expect(host("rev-parse", "topic/one")).toBe(host("rev-parse", "HEAD~1"));
  });

  test("nothing without a write grant, and nothing outside the grants", async () => {
    fixture.grants = [
      "tool.invoke",
      "fs.read",
      'proc.exec{patterns=["git log **","git status **","git diff **","git show **"]}',
    ];
    for (const command of ["status", "diff", "log", "show"]) expect(await git(command)).toHaveProperty("value");
    expect(await git("log", { paths: ["-C", "--output=x"] })).toHaveProperty("value");
    expect(await git("branch")).toMatchObject({ denied: "scope_violation" });
    expect(await git("commit", { message: "x" })).toMatchObject({ denied: "scope_violation" });
    expect(await git("push")).toMatchObject({ denied: "scope_violation" });
    expect(await git("status", { in: ".." })).toMatchObject({ denied: "scope_violation" });
  });

  test("by a command that is requested exactly, with write access only if needed", async () => {
    await git("add", { paths: ["a", "b"] });
    const [, one] = fixture.asked;
    if (one === undefined) throw new Error("nothing was asked for");
    expect(requestText(one)).toContain("git add -- a b");
    expect(one.values).toContain("rw");
    await git("log");
    expect(fixture.asked[1]?.values).toContain("ro");
  });
});

describe("no argument of a call becomes an option or more", () => {
  test.each<[string, JsonObject]>([
    ["log", { revision: "--output=stolen" }],
    ["log", { revision: "-n1" }],
    ["log", { revision: "a\nb" }],
    ["diff", { revision: "HEAD", to: "--no-index" }],
    ["diff", { to: "HEAD" }],
    ["show", { revision: "--ext-diff" }],
    ["show", { file: "/etc/passwd" }],
    ["show", { file: "a", paths: ["a"] }],
    ["add", { paths: [":(top)a"] }],
    ["add", { paths: [""] }],
    ["add", {}],
    ["add", { all: true, paths: ["a"] }],
    ["commit", {}],
    ["commit", { message: "a\u001b[2J" }],
    ["commit", { message: "x", paths: ["a"] }],
    ["branch", { name: "--delete" }],
    ["branch", { name: "a b" }],
    ["branch", { name: "a..b" }],
    ["branch", { name: "HEAD" }],
    ["push", { name: "+main" }],
    ["push", { name: ":main" }],
    ["push", { name: "main:other" }],
    ["push", { name: "--force" }],
    ["push", { name: "--mirror" }],
    ["push", { remote: "https://evil.example/x.git" }],
    ["push", { remote: "ext::sh -c id" }],
    ["push", { remote: "../other" }],
    ["fetch", { remote: "--upload-pack=id" }],
    ["fetch", { name: "refs/heads/*:refs/heads/*" }],
    ["status", { revision: "HEAD" }],
    ["clone", {}],
    ["config", {}],
    ["status", { more: true }],
    ["log", { limit: 0 }],
    ["log", { limit: 1e9 }],
    ["log", { paths: Array.from({ length: 300 }, () => "a") }],
    ["commit", { message: "x".repeat(40_000) }],
  ])("%s %j", async (command, more) => {
    expect(await git(command, more)).toMatchObject({ denied: "invalid_input", reason: expect.stringMatching(/./) });
  });
});

describe("a remote that is not on a host", () => {
  const refs = (): string =>
    spawnSync("git", ["-C", join(fixture.folder, "beside"), "for-each-ref"], { encoding: "utf8" }).stdout;
  beforeEach(() => {
    host("init", "--quiet", "--bare", "beside");
    host("init", "--quiet", "--bare", "../outer.git");
  });

  test.each(["push", "fetch"])("%s: a folder of that name is not used in its place", async (command) => {
    expect(await git(command, { remote: "beside" })).toEqual({
      failed: "invalid_input",
      message: 'this repository has no remote "beside"; folders are not used as remotes',
    });
    expect(refs()).toBe("");
  });

  test.each(["beside", "./beside", "../outer.git", "/x", "file:///x", "ext::sh -c id"])(
    "whose address is %s is reported as such, and git is not run",
    async (address) => {
      host("config", "remote.there.url", address);
      for (const command of ["push", "fetch"])
        expect(await git(command, { remote: "there" })).toMatchObject({
          failed: "invalid_input",
          message: expect.stringContaining("is not on a host"),
        });
      expect(refs()).toBe("");
    },
  );

  test("by another address for pushing, or one that settings replace", async () => {
    host("config", "remote.there.url", "https://git.example.test/x.git");
    host("config", "remote.there.pushurl", "./beside");
    expect(await git("push", { remote: "there" })).toMatchObject({
      message: expect.stringContaining("is not on a host"),
    });
    host("config", "--unset", "remote.there.pushurl");
    host("config", `url.${fixture.folder}/beside.insteadOf`, "https://git.example.test/x.git");
    expect(await git("push", { remote: "there" })).toMatchObject({
      message: expect.stringContaining("is not on a host"),
    });
    expect(refs()).toBe("");
  });

  test("a remote that is a host is contacted, and is unreachable", async () => {
    host("config", "remote.there.url", "https://git.example.test/x.git");
    expect(await told("push", { remote: "there" })).toMatchObject({ ending: { kind: "exited", status: 128 } });
  });
});

/** Marks the last commit as signed, so that git could be made to verify it. */
function sign(): void {
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  const commit = host("cat-file", "commit", "HEAD").replace("\n\n", `\n${signature}\n\n`);
  const made = spawnSync("git", ["-C", fixture.folder, "hash-object", "-t", "commit", "-w", "--stdin"], {
    input: commit,
  });
  host("update-ref", "refs/heads/main", made.stdout.toString().trim());
}

describe("a hostile repository", () => {
  const evil = (name: string): string => {
    const script = join(fixture.folder, name);
    writeFileSync(
      script,
      `#!/bin/sh\ntouch "${fixture.folder}/ran-${name}" "${fixture.outside}/ran-${name}"\necho EVIL | tee /dev/stderr\nexit 1\n`,
    );
    chmodSync(script, 0o755);
    return script;
  };

  test("starts no program for differences, text conversion, signatures, paging or editing", async () => {
    const script = evil("evil");
    put(".gitattributes", "* diff=evil\n");
    for (const key of [
      "diff.external",
      "diff.evil.command",
      "diff.evil.textconv",
      "gpg.program",
      "core.pager",
      "core.editor",
      "pager.log",
      "sequence.editor",
    ])
      host("config", key, script);
    for (const key of ["log.showSignature", "commit.gpgSign", "push.gpgSign"]) host("config", key, "true");
    sign();
    put("a", "two\n");
    expect(await told("diff")).toMatchObject({ text: expect.stringMatching(/\+two/) });
    const head = host("rev-parse", "HEAD").trim();
    expect(await told("log")).toMatchObject({ commits: [{ commit: head, subject: "first" }] });
    expect(await told("show")).toMatchObject({ commit: { commit: head }, text: expect.stringMatching(/\+one/) });
    expect(await told("commit", { message: "second", all: true })).toHaveProperty("commit");
    expect(existsSync(join(fixture.folder, "ran-evil"))).toBe(false);
    expect(existsSync(join(fixture.outside, "ran-evil"))).toBe(false);
  });

  test("runs its hooks, filters and monitors only inside the sandbox", async () => {
    const script = evil("evil");
    host("config", "core.fsmonitor", script);
    host("config", "filter.evil.clean", script);
    put(".gitattributes", "* filter=evil\n");
    writeFileSync(join(fixture.folder, ".git", "hooks", "pre-commit"), `#!/bin/sh\nexec "${script}"\n`, {
      mode: 0o755,
    });
    put("a", "two\n");
    await told("status");
    expect(existsSync(join(fixture.folder, "ran-evil"))).toBe(false);
    expect(await told("commit", { message: "x", all: true })).toMatchObject({ ending: { kind: "exited", status: 1 } });
    expect(existsSync(join(fixture.outside, "ran-evil"))).toBe(false);
  });

  test("an endless hook is killed with the session", async () => {
    const mark = String(8_000_000 + process.pid);
    writeFileSync(join(fixture.folder, ".git", "hooks", "pre-commit"), `#!/bin/sh\nsleep ${mark}\n`, { mode: 0o755 });
    const running = told("commit", { message: "x" });
    await until(() => processesWith(mark).length > 0, "the hook runs");
    fixture.session.close();
    expect(await running).toMatchObject({ ending: { kind: "ended", because: "stopped" } });
  });
});
