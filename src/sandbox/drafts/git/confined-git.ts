// Runs git in a sandbox, never outside one: no network, no user files but the trees of its plan, limited in time,
// memory and output. Commands with the same plan share one warm sandbox.
import { randomUUID } from "node:crypto";
import type { Judge } from "../../../core/ports/judge.ts";
import { importEnvironment } from "../../plan/drafts/git/environment.ts";
import { type GitResult, printable, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { Limits, Plan, PlanPath } from "../../plan/plan.ts";
import type { Sandboxes, SandboxOwner } from "../../plan/sandboxes.ts";

export interface GitOutput {
  readonly status: number;
  readonly output: Buffer;
  /** The first error git printed, as one printable line. */
  readonly errors: string;
}

export interface GitCommand {
  readonly words: readonly string[];
  readonly input?: AsyncIterable<Uint8Array> | null;
  /** Receives the output as a stream, instead of it being collected. */
  readonly sink?: (bytes: Uint8Array) => void;
}

const outputBytesMax = 64 * 1_048_576;
const errorBytesMax = 4_096;

const LIMITS: Limits = {
  wallMilliseconds: 120_000,
  cpuSeconds: 60,
  memoryBytes: 3 * 1_073_741_824,
  treeMemoryBytes: 1_073_741_824,
  processes: 64,
  fileBytes: 1_073_741_824,
  openFiles: 1_024,
  outputBytes: outputBytesMax,
  temporaryBytes: 16 * 1_048_576,
  draftBytes: 1_073_741_824,
  draftFiles: 100_000,
};

/** Never called: there is no network. */
const DENY: Judge = () => ({ outcome: "deny", code: "not_available", at: null });

export class ConfinedGit {
  readonly #sandboxes: Sandboxes;
  readonly #signal: AbortSignal | null;
  /** An owner of its own: warm sandboxes of an import serve that import only. */
  readonly #owner: SandboxOwner = { agent: `git-import-${randomUUID()}`, session: "import", generation: 1 };

  constructor(sandboxes: Sandboxes, signal: AbortSignal | null) {
    this.#sandboxes = sandboxes;
    this.#signal = signal;
  }

  /** Ok with any exit status; not ok when git did not run to its end. */
  async run(plan: Plan, { words, input = null, sink }: GitCommand): Promise<GitResult<GitOutput>> {
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    let errorBytes = 0;
    const result = await this.#sandboxes.run(
      this.#owner,
      plan,
      { argv: ["git", ...words], input },
      {
        output: sink ?? ((bytes) => output.push(Buffer.from(bytes))),
        errors: (bytes) => {
          if (errorBytes < errorBytesMax) errors.push(Buffer.from(bytes));
          errorBytes += bytes.length;
        },
      },
      DENY,
      this.#signal,
    );
    const name = words.find((word) => !word.startsWith("-")) ?? "";
    if (!result.ok) return refuseGit("unavailable", `git cannot run in a sandbox: ${result.refused.message}`);
    const { ending } = result.ran;
    switch (ending.kind) {
      case "exited":
        return value({
          status: ending.status,
          output: Buffer.concat(output),
          errors: firstError(Buffer.concat(errors).toString("latin1")),
        });
      case "signalled":
        return refuseGit(
          "too_large",
          `git ${name} was killed by signal ${ending.signal}: out of memory, time or space`,
        );
      case "ended":
        return ending.because === "stopped"
          ? refuseGit("unavailable", `git ${name} was stopped`)
          : refuseGit("too_large", `git ${name} needed more ${ending.because} than an import may use`);
      case "unstarted":
        return refuseGit("unavailable", `git cannot be started: ${printable(ending.reason)}`);
      default:
        return ending satisfies never;
    }
  }

  async end(): Promise<void> {
    await this.#sandboxes.end(this.#owner.agent);
  }
}

export interface GitPlanParts {
  /** The one tree git may write; null for none. */
  readonly writable: string | null;
  readonly readable: readonly string[];
  /** Where commands start. */
  readonly directory: string;
  readonly environment: Plan["environment"];
  readonly limits?: Partial<Limits>;
  /** How long git waits for a lock of another git. */
  readonly lockMilliseconds?: number;
}

export function gitPlan({ writable, readable, directory, environment, limits, lockMilliseconds }: GitPlanParts): Plan {
  return {
    root: writable === null ? null : { path: segmentsOf(writable), mode: "direct" },
    runtime: readable.map(segmentsOf),
    masked: [],
    directory: segmentsOf(directory),
    environment: importEnvironment(environment, lockMilliseconds),
    network: null,
    limits: { ...LIMITS, ...limits },
  };
}

function firstError(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  return printable(lines.find((line) => /^(fatal|error): /.test(line)) ?? lines[0] ?? "");
}

/** One piece of input. */
export async function* inputOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof text === "string" ? Buffer.from(text, "latin1") : text;
}

function segmentsOf(path: string): PlanPath {
  return path.split("/").filter((name) => name !== "");
}
