// Revisions of hostile repositories: whatever their configuration, reading a file starts no program.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commitOf, filesOf, textOf } from "./git.ts";

let folder: string;
let marker: string;
let program: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-git-"));
  marker = join(folder, "started");
  program = join(folder, "program.sh");
  writeFileSync(program, `#!/bin/sh\n: > ${marker}\nexit 1\n`);
  chmodSync(program, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Git as the author of the repository runs it. */
function author(cwd: string, ...words: readonly string[]): string {
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function repository(): string {
  const path = join(folder, "repository");
  mkdirSync(join(path, ".ambit", "agents"), { recursive: true });
  writeFileSync(join(path, ".ambit", "agents", "scout.md"), "first\n");
  author(path, "init", "-q");
  author(path, "add", ".");
  author(path, "commit", "-q", "-m", "first");
  return path;
}

/** The object of the agent's file is missing, and a promisor remote has it. */
function promised(path: string, settings: readonly (readonly [string, string])[]): void {
  const object = author(path, "rev-parse", "HEAD:.ambit/agents/scout.md").trim();
  rmSync(join(path, ".git", "objects", object.slice(0, 2), object.slice(2)));
  author(path, "config", "core.repositoryFormatVersion", "1");
  author(path, "config", "extensions.partialClone", "origin");
  author(path, "config", "remote.origin.promisor", "true");
  for (const [key, value] of settings) author(path, "config", key, value);
}

function readAll(path: string): void {
  const commit = commitOf(path, "HEAD");
  if (commit === null) return;
  for (const file of filesOf(path, commit, ".ambit/agents")) textOf(path, commit, file);
}

describe("an ordinary repository", () => {
  test("returns its files", () => {
    const path = repository();
    const commit = commitOf(path, "HEAD") ?? "";
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    expect(filesOf(path, commit, ".ambit/agents")).toEqual([".ambit/agents/scout.md"]);
    expect(textOf(path, commit, ".ambit/agents/scout.md")).toBe("first\n");
  });
});

describe("an object that a remote promises is not fetched", () => {
  const rows: readonly (readonly [string, () => readonly (readonly [string, string])[]])[] = [
    [
      "by a program as the URL",
      () => [
        ["remote.origin.url", `ext::${program}`],
        ["protocol.ext.allow", "always"],
      ],
    ],
    [
      "by a program in place of ssh",
      () => [
        ["remote.origin.url", "ssh://host.invalid/x"],
        ["core.sshCommand", program],
        ["protocol.ssh.allow", "always"],
      ],
    ],
    [
      "by a program that serves a folder",
      () => [
        ["remote.origin.url", folder],
        ["remote.origin.uploadpack", program],
        ["protocol.file.allow", "always"],
      ],
    ],
    [
      "by a proxy",
      () => [
        ["remote.origin.url", "git://host.invalid/x"],
        ["core.gitProxy", program],
        ["protocol.git.allow", "always"],
      ],
    ],
    [
      "under another address",
      () => [
        ["remote.origin.url", "https://host.invalid/x"],
        [`url.ext::${program} .insteadOf`, "https://"],
        ["protocol.allow", "always"],
      ],
    ],
  ];
  test.each(rows)("%s", (_title, settings) => {
    const path = repository();
    promised(path, settings());
    // The attack is real: an unconfigured git starts the program.
    try {
      author(path, "cat-file", "blob", "HEAD:.ambit/agents/scout.md");
    } catch {
      // Git fails after that.
    }
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    readAll(path);
    expect(existsSync(marker)).toBe(false);
  });
});

describe("no other configured program runs", () => {
  test("fsmonitor, hooks, pagers, filters, aliases and differences", () => {
    const path = repository();
    const keys = [
      ...["core.fsmonitor", "core.pager", "pager.cat-file", "pager.ls-tree", "pager.rev-parse", "core.editor"],
      ...["core.alternateRefsCommand", "credential.helper", "diff.external", "diff.x.textconv", "filter.x.smudge"],
      ...["filter.x.process", "gpg.program", "alias.rev-parse", "alias.ls-tree", "alias.cat-file"],
    ];
    for (const key of keys) author(path, "config", key, key.startsWith("alias.") ? `!${program}` : program);
    author(path, "config", "core.hooksPath", folder);
    writeFileSync(join(path, ".gitattributes"), "* filter=x diff=x\n");
    for (const hook of ["post-index-change", "reference-transaction", "post-checkout"])
      writeFileSync(join(folder, hook), `#!/bin/sh\n: > ${marker}\n`, { mode: 0o755 });
    readAll(path);
    expect(existsSync(marker)).toBe(false);
    expect(commitOf(path, "HEAD")).not.toBeNull();
  });

  test("a program called git in the repository, by a relative search path", () => {
    const path = repository();
    writeFileSync(join(path, "git"), `#!/bin/sh\n: > ${marker}\n`, { mode: 0o755 });
    const before = process.env["PATH"];
    process.env["PATH"] = `:.:${before}`;
    try {
      expect(commitOf(path, "HEAD")).not.toBeNull();
    } finally {
      process.env["PATH"] = before;
    }
    expect(existsSync(marker)).toBe(false);
  });

  test("programs that the environment names", () => {
    const path = repository();
    promised(path, [["remote.origin.url", "ssh://host.invalid/x"]]);
    const named = { GIT_SSH_COMMAND: program, GIT_SSH: program, GIT_ALLOW_PROTOCOL: "ssh:ext", GIT_NO_LAZY_FETCH: "0" };
    Object.assign(process.env, named);
    try {
      readAll(path);
    } finally {
      for (const key of Object.keys(named)) delete process.env[key];
    }
    expect(existsSync(marker)).toBe(false);
  });
});
