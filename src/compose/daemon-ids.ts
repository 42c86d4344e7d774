// Names of what the daemon makes: a letter for the kind, and letters and digits by chance.
import { randomFillSync } from "node:crypto";
import type { DaemonParts } from "../daemon/parts.ts";

/** Those that are not taken for one another. */
const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";
const nameCharacters = 10;
/** Chance is asked for in advance: to ask for each name costs more than to write it down. */
const heapBytes: number = 512 * nameCharacters;

/** INVARIANT: no byte of chance is used twice, and none that was used stays in memory. */
export class Names {
  readonly #heap = new Uint8Array(heapBytes);
  #used = heapBytes;

  readonly id: DaemonParts["id"] = (letter) => `${letter}_${this.name()}`;

  /** Fifty bits: five for each character. */
  name(): string {
    if (this.#used >= heapBytes) {
      randomFillSync(this.#heap);
      this.#used = 0;
    }
    let text = "";
    for (const end = this.#used + nameCharacters; this.#used < end; this.#used++) {
      text += LETTERS[(this.#heap[this.#used] as number) & 31];
      this.#heap[this.#used] = 0;
    }
    return text;
  }
}
