// `ambit diff` as a reviewer uses it: files, folders and revisions, compared as authority.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ambit, inFolder } from "./ambit.ts";

const record = (id: string, ...capabilities: readonly string[]): string =>
  `---\nid: ${id}\ncapabilities: ${JSON.stringify(capabilities)}\n---\n`;

describe("two files", () => {
  const rows: readonly (readonly [string, string, string, number, RegExp])[] = [
    ["the same", "net.get{hosts=[a.com]}", "net.get{hosts=[a.com]}", 0, /no agent may do more or less/],
    [
      "spelled otherwise",
      "net.get{hosts=[a.com,b.com]}",
      "net.get{hosts=[b.com,a.com]}",
      0,
      /no agent may do more or less/,
    ],
    [
      "one more host",
      "net.get{hosts=[a.com]}",
      "net.get{hosts=[a.com,b.com]}",
      13,
      /now allowed: net\.get https:\/\/b\.com\//,
    ],
    [
      "one host fewer",
      "net.get{hosts=[a.com,b.com]}",
      "net.get{hosts=[a.com]}",
      0,
      /no longer allowed: net\.get https:\/\/b\.com\//,
    ],
    [
      "an approval that was removed",
      "net.get{hosts=[a.com],ask}",
      "net.get{hosts=[a.com]}",
      13,
      /without the approval/,
    ],
    [
      "a later expiry",
      "net.get{hosts=[a.com],expires=2026-01-01T00:00:00Z}",
      "net.get{hosts=[a.com]}",
      13,
      /after it expired before/,
    ],
    ["a larger budget", "net.get{hosts=[a.com],calls=5}", "net.get{hosts=[a.com],calls=6}", 13, /more often/],
    [
      "a smaller budget",
      "net.get{hosts=[a.com],calls=5}",
      "net.get{hosts=[a.com],calls=4}",
      0,
      /no longer allowed: more often/,
    ],
  ];
  for (const [title, before, after, status, pattern] of rows) {
    test(title, () => {
      inFolder({ "a.md": record("x", before), "b.md": record("y", after) }, (folder) => {
        const ran = ambit(folder, "diff", "a.md", "b.md");
        expect(ran.out).toMatch(pattern);
        expect(ran.status).toBe(status);
      });
    });
  }

  test("a widening that is allowed exits with 0, and is still shown", () => {
    inFolder({ "a.md": record("x"), "b.md": record("x", "records.read") }, (folder) => {
      const ran = ambit(folder, "diff", "a.md", "b.md", "--allow-widening", "--json");
      expect(ran.status).toBe(0);
      expect(JSON.parse(ran.out)).toMatchObject({ widened: true, agents: [{ agent: "x", narrowed: [] }] });
    });
  });

  test("a new text that is invalid exits with its own status and its errors", () => {
    inFolder({ "a.md": record("x", "records.read"), "b.md": "---\n[\n---\n" }, (folder) => {
      const ran = ambit(folder, "diff", "a.md", "b.md");
      expect(ran.status).toBe(3);
      expect(ran.err).toMatch(/syntax/);
    });
  });
});

describe("two folders", () => {
  test("agents are compared by their id, even if each side has one", () => {
    const files = { "o/admin.md": record("admin", "fs.read{in=/}"), "n/scout.md": record("scout", "fs.read{in=/}") };
    inFolder(files, (folder) => {
      const ran = ambit(folder, "diff", "o", "n");
      expect(ran.out).toMatch(/scout\n {2}\+ now allowed: fs\.read/);
      expect(ran.status).toBe(13);
    });
  });

  test("two files with the same id hide nothing", () => {
    const files = {
      "o/a.md": record("x", "records.read"),
      "n/a.md": record("x", "fs.read{in=/}"),
      "n/b.md": record("x", "records.read"),
    };
    inFolder(files, (folder) => {
      const ran = ambit(folder, "diff", "o", "n");
      expect(ran.err).toMatch(/both called "x"/);
      expect(ran.status).toBe(1);
    });
  });
});

test("two git revisions of a workspace, and one file in one", () => {
  inFolder({ ".ambit/agents/x.md": record("x", "net.get{hosts=[a.com]}") }, (folder) => {
    const git = (...words: readonly string[]): void =>
      void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], {
        cwd: folder,
        stdio: "ignore",
      });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "one");
    writeFileSync(join(folder, ".ambit/agents/x.md"), record("x", "net.get{hosts=[*.a.com]}"));
    git("commit", "-qam", "two");
    expect(ambit(folder, "diff", "HEAD~1", "HEAD").status).toBe(13);
    expect(ambit(folder, "diff", "HEAD", "HEAD~1").status).toBe(0);
    expect(ambit(folder, "diff", "HEAD", ".").out).toMatch(/no agent may do more or less/);
    expect(ambit(folder, "diff", "HEAD~1:.ambit/agents/x.md", ".ambit/agents/x.md").status).toBe(13);
    expect(ambit(folder, "diff", "--upload-pack=x", "HEAD").status).not.toBe(0);
    expect(ambit(folder, "diff", "nope", "HEAD").status).toBe(1);
  });
});
