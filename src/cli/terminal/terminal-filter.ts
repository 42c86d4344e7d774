// The output of a sandboxed program on its way to the person's terminal: only sequences that draw pass. What would act on
// the terminal behind the person's back is dropped, and queries, whose answers would come back as typed input, are
// answered here. A bounded state machine over bytes: it holds across chunks, and only whole sequences are emitted.
import type { TerminalPass } from "../../core/notation/config/run-settings.ts";
import { type CsiSequence, DEVICE_ATTRIBUTES, filterCsi, parseCsi } from "./csi-filter.ts";
import { filterOsc } from "./osc-filter.ts";
import { TerminalModes } from "./terminal-modes.ts";

export interface FilteredOutput {
  readonly output: Uint8Array;
  /** Our answers to queries, for the program's input. */
  readonly replies: string;
  /** Queries for the cursor's position that passed: the terminal answers each. */
  readonly positionQueries: number;
}

type State = "ground" | "escape" | "csi" | "string" | "string-escape";
type StringKind = "osc" | "dcs" | "other";

const ESC = 0x1b;
const [BEL, CAN, SUB, DEL] = [0x07, 0x18, 0x1a, 0x7f];
/** BEL, BS, HT, LF, VT, FF, CR, SO, SI. Absent: ENQ (the terminal answers), XON and XOFF, NUL. */
const CONTROLS: ReadonlySet<number> = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);
const [SHIFT_OUT, SHIFT_IN] = [0x0e, 0x0f];
const csiBytesMax = 128;
const stringBytesMax = 65_536;
const escapeBytesMax = 4;
const repliesBytesMax = 4_096;
/** Programs ask and wait. A flood of answers would come after the program's end, into the person's shell. */
const positionsOpenMax = 8;
const SOFT_RESET: CsiSequence = { prefix: "", parameters: [""], intermediates: "!", final: "p" };
const REPLACEMENT: readonly number[] = [0xef, 0xbf, 0xbd];

export class TerminalFilter {
  readonly modes: TerminalModes = new TerminalModes();
  readonly #passes: ReadonlySet<TerminalPass>;
  readonly #isPiped: boolean;
  #state: State = "ground";
  #kind: StringKind = "other";
  /** The sequence so far, without its introducer. */
  #sequence: number[] = [];
  #isTooLong = false;
  /** The bytes so far of one character, and how many it has. */
  #character: number[] = [];
  #characterBytes = 0;
  #output: Uint8Array = new Uint8Array(0);
  #length = 0;
  #replies = "";
  #positionQueries = 0;
  /** Queries for the cursor's position that passed and that the terminal has not answered yet. */
  #positionsOpen = 0;
  #isAfterReturn = false;

  /**
   * `isPiped`: the program has pipes, and the person's terminal its usual modes. A line feed stays one, and nothing is asked of the
   * terminal: its answer would be typed into the shell.
   */
  constructor(passes: readonly TerminalPass[], isPiped = false) {
    this.#passes = new Set(passes);
    this.#isPiped = isPiped;
  }

  get positionsOpen(): number {
    return this.#positionsOpen;
  }

  /** The terminal answered queries for the cursor's position. */
  positionsAnswered(count: number): void {
    this.#positionsOpen = Math.max(0, this.#positionsOpen - count);
  }

