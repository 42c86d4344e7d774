// A machine for the state: its own project, state and configuration, and the real daemon on them.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../src/core/base/version.ts";
import type { ControlMessages } from "../../src/core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient } from "../../src/core/ports/daemon/exchange.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import { rootFolder } from "../place.ts";

/** Counted and unlimited, so that every call is charged. */
export const CALLER = "caller";
/** Delegates to `TAKER`, which has no grants of its own. */
export const GIVER = "giver";
export const TAKER = "taker";

const AGENTS: Readonly<Record<string, readonly string[]>> = {
  [CALLER]: ["memory.read{keys=[notes/**],calls=1000000000}", "net.get{hosts=[api.example.com]}"],
  [GIVER]: ["memory.read{keys=[notes/**]}", "agent.grant"],
  [TAKER]: [],
};

export interface StateFixture {
  readonly base: string;
  readonly project: string;
  /** The folder of the daemon's sockets. */
  readonly folder: string;
  readonly pid: number;
  readonly control: MessageClient<ControlMessages>;
  /** The command line on this state; returns its output. Throws if it fails. */
  ambit(...words: readonly string[]): string;
  remove(): void;
}

export async function makeStateFixture(): Promise<StateFixture> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-state-")));
  const project = join(base, "project");
  const folder = join(base, "state", "ambit", "daemon");
  const agents = join(project, ".ambit", "agents");
  mkdirSync(agents, { recursive: true });
  for (const [id, grants] of Object.entries(AGENTS)) writeFileSync(join(agents, `${id}.md`), recordOf(grants));
  const remove = (): void => {
    spawnSync(...ambit(base, "daemon", "stop"));
    rmSync(base, { recursive: true, force: true });
  };
  const run = (...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(...ambit(base, ...words));
    if (status !== 0) throw new Error(`ambit ${words.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };
  try {
    run("trust", "--yes");
    run("daemon", "start");
    const control = expectValue(await connect("control", { folder, version: VERSION }));
    const { pid } = expectValue(await control.ask("daemon.status", {}));
    const end = (): void => {
      control.close();
      remove();
    };
    return { base, project, folder, pid, control, ambit: run, remove: end };
  } catch (problem) {
    remove();
    throw problem;
  }
}

type SpawnWords = [string, readonly string[], { readonly cwd: string; env: NodeJS.ProcessEnv; encoding: "utf8" }];

function ambit(base: string, ...words: readonly string[]): SpawnWords {
  const env = {
    PATH: process.env["PATH"],
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const program = join(rootFolder, "bin", "ambit");
  return [process.execPath, [program, ...words], { cwd: join(base, "project"), env, encoding: "utf8" }];
}

function recordOf(grants: readonly string[]): string {
  const lines = grants.map((grant) => `  - ${JSON.stringify(grant)}\n`).join("");
  return `---\ncapabilities:${lines === "" ? " []\n" : `\n${lines}`}---\n`;
}

/** A refusal here ends the run: nothing that was not done is timed. */
export function expectValue<T>(answer: Answer<T> | { readonly ok: false; readonly message: string }): T {
  if (!answer.ok) throw new Error(answer.message);
  return answer.value;
}
