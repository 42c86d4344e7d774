// What is wrong with a log, as many as a person can use, and how many more there are.

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