  write(bytes: Uint8Array): FilteredOutput {
    this.#output = new Uint8Array(bytes.length * 3 + this.#sequence.length + 64);
    this.#length = 0;
    this.#replies = "";
    this.#positionQueries = 0;
    for (const byte of bytes) this.#take(byte);
    const output = this.#output.subarray(0, this.#length);
    this.#output = new Uint8Array(0);
    return { output, replies: this.#replies, positionQueries: this.#positionQueries };
  }

  #take(byte: number): void {
    const isContinued = this.#characterBytes > 0 && byte >= 0x80 && byte < 0xc0;
    if (this.#characterBytes > 0 && !isContinued) this.#invalidCharacter();
    if (isContinued) this.#continueCharacter(byte);
    else if (byte >= 0x80) this.#beginCharacter(byte);
    else this.#takeCode(byte);
  }

  /** A code below U+0100: ASCII, or a control of the second set in its UTF-8 form. */
  #takeCode(code: number): void {
    if (code === CAN || code === SUB) {
      this.#ground();
      return;
    }
    switch (this.#state) {
      case "ground":
        if (code === ESC) this.#enter("escape");
        else if (code < 0x20) this.#control(code);
        else if (code < DEL) this.#put(code);
        break;
      case "escape":
        if (code === ESC) this.#enter("escape");
        else if (code < 0x20) this.#control(code);
        else if (code < 0x30) this.#collect(code, escapeBytesMax);
        else this.#escape(String.fromCharCode(code));
        break;
      case "csi":
        if (code === ESC) this.#enter("escape");
        else if (code < 0x20) this.#control(code);
        else if (code !== DEL) this.#csi(code);
        break;
      case "string":
        if (code === ESC) this.#state = "string-escape";
        else if (code === BEL && this.#kind === "osc") this.#endString();
        else this.#collect(code, stringBytesMax);
        break;
      case "string-escape":
        if (code === 0x5c) this.#endString();
        else {
          // Any other escape ends a string without effect, and begins a sequence of its own.
          this.#enter("escape");
          this.#takeCode(code);
        }
        break;
      default:
        this.#state satisfies never;
    }
  }

  /** An escape sequence of one letter, or with intermediates before it. */
  #escape(final: string): void {
    const [before, isTooLong] = [this.#text(), this.#isTooLong];
    this.#ground();
    if (before !== "") {
      if (!isTooLong) this.#designate(before, final);
      return;
    }
    switch (final) {
      case "[":
        this.#enter("csi");
        break;
      case "]":
        this.#enterString("osc");
        break;
      case "P":
        this.#enterString("dcs");
        break;
      case "X":
      case "^":
      case "_":
      // A title, to some terminals.
      case "k":
        this.#enterString("other");
        break;
      case "=":
      case ">":
        this.modes.keypad(final === "=");
        this.#putText(`\x1b${final}`);
        break;
      case "c":
        // A full reset would also clear what stands above; this one resets modes and colours.
        this.#filterCsi(SOFT_RESET);
        break;
      case "Z":
        this.#reply(DEVICE_ATTRIBUTES);
        break;
      default:
        // Saved positions, lines up and down, tabs.
        if ("78DEHM".includes(final)) this.#putText(`\x1b${final}`);
    }
  }

  /** Character sets: ASCII, British and line drawing. Absent: the switch out of UTF-8, and 8-bit controls. */
  #designate(intermediates: string, set: string): void {
    if (!/^[()*+]$/.test(intermediates) || !"0AB".includes(set)) return;
    this.modes.characterSet(intermediates, set !== "B");
    this.#putText(`\x1b${intermediates}${set}`);
  }

