// What a program's result does not say by itself: where a missing program was searched, that the root was read-only, that the
// sandbox had no network, no ssh key, or its loopback no such port, and which command of a person ended it.
import type { Ending, RunResult, Sinks } from "../../core/ports/process.ts";
import type { Plan } from "../../sandbox/plan/plan.ts";

const READ_ONLY = /Read-only file system|EROFS/;
/** What resolvers and clients print where no name can be resolved and no address reached. */
const NO_NETWORK =
  /Could not resolve host|resolve host ?name|Temporary failure in name resolution|Name or service not known|Network is unreachable|EAI_AGAIN|ENOTFOUND|ENETUNREACH|dial tcp: lookup|Failed to connect to (?!localhost|127\.)/i;
/** What clients print where nothing listens on a port of the sandbox's own loopback. */
const REFUSED_LOOPBACK =
  /(?:ECONNREFUSED (?:127\.0\.0\.1|::1):(\d{1,5})|connect to (?:localhost|127\.0\.0\.1) port (\d{1,5})|(?:localhost|127\.0\.0\.1):(\d{1,5})[^\n]{0,200}refused|host='(?:localhost|127\.0\.0\.1)', port=(\d{1,5}))/i;
/** What ssh prints where it has no network, no key or no known host. */
const NO_SSH = /(?:^|\n)ssh: |Permission denied \(publickey|Host key verification failed/;
/** A message that is split between two chunks is found as long as the pieces are joined by this much. */
const joinedBytesMax = 256;

const READ_ONLY_HINT =
  "its root was read-only: run it with root `rw` (`ambit exec --root rw`), which needs `fs.write` on the whole folder";

const NO_NETWORK_HINT =
  "this sandbox has no network: programs reach only hosts of `net.connect`, such as `net.connect{hosts=[example.com],ports=[443]}`; `net.get` is for `web_fetch`";

const NO_SSH_HINT =
  "there is no ssh key in a sandbox: use an https address (`git remote set-url origin https://HOST/PATH`), store a token for it (`ambit secrets set NAME --tool git --host HOST`), grant `net.connect{hosts=[HOST],ports=[443]}`, and push with `ambit exec AGENT -- git push`";

export class RunExplanation {
  readonly #argv: readonly string[];
  readonly owner: string;
  #plan: Plan | null = null;
  #tail = "";
  #hint: string | null = null;
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

  /** The same sink, watched for messages about a read-only file system, ssh, a missing network and a port without a server. */
  watched(sink: Sinks["output"]): Sinks["output"] {
    return (bytes) => {
      const isReadOnly = this.#plan?.root?.mode === "ro";
      const isOffline = this.#plan?.network === null;
      if (this.#hint === null) {
        const text = this.#tail + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
        if (isReadOnly && READ_ONLY.test(text)) this.#hint = READ_ONLY_HINT;
        else if (NO_SSH.test(text)) this.#hint = NO_SSH_HINT;
        else if (isOffline && NO_NETWORK.test(text)) this.#hint = NO_NETWORK_HINT;
        else this.#hint = this.#loopbackHint(text);
        this.#tail = text.slice(-joinedBytesMax);
      }
      return sink(bytes);
    };
  }

  #loopbackHint(text: string): string | null {
    const port = REFUSED_LOOPBACK.exec(text)
      ?.slice(1)
      .find((one) => one !== undefined);
    if (port === undefined || this.#plan?.network?.loopback.includes(Number(port)) === true) return null;
    return `nothing in the sandbox listens on port ${port}; to reach a service of this machine, grant \`net.connect{hosts=[localhost],ports=[${port}]}\``;
  }

  of(result: RunResult): RunResult {
    if (!result.ok) return result;
    const { ran } = result;
    const ending = this.#ending(ran.ending);
    const isFine = ending.kind === "exited" && ending.status === 0;
    return { ok: true, ran: { ...ran, ending, ...(this.#hint !== null && !isFine ? { hint: this.#hint } : {}) } };
  }

  #ending(ending: Ending): Ending {
    const isKilled = ending.kind === "signalled" || (ending.kind === "ended" && ending.because === "stopped");
    if (this.#endedBy !== null && isKilled) return { kind: "ended", because: "person", reason: this.#endedBy };
    return ending.kind === "unstarted" && ending.isMissing === true ? { ...ending, reason: this.#searched() } : ending;
  }

  #searched(): string {
    const [program = ""] = this.#argv;
    const shown = JSON.stringify(program.slice(0, 200));
    if (program.includes("/"))
      return `the sandbox has no program ${shown}, or not the interpreter named in its first line`;
    const path = this.#plan?.environment.find(([name]) => name === "PATH")?.[1] ?? "";
    return `there is no program ${shown} in ${path.replaceAll(":", ", ")}, where the sandbox searches; in your config.yml \`programs: { add: [FOLDER] }\` adds folders for clients, \`runtime\` for all programs`;
  }
}

const commandCharactersMax = 2_048;

/** For display: a command of megabytes would make the draft's record unreadable. */
export function shownCommand(argv: readonly string[]): readonly string[] {
  let left = commandCharactersMax;
  const words: string[] = [];
  for (const word of argv) {
    if (left <= 0) break;
    words.push(word.slice(0, left));
    left -= word.length + 1;
  }
  return words;
}
