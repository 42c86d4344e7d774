// Fills the indexes for searching, in short steps when nobody writes. What is not in them yet is searched in the log itself.

import type { CommitLoop } from "../commit-loop.ts";
import type { Connection } from "../connection.ts";
import { headOf } from "./append.ts";
import type { FactFiller } from "./fact-filler.ts";
import { factsOf } from "./fact-index.ts";
import { fillWords, wordsDone } from "./word-index.ts";

const quietMilliseconds = 250;
/** Whoever writes this rarely does not notice that a step was made in between. */
const millisecondsPerCommit = 31;
const betweenStepsMilliseconds = 4;
/** So many rows are looked through without an index before anybody notices. */
export const factsBehindRowsMax = 65_536;
/** Further behind, a step is made in between, however much is written: at most a tenth of the time goes into it. */
const busyMilliseconds = 50;

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
      if (this.#timer === null && headOf(connection).place > wordsDone(connection)) this.#wait(quietMilliseconds);
    });
  }

  /** Never keeps the process alive: what is not done now is done next time. */
  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#turn(milliseconds / millisecondsPerCommit), milliseconds);
    this.#timer.unref();
  }

  async #turn(commitsMax: number): Promise<void> {
    const others = this.#loop.commits - this.#ownCommits;
    const isQuiet = this.#loop.isQuiet && others - this.#seen <= commitsMax;
    this.#seen = others;
    const isFarBehind = !isQuiet && this.#isFarBehind();
    if (!isQuiet && !isFarBehind) return this.#wait(quietMilliseconds);
    const step = await this.#loop.write((connection) => this.#step(connection));
    this.#ownCommits++;
    this.#timer = null;
    if (step.ok && step.value) this.#wait(isFarBehind ? busyMilliseconds : betweenStepsMilliseconds);
  }

  #isFarBehind(): boolean {
    const behind = this.#loop.readNow((connection) => headOf(connection).place - factsOf(connection));
    return behind.ok && behind.value > factsBehindRowsMax;
  }

  /** True where more is left. The facts first: they answer more questions, and cost less. */
  #step(connection: Connection): boolean {
    return this.#facts.step(connection) || fillWords(connection);
  }
}
