// Detects which sandboxes this machine supports: those of bubblewrap, in namespaces; or, only where namespaces are refused,
// those of our native program alone.
import { spawnSync } from "node:child_process";
import type { RunFailure, RunRefusal } from "../../core/ports/process.ts";
import { nativeMissing, nativeProblem } from "../../platform/native-program.ts";
import { HOSTNAME } from "../plan/start/etc.ts";
import type { SystemFacts } from "../plan/start/system.ts";
import { type BubblewrapProblem, complaintProblem } from "./bubblewrap-error.ts";
import { hostPath } from "./host-path.ts";
import { findProgram, isProgram } from "./programs.ts";
import { unavailable } from "./refusal.ts";
import { systemFacts } from "./system-facts.ts";

/** What keeps programs apart. */
export type Backend =
  /** `bubblewrap`: absolute. */
  | { readonly kind: "namespaces"; readonly bubblewrap: string }
  /** Landlock, a filter of system calls, and a supervisor outside of both. `because`: why namespaces are not available. */
  | { readonly kind: "supervised"; readonly because: string };

export interface SandboxEnvironment {
  readonly backend: Backend;
  readonly system: SystemFacts;
}

export type SandboxDetection = { readonly ok: true; readonly environment: SandboxEnvironment } | RunFailure;

export interface DetectOptions {
  /** Path of our native program. */
  readonly native: string;
  /** Folders to search for bubblewrap; the fixed folders unless a test overrides them. */
  readonly folders?: readonly string[];
  /** The command that installs bubblewrap here. */
  install(): string;
  /** The user's configuration accepts nothing but namespaces. */
  readonly requiresNamespaces?: boolean;
}

const answerMillisecondsMax = 5_000;
const answerBytesMax = 65_536;

export function detectSandbox(options: DetectOptions): SandboxDetection {
  const { native } = options;
  const missing = nativeMissing(native);
  if (process.platform !== "linux") return no(missing.message, missing.fix);
  const bubblewrap = findProgram("bwrap", options.folders);
  if (bubblewrap !== null && !isProgram(native)) return no(missing.message, missing.fix);
  const trial = bubblewrap === null ? null : bubblewrapTrial(bubblewrap);
  const refused = trial === null ? absent(options) : namespacesRefused(trial);
  if (bubblewrap === null && !isProgram(native)) return { ok: false, refused: refused ?? unavailable(missing.message) };
  const facts = systemFacts(native);
  if (facts === null) return no(`there is no system call filter for ${process.arch}`, null);
  const system = trial?.kind === "starts" && !trial.setsHostname ? { ...facts, keepsHostname: true } : facts;
  if (refused === null && bubblewrap !== null)
    return { ok: true, environment: { backend: { kind: "namespaces", bubblewrap }, system } };
  const because = refused ?? unavailable("namespaces are not available");
  if (options.requiresNamespaces === true) return { ok: false, refused: because };
  const kernel = kernelFacts(native);
  // A machine that has namespaces gets them: the fix is to install bubblewrap.
  const isOffered = kernel?.["supervised"] === true && (bubblewrap !== null || kernel["userNamespaces"] === false);
  if (!isOffered) return { ok: false, refused: because };
  return { ok: true, environment: { backend: { kind: "supervised", because: because.message }, system } };
}

/** Whether programs can run at all, without a trial. */
export function hasSandbox(options: DetectOptions): boolean {
  const isFound = findProgram("bwrap", options.folders) !== null && isProgram(options.native);
  return (process.platform === "linux" && isFound) || detectSandbox(options).ok;
}

function absent({ install }: DetectOptions): RunRefusal {
  return unavailable("bubblewrap is not installed", install());
}

interface TrialAnswer {
  /** Null where it was killed or did not start. */
  readonly status: number | null;
  readonly stderr: string;
}

type SandboxTrial =
  /** `setsHostname`: false where sandboxes keep the host name of the machine, because a filter forbids another. */
  | { readonly kind: "starts"; readonly setsHostname: boolean }
  /** `problem`: null where it said nothing. */
  | { readonly kind: "fails"; readonly problem: BubblewrapProblem | null }
  /** No answer in time, say. */
  | { readonly kind: "unknown" };

const NAMED: readonly string[] = ["--hostname", HOSTNAME];

/**
 * Makes and mounts what every sandbox does. `doctor` and the start of programs use this one trial, so that they agree: container
 * engines that allow namespaces may still forbid a /proc or a host name. `run` starts bubblewrap with these words.
 */
export function trySandbox(run: (argv: readonly string[]) => TrialAnswer): SandboxTrial {
  const named = outcomeOf(run(trial(NAMED)), true);
  if (named.kind !== "fails" || named.problem?.isHostname !== true) return named;
  return outcomeOf(run(trial([])), false);
}

function trial(name: readonly string[]): readonly string[] {
  const mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
  return ["--unshare-all", ...name, "--die-with-parent", ...mounts, "--", "/bin/true"];
}

function outcomeOf({ status, stderr }: TrialAnswer, setsHostname: boolean): SandboxTrial {
  if (status === null) return { kind: "unknown" };
  return status === 0 ? { kind: "starts", setsHostname } : { kind: "fails", problem: complaintProblem(stderr) };
}

function bubblewrapTrial(bubblewrap: string): SandboxTrial {
  return trySandbox((argv) =>
    spawnSync(bubblewrap, [...argv], {
      env: { LC_ALL: "C" },
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
      timeout: answerMillisecondsMax,
      killSignal: "SIGKILL",
      maxBuffer: answerBytesMax,
    }),
  );
}

/**
 * Why this machine refuses namespaces; null where it does not, or where that cannot be told: a machine that is busy must
 * not get weaker sandboxes.
 */
function namespacesRefused(trial: SandboxTrial): RunRefusal | null {
  if (trial.kind !== "fails" || trial.problem?.isRefusal !== true) return null;
  return unavailable(trial.problem.message, trial.problem.fix);
}

export interface SandboxFacts {
  /** The version bubblewrap reports; null where it reports none. */
  readonly version: string | null;
  /** The native program's report on the kernel: one JSON object; null where it does not run here. */
  readonly kernel: Readonly<Record<string, unknown>> | null;
}

/** Starts both programs to query them: for `doctor`, not for every run. */
export function sandboxFacts({ backend, system }: SandboxEnvironment): SandboxFacts {
  const said = backend.kind === "namespaces" ? answer(backend.bubblewrap, ["--version"]) : null;
  const version = /\b\d+(\.\d+)+\b/.exec(said ?? "")?.[0] ?? null;
  return { version, kernel: kernelFacts(hostPath(system.program)) };
}

function no(message: string, fix: string | null): SandboxDetection {
  return { ok: false, refused: unavailable(message, fix) };
}

/** The native program's report on the kernel: one JSON object; null where it is not one. */
export function kernelFacts(
  native: string,
  millisecondsMax: number = answerMillisecondsMax,
): Readonly<Record<string, unknown>> | null {
  if (nativeProblem(native) !== null) return null;
  try {
    const facts: unknown = JSON.parse(answer(native, ["facts"], millisecondsMax) ?? "");
    return typeof facts === "object" && facts !== null && !Array.isArray(facts) ? { ...facts } : null;
  } catch {
    return null;
  }
}

function answer(program: string, words: readonly string[], millisecondsMax = answerMillisecondsMax): string | null {
  const { status, stdout } = spawnSync(program, [...words], {
    env: {},
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
    encoding: "utf8",
    timeout: millisecondsMax,
    killSignal: "SIGKILL",
    maxBuffer: answerBytesMax,
  });
  return status === 0 ? stdout : null;
}
