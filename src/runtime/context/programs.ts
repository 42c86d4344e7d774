// Programs as a tool sees them: an argument vector, never a shell line, run in a sandbox made from the deciding grants.

import { utf8Bytes } from "../../core/base/bytes.ts";
import { argvCharactersMax, argvTokensMax } from "../../core/base/limits.ts";
import type { ProgramsPort } from "../../core/ports/instruments.ts";
import type { Ending, RunDenial, Usage } from "../../core/ports/process.ts";
import { closed } from "./closed.ts";
import type { Life } from "./life.ts";
import * as limits from "./limits.ts";
import { countOf, optionsOf, textsOf } from "./option.ts";
import type { UseGate } from "./use-gate.ts";
import { failed, invalid, type UseResult, useDenial, useResult } from "./use-result.ts";

export interface ProgramOptions {
  /** The folder it runs in, and all it can see of the agent's files. */
  readonly in?: string | undefined;
  /** Whether it may change that folder; false by default. */
  readonly root?: "ro" | "rw" | undefined;
  readonly input?: string | Uint8Array | undefined;
  readonly millisecondsMax?: number | undefined;
  readonly outputBytesMax?: number | undefined;
}

export interface ProgramResult {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
  readonly denials: readonly RunDenial[];
}

export interface ProcessInstrument {
  run(argv: readonly string[], options?: ProgramOptions): Promise<UseResult<ProgramResult>>;
}

export function processInstrument(port: ProgramsPort | null, asker: UseGate, life: Life): ProcessInstrument {
  return closed({
    run: (argv: readonly string[], options?: ProgramOptions) =>
      life.use("proc.exec", () => run(port, asker, life, argv, options)),
  });
}

async function run(
  port: ProgramsPort | null,
  asker: UseGate,
  life: Life,
  words: unknown,
  options: unknown,
): Promise<UseResult<ProgramResult>> {
  const read = optionsOf(options, ["in", "root", "input", "millisecondsMax", "outputBytesMax"]);
  if (read === null) return invalid("proc.exec", "not an option of a program");
  // Read once: what is decided is what is run.
  const argv = textsOf(words, argvTokensMax, argvCharactersMax);
  const [program, ...rest] = argv ?? [];
  if (argv === null || program === undefined) return invalid("proc.exec", "`argv` must be a list of texts");
  const input = inputOf(read["input"]);
  const millisecondsMax = countOf(
    read["millisecondsMax"],
    limits.programMillisecondsUsual,
    limits.programMillisecondsMax,
  );
  const outputBytesMax = countOf(read["outputBytesMax"], limits.programOutputBytesUsual, limits.programOutputBytesMax);
  if (input === undefined || millisecondsMax === null || outputBytesMax === null)
    return invalid("proc.exec", "the input is text or bytes, and the bounds are whole numbers below ours");
  const granted = asker.ask({
    verb: "proc.exec",
    argv,
    in: read["in"] as string | undefined,
    root: read["root"] as "ro" | "rw" | undefined,
  });
  if (!granted.ok) return granted;
  if (port === null) return useDenial("not_available", "proc.exec", "no programs are run here");
  const { request, by } = granted.value;
  const answer = await port.run({
    ...{ argv: [program, ...rest], request, by, input, millisecondsMax, outputBytesMax },
    stop: life.signal(),
  });
  if (!answer.ok) return failed("proc.exec", answer.refused);
  const { ran, output, errors } = answer.value;
  const { ending, usage, denials } = ran;
  return useResult(
    Object.freeze({
      ending: Object.freeze({ ...ending }),
      usage: Object.freeze({ ...usage }),
      output,
      errors,
      denials: Object.freeze(denials.map((one) => Object.freeze({ ...one }))),
    }),
  );
}

function inputOf(value: unknown): Uint8Array | null | undefined {
  if (value === undefined) return null;
  if (typeof value === "string" && value.length <= limits.bodyBytesMax) return utf8Bytes(value);
  return value instanceof Uint8Array && value.length <= limits.bodyBytesMax ? new Uint8Array(value) : undefined;
}
