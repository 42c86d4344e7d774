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
import { root as checkout } from "../e2e/ambit.ts";
import { endDaemon, prepareState } from "../house/daemon-state.ts";
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

export class DraftWorld {
  readonly user: number;
  readonly base: string;
  readonly project: string;

  constructor(user: number, record: string = WRITER) {
    this.user = user;
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-draft-")));
    chmodSync(this.base, 0o755);
    this.project = join(this.base, "project");
    mkdirSync(join(this.project, ".ambit", "agents"), { recursive: true });
    writeFileSync(join(this.project, ".ambit", "agents", "writer.md"), record);
    prepareState(join(this.base, "state"), join(this.base, "config"));
    this.own();
    const trusted = this.ambit(["trust", "--yes"]);
    if (trusted.status !== 0) throw new Error(`the project is not trusted: ${trusted.out}${trusted.err}`);
  }

  /** Changes the owner of everything to the caller. */
  own(): void {
    if (this.user === 0 || process.getuid?.() !== 0) return;
    // With file types: without them links to folders would be followed.
    const below = readdirSync(this.base, { recursive: true, withFileTypes: true, encoding: "utf8" });
    // Changing the owner changes the file: files that already belong to the caller are left alone.
    for (const path of [this.base, ...below.map((one) => join(one.parentPath, one.name))]) this.#own(path);
  }

  /** A file of the daemon may be gone by now; it belonged to the caller. */
  #own(path: string): void {
    if (this.user === 0 || process.getuid?.() !== 0) return;
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts !== undefined && facts.uid !== this.user) lchownSync(path, this.user, this.user);
  }

  get environment(): Record<string, string | undefined> {
    return {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      HOME: join(this.base, "home"),
      XDG_STATE_HOME: join(this.base, "state"),
      XDG_CONFIG_HOME: join(this.base, "config"),
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
  async hold(line: string): Promise<Held> {
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

  write(path: string, text: string, mode = 0o644): void {
    const whole = join(this.project, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text, { mode });
    // Only the new files: a daemon may be working on everything else.
    for (let at = whole; at.startsWith(this.project); at = dirname(at)) this.#own(at);
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
    endDaemon(join(this.base, "state"));
  }

  end(): void {
    this.stopDaemon();
    removeState(this.base);
  }
}

export interface Held {
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
