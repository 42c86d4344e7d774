// A project with an agent whose programs may write, driven by the built command line, as root and as an ordinary user.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DraftSummary } from "../../src/core/ports/drafts.ts";
import { root as checkout } from "../e2e/ambit.ts";
import { endDaemon, prepareState } from "../house/daemon-state.ts";
import { ownFolder } from "../house/own-folder.ts";
import { removeState } from "../house/remove-state.ts";

const program = join(checkout, "bin", "ambit");

export interface Result {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export const WRITER: string = [
  "---",
  "id: writer",
  "sandbox: .",
  "capabilities:",
  "  - fs.read",
  "  - fs.write",
  "  - fs.delete",
  "  - proc.eval",
  "  - proc.exec: { cmds: [git, sh, true, npm, node] }",
  "---",
  "",
].join("\n");

export class DraftProject {
  readonly user: number;
  readonly base: string;
  readonly project: string;
  /** The folder of state and configuration: the tests' own, or one that the tests of a file share. */
  readonly machine: string;

  constructor(user: number, record: string = WRITER, machine?: DraftMachine) {
    this.user = user;
    this.base = newFolder();
    this.machine = machine?.folderOf(user) ?? this.base;
    this.project = join(this.base, "project");
    mkdirSync(join(this.project, ".ambit", "agents"), { recursive: true });
    writeFileSync(join(this.project, ".ambit", "agents", "writer.md"), record);
    if (this.machine === this.base) prepareState(join(this.base, "state"), join(this.base, "config"));
    this.own();
    const trusted = this.ambit(["trust", "--yes"]);
    if (trusted.status !== 0) throw new Error(`the project is not trusted: ${trusted.out}${trusted.err}`);
  }

  /** Changes the owner of everything to the caller. */
  own(): void {
    ownBelow(this.base, this.user);
  }

  get environment(): Record<string, string | undefined> {
    return {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      HOME: join(this.base, "home"),
      XDG_STATE_HOME: join(this.machine, "state"),
      XDG_CONFIG_HOME: join(this.machine, "config"),
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "P",
      GIT_AUTHOR_EMAIL: "p@example.com",
      GIT_COMMITTER_NAME: "P",
      GIT_COMMITTER_EMAIL: "p@example.com",
    };
  }

  #words(words: readonly string[]): readonly [string, readonly string[]] {
    const as =
      this.user === process.getuid?.()
        ? []
        : ["setpriv", `--reuid=${this.user}`, `--regid=${this.user}`, "--clear-groups"];
    const [command = "", ...rest] = [...as, ...words];
    return [command, rest];
  }

  /** Any program as this user, outside every sandbox: what the person does. */
  person(...words: readonly string[]): Result {
    const [command, rest] = this.#words(words);
    const { status, stdout, stderr } = spawnSync(command, [...rest], {
      cwd: this.project,
      encoding: "utf8",
      env: this.environment,
      timeout: 120_000,
    });
    return { status, out: stdout, err: stderr };
  }

  /** The command line that starts ambit as this user. */
  command(words: readonly string[]): [string, string[]] {
    const [command, rest] = this.#words([process.execPath, program, ...words]);
    return [command, [...rest]];
  }

  ambit(words: readonly string[]): Result {
    return this.person(process.execPath, program, ...words);
  }

  /** A shell line of the agent's; what the report says of its changes. */
  shell(line: string, ...options: readonly string[]): ShellResult {
    const { status, out, err } = this.ambit(["exec", "writer", "--json", ...options, "--shell", "--", line]);
    try {
      return { status, ...(JSON.parse(out) as Omit<ShellResult, "status">) };
    } catch {
      throw new Error(`no object from exec (${status}): ${out}${err}`);
    }
  }

