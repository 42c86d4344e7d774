// Shared setup of the tests with real sandboxes: the built program, a plan for a folder, and a run whose result is text.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Judge } from "../../src/core/ports/judge.ts";
import type { CompletedRun, RunResult, Sinks } from "../../src/core/ports/process.ts";
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { detectSandbox, type SandboxEnvironment } from "../../src/sandbox/linux/detect-sandbox.ts";
import { LinuxSandboxes, type LinuxSandboxesParts } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan, PlanPath } from "../../src/sandbox/plan/plan.ts";
import { DEFAULT_LIMITS } from "../../src/sandbox/plan/plan-facts.ts";
import type { SandboxOwner } from "../../src/sandbox/plan/sandboxes.ts";

/** Beside the sources, or where a bundle of these tests is told. */
export function nativeProgram(): string {
  return (
    process.env["AMBIT_NATIVE"] ??
    fileURLToPath(new URL(`../../dist/native/${process.arch}/ambit-native`, import.meta.url))
  );
}

export function sandboxEnvironment(): SandboxEnvironment {
  const detected = detectSandbox({ native: nativeProgram(), install: () => "install it" });
  if (!detected.ok) throw new Error(detected.refused.message);
  return detected.environment;
}

/** The tests here are about namespaces; those without are in `test/supervised`. */
export function bubblewrapOf({ backend }: SandboxEnvironment): string {
  if (backend.kind !== "namespaces") throw new Error(`no namespaces: ${backend.because}`);
  return backend.bubblewrap;
}

/** A folder without links in its path. */
export function ownFolder(): string {
  return realpathSync.native(mkdtempSync(join(tmpdir(), "ambit-sandbox-")));
}

/** With the state folder that `sandboxesIn` puts beside it. */
export function removeFolder(folder: string): void {
  // Of drafts that were never sealed: the kernel's own folder has mode 000.
  for (const id of draftsIn(folder).list()) draftsIn(folder).dropWork(id);
  for (const path of [folder, stateFolder(folder)]) rmSync(path, { recursive: true, force: true });
}

export function stateFolder(folder: string): string {
  return `${folder}-state`;
}

export function draftsIn(folder: string): DraftFolders {
  return new DraftFolders(stateFolder(folder));
}

/** The changes of a command. Fails if it changed nothing, or if they may still change. */
export function changedBy(told: CommandOutput, folder: string): string {
  const { draft } = ranOf(told);
  if (draft === null || !draft.isSealed) throw new Error(`not a sealed draft: ${draft?.id}`);
  return draftsIn(folder).upper(draft.id);
}

export function segments(path: string): PlanPath {
  return path.split("/").filter((name) => name !== "");
}

export function planFor(folder: string, changes: Partial<Plan> = {}): Plan {
  return {
    root: { path: segments(folder), mode: "draft" },
    runtime: [],
    masked: [],
    directory: segments(folder),
    environment: [["PATH", "/usr/bin:/bin"]],
    network: null,
    limits: { ...DEFAULT_LIMITS, wallMilliseconds: 60_000 },
    ...changes,
  };
}

export function sandboxesIn(folder: string, parts: Partial<LinuxSandboxesParts> = {}): LinuxSandboxes {
  return new LinuxSandboxes({
    environment: sandboxEnvironment(),
    groups: null,
    broker: null,
    drafts: draftsIn(folder),
    ...parts,
  });
}

export const OWNER: SandboxOwner = { agent: "agent", session: "session", generation: 1 };
export const DENY_ALL: Judge = () => ({ outcome: "deny", code: "not_available", at: null });

export interface CommandOutput {
  readonly result: RunResult;
  readonly output: string;
  readonly errors: string;
}

export interface RunOptions {
  readonly owner?: SandboxOwner;
  readonly input?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
  readonly sinks?: Sinks;
}

export async function run(
  sandboxes: LinuxSandboxes,
  plan: Plan,
  argv: readonly [string, ...string[]],
  { owner = OWNER, input, signal, sinks }: RunOptions = {},
): Promise<CommandOutput> {
  const heard: Record<"output" | "errors", Uint8Array[]> = { output: [], errors: [] };
  const own: Sinks = {
    output: (bytes) => void heard.output.push(Buffer.from(bytes)),
    errors: (bytes) => void heard.errors.push(Buffer.from(bytes)),
  };
  const result = await sandboxes.run(
    owner,
    plan,
    { argv, input: input ?? null },
    sinks ?? own,
    DENY_ALL,
    signal ?? null,
  );
  return { result, output: Buffer.concat(heard.output).toString(), errors: Buffer.concat(heard.errors).toString() };
}

export function shell(
  sandboxes: LinuxSandboxes,
  plan: Plan,
  script: string,
  asked: RunOptions = {},
): Promise<CommandOutput> {
  return run(sandboxes, plan, ["/bin/sh", "-c", script], asked);
}

/** Fails if nothing was run. */
export function ranOf({ result }: CommandOutput): CompletedRun {
  if (!result.ok) throw new Error(`${result.refused.code}: ${result.refused.message}`);
  return result.ran;
}
