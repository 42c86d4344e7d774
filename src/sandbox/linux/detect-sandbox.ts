// Whether this machine can hold a sandbox: bubblewrap, our native program, and what they say when asked.
// There is no weaker way to run: without namespaces the program that ends what is left over would have no bounds.
import { spawnSync } from "node:child_process";
import type { RunRefusal } from "../../core/ports/process.ts";
import type { SystemFacts } from "../plan/start/system.ts";
import { hostPath } from "./host-path.ts";
import { findProgram, isProgram } from "./programs.ts";
import { unavailable } from "./refusal.ts";
import { systemFacts } from "./system-facts.ts";

export interface SandboxGround {
  /** Absolute. */
  readonly bubblewrap: string;
  readonly system: SystemFacts;
}

export type Detected =
  | { readonly ok: true; readonly ground: SandboxGround }
  | { readonly ok: false; readonly refused: RunRefusal };

export interface DetectAsked {
  /** Where our native program lies. */
  readonly native: string;
  /** Where bubblewrap is looked for; the fixed folders unless a test says otherwise. */
  readonly folders?: readonly string[];
  /** The command that installs bubblewrap here. */
  install(): string;
}

const answerMillisecondsMax = 5_000;
const answerBytesMax = 65_536;

export function detectSandbox({ native, folders, install }: DetectAsked): Detected {
  if (process.platform !== "linux") return no(`there is no sandbox for ${process.platform}`, "run it on Linux");
  const bubblewrap = findProgram("bwrap", folders);
  if (bubblewrap === null) return no("bubblewrap is not installed", install());
  if (!isProgram(native)) return no("ambit's native program is not built", "npm run build");
  const system = systemFacts(native);
  if (system === null) return no(`there is no filter of system calls for ${process.arch}`, null);
  return { ok: true, ground: { bubblewrap, system } };
}

export interface SandboxFacts {
  /** Of bubblewrap, as it says itself; null where it says nothing one could read. */
  readonly version: string | null;
  /** What our program says of the kernel: one object of JSON; null where it does not run here. */
  readonly kernel: Readonly<Record<string, unknown>> | null;
}

/** Starts both programs to ask them; for a person who wants to know, not for every run. */
export function sandboxFacts({ bubblewrap, system }: SandboxGround): SandboxFacts {
  const version = /\b\d+(\.\d+)+\b/.exec(answer(bubblewrap, ["--version"]) ?? "")?.[0] ?? null;
  return { version, kernel: kernelFacts(hostPath(system.program)) };
}

function no(message: string, fix: string | null): Detected {
  return { ok: false, refused: unavailable(message, fix) };
}

/** What our program says of the kernel: one object of JSON; null where it says nothing of the kind. */
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
