// What an agent's program writes, through the real command line: it lands by name, or is kept and reported as what it is.
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftMachine, DraftWorld } from "./world.ts";

const machine = new DraftMachine();

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let world: DraftWorld;
    beforeEach(() => {
      world = new DraftWorld(user, undefined, machine);
    });
    afterEach(() => world.end());

    const kept = (changes: { readonly kept: readonly { path: string; code: string }[] } | null): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);

    test("granted changes land when the command ends, and nothing else appears in the project", () => {
      world.write("old.txt", "before\n");
      world.write("gone.txt", "x\n");
      const before = world.names();
      const { changes, status } = world.shell(
        "mkdir -p new/deep && echo hi > new/deep/file && echo after > old.txt && rm gone.txt && printf '#!/bin/sh\\n' > run && chmod 700 run",
      );
      expect([status, changes?.kept]).toEqual([0, []]);
      expect([world.read("new/deep/file"), world.read("old.txt"), world.read("gone.txt")]).toEqual([
        "hi\n",
        "after\n",
        null,
      ]);
      const names = [...before, "new", "new/deep", "new/deep/file", "run"].filter((name) => name !== "gone.txt").sort();
      expect(world.names()).toEqual(names);
    });

    test("a command that writes nothing leaves nothing: no folder, no draft", () => {
      const before = world.names();
      expect(world.shell("ls -A > /dev/null").changes).toBeNull();
      expect(world.names()).toEqual(before);
      expect(world.drafts("--all")).toEqual([]);
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
      const before = [world.read(name), world.names()];
      const { changes, status } = world.shell(`${line} && echo fine > free.txt`);
      expect(status).toBe(0);
      expect(changes?.kept.length).toBeGreaterThan(0);
      expect([world.read(name), world.names().filter((one) => one !== "free.txt")]).toEqual(before);
      expect(world.read("free.txt")).toBe("fine\n");
      const [draft] = world.drafts();
      expect(draft).toMatchObject({ draft: changes?.draft, state: "kept", agent: "writer" });
    });

    test("a name that needs approval lands once a person approves what was shown", () => {
      const { changes } = world.shell("echo 'export A=1' > .envrc");
      expect(kept(changes)).toEqual([".envrc approval_required"]);
      const id = changes?.draft ?? "";
      expect(world.changes("show", id).out).toContain("export A=1");
      expect(world.changes("land", id).status).toBe(2);
      expect(world.read(".envrc")).toBeNull();
      expect(world.changes("land", id, "--yes").status).toBe(0);
      expect(world.read(".envrc")).toBe("export A=1\n");
      expect(world.drafts()).toEqual([]);
    });

    test("a name that never lands does not land with an approval either", () => {
      const { changes } = world.shell("mkdir .vscode; echo '{}' > .vscode/tasks.json");
      world.changes("land", changes?.draft ?? "", "--yes");
      expect(existsSync(join(world.project, ".vscode"))).toBe(false);
      expect(world.changes("discard", changes?.draft ?? "", "--yes").status).toBe(0);
      expect(world.drafts()).toEqual([]);
    });

    test("with --review nothing lands before it is approved", () => {
      const { changes } = world.shell("echo x > file.txt", "--review");
      expect([world.read("file.txt"), kept(changes)]).toEqual([null, ["file.txt approval_required"]]);
      expect(world.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
      expect(world.read("file.txt")).toBe("x\n");
    });

    test("undo restores what a call changed, deleted and created", () => {
      world.write("old.txt", "before\n");
      world.write("gone/x.txt", "x\n");
      const before = world.names();
      const { changes } = world.shell("echo after > old.txt; rm -r gone; mkdir new; echo y > new/y");
      expect(world.read("old.txt")).toBe("after\n");
      expect(world.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect([world.read("old.txt"), world.read("gone/x.txt"), world.names()]).toEqual(["before\n", "x\n", before]);
    });

    test("undo never overwrites a later edit", () => {
      world.write("old.txt", "before\n");
      const { changes } = world.shell("echo after > old.txt");
      world.write("old.txt", "mine\n");
      const undone = world.ambit(["undo", changes?.draft ?? ""]);
      expect([undone.status === 0, world.read("old.txt")]).toEqual([false, "mine\n"]);
      expect(undone.err).toContain("draft_conflict");
    });

    test("a person's edit during the command is kept, and the program's version is a draft", async () => {
      world.write("shared.txt", "base\n");
      const held = await world.hold("echo agent > shared.txt");
      world.write("shared.txt", "person\n");
      await held.release();
      expect(world.read("shared.txt")).toBe("person\n");
      const [draft] = world.drafts();
      expect(draft?.kept).toMatchObject([{ path: "shared.txt", code: "draft_conflict" }]);
    });

    test("a person's own new trigger during a command stays where it is", async () => {
      const held = await world.hold("echo x > made.txt");
      world.write(".mcp.json", '{"mine":true}\n');
      mkdirSync(join(world.project, ".vscode"));
      world.own();
      await held.release();
      expect([world.read(".mcp.json"), existsSync(join(world.project, ".vscode")), world.read("made.txt")]).toEqual([
        '{"mine":true}\n',
        true,
        "x\n",
      ]);
    });

    test("links that leave the project or lead to a protected name do not land", () => {
      const { changes } = world.shell(
        "ln -s /etc/passwd out; ln -s .ambit/agents in; ln -s a.txt fine; echo a > a.txt",
      );
      expect(
        kept(changes)
          .map((one) => one.split(" ")[0])
          .sort(),
      ).toEqual(["in", "out"]);
      expect(readdirSync(world.project).includes("fine")).toBe(true);
    });

    test("no device, pipe or set-id bit lands", () => {
      const { changes } = world.shell("mkfifo pipe; cp /bin/true prog; chmod 6755 prog");
      expect(kept(changes)).toEqual(["pipe not_landed"]);
      expect(world.person("find", ".", "-perm", "/6000").out).toBe("");
      expect(world.person("test", "-x", "prog").status).toBe(0);
    });

    test("without a grant to delete, deletions wait", () => {
      world.end();
      world = new DraftWorld(
        user,
        "---\nid: writer\nsandbox: .\ncapabilities:\n  - fs.read\n  - fs.write\n  - proc.eval\n---\n",
        machine,
      );
      world.write("keep.txt", "x\n");
      const { changes } = world.shell("rm keep.txt; echo y > other.txt");
      expect([world.read("keep.txt"), world.read("other.txt")]).toEqual(["x\n", "y\n"]);
      expect(kept(changes)).toEqual(["keep.txt capability_absent"]);
    });

    test("a folder replaced by a link during the command leads nowhere", async () => {
      world.write("d/file", "x\n");
      mkdirSync(join(world.base, "elsewhere"));
      world.own();
      const held = await world.hold("echo planted > d/planted");
      renameSync(join(world.project, "d"), join(world.project, "d2"));
      symlinkSync(join(world.base, "elsewhere"), join(world.project, "d"));
      await held.release();
      expect(readdirSync(join(world.base, "elsewhere"))).toEqual([]);
    });

    // Root can write everywhere.
    if (user !== 0)
      test("if the project folder is not writable, the draft is kept", () => {
        world.write("ro/file", "x\n");
        chmodSync(join(world.project, "ro"), 0o555);
        const { changes } = world.shell("chmod 755 ro; echo y > ro/new");
        expect(changes?.kept.length).toBeGreaterThan(0);
        expect(readdirSync(join(world.project, "ro"))).toEqual(["file"]);
        chmodSync(join(world.project, "ro"), 0o755);
      });

    test("when the daemon is killed during a command, the project is unchanged and the changes are kept as a draft", async () => {
      const held = await world.hold("echo half > half.txt");
      const { pid } = JSON.parse(world.ambit(["daemon", "status", "--json"]).out);
      world.person("kill", "-9", String(pid));
      await held.done;
      expect(world.read("half.txt")).toBeNull();
      const [draft] = world.drafts();
      expect(draft).toMatchObject({ state: "kept", agent: "writer" });
    });

    test("git commit, branch and checkout land by meaning", () => {
      world.repository();
      const { changes, status, errors } = world.shell(
        "echo two > b.txt && git add b.txt && git commit -qm second && git checkout -qb topic && echo three >> a.txt && git commit -qam third",
      );
      expect([status, errors, changes?.kept]).toEqual([0, "", []]);
      expect(world.person("git", "log", "--format=%s", "topic").out).toBe("third\nsecond\nfirst\n");
      expect(world.person("git", "rev-parse", "--abbrev-ref", "HEAD").out).toBe("topic\n");
      expect(world.person("git", "status", "--porcelain", "--untracked-files=no").out).toBe("");
      expect(world.person("git", "fsck", "--strict").status).toBe(0);
      writeFileSync(join(world.project, "c.txt"), "c");
    });
  });
