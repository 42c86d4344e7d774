// `root: live`: a long-running program and a person work on one project at the same time, through the real command line.
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { DraftSummary } from "../../src/core/ports/drafts.ts";
import { CALLERS } from "../house/callers.ts";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import { LIVE, live } from "./live-program.ts";
import { DraftMachine, DraftProject, WRITER } from "./project.ts";

const machine = new DraftMachine();

describe.each(CALLERS)("as user %i", (user) => {
  let fixture: DraftProject;
  afterEach(() => fixture.end());

  const drafts = (): readonly DraftSummary[] => fixture.drafts();
  const left = (): readonly string[] => {
    const folder = join(fixture.machine, "state", "ambit", "drafts");
    return readdirSync(folder).filter((id) => existsSync(join(folder, id, "copy")));
  };
  /** Its files go after the answer. */
  const noneLeft = (): Promise<void> => until(() => left().length === 0, "the copy is removed");

  test("edits go both ways while the program runs, and the copy is removed at its end", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.write("src/a.txt", "one\n");
    fixture.write("gone.txt", "x\n");
    fixture.write("old/deep/b.txt", "b\n");
    const program = await live(fixture);
    expect(await program.say("cat src/a.txt")).toBe("one\n");
    await program.say("echo hi > src/new.txt; rm gone.txt; mv old moved; echo two > src/a.txt; ln -s a.txt src/link");
    await until(
      () => fixture.read("src/new.txt") === "hi\n" && fixture.read("gone.txt") === null,
      "the program's changes land",
    );
    await until(
      () => fixture.read("moved/deep/b.txt") === "b\n" && !fixture.names().includes("old"),
      "its folder is moved",
    );
    await until(() => fixture.read("src/a.txt") === "two\n", "its file is changed");
    fixture.write("src/a.txt", "three\n");
    fixture.write("person/p.txt", "p\n");
    await until(() => fixture.read("src/a.txt") === "three\n", "the person's change is seen");
    const until20 = (test: string): string => `for i in $(seq 200); do ${test} && break; sleep 0.05; done`;
    await program.say(until20("grep -q three src/a.txt"));
    await program.say(until20("test -f person/p.txt"));
    expect(await program.say("cat src/a.txt person/p.txt")).toBe("three\np\n");
    fixture.person("rm", "-r", "person");
    await program.say(until20("! test -e person"));
    expect(await program.say("ls -d person 2>&1 | wc -l; ls -d person 2>/dev/null")).toBe("1\n");
    await program.say("echo last > last.txt");
    const { status, errors } = await program.end();
    expect([status, fixture.read("last.txt"), fixture.read("src/a.txt")]).toEqual([0, "last\n", "three\n"]);
    expect(errors).not.toContain("kept");
    expect(drafts()).toEqual([]);
    await noneLeft();
  });

  test("triggers and conflicts do not land and are kept; nothing of the person's is overwritten", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.write("both.txt", "base\n");
    const program = await live(fixture);
    await program.say("mkdir .vscode; echo '{}' > .vscode/tasks.json; echo A=1 > .envrc; echo fine > free.txt");
    await until(() => fixture.read("free.txt") === "fine\n", "the rest lands");
    // Written all the time by the program, so that the person's edit comes before it settles.
    await program.say("for i in $(seq 12); do echo agent $i > both.txt; sleep 0.1; done & sleep 0.5");
    fixture.write("both.txt", "person\n");
    await program.say("wait");
    await program.say("echo again > free.txt");
    await until(() => fixture.read("free.txt") === "again\n", "others go on");
    expect(fixture.read("both.txt")).toBe("person\n");
    await program.end();
    expect([fixture.read(".envrc"), fixture.read(".vscode/tasks.json"), fixture.read("both.txt")]).toEqual([
      null,
      null,
      "person\n",
    ]);
    const kept = drafts().flatMap((one) => one.kept.map(({ path, code }) => `${path} ${code}`));
    expect(kept).toContain(".envrc approval_required");
    expect(kept).toContain(".vscode/tasks.json self_modification");
    expect(kept).toContain("both.txt draft_conflict");
    const conflict = drafts().find((one) => one.kept.some(({ path }) => path === "both.txt"));
    expect(fixture.changes("show", conflict?.draft ?? "").out).toContain("agent 12");
    const waiting = drafts().find((one) => one.kept.some(({ path }) => path === ".envrc"));
    fixture.changes("land", waiting?.draft ?? "", "--yes");
    expect([fixture.read(".envrc"), fixture.read(".vscode/tasks.json")]).toEqual(["A=1\n", null]);
    await noneLeft();
  });

  test("two live programs on one project see each other's changes", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    const [one, other] = [await live(fixture), await live(fixture)];
    await one.say("echo one > one.txt");
    await other.say("for i in $(seq 200); do test -f one.txt && break; sleep 0.05; done; echo other > other.txt");
    await one.say("for i in $(seq 200); do test -f other.txt && break; sleep 0.05; done");
    expect(await other.say("cat one.txt")).toBe("one\n");
    expect(await one.say("cat other.txt")).toBe("other\n");
    await one.end();
    await other.end();
    expect(drafts()).toEqual([]);
    await noneLeft();
  });

  test("a link that the program plants does not redirect the synchronization", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.write("src/a.txt", "a\n");
    const outside = join(fixture.base, "outside");
    fixture.person("mkdir", outside);
    fixture.person("sh", "-c", `echo secret > ${outside}/secret.txt`);
    const program = await live(fixture);
    await program.say(`rm -r src; ln -s ${outside} src; ln -s ${outside}/secret.txt leak.txt`);
    fixture.write("src/person.txt", "p\n");
    await program.say("echo x > done.txt");
    await until(() => fixture.read("done.txt") === "x\n", "others land");
    await program.end();
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(fixture.read("src/person.txt")).toBe("p\n");
    expect(existsSync(join(fixture.project, "leak.txt"))).toBe(false);
  });

  test("a commit of the program lands by meaning while it runs", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.repository();
    const program = await live(fixture);
    const git = "git -c user.name=A -c user.email=a@example.com";
    await program.say(
      `echo new > b.txt; git add b.txt; ${git} commit -q -m second 2>&1; echo evil > .git/hooks/pre-commit`,
    );
    await until(() => fixture.person("git", "log", "--format=%s").out === "second\nfirst\n", "the commit is there");
    await until(() => fixture.read("b.txt") === "new\n", "its file is there");
    await program.end();
    expect(fixture.person("git", "status", "--porcelain", "b.txt", "a.txt").out).toBe("");
    expect(existsSync(join(fixture.project, ".git", "hooks", "pre-commit"))).toBe(false);
    const kept = drafts().flatMap((one) => one.kept.map(({ path, code }) => `${path} ${code}`));
    expect(kept).toEqual([".git/hooks/pre-commit self_modification"]);
  });

  test("a lock of the person's git delays a commit of the program, and no more", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.repository();
    const program = await live(fixture);
    fixture.write(".git/index.lock", "");
    await program.say("echo new > b.txt; git add b.txt; git commit -q -m second; echo after > after.txt");
    await pause(3_000, "the first attempt waits two seconds for the lock");
    expect(fixture.person("git", "log", "--format=%s").out).toBe("first\n");
    fixture.person("rm", ".git/index.lock");
    await until(() => fixture.person("git", "log", "--format=%s").out === "second\nfirst\n", "the commit is there");
    await program.end();
    expect(drafts()).toEqual([]);
  });

  test("stashes of the program land one after the other", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.repository();
    const program = await live(fixture);
    const stashes = (): number => fixture.person("git", "stash", "list").out.split("\n").length - 1;
    for (const count of [1, 2]) {
      await program.say(`echo ${count} > a.txt; git stash -q`);
      await until(() => stashes() === count, `${count} stashes`);
    }
    await program.end();
    expect([stashes(), drafts()]).toEqual([2, []]);
  });

  test("after kill -9 of the daemon the program's changes are kept, and nothing lands by itself", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.write("a.txt", "one\n");
    fixture.write("gone.txt", "x\n");
    const program = await live(fixture);
    await program.say("echo landed > landed.txt");
    await until(() => fixture.read("landed.txt") === "landed\n", "it lands");
    const { pid } = JSON.parse(fixture.ambit(["daemon", "status", "--json"]).out) as { pid: number };
    await program.say("echo A=1 > .envrc; echo two > a.txt; rm gone.txt");
    process.kill(pid, "SIGKILL");
    await program.end();
    const before = [fixture.read("a.txt"), fixture.read("gone.txt"), fixture.read(".envrc")];
    expect(fixture.ambit(["daemon", "start"]).status).toBe(0);
    expect([fixture.read("a.txt"), fixture.read("gone.txt"), fixture.read(".envrc")]).toEqual(before);
    const [draft] = drafts();
    const shown = fixture.changes("show", draft?.draft ?? "").out;
    expect(shown).toContain("A=1");
    expect(shown).not.toContain("landed.txt");
    await noneLeft();
  });

  if (user !== 0)
    test("a folder that the program makes unreadable is not treated as deleted", async () => {
      // Its copy stays, so it has a state of its own.
      fixture = new DraftProject(user, LIVE);
      for (const folder of ["closed", "listed", "plain"]) fixture.write(`${folder}/a.txt`, `${folder}\n`);
      const program = await live(fixture);
      await program.say("chmod 000 closed; chmod 444 listed; rm plain/a.txt; mkfifo plain/a.txt; echo hi > free.txt");
      await until(() => fixture.read("free.txt") === "hi\n", "the rest lands");
      const { errors } = await program.end();
      expect(errors).toContain("2 names are not UTF-8, or are folders that cannot be opened");
      expect(["closed", "listed", "plain"].map((folder) => fixture.read(`${folder}/a.txt`))).toEqual([
        "closed\n",
        "listed\n",
        "plain\n",
      ]);
    });

  if (user !== 0)
    test("nor is it after kill -9 of the daemon", async () => {
      fixture = new DraftProject(user, LIVE);
      fixture.write("closed/a.txt", "closed\n");
      const program = await live(fixture);
      await program.say("echo A=1 > .envrc; chmod 000 closed");
      const { pid } = JSON.parse(fixture.ambit(["daemon", "status", "--json"]).out) as { pid: number };
      process.kill(pid, "SIGKILL");
      await program.end();
      expect(fixture.ambit(["daemon", "start"]).status).toBe(0);
      for (const { draft } of drafts()) {
        expect(fixture.changes("show", draft).out).not.toContain("closed/a.txt");
        fixture.changes("land", draft, "--yes");
      }
      expect(fixture.read("closed/a.txt")).toBe("closed\n");
      expect(left()).toHaveLength(1);
    });

  test("names that appear while it runs are hidden if fs.read does not cover them, and not overwritten", async () => {
    fixture = new DraftProject(user, LIVE.replace("  - fs.read\n", "  - fs.read: { paths: [pub/**] }\n"), machine);
    fixture.write("pub/a.txt", "a\n");
    const program = await live(fixture);
    fixture.write("late.txt", "SECRET\n");
    fixture.write("late/b.txt", "SECRET\n");
    fixture.write(".ambit/records/crm/c.md", "SECRET\n");
    fixture.write("pub/new.txt", "public\n");
    const seen =
      "for i in $(seq 200); do test -f pub/new.txt && break; sleep 0.05; done; cat pub/new.txt; grep -r SECRET .";
    expect(await program.say(seen)).toBe("public\n");
    await program.say("echo agent > late.txt; mkdir late; echo agent > late/b.txt; echo agent > pub/c.txt");
    await until(() => fixture.read("pub/c.txt") === "agent\n", "the rest lands");
    await program.end();
    expect([fixture.read("late.txt"), fixture.read("late/b.txt")]).toEqual(["SECRET\n", "SECRET\n"]);
    const kept = drafts().flatMap((one) => one.kept.map(({ path, code }) => `${path} ${code}`));
    expect(kept).toContain("late.txt self_modification");
    for (const { draft } of drafts()) fixture.changes("land", draft, "--yes");
    expect([fixture.read("late.txt"), fixture.read("late/b.txt")]).toEqual(["SECRET\n", "SECRET\n"]);
  });

  test("a folder that is too large is refused with the reason, and rw does not cover live", async () => {
    fixture = new DraftProject(user, LIVE, machine);
    fixture.write("large.bin", "");
    truncateSync(join(fixture.project, "large.bin"), 5 * 1_073_741_824);
    const refused = fixture.ambit(["exec", "writer", "--root", "live", "--", "true"]);
    const large = fixture.ambit(["exec", "writer", "--root", "live", "--", "sh", "-c", "true"]);
    expect([refused.status, large.status]).toEqual([125, 125]);
    expect(large.err).toContain("a live root copies all of it");
    await noneLeft();
    writeFileSync(join(fixture.project, ".ambit", "agents", "writer.md"), WRITER);
    const uncovered = fixture.ambit(["exec", "writer", "--root", "live", "--", "sh", "-c", "true"]);
    expect([uncovered.status, uncovered.err.includes("live root copies")]).toEqual([125, false]);
    expect(readFileSync(join(fixture.project, ".ambit", "agents", "writer.md"), "utf8")).toBe(WRITER);
  });
});
