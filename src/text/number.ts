// Numbers that are exactly what was written: whatever a 64-bit float would round is refused.
import { numberCharactersMax } from "./read.ts";

/** The number a decimal, hexadecimal, octal or binary text says, or null when it cannot be held without loss. */
export function exactNumber(text: string): number | null {
  if (text.length > numberCharactersMax) return null;
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return null;
  // Past 2^53 neighbours fall together, so even an integer that happens to survive says nothing about what was meant.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return null;
  const positive = value === 0 ? 0 : value;
  if (/^0[xob]/i.test(text)) return positive;
  return digitsOf(text) === digitsOf(String(value)) ? positive : null;
}

/** One spelling for all spellings of a decimal: its significant digits and the power of ten they are multiplied with. */
function digitsOf(text: string): string | null {
  const parts = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  if (parts === null) return null;
  const [, sign, whole = "", fraction = "", power = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const exponent = Number(power) - fraction.length + (digits.length - significant.length);
  return `${sign === "-" ? "-" : ""}${significant}e${exponent}`;
}
