// Tries a hook in the client itself: in a scratch home and folder, with no network but loopback and nothing else writable, against a
// scripted model.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ConnectScope, connectionOf } from "../clients/connect/connections.ts";
import { commandIn } from "../clients/connect/hook-command.ts";
import {
  type ClientTrial,
  TRIAL_LINE,
  TRIAL_MARK,
  type TrialOutcome,
  trialOf,
  trialOutcome,
  trialSettings,
  whyNoTrial,
} from "../clients/trial/client-trials.ts";
import { errorCode } from "../core/base/error-code.ts";
import { isJsonObject } from "../core/base/json.ts";
import { programsOnPath } from "../platform/detect.ts";
import { findProgram } from "../sandbox/linux/programs.ts";
import { valueAt } from "../text/json-edit.ts";
import { clientVersion } from "./client-version.ts";
import type { TrialAnswer, TrialRequest } from "./trial-main.ts";

export interface TrialOptions {
  readonly client: string;
  readonly scope: ConnectScope;
  /** Text of a file in the scope; null where there is none. */
  text(path: string): string | null;
  /** The caller's: its search path alone reaches the client. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of our own package. */
  readonly program: string;
  readonly millisecondsMax: number;
}

const answerCharactersMax = 1_048_576;
/** For the process of the trial to end by itself. */
const graceMilliseconds = 5_000;

export async function tryInClient(options: TrialOptions): Promise<TrialOutcome> {
  const trial = trialOf(options.client);
  const names = connectionOf(options.client)?.programs ?? [];
  if (trial === null) return unknown(whyNoTrial(options.client));
  const [found] = programsOnPath(names, options.environment["PATH"] ?? "");
  if (found === undefined) return unknown(`\`${names[0]}\` is not on your PATH`);
  const bubblewrap = findProgram("bwrap");
  if (bubblewrap === null) return unknown("bubblewrap is not installed; it isolates the trial from your files");
  let base: string;
  try {
    base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-trial-")));
  } catch (error) {
    return unknown(`a temporary folder cannot be created (${errorCode(error)})`);
  }
  try {
    const folders = { home: join(base, "home"), project: join(base, "project") };
    for (const folder of [...Object.values(folders), join(base, "tmp")]) mkdirSync(folder);
    const unread = fill(trial, options, folders);
    if (unread !== null) return unknown(unread);
    const answer = await run(bubblewrap, base, requestOf(trial, found.path, base, options), options);
    if (typeof answer === "string") return unknown(answer);
    const version = await clientVersion(options.client, options.environment);
    return trialOutcome(trial, { ...answer, version, hasRun: existsSync(join(folders.project, TRIAL_MARK)) });
  } catch (error) {
    return unknown(`the trial failed (${errorCode(error)})`);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function unknown(why: string): TrialOutcome {
  return { kind: "unknown", why };
}

/** The hook's files as they were just written; what is wrong with one, or null. */
function fill(
  trial: ClientTrial,
  { client, scope, text }: TrialOptions,
  folders: { readonly home: string; readonly project: string },
): string | null {
  const seeds = new Map(Object.entries(trial.seeds(folders)));
  // Settings of the machine are where the client finds them by itself.
  for (const { path, change } of scope === "managed" ? [] : (connectionOf(client)?.files(scope, "") ?? [])) {
    const written = text(path);
    if (written === null) return `${path} does not exist`;
    const base = scope === "project" ? folders.project : folders.home;
    const seed = scope === "user" ? seeds.get(path) : undefined;
    const kept = change.kind === "whole" ? written : settingsText(written, trial, seed);
    if (kept === null) return `${path} cannot be read`;
    if (scope === "user") seeds.delete(path);
    write(join(base, path), kept);
  }
  for (const [path, seed] of seeds) write(join(folders.home, path), seed);
  return null;
}

function settingsText(written: string, trial: ClientTrial, seed = "{}"): string | null {
  const value = valueAt(written, []);
  const command = commandIn(written);
  // Files without our hook have switches only.
  if (!value.ok || value.value === undefined || !isJsonObject(value.value)) return null;
  return JSON.stringify({ ...(JSON.parse(seed) as object), ...trialSettings(value.value, trial, command ?? "") });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** INVARIANT: nothing of the person's environment but the search path: no key, no token, no session bus. */
function requestOf(
  trial: ClientTrial,
  client: string,
  base: string,
  { environment, millisecondsMax }: TrialOptions,
): TrialRequest {
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
 * left. The daemon's socket stays reachable: the hook asks there.
 */
async function run(
  bubblewrap: string,
  base: string,
  request: TrialRequest,
  { program, millisecondsMax }: TrialOptions,
): Promise<TrialAnswer | string> {
  const words = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", base, base],
    // Sockets of the desktop and of engines: a network of its own does not keep a program from those that have a path.
    ...["--tmpfs", "/run", "--ro-bind-try", "/run/current-system", "/run/current-system"],
    ...["--unshare-net", "--unshare-pid", "--new-session", "--die-with-parent", "--chdir", join(base, "project")],
    ...[process.execPath, join(program, "dist", "trial.cjs"), JSON.stringify(request)],
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
