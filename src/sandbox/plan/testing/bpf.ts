// Runs a filter over one call as the kernel does, for tests.
import type { Instruction } from "../kernel/bpf.ts";

export interface Call {
  readonly number: number;
  readonly architecture: number;
  readonly arguments?: readonly bigint[];
}

const half = 0xffffffffn;

function word({ number, architecture, arguments: values = [] }: Call, offset: number): number {
  if (offset === 0) return number >>> 0;
  if (offset === 4) return architecture >>> 0;
  const value = values[Math.floor((offset - 16) / 8)] ?? 0n;
  return Number((BigInt.asUintN(64, value) >> (offset % 8 === 0 ? 0n : 32n)) & half);
}

/** Throws where the kernel would reject the program: past its end, or an unknown instruction. */
export function answerOf(program: readonly Instruction[], call: Call): number {
  let held = 0;
  for (let at = 0; ; at++) {
    const instruction = program[at];
    if (instruction === undefined) throw new RangeError("the program runs past its end");
    const { code, yes, no, value } = instruction;
    const jump = (holds: boolean): void => {
      at += holds ? yes : no;
    };
    if (code === 0x20) held = word(call, value);
    else if (code === 0x54) held = (held & value) >>> 0;
    else if (code === 0x15) jump(held === value);
    else if (code === 0x35) jump(held >= value);
    else if (code === 0x45) jump((held & value) !== 0);
    else if (code === 0x06) return value;
    else throw new RangeError(`no such instruction: ${code}`);
  }
}
