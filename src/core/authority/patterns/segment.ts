// One segment of a pattern: a literal, a glob with stars inside, or a star that stands for whole segments.
// There is no `?`, no class, no negation: those would break the witness argument in `witness.ts`.

export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  /**
   * `db-*`: the text between the stars, in order. A single part is what a star and a literal have in common:
   * that text, but never a guarded segment.
   */
  | { readonly kind: "glob"; readonly parts: readonly string[] }
  /** `*`: exactly one segment. */
  | { readonly kind: "one" }
  /** `**`: zero or more segments. */
  | { readonly kind: "deep" }
  /** Last in an argument vector: zero or more segments, guarded ones too. Naming a whole program means this. */
  | { readonly kind: "rest" };

export const ONE: Segment = { kind: "one" };
export const DEEP: Segment = { kind: "deep" };
export const REST: Segment = { kind: "rest" };

export function literal(text: string): Segment {
  return { kind: "literal", text };
}

/** Reads one segment. `**` must stand alone; the caller has refused characters outside the pattern language. */
export function segmentOf(text: string): Segment {
  if (text === "**") return DEEP;
  if (/^\*+$/.test(text)) return ONE;
  if (!text.includes("*")) return literal(text);
  return { kind: "glob", parts: text.split(/\*+/) };
}

export function segmentText(segment: Segment): string {
  switch (segment.kind) {
    case "literal":
      return segment.text;
    case "glob":
      return segment.parts.join("*");
    case "one":
      return "*";
    case "deep":
    case "rest":
      return "**";
  }
}

/** Greedy and linear: with stars only, the leftmost place for each part is always good enough. */
export function globMatches(parts: readonly string[], text: string): boolean {
  const first = parts[0] as string;
  if (parts.length === 1) return first === text;
  const last = parts[parts.length - 1] as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (let index = 1; index < parts.length - 1; index++) {
    const part = parts[index] as string;
    const found = text.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return from <= end;
}

/** Does this segment match this text? `deep` and `rest` are decided by the sequence, not here. */
export function segmentMatches(segment: Segment, text: string): boolean {
  switch (segment.kind) {
    case "literal":
      return segment.text === text;
    case "glob":
      return globMatches(segment.parts, text);
    case "one":
    case "deep":
    case "rest":
      return true;
  }
}
