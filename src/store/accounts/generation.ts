// Generations: one increasing number for each scope. Decisions of a lower generation are stale.

import { type Connection, numberOf, textOf } from "../connection.ts";
import type { Mirror } from "../trusted-connection.ts";

/** Above every generation: while no state is loaded, everything made before is stale. */
export const UNKNOWN_GENERATION: number = Number.MAX_SAFE_INTEGER;
const BUMP = `INSERT INTO generation (scope, number) VALUES (?, 1)
  ON CONFLICT (scope) DO UPDATE SET number = number + 1 RETURNING number`;

export class Generations implements Mirror {
  #numbers: Map<string, number> | null = null;

  load(connection: Connection): void {
    const rows = connection.all("SELECT scope, number FROM generation");
    this.#numbers = new Map(rows.map((row) => [textOf(row, "scope"), numberOf(row, "number")]));
  }

  drop(): void {
    this.#numbers = null;
  }

  of(scope: string): number {
    return this.#numbers === null ? UNKNOWN_GENERATION : (this.#numbers.get(scope) ?? 0);
  }

  bump(connection: Connection, scopes: readonly string[]): void {
    for (const scope of new Set(scopes)) this.#numbers?.set(scope, numberOf(connection.get(BUMP, scope), "number"));
  }
}
