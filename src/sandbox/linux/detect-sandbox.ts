// Detects whether this machine supports sandboxes: bubblewrap, our native program, and what they report. There is no
// weaker mode: without namespaces, killing leftover processes would have no bounds.
import { spawnSync } from "node:child_process";
import type { RunRefusal } from "../../core/ports/process.ts";
import { nativeMissing } from "../../platform/native-program.ts";
import type { SystemFacts } from "../plan/start/system.ts";
import { hostPath } from "./host-path.ts";
import { findProgram, isProgram } from "./programs.ts";
import { unavailable } from "./refusal.ts";
import { systemFacts } from "./system-facts.ts";

export interface SandboxEnvironment {
  /** Absolute. */
  readonly bubblewrap: string;
  readonly system: SystemFacts;
}

export type SandboxDetection =
  | { readonly ok: true; readonly environment: SandboxEnvironment }
  | { readonly ok: false; readonly refused: RunRefusal };

export interface DetectOptions {
  /** Path of our native program. */
  readonly native: string;
  /** Folders to search for bubblewrap; the fixed folders unless a test overrides them. */
  readonly folders?: readonly string[];
  /** The command that installs bubblewrap here. */
  install(): string;
}

const answerMillisecondsMax = 5_000;
const answerBytesMax = 65_536;

export function detectSandbox({ native, folders, install }: DetectOptions): SandboxDetection {
  const missing = nativeMissing(native);
  if (process.platform !== "linux") return no(missing.message, missing.fix);
  const bubblewrap = findProgram("bwrap", folders);
  if (bubblewrap === null) return no("bubblewrap is not installed", install());
  if (!isProgram(native)) return no(missing.message, missing.fix);
  const system = systemFacts(native);
  if (system === null) return no(`there is no filter of system calls for ${process.arch}`, null);
  return { ok: true, environment: { bubblewrap, system } };
}

export interface SandboxFacts {
  /** The version bubblewrap reports; null where it reports none. */
  readonly version: string | null;
  /** The native program's report on the kernel: one JSON object; null where it does not run here. */
  readonly kernel: Readonly<Record<string, unknown>> | null;
}

/** Starts both programs to query them: for `doctor`, not for every run. */
export function sandboxFacts({ bubblewrap, system }: SandboxEnvironment): SandboxFacts {
  const version = /\b\d+(\.\d+)+\b/.exec(answer(bubblewrap, ["--version"]) ?? "")?.[0] ?? null;
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
