// Two programs of an agent and a person work on one project at the same time, by random schedules, and the daemon is killed in
// between. After every round: no new trigger, nothing of the person's lost, every change landed or kept as reported. AMBIT_SEED
// repeats a schedule, AMBIT_LONG=1 runs for longer.
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { DraftProject, type RunningCommand } from "../../draft/project.ts";
import { CALLERS } from "../../house/callers.ts";
import { sizeFor } from "../../house/long.ts";
import { runSeed } from "../../house/seed.ts";
import { AGENT_MOVES, PERSON_MOVES, type PersonMove } from "./moves.ts";
import { Schedule } from "./schedule.ts";

const seed = runSeed();
const rounds = sizeFor(4, 40);
const seenRefs = ["refs/heads/keep", "refs/stash"] as const;

describe.each(CALLERS)(`seed ${seed}, as user %i`, (user) => {
  let room: Room | null = null;
  afterEach(() => room?.fixture.end());

  test("two programs and a person leave no trigger, lose nothing, and every report is true", {
    timeout: 600_000,
  }, async () => {
    room = new Room(user, new Schedule(seed + user));
    for (let round = 0; round < rounds; round++) {
      await room.round(round);
      room.check();
    }
    room.checkBranches();
  });
});

/** A setting of the person's that makes files of the project protected. */
interface Setting {
  readonly words: readonly string[];
  readonly path: RegExp;
}

const SETTINGS: readonly (Setting | null)[] = [
  null,
  { words: ["core.hooksPath", "scripts"], path: /^scripts(\/|$)/ },
  { words: ["include.path", "../included.cfg"], path: /^included\.cfg$/ },
];

class Room {
  readonly fixture: DraftProject;
  readonly #schedule: Schedule;
  readonly #marker: string;
  readonly #setting: Setting | null;
  readonly #before: ReadonlyMap<string, string>;
  readonly #refs: ReadonlyMap<string, string>;
  readonly #commits: string[] = [];
  /** The actions so far, for the message of a failure. */
  #story: string[] = [];
  #edits = new Map<string, string>();
  /** Files that only an agent wrote, by name: each must be in the project or among the kept changes. */
  #own: string[] = [];

  constructor(user: number, schedule: Schedule) {
    this.#schedule = schedule;
    this.fixture = new DraftProject(user);
    this.#marker = join(this.fixture.base, "marker");
    this.#setting = schedule.pick(SETTINGS);
    this.#prepare();
    this.#before = this.#protected();
    this.#refs = new Map(seenRefs.map((name) => [name, this.#git("rev-parse", name)]));
  }

  /** A repository with a branch and a stash that have no other reference; at random its hooks or settings are among the files. */
  #prepare(): void {
    const { fixture } = this;
    fixture.repository();
    fixture.write("shared.txt", "base\n");
    fixture.write("scripts/build.sh", "true\n");
    fixture.write("mine/notes.txt", "notes\n");
    this.#git("checkout", "-q", "-b", "keep");
    this.#git("commit", "-q", "--allow-empty", "-m", "kept");
    this.#git("checkout", "-q", "main");
    fixture.write("a.txt", "stashed\n");
    this.#git("stash", "-q");
    if (this.#setting !== null) this.#git("config", ...this.#setting.words);
    this.#story.push(`setting ${this.#setting?.words.join("=") ?? "none"}`);
  }

