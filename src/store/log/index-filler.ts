// Fills the search indexes in short steps while there are no writes. Entries not indexed yet are searched in the log
// itself.

import type { CommitLoop } from "../commit-loop.ts";
import type { Connection } from "../connection.ts";
import { headOf } from "./append.ts";
import type { FactFiller } from "./fact-filler.ts";
import { factsOf } from "./fact-index.ts";
import { fillWords, wordsDone } from "./word-index.ts";

const quietMilliseconds = 250;
/** At this interval between commits a step in between is not noticeable. */
const millisecondsPerCommit = 31;
const betweenStepsMilliseconds = 4;
/** This many rows can be searched without an index without a noticeable delay. */
export const factsBehindRowsMax = 65_536;
/** Further behind, steps are made even under load, at most a tenth of the time. */
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

  /** From now on, after each write. */
  begin(): void {
    this.#loop.along((connection) => {
      if (this.#timer === null && headOf(connection).place > wordsDone(connection)) this.#wait(quietMilliseconds);
    });
  }

  /** Never keeps the process alive: the next run continues. */
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

  /** True if more is left. Facts first: they answer more queries, and cost less. */
  #step(connection: Connection): boolean {
    return this.#facts.step(connection) || fillWords(connection);
  }
}
