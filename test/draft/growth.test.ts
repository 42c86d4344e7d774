// Programs that write without end: stopped at the limits of a draft or when the disk is full, reported as that, nothing lost.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftProject, WRITER } from "./project.ts";

const LIVE = WRITER.replace("  - proc.eval\n", "  - proc.eval: { root: live }\n");
const BYTES = "i=0; while :; do head -c 1000000 /dev/urandom > f$i; i=$((i+1)); sleep 0.05; done";
const FILES = "mkdir d; i=0; while :; do : > d/$i; i=$((i+1)); sleep 0.01; done";

describe.each(CALLERS)("as user %s", (user) => {
  let fixture: DraftProject;
  afterEach(() => fixture.end());

  const start = (record: string, limits: string): void => {
    fixture = new DraftProject(user, record);
    mkdirSync(join(fixture.base, "config", "ambit"), { recursive: true });
    writeFileSync(join(fixture.base, "config", "ambit", "config.yml"), `limits: ${limits}\n`);
    fixture.own();
  };
  const exec = (
    line: string,
    ...options: readonly string[]
  ): { readonly out: string; readonly status: number | null } =>
    fixture.ambit(["exec", "writer", "--json", ...options, "--shell", "--", line]);

  test.each([
    [
      "a draft that takes too much space",
      WRITER,
      "{ draft_mib: 8 }",
      BYTES,
      /more than 8 MiB \(limits: draft_mib\)/,
      [],
    ],
    [
      "a draft with too many files",
      WRITER,
      "{ draft_files: 50 }",
      FILES,
      /more than 50 files \(limits: draft_files\)/,
      [],
    ],
    ["a draft under review", WRITER, "{ draft_files: 50 }", FILES, /more than 50 files/, ["--review"]],
    ["a live copy that takes too much space", LIVE, "{ draft_mib: 8 }", BYTES, /more than 8 MiB/, ["--root", "live"]],
    ["a live copy with too many files", LIVE, "{ draft_files: 50 }", FILES, /more than 50 files/, ["--root", "live"]],
  ])(
    "%s is stopped with the reason, and what was written lands or is kept",
    (_, record, limits, line, reason, options) => {
      start(record, limits);
      const { out, status } = exec(line, ...options);
      expect(status).not.toBe(0);
      const { ending, changes } = JSON.parse(out);
      expect(ending).toMatchObject({ kind: "ended", because: "draft", reason: expect.stringMatching(reason) });
      const name = line === BYTES ? "f0" : "d";
      if (options.includes("--review")) {
        expect(changes.kept.map((one: { path: string }) => one.path)).toContain(name);
        expect(fixture.changes("land", changes.draft, "--yes").status).toBe(0);
      }
      expect(readdirSync(fixture.project)).toContain(name);
      expect(JSON.parse(fixture.changes("list", "--json").out).drafts).toEqual([]);
    },
  );

  test("a folder that cannot be listed does not switch the limits off", () => {
    start(WRITER, "{ draft_files: 50 }");
    const { out, status } = exec(`mkdir x; echo in > x/in; chmod 000 x; ${FILES}`);
    expect(status).not.toBe(0);
    // Root can list every folder.
    const reason = user === 0 ? /more than 50 files/ : /a folder in it cannot be listed/;
    expect(JSON.parse(out).ending).toMatchObject({ because: "draft", reason: expect.stringMatching(reason) });
    expect(readFileSync(join(fixture.project, "x", "in"), "utf8")).toBe("in\n");
    expect(readdirSync(fixture.project)).toContain("d");
    expect(JSON.parse(fixture.changes("list", "--json").out).drafts).toEqual([]);
  });

  test("files that come and go do not switch the limits off", () => {
    start(WRITER, "{ draft_files: 50 }");
    const { out } = exec(`(while :; do : > t; rm -f t; done) & ${FILES}`);
    expect(JSON.parse(out).ending).toMatchObject({
      because: "draft",
      reason: expect.stringMatching(/more than 50 files/),
    });
  });

  test("a command below its limits is not stopped", () => {
    start(WRITER, "{ draft_mib: 8, draft_files: 50 }");
    expect(exec("head -c 4000000 /dev/zero > f; sleep 2").status).toBe(0);
  });
});

/** Only root can mount a small file system without a namespace of its own. */
describe.skipIf(process.getuid?.() !== 0)("a full disk", () => {
  let fixture: DraftProject;
  const mounts: string[] = [];
  afterEach(() => {
    fixture.stopDaemon();
    for (const mount of mounts.splice(0)) spawnSync("umount", [mount]);
    fixture.end();
  });
  const small = (path: string): void => {
    mkdirSync(path, { recursive: true });
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", path]).status).toBe(0);
    mounts.push(path);
  };

  test("of the state folder: the program is stopped, and the log still works", () => {
    fixture = new DraftProject(0);
    fixture.stopDaemon();
    small(join(fixture.base, "state", "ambit", "drafts"));
    const { out } = fixture.ambit(["exec", "writer", "--json", "--shell", "--", BYTES]);
    const { ending, changes } = JSON.parse(out);
    expect(ending).toMatchObject({ because: "draft", reason: expect.stringContaining("no space") });
    expect(fixture.changes("discard", changes.draft, "--yes").status).toBe(0);
    expect(fixture.shell("echo fine").output).toBe("fine\n");
  });
});
