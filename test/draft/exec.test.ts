// What an agent's program writes, through the real command line: it lands by name, or is kept and reported as what it is.
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftMachine, DraftProject } from "./project.ts";

const machine = new DraftMachine();

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    beforeEach(() => {
      fixture = new DraftProject(user, undefined, machine);
    });
    afterEach(() => fixture.end());

    const kept = (changes: { readonly kept: readonly { path: string; code: string }[] } | null): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);

    test("granted changes land when the command ends, and nothing else appears in the project", () => {
      fixture.write("old.txt", "before\n");
      fixture.write("gone.txt", "x\n");
      const before = fixture.names();
      const { changes, status } = fixture.shell(
        "mkdir -p new/deep && echo hi > new/deep/file && echo after > old.txt && rm gone.txt && printf '#!/bin/sh\\n' > run && chmod 700 run",
      );
      expect([status, changes?.kept]).toEqual([0, []]);
      expect([fixture.read("new/deep/file"), fixture.read("old.txt"), fixture.read("gone.txt")]).toEqual([
        "hi\n",
        "after\n",
        null,
      ]);
      const names = [...before, "new", "new/deep", "new/deep/file", "run"].filter((name) => name !== "gone.txt").sort();
      expect(fixture.names()).toEqual(names);
    });

    test("a command that writes nothing leaves nothing: no folder, no draft", () => {
      const before = fixture.names();
      expect(fixture.shell("ls -A > /dev/null").changes).toBeNull();
      expect(fixture.names()).toEqual(before);
      expect(fixture.drafts("--all")).toEqual([]);
    });

    test.each([
      [".git/hooks/post-checkout", "mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout"],
      [".vscode/tasks.json", "mkdir .vscode && echo '{}' > .vscode/tasks.json"],
      [".ambit/agents/writer.md", "echo > .ambit/agents/writer.md"],
      [".bashrc", "echo evil > .bashrc"],
      [".claude/settings.json", "mkdir .claude && echo '{}' > .claude/settings.json"],
      [".envrc", "echo evil > .envrc"],
      [".mcp.json", "echo '{}' > .mcp.json"],
    ])("a trigger does not land, and is reported as kept: %s", (name, line) => {
      const before = [fixture.read(name), fixture.names()];
      const { changes, status } = fixture.shell(`${line} && echo fine > free.txt`);
      expect(status).toBe(0);
      expect(changes?.kept.length).toBeGreaterThan(0);
      expect([fixture.read(name), fixture.names().filter((one) => one !== "free.txt")]).toEqual(before);
      expect(fixture.read("free.txt")).toBe("fine\n");
      const [draft] = fixture.drafts();
      expect(draft).toMatchObject({ draft: changes?.draft, state: "kept", agent: "writer" });
    });

    test("a name that needs approval lands once a person approves what was shown", () => {
      const { changes } = fixture.shell("echo 'export A=1' > .envrc");
      expect(kept(changes)).toEqual([".envrc approval_required"]);
      const id = changes?.draft ?? "";
      expect(fixture.changes("show", id).out).toContain("export A=1");
      expect(fixture.changes("land", id).status).toBe(2);
      expect(fixture.read(".envrc")).toBeNull();
      expect(fixture.changes("land", id, "--yes").status).toBe(0);
      expect(fixture.read(".envrc")).toBe("export A=1\n");
      expect(fixture.drafts()).toEqual([]);
    });

    test("a name that never lands does not land with an approval either", () => {
      const { changes } = fixture.shell("mkdir .vscode; echo '{}' > .vscode/tasks.json");
      fixture.changes("land", changes?.draft ?? "", "--yes");
      expect(existsSync(join(fixture.project, ".vscode"))).toBe(false);
      expect(fixture.changes("discard", changes?.draft ?? "", "--yes").status).toBe(0);
      expect(fixture.drafts()).toEqual([]);
    });

    test("with --review nothing lands before it is approved", () => {
      const { changes } = fixture.shell("echo x > file.txt", "--review");
      expect([fixture.read("file.txt"), kept(changes)]).toEqual([null, ["file.txt approval_required"]]);
      expect(fixture.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
      expect(fixture.read("file.txt")).toBe("x\n");
    });

    test("undo restores what a call changed, deleted and created", () => {
      fixture.write("old.txt", "before\n");
      fixture.write("gone/x.txt", "x\n");
      const before = fixture.names();
      const { changes } = fixture.shell("echo after > old.txt; rm -r gone; mkdir new; echo y > new/y");
      expect(fixture.read("old.txt")).toBe("after\n");
      expect(fixture.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect([fixture.read("old.txt"), fixture.read("gone/x.txt"), fixture.names()]).toEqual([
        "before\n",
        "x\n",
        before,
      ]);
    });

    test("undo never overwrites a later edit", () => {
      fixture.write("old.txt", "before\n");
      const { changes } = fixture.shell("echo after > old.txt");
      fixture.write("old.txt", "mine\n");
      const undone = fixture.ambit(["undo", changes?.draft ?? ""]);
      expect([undone.status === 0, fixture.read("old.txt")]).toEqual([false, "mine\n"]);
      expect(undone.err).toContain("draft_conflict");
    });

    test("a person's edit during the command is kept, and the program's version is a draft", async () => {
      fixture.write("shared.txt", "base\n");
      const held = await fixture.hold("echo agent > shared.txt");
      fixture.write("shared.txt", "person\n");
      await held.release();
      expect(fixture.read("shared.txt")).toBe("person\n");
      const [draft] = fixture.drafts();
      expect(draft?.kept).toMatchObject([{ path: "shared.txt", code: "draft_conflict" }]);
    });

    test("a person's own new trigger during a command stays where it is", async () => {
      const held = await fixture.hold("echo x > made.txt");
      fixture.write(".mcp.json", '{"mine":true}\n');
      mkdirSync(join(fixture.project, ".vscode"));
      fixture.own();
      await held.release();
      expect([
        fixture.read(".mcp.json"),
        existsSync(join(fixture.project, ".vscode")),
        fixture.read("made.txt"),
      ]).toEqual(['{"mine":true}\n', true, "x\n"]);
    });

    test("links that leave the project or lead to a protected name do not land", () => {
      const { changes } = fixture.shell(
        "ln -s /etc/passwd out; ln -s .ambit/agents in; ln -s a.txt fine; echo a > a.txt",
      );
      expect(
        kept(changes)
          .map((one) => one.split(" ")[0])
          .sort(),
      ).toEqual(["in", "out"]);
      expect(readdirSync(fixture.project).includes("fine")).toBe(true);
    });

    test("no device, pipe or set-id bit lands", () => {
      const { changes } = fixture.shell("mkfifo pipe; cp /bin/true prog; chmod 6755 prog");
      expect(kept(changes)).toEqual(["pipe not_landed"]);
      expect(fixture.person("find", ".", "-perm", "/6000").out).toBe("");
      expect(fixture.person("test", "-x", "prog").status).toBe(0);
    });

    test("without a grant to delete, deletions wait", () => {
      fixture.end();
      fixture = new DraftProject(
        user,
        "---\nid: writer\nsandbox: .\ncapabilities:\n  - fs.read\n  - fs.write\n  - proc.eval\n---\n",
        machine,
      );
      fixture.write("keep.txt", "x\n");
      const { changes } = fixture.shell("rm keep.txt; echo y > other.txt");
      expect([fixture.read("keep.txt"), fixture.read("other.txt")]).toEqual(["x\n", "y\n"]);
      expect(kept(changes)).toEqual(["keep.txt capability_absent"]);
    });

    test("a folder replaced by a link during the command leads nowhere", async () => {
      fixture.write("d/file", "x\n");
      mkdirSync(join(fixture.base, "elsewhere"));
      fixture.own();
      const held = await fixture.hold("echo planted > d/planted");
      renameSync(join(fixture.project, "d"), join(fixture.project, "d2"));
      symlinkSync(join(fixture.base, "elsewhere"), join(fixture.project, "d"));
      await held.release();
      expect(readdirSync(join(fixture.base, "elsewhere"))).toEqual([]);
    });

    // Root can write everywhere.
    if (user !== 0)
      test("if the project folder is not writable, the draft is kept", () => {
        fixture.write("ro/file", "x\n");
        chmodSync(join(fixture.project, "ro"), 0o555);
        const { changes } = fixture.shell("chmod 755 ro; echo y > ro/new");
        expect(changes?.kept.length).toBeGreaterThan(0);
        expect(readdirSync(join(fixture.project, "ro"))).toEqual(["file"]);
        chmodSync(join(fixture.project, "ro"), 0o755);
      });

    test("when the daemon is killed during a command, the project is unchanged and the changes are kept as a draft", async () => {
      const held = await fixture.hold("echo half > half.txt");
      const { pid } = JSON.parse(fixture.ambit(["daemon", "status", "--json"]).out);
      fixture.person("kill", "-9", String(pid));
      await held.done;
      expect(fixture.read("half.txt")).toBeNull();
      const [draft] = fixture.drafts();
      expect(draft).toMatchObject({ state: "kept", agent: "writer" });
    });

    test("git commit, branch and checkout land by meaning", () => {
      fixture.repository();
      const { changes, status, errors } = fixture.shell(
        "echo two > b.txt && git add b.txt && git commit -qm second && git checkout -qb topic && echo three >> a.txt && git commit -qam third",
      );
      expect([status, errors, changes?.kept]).toEqual([0, "", []]);
      expect(fixture.person("git", "log", "--format=%s", "topic").out).toBe("third\nsecond\nfirst\n");
      expect(fixture.person("git", "rev-parse", "--abbrev-ref", "HEAD").out).toBe("topic\n");
      expect(fixture.person("git", "status", "--porcelain", "--untracked-files=no").out).toBe("");
      expect(fixture.person("git", "fsck", "--strict").status).toBe(0);
      writeFileSync(join(fixture.project, "c.txt"), "c");
    });
  });