  /** A line that is paused in the middle: it has done `line` when this returns, and ends when `release` is called. */
  async hold(line: string): Promise<RunningCommand> {
    const held = `${line}; echo ready; read -r word`;
    const [command, rest] = this.#words([process.execPath, program, "exec", "writer", "--shell", "--", held]);
    const child = spawn(command, [...rest], {
      cwd: this.project,
      env: this.environment,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const done = once(child, "close");
    await Promise.race([once(child.stdout, "data"), done]);
    return {
      release: async () => {
        child.stdin.on("error", () => undefined).end("go\n");
        await done;
      },
      done,
    };
  }

  changes(...words: readonly string[]): Result {
    return this.ambit(["changes", ...words]);
  }

  /** The drafts of this project, as `changes list` shows them; other tests of the file may have left theirs. */
  drafts(...options: readonly string[]): readonly DraftSummary[] {
    const { drafts } = JSON.parse(this.changes("list", "--json", ...options).out) as {
      drafts: readonly DraftSummary[];
    };
    return drafts.filter(({ root }) => root === this.project || root.startsWith(`${this.project}/`));
  }

  write(path: string, text: string, mode = 0o644): void {
    const whole = join(this.project, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text, { mode });
    // Only the new files: a daemon may be working on everything else.
    for (let at = whole; at.startsWith(this.project); at = dirname(at)) own(at, this.user);
  }

  read(path: string): string | null {
    const whole = join(this.project, path);
    return existsSync(whole) ? readFileSync(whole, "utf8") : null;
  }

  /** Every name in the project but git's objects, sorted. */
  names(): readonly string[] {
    return readdirSync(this.project, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith(".git/objects/"))
      .sort();
  }

  repository(): void {
    this.person("git", "init", "-q", "-b", "main");
    this.write("a.txt", "one\n");
    this.person("git", "add", "a.txt");
    const made = this.person("git", "commit", "-q", "-m", "first");
    if (made.status !== 0) throw new Error(made.err);
  }

  stopDaemon(): void {
    endDaemon(join(this.machine, "state"));
  }

  /** A shared daemon goes on: it exits when its folder is removed, after the last test. */
  end(): void {
    if (this.machine === this.base) this.stopDaemon();
    removeState(this.base);
  }
}

/** State and configuration for all tests of a file, so that one daemon serves them; each test has its own project. */
export class DraftMachine {
  readonly #folders = new Map<number, string>();

  folderOf(user: number): string {
    const known = this.#folders.get(user);
    if (known !== undefined) return known;
    const folder = realpathSync(ownFolder("ambit-machine-"));
    chmodSync(folder, 0o755);
    prepareState(join(folder, "state"), join(folder, "config"));
    ownBelow(folder, user);
    this.#folders.set(user, folder);
    return folder;
  }
}

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-draft-")));
  chmodSync(folder, 0o755);
  return folder;
}

function ownBelow(base: string, user: number): void {
  if (user === 0 || process.getuid?.() !== 0) return;
  // With file types: without them links to folders would be followed.
  const below = readdirSync(base, { recursive: true, withFileTypes: true, encoding: "utf8" });
  for (const path of [base, ...below.map((one) => join(one.parentPath, one.name))]) own(path, user);
}

/**
 * A file of the daemon may be gone by now; it belonged to the caller. Changing the owner changes the file: files that already
 * belong to the caller are left alone.
 */
function own(path: string, user: number): void {
  if (user === 0 || process.getuid?.() !== 0) return;
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts !== undefined && facts.uid !== user) lchownSync(path, user, user);
}

export interface RunningCommand {
  release(): Promise<void>;
  readonly done: Promise<unknown>;
}

export interface ShellResult {
  readonly status: number | null;
  readonly outcome: string;
  readonly output: string;
  readonly errors: string;
  readonly denials: readonly { readonly code: string; readonly request: string }[];
  readonly changes: {
    readonly draft: string | null;
    readonly landed: number;
    readonly kept: readonly { readonly path: string; readonly code: string; readonly reason: string }[];
  } | null;
}
