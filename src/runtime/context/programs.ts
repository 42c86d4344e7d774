// Programs as a tool sees them: an argument vector, never a shell line, run in a sandbox made from the deciding grants.
import type { RootWord } from "../../core/authority/axes/root-word.ts";
import { utf8Bytes } from "../../core/base/bytes.ts";
import { argvCharactersMax, argvTokensMax } from "../../core/base/limits.ts";
import type { ChangesReport } from "../../core/ports/drafts.ts";
import type { ProgramRequest, ProgramsPort } from "../../core/ports/instruments.ts";
import type { Ending, RunDenial, Usage } from "../../core/ports/process.ts";
import { type ContextLifetime, sealMembers } from "./life.ts";
import * as limits from "./limits.ts";
import { SHELL, type ToolRequest } from "./tool-request.ts";
import type { UseGate } from "./use-gate.ts";
import {
  countOf,
  invalid,
  optionsOf,
  textsOf,
  type UseResult,
  useDenial,
  useFailure,
  useResult,
} from "./use-result.ts";

export interface ProgramOptions {
  /** The folder it runs in, and all it can see of the agent's files. */
  readonly in?: string | undefined;
  /** Whether it may change that folder; `ro` by default. */
  readonly root?: RootWord | undefined;
  readonly input?: string | Uint8Array | undefined;
  /** Null: the configured limit alone, for built-in tools only. */
  readonly millisecondsMax?: number | null | undefined;
  /** Of output and errors together. */
  readonly outputBytesMax?: number | undefined;
  /** Truncates longer output; by default the program is stopped, and its output is refused. */
  readonly truncate?: boolean | undefined;
  /** Runs this one in the sandbox of the decided program, for built-in tools only: to read what the program itself would read. */
  readonly instead?: readonly string[] | undefined;
}

export interface ProgramResult {
  readonly ending: Ending;
  /** How to make it work, if it failed for a reason that ambit knows. */
  readonly hint?: string | undefined;
  readonly usage: Usage;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
  /** Bytes of output and errors that are left out. */
  readonly dropped: number;
  readonly denials: readonly RunDenial[];
  readonly enforcement: readonly { readonly axis: string; readonly strength: string }[];
  /** What it changed in its folder; null if it changed nothing, or could not. */
  readonly changes: ChangesReport | null;
}

export interface ProcessInstrument {
  /** One program with its arguments. */
  run(argv: readonly string[], options?: ProgramOptions): Promise<UseResult<ProgramResult>>;
  /** One line, by a shell in the sandbox. */
  evaluate(line: string, options?: ProgramOptions): Promise<UseResult<ProgramResult>>;
  /** One program in a temporary sandbox without any folder of the machine. */
  isolated(argv: readonly string[], options?: ProgramOptions): Promise<UseResult<ProgramResult>>;
}

interface Process {
  readonly port: ProgramsPort | null;
  readonly asker: UseGate;
  readonly life: ContextLifetime;
  /** The tool is built in. */
  readonly isOwn: boolean;
}

export function processInstrument(
  port: ProgramsPort | null,
  asker: UseGate,
  life: ContextLifetime,
  isOwn: boolean,
): ProcessInstrument {
  const by: Process = { port, asker, life, isOwn };
  return sealMembers({
    run: (argv: readonly string[], options?: ProgramOptions) =>
      life.use("proc.exec", () =>
        run(by, argv, options, (words, { in: folder, root }) => ({ verb: "proc.exec", argv: words, in: folder, root })),
      ),
    evaluate: (line: string, options?: ProgramOptions) =>
      life.use("proc.eval", () =>
        run(by, [...SHELL, line], options, ([, , words], { in: folder, root }) => {
          return { verb: "proc.eval", line: words as string, in: folder, root };
        }),
      ),
    isolated: (argv: readonly string[], options?: ProgramOptions) =>
      life.use("sandbox.exec", () => run(by, argv, options, (words) => ({ verb: "sandbox.exec", argv: words }))),
  });
}

