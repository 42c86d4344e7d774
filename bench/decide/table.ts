// Plain tables, and figures in readable units.
import type { Unit } from "../row.ts";

/** The first `words` columns hold text and are left-aligned; the others hold figures and are right-aligned. */
export function table(head: readonly string[], lines: readonly (readonly string[])[], words = 1): string {
  const all = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((line) => (line[column] ?? "").length)));
  return all
    .map((line) => {
      const cells = line.map((text, column) =>
        column < words ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      );
      return `  ${cells.join("  ").trimEnd()}`;
    })
    .join("\n");
}

/** The target, and whether it was reached. */
export function goalsTable(
  goals: readonly { readonly ok: boolean; readonly goal: string; readonly measured: string }[],
): string {
  return table(
    ["", "goal", "measured"],
    goals.map(({ ok, goal, measured }) => [ok ? "ok" : "short", goal, measured]),
    3,
  );
}

export function figure(value: number, unit: Unit): string {
  if (unit === "bytes") return value < 10_000 ? `${digits(value)} B` : `${digits(value / 1000)} kB`;
  if (value < 1000) return `${digits(value)} ns`;
  if (value < 1e6) return `${digits(value / 1e3)} µs`;
  return value < 1e9 ? `${digits(value / 1e6)} ms` : `${digits(value / 1e9)} s`;
}

export function ratio(value: number): string {
  return `${value >= 100 ? Math.round(value).toLocaleString("en") : digits(value)}x`;
}

function digits(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
