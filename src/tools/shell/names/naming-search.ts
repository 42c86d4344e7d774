// How far the search for names may go that the patterns of one script choose: its steps, its turns, and its end.
import type { FileEntry, FilePath, FileResult } from "../../../core/ports/files.ts";
import { keptListingsMax, keptNamesMax, listedNameSteps, namesPerTurn, namingStepsMax } from "../language/limits.ts";

export interface NamingSearchAsked {
  /** Lets others have a turn. */
  rest(): Promise<void>;
  /** Whether nobody waits for it any more. */
  isStopped(): boolean;
}

export class NamingSearch {
  readonly #asked: NamingSearchAsked;
  readonly #listings = new Map<string, FileResult<readonly FileEntry[]>>();
  #steps = 0;
  #names = 0;

  constructor(asked: NamingSearchAsked) {
    this.#asked = asked;
  }

  /** More work was done. */
  readonly count = (steps: number): void => {
    this.#steps += steps;
  };

  /** A folder as it was listed for this script already, or as it is. */
  async listed(
    folder: FilePath,
    list: () => Promise<FileResult<readonly FileEntry[]>>,
  ): Promise<FileResult<readonly FileEntry[]>> {
    const key = folder.join("/");
    const known = this.#listings.get(key);
    if (known !== undefined) return known;
    const fresh = await list();
    if (fresh.ok) this.count(fresh.value.length * listedNameSteps);
    // What is large is not kept beside others.
    const [oldest] = this.#listings.keys();
    if (fresh.ok && fresh.value.length > keptNamesMax) this.#listings.clear();
    else if (oldest !== undefined && this.#listings.size >= keptListingsMax) this.#listings.delete(oldest);
    this.#listings.set(key, fresh);
    return fresh;
  }

  /** Why it goes no further; null where it does. */
  over(): string | null {
    if (this.#asked.isStopped()) return "the call was stopped";
    return this.#steps > namingStepsMax ? TOO_MUCH : null;
  }

  /** Before every name: something to wait for, now and then. */
  turn(): Promise<void> | null {
    return ++this.#names % namesPerTurn === 0 ? this.#asked.rest() : null;
  }
}

const TOO_MUCH =
  "there are too many names to hold the patterns against; use fewer patterns and stars, or patterns in smaller folders";
