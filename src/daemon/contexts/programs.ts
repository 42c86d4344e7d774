// Programs of a context: run like every program, in a sandbox made from the grants that decided and from the tool's
// declaration.

import type { ProgramRequest, ProgramsPort, StopSignal } from "../../core/ports/instruments.ts";
import type { RunRefusal } from "../../core/ports/process.ts";
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import type { Programs } from "../parts.ts";
import type { InstrumentsOptions } from "./contexts.ts";

type Answer = Awaited<ReturnType<ProgramsPort["run"]>>;

export function contextPrograms(programs: Pick<Programs, "run">, asked: InstrumentsOptions): ProgramsPort {
  return { run: (program) => run(programs, asked, program) };
}

async function run(
  programs: Pick<Programs, "run">,
  { session, ground, decidedBy, enforced }: InstrumentsOptions,
  program: ProgramRequest,
): Promise<Answer> {
  const { argv, request, by, input, millisecondsMax, outputBytesMax } = program;
  const authority = decidedBy(request);
  if (authority === null) return refuse("revoked", "nothing decided on this");
  const ring = session.ringing(stopOf(program.stop));
  if (ring === null) return refuse("not_available", "this session runs too many programs at once");
  let isOver = false;
  let end: () => void = () => undefined;
  const stop: CancelSignal = {
    get stopped() {
      return isOver || ring.stop.stopped;
    },
    onStop: (one) => {
      ring.stop.onStop(one);
      end = one;
    },
  };
  let left = outputBytesMax;
  const gathered = { output: [] as Uint8Array[], errors: [] as Uint8Array[] };
  const sink = (pieces: Uint8Array[]) => (bytes: Uint8Array) => {
    left -= bytes.length;
    if (left >= 0) pieces.push(bytes.slice());
    else if (!isOver) {
      isOver = true;
      end();
    }
  };
  try {
    session.taint("output of a tool's program");
    const result = await programs.run(
      { ...ground, authority },
      {
        ...{ argv, request, by, stop },
        input: input === null ? null : once(input),
        sinks: { output: sink(gathered.output), errors: sink(gathered.errors) },
        milliseconds: millisecondsMax,
      },
    );
    if (!result.ok) return { ok: false, refused: result.refused };
    for (const { axis, strength } of result.ran.enforcement) enforced(axis, strength);
    const denials = result.ran.denials.map((denial) => ({ ...denial, id: ground.refused(denial, null) }));
    // Past a limit the result is a refusal, never truncated output.
    if (left < 0) return refuse("budget_exhausted", `it wrote more than ${outputBytesMax} bytes`);
    const output = new Uint8Array(Buffer.concat(gathered.output));
    const errors = new Uint8Array(Buffer.concat(gathered.errors));
    return { ok: true, value: { ran: { ...result.ran, denials }, output, errors } };
  } finally {
    ring.end();
  }
}

function stopOf(signal: StopSignal): CancelSignal {
  return {
    get stopped() {
      return signal.isStopped();
    },
    onStop: (ring) => void signal.onStop(ring),
  };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

function refuse(code: RunRefusal["code"], message: string): Answer {
  return { ok: false, refused: { code, message, fix: null } };
}
