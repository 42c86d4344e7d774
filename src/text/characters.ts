// Characters that no text may contain: those an editor hides, and those that only some readers take for a line end.
import type { Range } from "../core/notation/source.ts";

/**
 * `written`: YAML and TOML, which people read before they trust it. Also refused there: a lone carriage return, U+2028
 * and U+2029 (line ends to some readers), and bidirectional controls. `data`: JSON, whose own grammar refuses raw
 * control characters.
 */
export type Dialect = "written" | "data";

/** Written as ranges, because property escapes are expanded at every start. A test compares the two. */
const refusedIn: Readonly<Record<Dialect, () => RegExp>> = {
  written: () =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
    /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]|\r(?!\n)|[\uD800-\uDFFF\u2028\u2029\uE000\uE001\uFEFF\uFFFE\uFFFF\u202A-\u202E\u2066-\u2069]/u,
  data: () => /[\uD800-\uDFFF\uE000\uE001]/u,
};

/** The first character that the text may not contain. */
export function refusedCharacter(text: string, dialect: Dialect): (Range & { readonly message: string }) | null {
  const found = refusedIn[dialect]().exec(text);
  if (found === null) return null;
  const message =
    found[0] === "\r"
      ? "a line must not end with a carriage return alone"
      : `the text must not contain ${named(found[0])}`;
  return { start: found.index, end: found.index + found[0].length, message };
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const point = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  if (code === 0) return `${point}, a NUL`;
  if (code >= 0xd800 && code <= 0xdfff) return `${point}, an unpaired surrogate`;
  if (code === 0xe000 || code === 0xe001) return `${point}, which is reserved`;
  if (code === 0xfeff) return `${point}, a byte order mark after the start of the text`;
  if (/\p{Cf}/u.test(character)) return `${point}, which displays text in another order than it is parsed`;
  return `${point}, a control character`;
}
