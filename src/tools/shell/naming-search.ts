// How far the search for names may go that the patterns of one script choose: its steps, its turns, and its end.
import { namesPerTurn, namingStepsMax } from "./limits.ts";

export interface NamingSearchAsked {
  /** Lets others have a turn. */
  rest(): Promise<void>;
  /** Whether nobody waits for it any more. */
  isStopped(): boolean;
}

export class NamingSearch {
  readonly #asked: NamingSearchAsked;
  #steps = 0;
  #names = 0;

  constructor(asked: NamingSearchAsked) {
    this.#asked = asked;
  }

  /** More work was done. */
  readonly count = (steps: number): void => {
    this.#steps += steps;
  };

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
