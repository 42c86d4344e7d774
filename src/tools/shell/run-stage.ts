// One command of a pipeline: its redirections are opened from the left, as in a shell, then it runs.
import { onAbort } from "../../core/base/abort.ts";
import type { FileRefusal } from "../../core/ports/files.ts";
import type { CompletedRun, Ending, RunRefusal, RunResult, Sinks } from "../../core/ports/process.ts";
import type { BufferBudget } from "./buffer-budget.ts";
import type { DecidedFile, DecidedStage } from "./decided-script.ts";
import type { Pipe } from "./pipe.ts";
import { FileSink, fileSource, type RedirectionFiles } from "./redirection-files.ts";
import { WholeLines } from "./whole-lines.ts";

export interface ScriptParts {
  run(
    stage: DecidedStage,
    input: AsyncIterable<Uint8Array> | null,
    sinks: Sinks,
    signal: AbortSignal,
  ): Promise<RunResult>;
  readonly files: RedirectionFiles;
  readonly room: BufferBudget;
  /** For output that no redirection and no pipe takes. */
  readonly sinks: Sinks;
  readonly signal: AbortSignal;
  /** A path for display, and why it could not be opened. */
  told(file: DecidedFile, refused: FileRefusal): string;
}

/** `reader`: its output has no reader. `full`: it wrote more than may be buffered. `file`: its file cannot be written. */
export type StageCancelReason = "reader" | "full" | "file";

/** Cancels one command: together with its script, or by itself; remembers its own reason. */
export class StageCancel {
  readonly #controller = new AbortController();
  because: StageCancelReason | null = null;

  constructor(script: AbortSignal) {
    onAbort(script, () => this.#controller.abort());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(because: StageCancelReason): void {
    if (this.signal.aborted) return;
    this.because = because;
    this.#controller.abort();
  }
}

export interface StageResult {
  readonly ending: Ending;
  readonly ran: CompletedRun | null;
  /** Nothing could be run, or a file was denied: the script ends. */
  readonly refused: RunRefusal | null;
  readonly denied: { readonly file: DecidedFile; readonly refused: FileRefusal } | null;
}

export interface StageEnds {
  readonly input: Pipe | null;
  readonly output: Pipe | null;
}

interface Sink {
  /** A promise is backpressure. */
  write(bytes: Uint8Array): void | Promise<void>;
}

interface Streams {
  input: AsyncIterable<Uint8Array> | null;
  output: Sink;
  errors: Sink;
  readonly files: FileSink[];
}

/** INVARIANT: when it resolves, both pipes know that this command has ended, and no process of it runs. */
export async function runStage(
  stage: DecidedStage,
  ends: StageEnds,
  parts: ScriptParts,
  cancel: StageCancel,
): Promise<StageResult> {
  let isWhole = false;
  try {
    const done = await openAndRun(stage, ends, parts, cancel);
    isWhole = done.ending.kind !== "ended";
    return done;
  } finally {
    ends.input?.close();
    // The output of a command that we stopped is incomplete.
    if (isWhole) ends.output?.end();
    else ends.output?.break();
  }
}

async function openAndRun(
  stage: DecidedStage,
  ends: StageEnds,
  parts: ScriptParts,
  cancel: StageCancel,
): Promise<StageResult> {
  const { sinks } = parts;
  const streams: Streams = {
    input: ends.input?.read() ?? null,
    output: ends.output ?? { write: (bytes) => sinks.output(bytes) },
    errors: { write: (bytes) => sinks.errors(bytes) },
    files: [],
  };
  const failed = await open(stage, streams, parts, cancel);
  if (failed !== null) {
    await Promise.all(streams.files.map((file) => file.end()));
    return failed;
  }
  // A pipe that this command does not use is released at once.
  if (ends.output !== null && streams.output !== ends.output && streams.errors !== ends.output) ends.output.end();
  if (ends.input !== null && stage.redirections.some(({ kind }) => kind === "read")) ends.input.close();
  const { input } = streams;
  const isJoined = streams.output === streams.errors;
  const [output, errors] = [streams.output, streams.errors].map(
    (sink): Sink => (isJoined ? new WholeLines((bytes) => sink.write(bytes)) : sink),
  ) as [Sink, Sink];
  const written = {
    output: (bytes: Uint8Array) => output.write(bytes),
    errors: (bytes: Uint8Array) => errors.write(bytes),
  };
  const result = await parts.run(stage, input, written, cancel.signal);
  // As a shell reports it, into the same stream.
  if (result.ok && result.ran.ending.kind === "unstarted")
    errors.write(Buffer.from(`shell: ${stage.argv[0]}: ${result.ran.ending.reason}\n`));
  for (const sink of [output, errors]) if (sink instanceof WholeLines) sink.end();
  await Promise.all(streams.files.map((file) => file.end()));
  if (!result.ok)
    return {
      ending: { kind: "unstarted", reason: result.refused.message },
      ran: null,
      refused: result.refused,
      denied: null,
    };
  return { ending: endingOf(result.ran.ending, cancel), ran: result.ran, refused: null, denied: null };
}

async function open(
  { redirections }: DecidedStage,
  streams: Streams,
  parts: ScriptParts,
  cancel: StageCancel,
): Promise<StageResult | null> {
  const { files } = parts;
  const tell = (file: DecidedFile, refused: FileRefusal): string => {
    const words = parts.told(file, refused);
    parts.sinks.errors(Buffer.from(`shell: ${words}\n`));
    return words;
  };
  for (const one of redirections) {
    if (one.kind === "join") {
      streams.errors = streams.output;
      continue;
    }
    const opened =
      one.kind === "read"
        ? await fileSource(files, one.path)
        : await FileSink.open(files, one.path, one.append, parts.room, (refused) => {
            tell(one, refused);
            cancel.abort("file");
          });
    if (!opened.ok) {
      const isDenied = opened.code !== "not_available";
      const ending: Ending = { kind: "unstarted", reason: tell(one, opened) };
      return { ending, ran: null, refused: null, denied: isDenied ? { file: one, refused: opened } : null };
    }
    const { value } = opened;
    if (!(value instanceof FileSink)) streams.input = value;
    else {
      streams.files.push(value);
      if (one.kind === "write" && one.stream === 2) streams.errors = value;
      else streams.output = value;
    }
  }
  return null;
}

const brokenPipe = 13;

/** Why we stopped it, in a shell's terms if there are any. */
function endingOf(ending: Ending, { because }: StageCancel): Ending {
  if (ending.kind !== "ended" || ending.because !== "stopped" || because === null) return ending;
  if (because === "reader") return { kind: "signalled", signal: brokenPipe };
  return because === "full" ? { kind: "ended", because: "output" } : ending;
}
