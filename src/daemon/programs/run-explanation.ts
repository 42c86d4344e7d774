// What a program's result does not say by itself: where a missing program was searched, that the root was read-only, and
// which command of a person ended it.
import type { Ending, RunResult, Sinks } from "../../core/ports/process.ts";
import type { Plan } from "../../sandbox/plan/plan.ts";

const READ_ONLY = /Read-only file system|EROFS/;
/** A message that is split between two chunks is found as long as the pieces are joined by this much. */
const joinedBytesMax = 64;

const READ_ONLY_HINT =
  "its root was read-only: run it with root `rw` (`ambit exec --root rw`), which needs `fs.write` on the whole folder";

export class RunExplanation {
  readonly #argv: readonly string[];
  readonly owner: string;
  #plan: Plan | null = null;
  #tail = "";
  #isReadOnlyHit = false;
  #endedBy: string | null = null;

  constructor(owner: string, argv: readonly string[]) {
    this.owner = owner;
    this.#argv = argv;
  }

  planned(plan: Plan): void {
    this.#plan = plan;
  }

  /** `by`: the command of a person, such as `ambit freeze`. */
  endedBy(by: string): void {
    this.#endedBy ??= by;
  }

  /** The same sink, watched for messages about a read-only file system. */
  watched(sink: Sinks["output"]): Sinks["output"] {
    return (bytes) => {
      if (!this.#isReadOnlyHit && this.#plan?.root?.mode === "ro") {
        const text = this.#tail + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
        this.#isReadOnlyHit = READ_ONLY.test(text);
        this.#tail = text.slice(-joinedBytesMax);
      }
      return sink(bytes);
    };
  }

  of(result: RunResult): RunResult {
    if (!result.ok) return result;
    const { ran } = result;
    const ending = this.#ending(ran.ending);
    const isHint = this.#isReadOnlyHit && !(ending.kind === "exited" && ending.status === 0);
    return { ok: true, ran: { ...ran, ending, ...(isHint ? { hint: READ_ONLY_HINT } : {}) } };
  }

  #ending(ending: Ending): Ending {
    const isKilled = ending.kind === "signalled" || (ending.kind === "ended" && ending.because === "stopped");
    if (this.#endedBy !== null && isKilled) return { kind: "ended", because: "person", reason: this.#endedBy };
    return ending.kind === "unstarted" && ending.isMissing === true ? { ...ending, reason: this.#searched() } : ending;
  }

  #searched(): string {
    const [program = ""] = this.#argv;
    const shown = JSON.stringify(program.slice(0, 200));
    if (program.includes("/")) return `there is no program ${shown} in the sandbox`;
    const path = this.#plan?.environment.find(([name]) => name === "PATH")?.[1] ?? "";
    return `there is no program ${shown} in ${path.replaceAll(":", ", ")}, where the sandbox looks; \`runtime\` in config.yml adds folders`;
  }
}
