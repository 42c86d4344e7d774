// Colour, as functions from text to text. Plain where colour is not wanted.
import type { Risk } from "../../core/authority/catalog.ts";

export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  dim(text: string): string;
  strong(text: string): string;
}

const same = (text: string): string => text;
export const PLAIN: Paint = { good: same, bad: same, warn: same, dim: same, strong: same };

/** By the numbers every terminal knows. A library for this asks the streams of the process, which are slow to make. */
export const COLOURS: Paint = {
  good: between(32, 39),
  bad: between(31, 39),
  warn: between(33, 39),
  dim: between(2, 22),
  strong: between(1, 22),
};

function between(on: number, off: number): (text: string) => string {
  return (text) => `\x1b[${on}m${text}\x1b[${off}m`;
}

/** The same colours for the same risk everywhere. */
export function paintRisk(paint: Paint, risk: Risk): string {
  switch (risk) {
    case "low":
      return paint.good(risk);
    case "medium":
      return paint.warn(risk);
    case "high":
      return paint.bad(risk);
  }
}
