// Colour, as functions from text to text. Plain where colour is not wanted.
import type { Risk } from "../authority/catalog.ts";

export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  dim(text: string): string;
  strong(text: string): string;
}

const same = (text: string): string => text;
export const PLAIN: Paint = { good: same, bad: same, warn: same, dim: same, strong: same };

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
