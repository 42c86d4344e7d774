// A small assembler with labels for classic BPF, as seccomp takes it, and the encoding of its output.

export interface Instruction {
  readonly code: number;
  /** How many instructions to skip where the comparison holds, and where it does not. */
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

const LOAD = 0x20;
const AND = 0x54;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_SET = 0x45;
const ANSWER = 0x06;

/** The kernel's own limit. */
const instructionsMax = 4_096;
const jumpMax = 255;

interface Draft {
  readonly code: number;
  readonly value: number;
  readonly yes: string | null;
  readonly no: string | null;
}

/** Labels are forward references only, as the kernel requires. */
export class Assembler {
  readonly #drafts: Draft[] = [];
  readonly #labels = new Map<string, number>();

  /** Loads 32 bits at this offset of `struct seccomp_data`: number, architecture, arguments. */
  load(offset: number): this {
    return this.#add(LOAD, offset);
  }

  and(mask: number): this {
    return this.#add(AND, mask);
  }

  whenEqual(value: number, label: string): this {
    return this.#add(EQUAL, value, label);
  }

  unlessEqual(value: number, label: string): this {
    return this.#add(EQUAL, value, null, label);
  }

  whenAtLeast(value: number, label: string): this {
    return this.#add(AT_LEAST, value, label);
  }

  whenAnySet(mask: number, label: string): this {
    return this.#add(ANY_SET, mask, label);
  }

  answer(value: number): this {
    return this.#add(ANSWER, value);
  }

  mark(label: string): this {
    if (this.#labels.has(label)) throw new RangeError(`the label ${label} is defined twice`);
    this.#labels.set(label, this.#drafts.length);
    return this;
  }

  done(): readonly Instruction[] {
    if (this.#drafts.length > instructionsMax) throw new RangeError("too many instructions");
    return this.#drafts.map(({ code, value, yes, no }, at) => ({
      code,
      yes: this.#distance(yes, at),
      no: this.#distance(no, at),
      value,
    }));
  }

  #add(code: number, value: number, yes: string | null = null, no: string | null = null): this {
    this.#drafts.push({ code, value: value >>> 0, yes, no });
    return this;
  }

  #distance(label: string | null, from: number): number {
    if (label === null) return 0;
    const distance = (this.#labels.get(label) ?? -1) - from - 1;
    if (distance < 0 || distance > jumpMax) throw new RangeError(`the label ${label} is not defined`);
    return distance;
  }
}

/** Eight bytes each, as `struct sock_filter` of a little-endian machine. */
export function instructionBytes(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [at, { code, yes, no, value }] of program.entries()) {
    view.setUint16(at * 8, code, true);
    view.setUint8(at * 8 + 2, yes);
    view.setUint8(at * 8 + 3, no);
    view.setUint32(at * 8 + 4, value, true);
  }
  return bytes;
}
