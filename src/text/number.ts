// Exact numbers: a number that a 64-bit float would round is refused.
import { numberCharactersMax } from "./read.ts";

/** The value of a decimal, hexadecimal, octal or binary text, or null if it cannot be represented exactly. */
export function exactNumber(text: string): number | null {
  if (text.length > numberCharactersMax) return null;
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return null;
  // Beyond 2^53 several integers share one float, so even an exact one does not show what was meant.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return null;
  const positive = value === 0 ? 0 : value;
  if (/^0[xob]/i.test(text)) return positive;
  return digitsOf(text) === digitsOf(String(value)) ? positive : null;
}

/** A canonical form of a decimal: its significant digits and its power of ten. */
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
