// The outcomes of all cases, counted by corpus and group. A case has exactly one outcome.

export type Outcome =
  /** Our answer is the one the case asks for. */
  | { readonly kind: "held" }
  /** Must be denied and was allowed. Nothing may be missed. */
  | { readonly kind: "missed"; readonly note: string }
  /** Must be allowed and was denied. */
  | { readonly kind: "refused"; readonly note: string }
  | { readonly kind: "inexpressible"; readonly reason: string }
  /** Our answer deliberately differs from the source's, for a reason recognized from the input alone. */
  | { readonly kind: "decided"; readonly reason: string }
  | { readonly kind: "skipped"; readonly reason: string };

export const HELD: Outcome = { kind: "held" };

export interface Case {
  readonly name: string;
  readonly shown: string;
  readonly outcome: Outcome;
}

/** One line of the report. */
export interface Row {
  readonly corpus: string;
  readonly group: string;
  readonly total: number;
  readonly missed: number;
  readonly refused: number;
  readonly inexpressible: number;
  readonly decided: number;
  readonly skipped: number;
  /** Reasons with their counts. */
  readonly why: string;
}

export interface Example {
  readonly corpus: string;
  readonly group: string;
  readonly kind: "missed" | "refused";
  readonly name: string;
  readonly shown: string;
  readonly note: string;
}

/** The cases of one group of one corpus file. */
export interface Group {
  readonly corpus: string;
  readonly group: string;
  readonly cases: readonly Case[];
}

/** The source's expectation against our answer, where no difference is foreseen. */
export function compareAnswers(expected: boolean, ours: boolean, note: string): Outcome {
  if (expected === ours) return HELD;
  return ours ? { kind: "missed", note } : { kind: "refused", note };
}

export function rowOf({ corpus, group, cases }: Group): Row {
  const count = (kind: Outcome["kind"]): number => cases.filter(({ outcome }) => outcome.kind === kind).length;
  return {
    corpus,
    group,
    total: cases.length,
    missed: count("missed"),
    refused: count("refused"),
    inexpressible: count("inexpressible"),
    decided: count("decided"),
    skipped: count("skipped"),
    why: reasons(cases),
  };
}

/** Cases that were run and pass, including deliberate differences. */
export function passCount(row: Row): number {
  return row.total - row.missed - row.refused - row.inexpressible - row.skipped;
}

export function examplesOf({ corpus, group, cases }: Group): readonly Example[] {
  const examples: Example[] = [];
  for (const { name, shown, outcome } of cases) {
    if (outcome.kind !== "missed" && outcome.kind !== "refused") continue;
    examples.push({ corpus, group, kind: outcome.kind, name, shown, note: outcome.note });
  }
  return examples;
}

function reasons(cases: readonly Case[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of cases) {
    if (outcome.kind === "held") continue;
    const said = "reason" in outcome ? outcome.reason : `${outcome.kind}: ${outcome.note}`;
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  return sorted.map(([reason, count]) => `${reason} ${count}`).join("; ");
}
