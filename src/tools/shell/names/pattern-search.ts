// Limits the expansion of one script's patterns: its steps, when it yields, and its end.
import type { FileEntry, FilePath, FileResult } from "../../../core/ports/files.ts";
import {
  cachedListingNamesMax,
  cachedListingsMax,
  listedNameSteps,
  namesPerTurn,
  namingStepsMax,
} from "../language/limits.ts";

export interface PatternSearchOptions {
  /** Yields to other work. */
  rest(): Promise<void>;
  /** Whether it was cancelled. */
  isStopped(): boolean;
}

export class PatternSearch {
  readonly #asked: PatternSearchOptions;
  readonly #listings = new Map<string, FileResult<readonly FileEntry[]>>();
  #steps = 0;
  #names = 0;

  constructor(asked: PatternSearchOptions) {
    this.#asked = asked;
  }

  /** Adds to the steps. */
  readonly count = (steps: number): void => {
    this.#steps += steps;
  };

  /** A folder as listed for this script before, or listed now. */
  async listed(
    folder: FilePath,
    list: () => Promise<FileResult<readonly FileEntry[]>>,
  ): Promise<FileResult<readonly FileEntry[]>> {
    const key = folder.join("/");
    const known = this.#listings.get(key);
    if (known !== undefined) return known;
    const fresh = await list();
    if (fresh.ok) this.count(fresh.value.length * listedNameSteps);
    // A large listing is not cached beside others.
    const [oldest] = this.#listings.keys();
    if (fresh.ok && fresh.value.length > cachedListingNamesMax) this.#listings.clear();
    else if (oldest !== undefined && this.#listings.size >= cachedListingsMax) this.#listings.delete(oldest);
    this.#listings.set(key, fresh);
    return fresh;
  }

  /** Why it must stop; null if it may continue. */
  over(): string | null {
    if (this.#asked.isStopped()) return "the call was stopped";
    return this.#steps > namingStepsMax ? TOO_MUCH : null;
  }

  /** Before every name: returns a promise when it is time to yield. */
  turn(): Promise<void> | null {
    return ++this.#names % namesPerTurn === 0 ? this.#asked.rest() : null;
  }
}

const TOO_MUCH =
  "there are too many files to match the patterns against; use fewer patterns and wildcards, or smaller folders";
