// The problems of a log, limited to a useful number, and a count of the others.

export interface ChainProblem {
  readonly place: number;
  readonly what: string;
}

const problemsListedMax = 100;

export class Problems {
  readonly #first: ChainProblem[] = [];
  #more = 0;

  tell(place: number, what: string): void {
    if (this.#first.length < problemsListedMax) this.#first.push({ place, what });
    else this.#more++;
  }

  listed(): readonly ChainProblem[] {
    const last = this.#first.at(-1);
    return last === undefined || this.#more === 0
      ? this.#first
      : [...this.#first, { place: last.place, what: `and ${this.#more} more` }];
  }
}
