// Reads a word as `sed` would read it as its script, and says whether that script could write a file or run a program.
// The reader keeps every reading that some version of sed has: a delimiter inside brackets may or may not end a regular
// expression, and a `;` may or may not end a label. A script is harmless only if all its readings are.

/** Longer words are not read. */
const scriptCharactersMax = 1_024;

/** Where the reader stands: before an address or command, behind an address, or behind the last part of `s`. */
type Phase = "command" | "addressed" | "flags";

interface Position {
  readonly phase: Phase;
  readonly at: number;
}

/** What one position leads to: the positions behind it, none where the script ends or sed refuses it, or harm. */
type Step = readonly Position[] | "harm";

/** What sed refuses is harmless too, so most file names are. Blanks, braces and backslashes are not read. */
export function isHarmlessSedScript(script: string): boolean {
  if (script.length > scriptCharactersMax || /[\s\\{}]/.test(script)) return false;
  const seen = new Set<string>();
  const open: Position[] = [{ phase: "command", at: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const key = `${next.phase} ${next.at}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const step = stepFrom(script, next);
    if (step === "harm") return false;
    open.push(...step);
  }
  return true;
}

function stepFrom(script: string, { phase, at }: Position): Step {
  switch (phase) {
    case "command":
      return [...addresses(script, at), { phase: "addressed", at }];
    case "addressed":
      return afterAddress(script, at);
    case "flags":
      return flags(script, at);
  }
}

/** An address, if one begins here: a number, `$`, a step such as `+3` or `~4` (its digits may be missing), or `/regex/`. */
function addresses(script: string, at: number): readonly Position[] {
  const first = script.charAt(at);
  if (first === "/") {
    return regexEnds(script, at + 1, "/").map((end) => ({ phase: "addressed", at: runEnd(script, end, /[IM]/) }));
  }
  if (first === "$") return [{ phase: "addressed", at: at + 1 }];
  const end = runEnd(script, at, /[0-9+~]/);
  return end === at ? [] : [{ phase: "addressed", at: end }];
}

function afterAddress(script: string, at: number): Step {
  const first = script.charAt(at);
  // A second address, a step behind a number, or a negated command.
  if (first === "," || first === "~" || first === "+") {
    return [{ phase: "command", at: runEnd(script, at, /[,~+]/) }];
  }
  if (first === "!") return [{ phase: "addressed", at: at + 1 }];
  return command(script, at);
}

function command(script: string, at: number): Step {
  const first = script.charAt(at);
  switch (first) {
    case "":
    case "#":
      return [];
    case ";":
      return [{ phase: "command", at: at + 1 }];
    case "e":
    case "w":
    case "W":
      return "harm";
    case "s":
      return parts(script, at).map((end) => ({ phase: "flags", at: end }));
    case "y":
      return parts(script, at).flatMap((end) => commandEnd(script, end));
    case "a":
    case "i":
    case "c":
    case "r":
    case "R":
      // The rest is text to print, or the file to print.
      return [];
    case ":":
    case "b":
    case "t":
    case "T":
    case "v":
      return afterLabel(script, at + 1);
    default:
      // Any other character is a command that only prints or moves lines, or one that sed does not know.
      return commandEnd(script, runEnd(script, at + 1, /[0-9]/));
  }
}

/** Behind a whole command: the next one, or characters for which sed refuses the script. */
function commandEnd(script: string, at: number): readonly Position[] {
  return script.charAt(at) === ";" ? [{ phase: "command", at: at + 1 }] : [];
}

function afterLabel(script: string, at: number): readonly Position[] {
  const end = script.indexOf(";", at);
  return end < 0 ? [] : [{ phase: "command", at: end + 1 }];
}

/** `gpiImM` and numbers; `e` runs the result, `w` writes it, and sed knows no other. */
function flags(script: string, at: number): Step {
  const end = runEnd(script, at, /[gpiImM0-9]/);
  return /[ew]/.test(script.charAt(end)) ? "harm" : commandEnd(script, end);
}

/** The positions behind the third delimiter of `s/regex/text/` or `y/from/to/`. */
function parts(script: string, at: number): readonly number[] {
  const delimiter = script.charAt(at + 1);
  if (delimiter === "") return [];
  const ends = new Set<number>();
  for (const middle of regexEnds(script, at + 2, delimiter)) {
    const end = script.indexOf(delimiter, middle);
    if (end >= 0) ends.add(end + 1);
  }
  return [...ends];
}

/** The positions behind each delimiter that may end the regular expression: the first, and behind a `[` every other. */
function regexEnds(script: string, from: number, delimiter: string): readonly number[] {
  const ends: number[] = [];
  for (let at = from; at < script.length; at++) {
    if (script.charAt(at) !== delimiter) continue;
    ends.push(at + 1);
    if (!script.slice(from, at).includes("[")) break;
  }
  return ends;
}

function runEnd(script: string, from: number, characters: RegExp): number {
  let at = from;
  while (at < script.length && characters.test(script.charAt(at))) at++;
  return at;
}