const OPTIONS = ["in", "root", "input", "millisecondsMax", "outputBytesMax", "truncate", "instead"];

async function run(
  { port, asker, life, isOwn }: Process,
  words: unknown,
  options: unknown,
  requestFor: (argv: readonly string[], options: Pick<ProgramOptions, "in" | "root">) => ToolRequest,
): Promise<UseResult<ProgramResult>> {
  const read = optionsOf(options, OPTIONS);
  if (read === null) return invalid("proc.exec", "not an option of a program");
  // Read once: what is decided is what is run.
  const argv = textsOf(words, argvTokensMax, argvCharactersMax);
  if (argv === null || argv.length === 0) return invalid("proc.exec", "`argv` must be a list of texts");
  const bounds = boundsOf(read, isOwn);
  if (bounds === null)
    return invalid("proc.exec", "the input must be text or bytes, and the limits whole numbers within the maximum");
  const { in: folder, root } = read as Pick<ProgramOptions, "in" | "root">;
  if (root === "live" && !isOwn) return invalid("proc.exec", "`root` is ro or rw");
  const asked = requestFor(argv, { in: folder, root });
  const granted = asker.ask(asked);
  if (!granted.ok) return granted;
  if (port === null) return useDenial("not_available", asked.verb, "programs cannot be run here");
  const { request, by } = granted.value;
  const [program, ...rest] = bounds.instead ?? argv;
  const { input, millisecondsMax, outputBytesMax, isTruncating } = bounds;
  const answer = await port.run({
    ...{ argv: [program as string, ...rest], request, by, input, millisecondsMax, outputBytesMax, isTruncating },
    signal: life.signal(),
  });
  if (!answer.ok) {
    // The request was covered: no grant would help.
    return Object.freeze({ ...useFailure(null, answer.refused), fix: answer.refused.fix });
  }
  const { ran, output, errors, dropped } = answer.value;
  const { ending, usage, denials, enforcement, changes = null, hint } = ran;
  return useResult(
    Object.freeze({
      ending: Object.freeze({ ...ending }),
      ...(hint === undefined ? {} : { hint }),
      usage: Object.freeze({ ...usage }),
      ...{ output, errors, dropped: ran.outputDropped + dropped, changes },
      denials: Object.freeze(denials.map((one) => Object.freeze({ ...one }))),
      enforcement: Object.freeze(enforcement.map(({ axis, strength }) => Object.freeze({ axis, strength }))),
    }),
  );
}

interface ProgramBounds extends Pick<ProgramRequest, "input" | "millisecondsMax" | "outputBytesMax" | "isTruncating"> {
  readonly instead: readonly string[] | null;
}

function boundsOf(read: Readonly<Record<string, unknown>>, isOwn: boolean): ProgramBounds | null {
  const input = inputOf(read["input"]);
  const { millisecondsMax: time, truncate = false } = read;
  const isUnlimited = isOwn && time === null;
  const millisecondsMax = countOf(time, limits.programMillisecondsUsual, limits.programMillisecondsMax);
  const outputBytesMax = countOf(read["outputBytesMax"], limits.programOutputBytesUsual, limits.programOutputBytesMax);
  const instead = read["instead"] === undefined ? null : textsOf(read["instead"], argvTokensMax, argvCharactersMax);
  if (read["instead"] !== undefined && (!isOwn || instead === null || instead.length === 0)) return null;
  if (input === undefined || typeof truncate !== "boolean" || outputBytesMax === null) return null;
  if (millisecondsMax === null && !isUnlimited) return null;
  return { input, millisecondsMax, outputBytesMax, isTruncating: truncate, instead };
}

function inputOf(value: unknown): Uint8Array | null | undefined {
  if (value === undefined) return null;
  if (typeof value === "string" && value.length <= limits.bodyBytesMax) return utf8Bytes(value);
  return value instanceof Uint8Array && value.length <= limits.bodyBytesMax ? new Uint8Array(value) : undefined;
}