  async round(number: number): Promise<void> {
    this.#story = [...this.#story.slice(0, 1), `round ${number}`];
    this.#edits = new Map();
    this.#own = [];
    const held: RunningCommand[] = [];
    for (const who of ["one", "two"]) held.push(await this.#agent(`n${number}${who}`));
    for (const move of this.#schedule.some(PERSON_MOVES.filter(isCalm), 3)) this.#person(move);
    const [first, second] = this.#schedule.below(2) === 0 ? held : [...held].reverse();
    const ends = [first?.release()];
    if (this.#schedule.below(2) === 0) await ends[0];
    ends.push(second?.release());
    if (this.#schedule.below(3) === 0) {
      this.#person({ kind: "kill" });
      // The next command starts another daemon, which completes what was interrupted.
    } else if (this.#schedule.below(2) === 0) this.#person({ kind: "git", words: ["status", "--porcelain"] });
    await Promise.all(ends);
  }

  async #agent(name: string): Promise<RunningCommand> {
    const own = `${name}.own`;
    const moves = this.#schedule.some(AGENT_MOVES, 1 + this.#schedule.below(3));
    const line = [`echo ${name} > ${own}`, ...moves.map((move) => move(name, `touch ${this.#marker}`))].join("; ");
    this.#story.push(`agent: ${line}`);
    this.#own.push(own);
    return this.fixture.hold(`{ ${line}; } >/dev/null 2>&1`);
  }

  #person(move: PersonMove): void {
    const { fixture } = this;
    this.#story.push(`person: ${JSON.stringify(move)}`);
    switch (move.kind) {
      case "edit": {
        const text = `person ${this.#story.length} ${Date.now()}\n`;
        fixture.person("sh", "-c", 'mkdir -p "$(dirname "$1")" && printf %s "$2" > "$1"', "sh", move.path, text);
        this.#edits.set(move.path, text);
        return;
      }
      case "git":
        fixture.person("git", ...move.words);
        if (move.words[0] === "commit") this.#commits.push(this.#git("rev-parse", "HEAD"));
        return;
      case "kill": {
        const { pid } = JSON.parse(fixture.ambit(["daemon", "status", "--json"]).out) as { readonly pid?: number };
        if (pid !== undefined) fixture.person("kill", "-9", String(pid));
        return;
      }
      default:
        move satisfies never;
    }
  }

  check(): void {
    const story = this.#story.join("\n");
    const drafts = this.#drafts();
    expect(
      drafts.filter(({ state }) => state === "running" || state === "broken"),
      story,
    ).toEqual([]);
    for (const [path, text] of this.#edits) expect([path, this.fixture.read(path)], story).toEqual([path, text]);
    for (const [name, id] of this.#refs) expect([name, this.#git("rev-parse", name)], story).toEqual([name, id]);
    const known = this.#git("log", "--all", "--reflog", "--format=%H").split("\n");
    expect(
      this.#commits.filter((id) => !known.includes(id)),
      story,
    ).toEqual([]);
    expect(Object.fromEntries(this.#protected()), story).toEqual(Object.fromEntries(this.#before));
    this.#checkLinks(story);
    this.#checkTold(drafts, story);
    this.#useGit(this.fixture.project);
    expect(existsSync(this.#marker), story).toBe(false);
  }

  /** The files of a checkout of any branch are used as well. */
  checkBranches(): void {
    const story = this.#story.join("\n");
    for (const [at, branch] of this.#git("branch", "--format=%(refname)").split("\n").entries()) {
      const folder = join(this.fixture.base, `check-${at}`);
      this.fixture.person("git", "worktree", "add", "-q", "--detach", folder, branch);
      this.#useGit(folder);
      expect([branch, existsSync(this.#marker)], story).toEqual([branch, false]);
    }
  }

  /** As a person does: in the folder and in each folder directly below it. */
  #useGit(folder: string): void {
    const below = readdirSync(folder, { withFileTypes: true }).filter(
      (one) => one.isDirectory() && one.name !== ".git",
    );
    for (const path of [folder, ...below.map(({ name }) => join(folder, name))]) {
      this.fixture.person("git", "-C", path, "status", "--porcelain");
      this.fixture.person("git", "-C", path, "diff", "--stat");
    }
    if (folder === this.fixture.project) {
      this.fixture.person("git", "commit", "-q", "--allow-empty", "-m", "used");
      this.#commits.push(this.#git("rev-parse", "HEAD"));
    }
  }

  /** Content of files that tools run or obey, by name; a missing name has none. */
  #protected(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const names = readdirSync(this.fixture.project, { recursive: true, withFileTypes: true, encoding: "utf8" });
    for (const one of names) {
      const path = join(one.parentPath, one.name).slice(this.fixture.project.length + 1);
      const isGit = /(^|\/)\.git\/(config|hooks\/|info\/|objects\/info\/alternates|.*\.lock$|modules|worktrees)/i.test(
        path,
      );
      const isOther = /(^|\/)(\.vscode|\.ambit|\.GIT)(\/|$)|^(nested|sub)\/\.git/.test(path);
      if (!isGit && !isOther && this.#setting?.path.test(path) !== true) continue;
      if (path.startsWith("nested/.git") && this.#isFreshRepository("nested")) continue;
      found.set(path, one.isFile() ? readFileSync(join(this.fixture.project, path), "latin1") : "no file");
    }
    if (["HEAD", "objects", "refs"].every((name) => existsSync(join(this.fixture.project, "bare", name))))
      found.set("bare", "a repository");
    return found;
  }

  /** A repository that a program created lands with our own configuration: nothing in it runs a program or leads elsewhere. */
  #isFreshRepository(folder: string): boolean {
    const git = join(this.fixture.project, folder, ".git");
    const config = readFileSync(join(git, "config"), "latin1");
    const isOurs = config === "[core]\nrepositoryformatversion = 0\nbare = false\nlogAllRefUpdates = true\n";
    return (
      isOurs &&
      readdirSync(join(git, "info")).length === 0 &&
      !["hooks", "modules", "worktrees", "objects/info/alternates"].some((name) => existsSync(join(git, name)))
    );
  }

  #checkLinks(story: string): void {
    const { project } = this.fixture;
    for (const one of readdirSync(project, { recursive: true, withFileTypes: true, encoding: "utf8" })) {
      if (!one.isSymbolicLink()) continue;
      const path = join(one.parentPath, one.name);
      const end = this.fixture.person("readlink", "-m", path).out.trim();
      const isInside = `${end}/`.startsWith(`${realpathSync(project)}/`) && !/\/\.git(\/|$)/i.test(end);
      expect([path, readlinkSync(path), isInside], story).toEqual([path, readlinkSync(path), true]);
    }
  }

  /** A file is in the project, or a draft lists it as kept: not both, not neither. */
  #checkTold(drafts: readonly Draft[], story: string): void {
    for (const own of this.#own) {
      const isThere = this.fixture.read(own) !== null;
      const made = drafts.filter(({ command }) => command.join(" ").includes(` ${own};`));
      const keeping = made.filter(
        ({ kept, keptMore }) => keptMore > 0 || kept.some(({ path }) => path === own || path === "."),
      );
      const isInterrupted = made.some(({ kept }) => kept.some(({ reason }) => reason.includes("had already landed")));
      // A command that was killed before it began has no draft, and wrote nothing.
      const isTrue = made.length === 0 ? !isThere : isInterrupted || isThere === (keeping.length === 0);
      expect([own, isThere, made, isTrue], story).toEqual([own, isThere, made, true]);
    }
  }

  #drafts(): readonly Draft[] {
    const { status, out, err } = this.fixture.changes("list", "--all", "--json");
    if (status !== 0) throw new Error(`changes cannot be listed: ${out}${err}`);
    return (JSON.parse(out) as { readonly drafts: readonly Draft[] }).drafts;
  }

  #git(...words: readonly string[]): string {
    const { status, out, err } = this.fixture.person("git", ...words);
    if (status !== 0) throw new Error(`git ${words.join(" ")}: ${err}\n${this.#story.join("\n")}`);
    return out.trim();
  }
}

interface Draft {
  readonly state: string;
  readonly command: readonly string[];
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
  readonly keptMore: number;
}

/** Kills the daemon while drafts land, not before. */
function isCalm({ kind }: PersonMove): boolean {
  return kind !== "kill";
}
