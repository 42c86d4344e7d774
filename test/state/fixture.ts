// One machine of a test: its own project, state and configuration, the daemon, a person at the control socket, and a calling
// process. Everything is real and removed afterwards.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "../../src/core/base/version.ts";
import type { ControlMessages, DaemonStatus } from "../../src/core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient } from "../../src/core/ports/daemon/exchange.ts";
import type { Approval, ApprovalState } from "../../src/core/ports/stores/approval-store.ts";
import type { LogEntry, LogQuery } from "../../src/core/ports/stores/log.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import { root } from "../e2e/ambit.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { endDaemon, prepareState } from "../house/daemon-state.ts";
import { recordText, writeFiles } from "../house/files.ts";
import { isRunning } from "../house/processes.ts";
import { removeState } from "../house/remove-state.ts";
import { until } from "../house/until.ts";
import { Caller, type Ran } from "./calling.ts";
import { Person } from "./person.ts";

export class Fixture {
  readonly base: string;
  readonly project: string;
  readonly state: string;
  readonly config: string;
  readonly #program: string;
  readonly #callers: Caller[] = [];
  #control: MessageClient<ControlMessages> | null = null;
  #person: Person | null = null;

  private constructor(program: string) {
    this.#program = program;
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-state-")));
    this.project = join(this.base, "project");
    this.state = join(this.base, "state", "ambit");
    this.config = join(this.base, "config", "ambit");
    mkdirSync(join(this.project, ".ambit", "agents"), { recursive: true });
    prepareState(join(this.base, "state"), join(this.base, "config"));
  }

  static async make(): Promise<Fixture> {
    return new Fixture(await bundleProgram(fileURLToPath(new URL("./caller.ts", import.meta.url))));
  }

  get folder(): string {
    return join(this.state, "daemon");
  }

  write(path: string, text: string): void {
    writeFiles(this.base, { [path]: text });
  }

  /** A record with these grants; `more`: further lines of its front matter. */
  agent(id: string, grants: readonly string[], more = ""): void {
    this.write(`project/.ambit/agents/${id}.md`, recordText(grants, more));
  }

  user(name: string, grants: readonly string[]): void {
    this.write(`config/ambit/users/${name}.md`, recordText(grants));
  }

  /** Trusts the current files, and starts the daemon. */
  async begin(): Promise<void> {
    await Promise.all([this.trust(), this.startDaemon()]);
  }

  async trust(): Promise<void> {
    const ran = await this.ambit("trust", "--yes");
    if (ran.status !== 0) throw new Error(ran.out);
  }

  /** Further variables of commands. */
  variables: Readonly<Record<string, string>> = {};

  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      XDG_STATE_HOME: join(this.base, "state"),
      XDG_CONFIG_HOME: join(this.base, "config"),
      ...this.variables,
    };
  }

  /** The command line of the built program. */
  words(...words: readonly string[]): readonly string[] {
    const variables = Object.entries(this.environment).map(([name, value]) => `${name}=${value}`);
    return ["env", ...variables, process.execPath, join(root, "bin", "ambit"), ...words];
  }

  ambit(...words: readonly string[]): Promise<Ran> {
    return this.#run(process.execPath, [join(root, "bin", "ambit"), ...words]);
  }

  /** As a person at a terminal that no client shares. */
  ambitAtTerminal(...words: readonly string[]): Promise<Ran> {
    const line = [process.execPath, join(root, "bin", "ambit"), ...words];
    const quoted = line.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    return this.#run("script", ["-qec", quoted, "/dev/null"]);
  }

  async #run(program: string, words: readonly string[]): Promise<Ran> {
    const child = spawn(program, words, {
      cwd: this.project,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (part: Buffer) => {
        out += part;
      });
    const [status] = (await once(child, "close")) as [number | null];
    return { status, out };
  }

  caller(): Caller {
    const caller = new Caller(this.#program, this.folder);
    this.#callers.push(caller);
    return caller;
  }

  /** Sent by the person; reconnects if the daemon has restarted. */
  async control<K extends keyof ControlMessages & string>(
    name: K,
    value: ControlMessages[K]["asks"],
  ): Promise<Answer<ControlMessages[K]["answers"]>> {
    if (this.#control === null) {
      this.#person ??= new Person(this.base, this.folder);
      await this.#person.ready();
      const connected = await connect("control", {
        folder: this.#person.folder,
        version: VERSION,
        onLost: () => {
          this.#control = null;
        },
      });
      if (!connected.ok) return connected;
      this.#control = connected.value;
    }
    return this.#control.ask(name, value as never) as Promise<Answer<ControlMessages[K]["answers"]>>;
  }

  async status(): Promise<DaemonStatus> {
    return expectValue(await this.control("daemon.status", {}));
  }

  /** Oldest first. */
  async log(query: Partial<LogQuery> = {}): Promise<readonly LogEntry[]> {
    const found = expectValue(await this.control("log.query", { count: 10_000, ...query }));
    return found.entries.map(({ entry }) => entry).toReversed();
  }

  async approvals(...states: readonly ApprovalState[]): Promise<readonly Approval[]> {
    return expectValue(await this.control("approvals.list", { states, count: 1000 })).approvals;
  }

  approve(
    id: string,
    more: Partial<ControlMessages["approvals.approve"]["asks"]> = {},
  ): Promise<Answer<ControlMessages["approvals.approve"]["answers"]>> {
    return this.control("approvals.approve", {
      id,
      step: "exact",
      uses: 1,
      milliseconds: 600_000,
      presence: null,
      ...more,
    });
  }

  /** While this runs no file of the daemon can grow, as on a full disk. */
  async withFullDisk<T>(act: () => Promise<T>): Promise<T> {
    const { pid } = await this.status();
    const limit = (bytes: string): void => {
      const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`], {
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(stderr);
    };
    limit("1024");
    try {
      return await act();
    } finally {
      limit("unlimited");
    }
  }

  /** While this runs the daemon is there and answers nothing. */
  async withHaltedDaemon<T>(act: () => Promise<T>): Promise<T> {
    const { pid } = await this.status();
    process.kill(pid, "SIGSTOP");
    try {
      return await act();
    } finally {
      process.kill(pid, "SIGCONT");
    }
  }

  /** Kills the daemon; the next one is started as a person would. */
  async killDaemon(): Promise<void> {
    const { pid } = await this.status();
    process.kill(pid, "SIGKILL");
    await until(() => !isRunning(pid), "the daemon exited");
    this.#control = null;
  }

  stopDaemon(): void {
    endDaemon(join(this.base, "state"));
    this.#control = null;
  }

  async startDaemon(): Promise<void> {
    const ran = await this.ambit("daemon", "start");
    if (ran.status !== 0) throw new Error(ran.out);
  }

  async remove(): Promise<void> {
    for (const caller of this.#callers) await caller.end();
    this.#control?.close();
    this.#person?.end();
    this.stopDaemon();
    removeState(this.base);
  }
}

/** The value of an answer that must succeed for the test to go on. */
export function expectValue<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
  return answer.value;
}
