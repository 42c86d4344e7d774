// One measured figure. Lower is better for every unit.

export type Unit = "ns" | "bytes";

export interface Row {
  readonly subject: string;
  readonly case: string;
  readonly value: number;
  readonly unit: Unit;
}

/** The lower value of each subject and case, in order of first appearance. */
export function bestRows(rows: readonly Row[]): readonly Row[] {
  const best = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.subject}\0${row.case}`;
    const known = best.get(key);
    if (known === undefined || row.value < known.value) best.set(key, row);
  }
  return [...best.values()];
}

export function measuredValue(rows: readonly Row[], subject: string, name: string): number | null {
  return rows.find((row) => row.subject === subject && row.case === name)?.value ?? null;
}
