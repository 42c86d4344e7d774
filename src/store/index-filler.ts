// Fills the indexes for searching when nobody writes, in short steps. What is not in them yet is searched in the log itself.
import { headOf } from "./append.ts";
import type { CommitLoop } from "./commit-loop.ts";
import type { Connection } from "./connection.ts";
import type { FactFiller } from "./fact-filler.ts";
import { fillWords, wordsDone } from "./word-index.ts";

const quietMilliseconds = 250;
const betweenStepsMilliseconds = 4;

export class IndexFiller {
  readonly #loop: CommitLoop;
  readonly #facts: FactFiller;
  #timer: NodeJS.Timeout | null = null;
  #ownCommits = 0;
  #seen = 0;

  constructor(loop: CommitLoop, facts: FactFiller) {
    this.#loop = loop;
    this.#facts = facts;
  }

  /** From now on, whenever something was written. */
  begin(): void {
    this.#loop.along((connection) => {
      this.#facts.catchUp(connection);
      if (this.#timer === null && headOf(connection).place > wordsDone(connection)) this.#wait(quietMilliseconds);
    });
  }

  /** Never keeps the process alive: what is not done now is done next time. */
  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#turn(), milliseconds);
    this.#timer.unref();
  }

  async #turn(): Promise<void> {
    const others = this.#loop.commits - this.#ownCommits;
    const isQuiet = this.#loop.isQuiet && others === this.#seen;
    this.#seen = others;
    if (!isQuiet) return this.#wait(quietMilliseconds);
    const step = await this.#loop.write((connection) => this.#step(connection));
    this.#ownCommits++;
    this.#timer = null;
    if (step.ok && step.value) this.#wait(betweenStepsMilliseconds);
  }

  /** True where more is left. The facts first: they answer more questions, and cost less. */
  #step(connection: Connection): boolean {
    return this.#facts.step(connection) || fillWords(connection);
  }
}
