// Control sequences that draw, move or choose how keys are sent. Everything else is dropped: an unknown sequence may do
// anything on some terminal.

export interface CsiSequence {
  /** One of `<=>?`, or nothing. */
  readonly prefix: string;
  /** Between semicolons; colons stay. */
  readonly parameters: readonly string[];
  readonly intermediates: string;
  readonly final: string;
}

export interface CsiResult {
  /** The whole sequence, introducer included; null: dropped. */
  readonly output: string | null;
  /** For the program's input. */
  readonly reply: string | null;
  readonly asksPosition: boolean;
}

/** A VT220 with colours: old enough that no program expects more of it. */
export const DEVICE_ATTRIBUTES = "\x1b[?62;22c";
const parametersMax = 32;

/** Null for what is malformed, or has numbers no terminal needs. */
export function parseCsi(text: string): CsiSequence | null {
  const [, prefix = "", numbers = "", intermediates = "", final = ""] =
    /^([<=>?]?)([0-9;:]*)([ -/]*)([@-~])$/.exec(text) ?? [];
  if (final === "" || /\d{6}/.test(numbers)) return null;
  const parameters = numbers.split(";");
  return parameters.length > parametersMax ? null : { prefix, parameters, intermediates, final };
}

/** Moving, erasing, inserting, scrolling, colours, tabs, margins, saved positions. */
const DRAWING = "ABCDEFGHIKLMPSXZ@`abdefgmrs";
/** Below, above, the whole screen. */
const ERASES: ReadonlySet<string> = new Set(["", "0", "1", "2"]);
const NOTHING: CsiResult = { output: null, reply: null, asksPosition: false };

export function filterCsi(sequence: CsiSequence, passesScrollback: boolean): CsiResult {
  const { prefix, parameters, intermediates, final } = sequence;
  const pass: CsiResult = { ...NOTHING, output: csiText(sequence) };
  const [first = ""] = parameters;
  switch (`${prefix}${intermediates}${final}`) {
    // A list and not "all but 3": terminals also read `03`, `3:0` and `?3` as the lines above the screen.
    case "J":
    case "?J":
      return ERASES.has(first) || (passesScrollback && first === "3") ? pass : NOTHING;
    // More parameters mean mouse tracking that waits for an answer.
    case "T":
      return parameters.length === 1 ? pass : NOTHING;
    case "u":
      return first === "" && parameters.length === 1 ? pass : NOTHING;
    case "c":
      return { ...NOTHING, reply: DEVICE_ATTRIBUTES };
    case "n":
      if (first === "5") return { ...NOTHING, reply: "\x1b[0n" };
      return first === "6" && parameters.length === 1 ? { ...pass, asksPosition: true } : NOTHING;
    case "h":
    case "l":
      return modesOnly(sequence, ANSI_MODES);
    case "?h":
    case "?l":
      return modesOnly(sequence, PRIVATE_MODES);
    case "?K":
      return pass;
    // How keys are reported; undone at the end.
    case ">m":
    case ">n":
      return first === "4" ? pass : NOTHING;
    case ">u":
    case "<u":
    case "=u":
      return pass;
    // "Is this mode set?" Answered: not known.
    case "$p":
    case "?$p":
      return /^\d{1,5}$/.test(first) ? { ...NOTHING, reply: `\x1b[${prefix}${first};0$y` } : NOTHING;
    case "!p":
    case " q":
    case " @":
    case " A":
    case "'}":
    case "'~":
    case '"q':
      return pass;
    default:
      return prefix === "" && intermediates === "" && DRAWING.includes(final) ? pass : NOTHING;
  }
}

/** Insert, and a line feed that returns. Absent: the keyboard lock, and local echo. */
const ANSI_MODES: ReadonlySet<string> = new Set(["4", "20"]);

/**
 * Absent: 132 columns and other sizes of the window, printing, and reports that come unasked (colour scheme, size).
 */
const PRIVATE_MODES: ReadonlySet<string> = new Set([
  // Cursor keys, reversed screen, origin, wrapping, repeat, cursor, left and right margins.
  ...["1", "5", "6", "7", "8", "12", "25", "45", "66", "67", "69"],
  // The mouse, focus, and how they are reported.
  ...["9", "1000", "1002", "1003", "1004", "1005", "1006", "1007", "1015", "1016"],
  ...["1034", "1035", "1036", "1039", "1042"],
  // The second screen.
  ...["47", "1047", "1048", "1049"],
  // Bracketed paste, drawing at once, wide characters.
  ...["2004", "2026", "2027"],
]);

function modesOnly(sequence: CsiSequence, known: ReadonlySet<string>): CsiResult {
  const parameters = sequence.parameters.filter((mode) => known.has(mode));
  return parameters.length === 0 ? NOTHING : { ...NOTHING, output: csiText({ ...sequence, parameters }) };
}

function csiText({ prefix, parameters, intermediates, final }: CsiSequence): string {
  return `\x1b[${prefix}${parameters.join(";")}${intermediates}${final}`;
}
