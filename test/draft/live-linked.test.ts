// `root: live` in a linked worktree or a submodule, whose git folder lies outside the root: a long-running program and a person
// use git at the same time, through the real command line.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import { linkedWorktree, mainFolder, personSays, submoduleProject } from "./linked-project.ts";
import { LIVE, type LiveProgram, live } from "./live-program.ts";
import { DraftMachine, DraftProject } from "./project.ts";

const machine = new DraftMachine();

const GIT = "git -c user.name=A -c user.email=a@example.com";
const commit = (name: string): string => `echo ${name} > ${name}.txt; git add ${name}.txt; ${GIT} commit -q -m ${name}`;

describe.each(CALLERS)("as user %i", (user) => {
  let fixture: DraftProject;
  afterEach(() => fixture.end());

  const person = (...words: readonly string[]): string => personSays(fixture, ...words);
  const main = (): string => mainFolder(fixture);
  /** Empty where there is no such branch. */
  const log = (...words: readonly string[]): string =>
    fixture.person("git", "log", "--format=%s", ...words).out.trimEnd();
  /** Refs move before the index, which is locked until then. */
  const isUnlocked = (): boolean =>
    person("git", "rev-parse", "--git-path", "index.lock")
      .split("\n")
      .every((path) => !existsSync(path));
  const landed = (want: string, ...words: readonly string[]): Promise<void> =>
    until(() => log(...words) === want && isUnlocked(), `the log is ${want}`);
  /** Waits inside until a shell test holds. */
  const inside = (program: LiveProgram, test: string): Promise<string> =>
    program.say(`for i in $(seq 400); do ${test} && break; sleep 0.05; done`);
  const kept = (): readonly string[] =>
    fixture.drafts().flatMap((one) => one.kept.map(({ path, code }) => `${path} ${code}`));

  async function start(make: (one: DraftProject) => void = linkedWorktree): Promise<LiveProgram> {
    fixture = new DraftProject(user, LIVE, machine);
    make(fixture);
    return live(fixture);
  }

  test("a commit inside is in the worktree and in the main repository while the program runs", async () => {
    const program = await start();
    expect(await program.say("git status --porcelain; git log --format=%s; git branch --show-current")).toBe(
      "first\nfeature\n",
    );
    await program.say(commit("second"));
    await landed("second\nfirst");
    expect(log("feature")).toBe("second\nfirst");
    expect(person("git", "-C", main(), "log", "--format=%s", "feature")).toBe("second\nfirst");
    expect(person("git", "-C", main(), "log", "--format=%s", "main")).toBe("first");
    await until(() => person("git", "status", "--porcelain") === "", "the worktree is clean");
    await program.say(commit("third"));
    await landed("third\nsecond\nfirst");
    const { status, errors } = await program.end();
    expect([status, errors]).toEqual([0, expect.not.stringContaining("kept")]);
    expect(person("git", "-C", main(), "fsck", "--strict")).toBe("");
    expect(readFileSync(join(fixture.project, ".git"), "utf8")).toMatch(/^gitdir: /);
    expect(fixture.drafts()).toEqual([]);
  });

  test("a commit of the person is inside, and the next commit of the program is on top of it", async () => {
    const program = await start();
    await program.say(commit("one"));
    await landed("one\nfirst");
    fixture.write("mine.txt", "mine\n");
    person("git", "add", "mine.txt");
    person("git", "commit", "-q", "-m", "mine");
    await inside(program, 'test "$(git log --format=%s -1)" = mine && test -z "$(git status --porcelain)"');
    expect(await program.say("git log --format=%s; git status --porcelain; cat mine.txt")).toBe(
      "mine\none\nfirst\nmine\n",
    );
    await program.say(commit("two"));
    await landed("two\nmine\none\nfirst");
    await program.end();
    expect([person("git", "status", "--porcelain"), fixture.drafts()]).toEqual(["", []]);
  });

  test("what the person stages, switches to and stashes is inside, and branches of other worktrees are", async () => {
    const program = await start();
    fixture.write("staged.txt", "x\n");
    person("git", "add", "staged.txt");
    await inside(program, "git diff --cached --name-only | grep -q staged");
    person("git", "stash", "-q");
    await inside(program, "git stash list | grep -q feature && ! git diff --cached --name-only | grep -q staged");
    person("git", "switch", "-q", "-c", "other");
    await inside(program, "test $(git branch --show-current) = other");
    person("git", "-C", main(), "commit", "-q", "--allow-empty", "-m", "on main");
    await inside(program, "test \"$(git log --format=%s -1 main)\" = 'on main'");
    person("git", "-C", main(), "branch", "-D", "-q", "feature");
    await inside(program, "! git rev-parse -q --verify feature");
    person("git", "-C", main(), "branch", "feature/deep");
    await inside(program, "git rev-parse -q --verify feature/deep");
    await program.say(commit("last"));
    await landed("last\nfirst");
    await program.end();
    expect([person("git", "stash", "list").split("\n").length, fixture.drafts()]).toEqual([1, []]);
  });

  test("both commit at once: the person's branch stays, and the program's commit waits as a conflict", async () => {
    const program = await start();
    // A lock of git inside: the program works until it is gone.
    await program.say(`touch .git/wait.lock; ${commit("agent")}`);
    fixture.write("mine.txt", "mine\n");
    person("git", "add", "mine.txt");
    person("git", "commit", "-q", "-m", "mine");
    const before = person("git", "rev-parse", "feature");
    await program.say("rm .git/wait.lock; echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land without git");
    expect(person("git", "rev-parse", "feature")).toBe(before);
    const { errors } = await program.end();
    expect(errors).toContain(".git");
    expect([log(), person("git", "rev-parse", "feature")]).toEqual(["mine\nfirst", before]);
    expect(kept()).toEqual([".git draft_conflict"]);
    const [draft] = fixture.drafts();
    expect(draft?.kept[0]?.reason).toContain("changed");
    fixture.changes("land", draft?.draft ?? "", "--yes");
    expect([log(), person("git", "rev-parse", "feature")]).toEqual(["mine\nfirst", before]);
    expect(person("git", "fsck", "--strict")).toBe("");
  });

  /** Both have a commit on `feature` that the other side does not have. */
  async function apart(): Promise<LiveProgram> {
    const program = await start();
    await program.say(`touch .git/wait.lock; ${commit("agent")}`);
    fixture.write("mine.txt", "mine\n");
    person("git", "add", "mine.txt");
    person("git", "commit", "-q", "-m", "mine");
    await program.say("rm .git/wait.lock");
    await inside(program, "git rev-parse -q --verify refs/ambit/outside/heads/feature");
    return program;
  }

  test.each([
    ["merges", "merge -q -m merged", "merged\nmine\nagent\nfirst"],
    ["rebases onto", "rebase -q", "agent\nmine\nfirst"],
  ])("a program that %s the person's commit resolves the conflict", async (_, words, want) => {
    const program = await apart();
    // The person's files are inside already; git does not merge over files that it does not track.
    expect(await program.say(`git clean -fq; ${GIT} ${words} refs/ambit/outside/heads/feature 2>&1`)).toBe("");
    await until(() => log().split("\n").sort().join() === want.split("\n").sort().join(), "it lands");
    await until(() => person("git", "status", "--porcelain") === "", "the worktree is clean");
    await inside(program, "! git rev-parse -q --verify refs/ambit/outside/heads/feature");
    await program.say(commit("more"));
    await until(() => log("-1") === "more", "the next commit lands");
    await program.end();
    expect([kept(), person("git", "for-each-ref", "refs/ambit")]).toEqual([[], ""]);
    expect([person("git", "status", "--porcelain"), person("git", "fsck", "--strict")]).toEqual(["", ""]);
  });

  test("the person's branch is shown inside only after it has moved", async () => {
    const program = await start();
    await program.say(`touch .git/wait.lock; ${commit("agent")}`);
    fixture.write("mine.txt", "mine\n");
    person("git", "add", "mine.txt");
    await program.say("rm .git/wait.lock; echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "a step in which the person has staged and not committed");
    const shown = "git for-each-ref --format='%(refname)' refs/ambit/outside";
    expect(await program.say(shown)).toBe("");
    person("git", "commit", "-q", "-m", "mine");
    await inside(program, "git rev-parse -q --verify refs/ambit/outside/heads/feature");
    expect(await program.say(shown)).toBe("refs/ambit/outside/heads/feature\n");
    await program.end();
    expect(log()).toBe("mine\nfirst");
  });

  test("what the person has staged keeps a merge of their commit from landing, and stays staged", async () => {
    const program = await apart();
    fixture.write("staged.txt", "staged\n");
    person("git", "add", "staged.txt");
    const merge = "merge -q -m merged refs/ambit/outside/heads/feature";
    expect(await program.say(`git clean -fq; ${GIT} ${merge} 2>&1`)).toBe("");
    await program.say("echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land");
    await program.end();
    expect([log(), person("git", "diff", "--cached", "--name-only")]).toEqual(["mine\nfirst", "staged.txt"]);
    expect(kept()).toEqual([".git draft_conflict"]);
  });

  if (user !== 0)
    test("refs in a folder that the program makes unreadable are not deleted", async () => {
      const program = await start();
      person("git", "branch", "more");
      await inside(program, "git rev-parse -q --verify more");
      await program.say(`git branch one; ${commit("second")}`);
      await landed("second\nfirst");
      const before = person("git", "for-each-ref");
      await program.say("chmod 000 .git/refs/heads; echo fine > fine.txt");
      await until(() => fixture.read("fine.txt") === "fine\n", "files land");
      await program.end();
      expect(person("git", "for-each-ref")).toBe(before);
    });

  test("a lock of the person's git delays a commit of the program, and no more", async () => {
    const program = await start();
    const lock = join(main(), ".git", "worktrees", "project", "index.lock");
    person("touch", lock);
    await program.say(commit("second"));
    await pause(3_000, "the first attempt waits two seconds for the lock");
    expect(log()).toBe("first");
    person("rm", lock);
    await landed("second\nfirst");
    await program.end();
    expect(fixture.drafts()).toEqual([]);
  });

  test("hooks, settings and alternates that the program writes have no effect outside, and are told at the end", async () => {
    const program = await start();
    const settings = readFileSync(join(main(), ".git", "config"), "utf8");
    await program.say(
      "git config core.fsmonitor ./evil; mkdir -p .git/hooks .git/info; echo evil > .git/hooks/post-commit; echo '* filter=evil' > .git/info/attributes; echo /etc > .git/objects/info/alternates.x",
    );
    await program.say(`${commit("second")}`);
    await landed("second\nfirst");
    await program.end();
    expect(readFileSync(join(main(), ".git", "config"), "utf8")).toBe(settings);
    expect(existsSync(join(main(), ".git", "hooks", "post-commit"))).toBe(false);
    expect(existsSync(join(main(), ".git", "info", "attributes"))).toBe(false);
    expect(readdirSync(join(main(), ".git", "worktrees", "project")).sort()).not.toContain("hooks");
    expect([...kept()].sort()).toEqual([
      ".git/config self_modification",
      ".git/hooks/post-commit self_modification",
      ".git/info/attributes self_modification",
      ".git/objects/info/alternates.x self_modification",
    ]);
  });

  test("branches, tags, amend, rebase, reset and gc land while the program runs", async () => {
    const program = await start();
    await program.say(`${commit("a")}; ${commit("b")}`);
    await landed("b\na\nfirst");
    await program.say(`${GIT} commit -q --amend -m better`);
    await landed("better\na\nfirst");
    await program.say(`git switch -q -c topic HEAD~2; ${commit("t")}; git tag v1`);
    await landed("t\nfirst", "topic");
    expect(person("git", "branch", "--show-current")).toBe("topic");
    await program.say(`${GIT} rebase -q feature 2>&1`);
    await landed("t\nbetter\na\nfirst");
    expect(person("git", "log", "-1", "--format=%s", "v1")).toBe("t");
    await program.say("git gc -q --prune=now; git pack-refs --all");
    await program.say(commit("after"));
    await landed("after\nt\nbetter\na\nfirst");
    await program.say("git switch -q feature; git merge -q --ff-only topic; git branch -q -d topic");
    await landed("after\nt\nbetter\na\nfirst", "feature");
    await until(() => person("git", "branch", "--format=%(refname:short)") === "feature\nmain", "topic is deleted");
    await program.say("git reset -q --hard HEAD~2");
    await landed("better\na\nfirst");
    await until(() => person("git", "status", "--porcelain") === "", "the worktree is clean");
    await program.end();
    expect([person("git", "-C", main(), "fsck", "--strict"), kept()]).toEqual(["", []]);
  });

  test("stashes land one after the other; one that is dropped stays in the person's list", async () => {
    const program = await start();
    await program.say(`echo changed > a.txt; ${GIT} stash -q`);
    await until(
      () => person("git", "stash", "list").split("\n").length === 1 && person("git", "stash", "list") !== "",
      "one stash",
    );
    await program.say(`echo again > a.txt; ${GIT} stash -q`);
    await until(() => person("git", "stash", "list").split("\n").length === 2, "two stashes");
    await program.say(`git stash pop -q; ${GIT} commit -q -am popped`);
    await landed("popped\nfirst");
    expect(await program.say("git stash list | wc -l")).toBe("1\n");
    await program.say(`echo third > a.txt; ${GIT} stash -q; git stash list | wc -l`);
    await until(() => person("git", "stash", "list").split("\n").length === 3, "three stashes");
    await program.end();
    expect(person("git", "show", "stash@{0}:a.txt")).toBe("third");
  });

  test("a rebase in progress at the end waits as a draft, and the repository is as before", async () => {
    const program = await start();
    await program.say(`${commit("a")}; ${commit("b")}`);
    await landed("b\na\nfirst");
    await program.say(
      `GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' ${GIT} rebase -q -i HEAD~2 2>/dev/null; git status | head -1`,
    );
    await program.say("echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land");
    expect(person("git", "branch", "--show-current")).toBe("feature");
    await program.end();
    expect([log(), person("git", "branch", "--show-current")]).toEqual(["b\na\nfirst", "feature"]);
    expect(fixture.drafts()[0]?.kept[0]?.reason).toContain("a rebase is in progress");
  });

  test("a branch that another worktree has checked out does not move", async () => {
    const program = await start();
    await program.say(
      "git branch -f main $(git -c user.name=A -c user.email=a@x commit-tree -m x HEAD^{tree} -p HEAD)",
    );
    await program.end();
    expect(person("git", "-C", main(), "log", "--format=%s", "main")).toBe("first");
    expect(fixture.drafts()[0]?.kept[0]?.reason).toContain("refs/heads/main is checked out in a linked worktree");
  });

  test("HEAD does not move to a branch that another worktree has checked out", async () => {
    const program = await start();
    await program.say("git switch -q main; echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land");
    await program.end();
    expect(person("git", "branch", "--show-current")).toBe("feature");
    expect(fixture.drafts()[0]?.kept[0]?.reason).toContain("refs/heads/main is checked out in a linked worktree");
  });

  test.each([
    ["a name that is not UTF-8", "touch \"$(printf '.git/caf\\351')\""],
    ["more names than are compared", "mkdir .git/many; cd .git/many; seq 60000 | xargs touch; cd ../.."],
  ])("with %s in the git folder its commits do not land, and are not lost", async (_, makes) => {
    const program = await start();
    await program.say(`${makes}; ${commit("agent")}`);
    const { errors } = await program.end();
    expect([log(), errors]).toEqual(["first", expect.stringContaining("the copy stays in")]);
    const [copy = ""] = /\/\S+\/copy\b/.exec(errors) ?? [];
    expect(fixture.person("git", "-C", copy, "log", "--format=%s").out).toBe("agent\nfirst\n");
  });

  test("links that the program plants in its git folder lead nowhere", async () => {
    const program = await start();
    writeFileSync(join(fixture.base, "outside.txt"), `${"0".repeat(39)}1\n`);
    fixture.own();
    await program.say(
      `rm -rf .git/refs/heads; ln -s ${join(main(), ".git", "refs", "heads")} .git/refs/heads; rm .git/index; ln -s ${join(fixture.base, "outside.txt")} .git/index; rm -rf .git/logs; ln -s ${main()} .git/logs`,
    );
    const refs = (): string => person("git", "-C", main(), "for-each-ref", "refs/heads/main", "refs/heads/feature");
    const before = refs();
    person("git", "-C", main(), "branch", "new");
    await program.say("sleep 1; echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land");
    await program.end();
    expect([refs(), person("git", "-C", main(), "for-each-ref").split("\n").length]).toEqual([before, 3]);
    expect(readdirSync(main()).sort()).toEqual([".git", "a.txt"]);
    expect(log()).toBe("first");
  });

  test("`.git` cannot be replaced", async () => {
    const program = await start();
    const before = readFileSync(join(fixture.project, ".git"), "utf8");
    await program.say("rm -rf .git; echo 'gitdir: /tmp/evil' > .git; echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land");
    const { errors } = await program.end();
    expect(errors).toContain(".git");
    expect(readFileSync(join(fixture.project, ".git"), "utf8")).toBe(before);
    expect(log()).toBe("first");
  });

  test("a commit that adds a trigger waits for approval", async () => {
    const program = await start();
    await program.say(`mkdir .vscode; echo '{}' > .vscode/tasks.json; git add -f .vscode; ${GIT} commit -q -m evil`);
    await program.say("echo fine > fine.txt");
    await until(() => fixture.read("fine.txt") === "fine\n", "files land");
    await program.end();
    expect(log()).toBe("first");
    expect(kept()).toContain(".git approval_required");
  });

  test("only the objects of the main repository are visible inside, read-only", async () => {
    const program = await start();
    const git = join(main(), ".git");
    expect(
      await program.say(`ls ${git}; cat ${git}/config 2>/dev/null; touch ${git}/objects/x 2>/dev/null || echo refused`),
    ).toBe("objects\nrefused\n");
    await program.end();
  });

  test("after kill -9 of the daemon nothing lands by itself, and the commit waits as a draft", async () => {
    const program = await start();
    await program.say(commit("landed"));
    await landed("landed\nfirst");
    const { pid } = JSON.parse(fixture.ambit(["daemon", "status", "--json"]).out) as { pid: number };
    await program.say(`touch .git/wait.lock; ${commit("lost")}; rm .git/wait.lock`);
    process.kill(pid, "SIGKILL");
    await program.end();
    const before = log();
    expect(fixture.ambit(["daemon", "start"]).status).toBe(0);
    expect([log(), person("git", "-C", main(), "fsck", "--strict")]).toEqual([before, ""]);
    if (before !== "landed\nfirst") return;
    const [draft] = fixture.drafts();
    expect(draft?.state).toBe("kept");
    fixture.changes("land", draft?.draft ?? "", "--yes");
    expect(log()).toBe("lost\nlanded\nfirst");
    expect(person("git", "status", "--porcelain")).toBe("");
  });

  test("a submodule as the root: commits of both go both ways", async () => {
    const program = await start(submoduleProject);
    await program.say(commit("second"));
    await landed("second\nfirst");
    person("git", "commit", "-q", "--allow-empty", "-m", "mine");
    await inside(program, 'test "$(git log --format=%s -1)" = mine');
    await program.say(commit("third"));
    await landed("third\nmine\nsecond\nfirst");
    await program.end();
    expect([person("git", "status", "--porcelain", "a.txt", "third.txt"), kept()]).toEqual(["", []]);
  });
});
