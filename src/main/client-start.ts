// One start of a client for a trial: in a scratch home and folder, with no network but loopback and nothing else writable, against a
// scripted model.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { type ClientTrial, TRIAL_LINE, TRIAL_MARK, type TrialFolders } from "../clients/trial/client-trials.ts";
import { errorCode } from "../core/base/error-code.ts";
import type { TrialAnswer, TrialRequest } from "./trial-main.ts";

export interface ClientStart {
  readonly trial: ClientTrial;
  readonly bubblewrap: string;
  /** The client's program. */
  readonly client: string;
  /** The folder of our own package. */
  readonly program: string;
  /** The caller's: its search path alone reaches the client. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly millisecondsMax: number;
  /** Folders that are empty for the client, except for programs on the search path and its own; empty: all can be read. */
  readonly hidden: readonly string[];
  /** Files to write, by their absolute paths; or why there are none. */
  contents(folders: TrialFolders): ReadonlyMap<string, string> | string;
}

export interface StartedClient extends TrialAnswer {
  readonly hasRun: boolean;
}

const answerCharactersMax = 1_048_576;
/** For the process of the trial to end by itself. */
const graceMilliseconds = 5_000;

/** A text says why the client could not be started. */
export async function startClient(start: ClientStart): Promise<StartedClient | string> {
  let base: string;
  try {
    base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-trial-")));
  } catch (error) {
    return `no scratch folder can be made (${errorCode(error)})`;
  }
  try {
    const folders = { home: join(base, "home"), project: join(base, "project") };
    for (const folder of [...Object.values(folders), join(base, "tmp")]) mkdirSync(folder);
    const contents = start.contents(folders);
    if (typeof contents === "string") return contents;
    for (const [path, text] of contents) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const answer = await run(base, start);
    if (typeof answer === "string") return answer;
    const text = answer.text.replaceAll(`${folders.project}/`, "").replaceAll(`${folders.home}/`, "~/");
    return { ...answer, text, hasRun: existsSync(join(folders.project, TRIAL_MARK)) };
  } catch (error) {
    return `the trial failed (${errorCode(error)})`;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** INVARIANT: nothing of the person's environment but the search path: no key, no token, no session bus. */
function requestOf({ trial, client, environment, millisecondsMax }: ClientStart, base: string): TrialRequest {
  const home = join(base, "home");
  return {
    words: trial.words(client),
    environment: {
      ...{
        PATH: environment["PATH"] ?? "",
        HOME: home,
        TMPDIR: join(base, "tmp"),
        LANG: "C.UTF-8",
        TERM: "dumb",
        CI: "1",
        NO_COLOR: "1",
      },
      ...{ XDG_CONFIG_HOME: join(home, ".config"), XDG_STATE_HOME: join(home, ".local", "state") },
      ...{ XDG_DATA_HOME: join(home, ".local", "share"), XDG_CACHE_HOME: join(home, ".cache") },
      ...trial.environment,
    },
    provider: trial.provider,
    line: TRIAL_LINE,
    millisecondsMax,
  };
}

/**
 * A network of its own, so that only our model answers; nothing writable but the scratch folder; processes of its own, so that none is
 * left. Unless its folder is hidden, the daemon's socket stays reachable: the hook asks there.
 */
async function run(base: string, start: ClientStart): Promise<TrialAnswer | string> {
  const { bubblewrap, program, millisecondsMax } = start;
  const main = join(base, "trial.cjs");
  const words = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // Sockets of the desktop and of engines: a network of its own does not keep a program from those that have a path.
    ...["--tmpfs", "/run", "--ro-bind-try", "/run/current-system", "/run/current-system"],
    ...hiding(start),
    ...["--bind", base, base, "--ro-bind", join(program, "dist", "trial.cjs"), main],
    ...["--unshare-net", "--unshare-pid", "--new-session", "--die-with-parent", "--chdir", join(base, "project")],
    ...[process.execPath, main, JSON.stringify(requestOf(start, base))],
  ];
  const child = spawn(bubblewrap, words, {
    ...{ cwd: base, env: {}, stdio: ["ignore", "pipe", "pipe"] as const },
    ...{ timeout: millisecondsMax + graceMilliseconds, killSignal: "SIGKILL" as const },
  });
  const texts = { out: "", err: "" };
  const keep = (stream: NodeJS.ReadableStream, name: keyof typeof texts): void => {
    stream.setEncoding("utf8").on("data", (part: string) => {
      texts[name] = (texts[name] + part).slice(-answerCharactersMax);
    });
  };
  keep(child.stdout, "out");
  keep(child.stderr, "err");
  const error = await new Promise<string | null>((over) => {
    child.on("error", (problem) => over(problem.message));
    child.on("close", () => over(null));
  });
  try {
    return JSON.parse(texts.out) as TrialAnswer;
  } catch {
    return `the trial could not be started: ${(error ?? texts.err).trim().split("\n").at(-1) ?? ""}`;
  }
}

function hiding({ hidden, client, environment }: ClientStart): readonly string[] {
  if (hidden.length === 0) return [];
  const empty = (folders: readonly string[]): readonly string[] =>
    folders.filter((one) => one !== sep && isRealFolder(one)).flatMap((one) => ["--tmpfs", one]);
  const real = realpathSync(client);
  const packages = real.indexOf(`${sep}node_modules${sep}`);
  const programs = [
    ...(environment["PATH"] ?? "").split(":").filter((one) => one.startsWith(sep)),
    packages < 0 ? dirname(real) : real.slice(0, packages + `${sep}node_modules`.length),
    // Of a Node in a home folder.
    dirname(process.execPath),
  ];
  const shown = programs.filter((one) => one !== sep && existsSync(one) && !hidden.includes(one));
  // Once more behind the programs, whose folders could have one of them.
  return [
    ...empty(hidden),
    ...shown.flatMap((one) => ["--ro-bind", one, one]),
    ...empty(hidden.filter(isBelow(shown))),
  ];
}

function isBelow(folders: readonly string[]): (path: string) => boolean {
  return (path) => folders.some((one) => path.startsWith(`${one}${sep}`));
}

function isRealFolder(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    return false;
  }
}
