// Programs of a context: run like every program, in a sandbox made from the grants that decided and from the tool's
// declaration.
import type { ProgramRequest, ProgramsPort } from "../../core/ports/instruments.ts";
import type { RunRefusal } from "../../core/ports/process.ts";
import type { Programs } from "../parts.ts";
import type { InstrumentsOptions } from "./contexts.ts";

type Answer = Awaited<ReturnType<ProgramsPort["run"]>>;

export function contextPrograms(programs: Pick<Programs, "run">, asked: InstrumentsOptions): ProgramsPort {
  return { run: (program) => run(programs, asked, program) };
}

async function run(
  programs: Pick<Programs, "run">,
  { session, programContext, call, cancel, decidedBy, ran }: InstrumentsOptions,
  program: ProgramRequest,
): Promise<Answer> {
  const { argv, request, by, input, millisecondsMax, outputBytesMax, isTruncating } = program;
  const authority = decidedBy(request);
  if (authority === null) return refuse("revoked", "no decision covers this");
  // Ends with the context, with the client of the call, or past the limit of its output.
  const tooLong = new AbortController();
  const work = session.begin(program.signal, tooLong.signal, ...(cancel === null ? [] : [cancel]));
  if (work === null) return refuse(session.startRefusal.code, session.startRefusal.message);
  let [left, dropped] = [outputBytesMax, 0];
  const gathered = { output: [] as Uint8Array[], errors: [] as Uint8Array[] };
  const sink = (pieces: Uint8Array[]) => (bytes: Uint8Array) => {
    const kept = bytes.slice(0, left);
    left -= kept.length;
    dropped += bytes.length - kept.length;
    if (kept.length > 0) pieces.push(kept);
    if (dropped > 0 && !isTruncating) tooLong.abort();
  };
  try {
    // The program's input is unknown: the session is untrusted from here on.
    session.taint(call);
    const result = await programs.run(
      { ...programContext, authority },
      {
        ...{ argv, request, by, signal: work.signal },
        input: input === null ? null : once(input),
        sinks: { output: sink(gathered.output), errors: sink(gathered.errors) },
        milliseconds: millisecondsMax,
      },
    );
    if (!result.ok) return { ok: false, refused: result.refused };
    const denials = result.ran.denials.map((denial) => ({ ...denial, id: programContext.refused(denial, null) }));
    ran({ ...result.ran, denials });
    // Past a limit the result is a refusal, never truncated output.
    if (dropped > 0 && !isTruncating) return refuse("budget_exhausted", `it wrote more than ${outputBytesMax} bytes`);
    const output = new Uint8Array(Buffer.concat(gathered.output));
    const errors = new Uint8Array(Buffer.concat(gathered.errors));
    return { ok: true, value: { ran: { ...result.ran, denials }, output, errors, dropped } };
  } finally {
    work.end();
  }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

function refuse(code: RunRefusal["code"], message: string): Answer {
  return { ok: false, refused: { code, message, fix: null } };
}