  #csi(code: number): void {
    this.#collect(code, csiBytesMax);
    if (code < 0x40) return;
    const sequence = this.#isTooLong ? null : parseCsi(this.#text());
    this.#ground();
    if (sequence !== null) this.#filterCsi(sequence);
  }

  #filterCsi(written: CsiSequence): void {
    const sequence = this.#ownPops(written);
    if (sequence === null) return;
    const { output, reply, asksPosition } = filterCsi(sequence, this.#passes.has("scrollback"));
    if (reply !== null) this.#reply(reply);
    if (asksPosition && (this.#isPiped || this.#positionsOpen >= positionsOpenMax)) return;
    if (asksPosition) {
      this.#positionQueries++;
      this.#positionsOpen++;
    }
    if (output === null) return;
    this.modes.passed(sequence);
    this.#putText(output);
  }

  /** A program pops what it pushed; null where it pushed nothing. */
  #ownPops(sequence: CsiSequence): CsiSequence | null {
    const { prefix, parameters, intermediates, final } = sequence;
    if (`${prefix}${intermediates}${final}` !== "<u") return sequence;
    const count = Math.min(Math.max(1, Number(parameters[0]) || 1), this.modes.pushes);
    return count === 0 ? null : { ...sequence, parameters: [String(count)] };
  }

  #endString(): void {
    const kind = this.#kind;
    const bytes = Uint8Array.from(this.#sequence);
    const isTooLong = this.#isTooLong;
    this.#ground();
    if (kind === "osc" && !isTooLong) {
      const output = filterOsc(new TextDecoder().decode(bytes), this.#passes);
      if (output === null) return;
      this.modes.link(output);
      this.#output = grown(this.#output, this.#length, output.length * 3);
      this.#putBytes(new TextEncoder().encode(output));
    }
    if (kind !== "dcs") return;
    // Requests for settings and for terminfo: refused, so that the program does not wait.
    const start = String.fromCharCode(...bytes.subarray(0, 2));
    if (start === "$q") this.#reply("\x1bP0$r\x1b\\");
    if (start === "+q") this.#reply("\x1bP0+r\x1b\\");
  }

  #control(code: number): void {
    if (!CONTROLS.has(code)) return;
    if (code === SHIFT_OUT || code === SHIFT_IN) this.modes.shift(code === SHIFT_OUT);
    // The person's terminal driver may put a return before a line feed, which full-screen programs do not expect.
    if (code >= 0x0a && code <= 0x0c && !this.#isAfterReturn && !this.#isPiped) this.#putText("\x1bD");
    else this.#put(code);
  }

  #beginCharacter(byte: number): void {
    const count = byte >= 0xf5 ? 0 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
    this.#character = [byte];
    this.#characterBytes = count;
    if (count === 0) this.#invalidCharacter();
  }

  #continueCharacter(byte: number): void {
    this.#character.push(byte);
    if (this.#character.length < this.#characterBytes) return;
    const bytes = this.#character;
    if (!isCharacter(bytes)) {
      this.#invalidCharacter();
      return;
    }
    this.#character = [];
    this.#characterBytes = 0;
    const [first = 0, second = 0] = bytes;
    if (first === 0xc2 && second < 0xa0) this.#secondSet(second);
    else if (this.#state === "ground") this.#putBytes(bytes);
    else if (this.#state === "string") for (const one of bytes) this.#collect(one, stringBytesMax);
    else this.#ground();
  }

  /** A control of the second set is the same as an escape and a letter. */
  #secondSet(code: number): void {
    if (this.#state === "string" && code === 0x9c) this.#endString();
    else {
      this.#takeCode(ESC);
      this.#takeCode(code - 0x40);
    }
  }

  /** In a terminal without UTF-8 such a byte may be a control. */
  #invalidCharacter(): void {
    this.#character = [];
    this.#characterBytes = 0;
    if (this.#state === "ground") this.#putBytes(REPLACEMENT);
    else if (this.#state !== "string") this.#ground();
  }

  #enter(state: State): void {
    this.#state = state;
    this.#sequence = [];
    this.#isTooLong = false;
  }

  #enterString(kind: StringKind): void {
    this.#kind = kind;
    this.#enter("string");
  }

  #ground(): void {
    this.#enter("ground");
  }

  #collect(code: number, bytesMax: number): void {
    if (this.#sequence.length < bytesMax) this.#sequence.push(code);
    else this.#isTooLong = true;
  }

  #text(): string {
    return String.fromCharCode(...this.#sequence);
  }

  #reply(text: string): void {
    if (this.#replies.length + text.length <= repliesBytesMax) this.#replies += text;
  }

  #put(byte: number): void {
    if (this.#length === this.#output.length) this.#output = grown(this.#output, this.#length, 64);
    this.#isAfterReturn = byte === 0x0d;
    this.#output[this.#length++] = byte;
  }

  #putBytes(bytes: Iterable<number>): void {
    for (const byte of bytes) this.#put(byte);
  }

  #putText(text: string): void {
    for (let at = 0; at < text.length; at++) this.#put(text.charCodeAt(at));
  }
}

function grown(bytes: Uint8Array, length: number, more: number): Uint8Array {
  const next = new Uint8Array(length + more + bytes.length);
  next.set(bytes.subarray(0, length));
  return next;
}

/** No overlong form, no half of a pair, nothing past the last plane. */
function isCharacter([first = 0, second = 0]: readonly number[]): boolean {
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second < 0xa0;
  if (first === 0xf0) return second >= 0x90;
  return first !== 0xf4 || second < 0x90;
}
