// Maintains a second copy of the log: forwards entries in order, from the copy's actual position, and lets callers wait with a
// timeout until an entry is in it.
import type { Digest } from "../../core/ports/digest.ts";
import type { ChainStore } from "../../core/ports/stores/chain-rows.ts";
import type { Sink, SinkPosition, SinkStatus } from "../../core/ports/stores/sink.ts";
import { CopyLines, type CopyPosition } from "../../log/verify/copy-lines.ts";
import { startTimeout } from "../timeout.ts";
import { type CopyListener, CopyReports } from "./copy-reports.ts";

export interface CopyParts extends CopyListener {
  readonly target: string;
  readonly sink: Sink;
  readonly chain: Pick<ChainStore, "rows" | "checkpoints" | "head" | "first">;
  readonly digest: Digest;
  readonly timeoutMilliseconds: number;
  /** The first lines of a copy of the log whose first entry is this one. */
  beginning(first: number): { readonly header: string; readonly rotations: readonly string[] };
}

const pauseMillisecondsMin = 50;
const pauseMillisecondsMax = 1000;
/** Poll interval, to notice entries written by other processes. */
const lookMilliseconds = 500;
/** Upper limit that stopping the daemon waits for the copy. */
const closeMillisecondsMax = 2000;

interface EntryWait {
  readonly place: number;
  readonly answer: (isKept: boolean) => void;
}

export class SecondCopy {
  readonly #parts: CopyParts;
  readonly #lines: CopyLines;
  readonly #telling: CopyReports;
  #at: CopyPosition | null = null;
  #kept: number | null = null;
  #head = 0;
  #problem: string | null = null;
  #isReady = false;
  #isLate = false;
  #isClosed = false;
  #waiting: EntryWait[] = [];
  readonly #readying = new Set<(isReady: boolean) => void>();
  readonly #looks = new Set<(isWell: boolean) => void>();
  #wakeUp: (() => void) | null = null;
  #isRung = false;
  #late: (() => void) | null = null;
  readonly #ended: Promise<void>;

  constructor(parts: CopyParts) {
    this.#parts = parts;
    this.#lines = new CopyLines(parts.chain, parts.digest);
    this.#telling = new CopyReports(parts);
    this.#ended = this.#run();
  }

  get timeoutMilliseconds(): number {
    return this.#parts.timeoutMilliseconds;
  }

  /** Whether it has been behind for longer than the timeout: callers then do not wait at all. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Position of the last entry it has for certain; null if unknown. */
  get kept(): number | null {
    return this.#kept;
  }

  shown(): SinkStatus {
    const kept = this.#kept;
    const behind = kept === null ? null : Math.max(0, this.#head - kept);
    const late = this.#isLate ? "it does not respond in time" : null;
    const { target } = this.#parts;
    return { target, kept, behind, isDenying: this.#isLate, problem: this.#problem ?? late };
  }

  /** Called after a log write. */
  wake(): void {
    this.#isRung = true;
    this.#wakeUp?.();
  }

  /** Whether it can accept entries now, or within this time. */
  ready(milliseconds: number): Promise<boolean> {
    if (this.#isReady) return Promise.resolve(true);
    return timed(milliseconds, (answer) => {
      this.#readying.add(answer);
      return () => this.#readying.delete(answer);
    });
  }

  /** Whether it has this entry, now or within this time. */
  has(place: number, milliseconds: number): Promise<boolean> {
    if (this.#kept !== null && this.#kept >= place) return Promise.resolve(true);
    if (this.#isClosed) return Promise.resolve(false);
    return timed(milliseconds, (answer) => {
      const mine: EntryWait = { place, answer };
      this.#waiting.push(mine);
      return () => {
        this.#waiting = this.#waiting.filter((one) => one !== mine);
      };
    });
  }

  /** Whether a new check, within this time, finds everything it is said to have. */
  looked(milliseconds: number): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return timed(milliseconds, (answer) => {
      this.#looks.add(answer);
      this.wake();
      return () => this.#looks.delete(answer);
    });
  }

  /** A caller's wait timed out. */
  fallBehind(): void {
    if (this.#isLate || this.#isClosed) return;
    this.#isLate = true;
    this.#telling.late(this.#problem);
  }

  /** Forwards entries written so far, for at most the time a call would wait. */
  async close(): Promise<void> {
    const head = await this.#parts.chain.head();
    this.wake();
    const patience = Math.min(this.timeoutMilliseconds, closeMillisecondsMax);
    if (head.ok && !this.#isLate) await this.has(head.value.place, patience);
    // A note has no position of its own: check once more, if the sink is usable.
    if (this.#isReady) await this.looked(lookMilliseconds);
    this.drop();
  }

  /** Closes it at once: it is no longer the copy. */
  drop(): void {
    this.#isClosed = true;
    this.#isReady = false;
    this.#telling.close();
    this.#parts.sink.close();
    this.#settle(null);
    for (const { answer } of this.#waiting.splice(0)) answer(false);
    for (const answer of [...this.#readying]) answer(false);
    this.wake();
  }

  /** Resolves when it has stopped; never, if the sink never responds. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async #run(): Promise<void> {
    for (let pause = pauseMillisecondsMin; !this.#isClosed; pause = Math.min(pause * 2, pauseMillisecondsMax)) {
      this.#watch();
      const trouble = await this.#session(() => {
        pause = pauseMillisecondsMin;
      });
      this.#isReady = false;
      for (const answer of [...this.#looks]) answer(false);
      this.#parts.sink.close();
      if (this.#isClosed) return;
      this.#problem = trouble;
      await this.#sleep(pause, false);
    }
  }

  /** Runs until a failure; returns its message. */
  async #session(well: () => void): Promise<string> {
    const begun = await this.#begin();
    if (begun !== null) return begun;
    while (!this.#isClosed) {
      const at = this.#at as CopyPosition;
      this.#isRung = false;
      const piece = await this.#lines.next(at);
      if (!piece.ok) return piece.message;
      const { sink } = this.#parts;
      if (piece.value !== null) {
        const { text, end, hashes, isOfCopy } = piece.value;
        this.#head = Math.max(this.#head, end.place);
        // INVARIANT: entries about the copy being slow never start the timeout, or that would never end.
        if (!isOfCopy) this.#watch();
        const kept = await sink.keep(text, end.place, (place, hash) => {
          const isOurs =
            hash === (place === at.place ? at.hash : hashes.get(place)) || (place === at.place && at.hash === "");
          if (isOurs) this.#advance(place);
          return isOurs;
        });
        if (!kept.ok) return kept.message;
        this.#at = end;
        this.#advance(end.place);
        if (!piece.value.isAll) continue;
      }
      const isLookedAt = piece.value === null && this.#looks.size > 0;
      const trouble = isLookedAt ? await sink.look() : sink.trouble;
      if (trouble !== null) return trouble;
      well();
      this.#settle(true);
      if (piece.value === null) {
        for (const answer of [...this.#looks]) answer(true);
        await this.#sleep(lookMilliseconds, true);
      }
    }
    return "it was closed";
  }

  /** Determines where to continue; a message if that is impossible. */
  async #begin(): Promise<string | null> {
    const { chain, sink, beginning } = this.#parts;
    const [first, head] = [await chain.first(), await chain.head()];
    if (!first.ok) return first.message;
    if (!head.ok) return head.message;
    this.#head = head.value.place;
    const { header, rotations } = beginning(first.value);
    const opened = await sink.open(header);
    if (!opened.ok || this.#isClosed) return opened.ok ? "it was closed" : opened.message;
    const standing = opened.value;
    const place = standing.place ?? first.value - 1;
    const wrong = positionProblem(standing, first.value, head.value.place);
    if (wrong !== null) return wrong;
    const found = await this.#lines.placeAt(place, first.value);
    if (!found.ok) return found.message;
    // If the log starts after it, the hash of the log's next entry shows whether it continues this one.
    const hash = found.value.hash === "" ? (standing.hash ?? "") : found.value.hash;
    if (standing.hash !== null && standing.hash !== hash)
      return `its entry ${place} differs from the log: one of the two was rewritten. See: ambit audit verify`;
    this.#at = { place, hash, note: standing.note ?? place - 1 };
    const missing = standing.place === null ? rotations.slice(standing.rotations ?? 0) : [];
    if (missing.length > 0) {
      const kept = await sink.keep(`${missing.join("\n")}\n`, 0, () => true);
      if (!kept.ok) return kept.message;
    }
    const before = this.#kept;
    this.#advance(place);
    if (before !== null && place < before) this.#telling.wentBack(before, place);
    return null;
  }

  #advance(place: number): void {
    this.#kept = place;
    const still: EntryWait[] = [];
    for (const waiting of this.#waiting) {
      if (waiting.place <= place) waiting.answer(true);
      else still.push(waiting);
    }
    this.#waiting = still;
  }

  /** Starts the timeout. */
  #watch(): void {
    this.#late ??= startTimeout(this.timeoutMilliseconds, () => this.fallBehind());
  }

  /** True: all entries are stored. */
  #settle(isWell: true | null): void {
    this.#late?.();
    this.#late = null;
    if (isWell === null) return;
    this.#problem = null;
    this.#isReady = true;
    for (const answer of [...this.#readying]) answer(true);
    if (!this.#isLate) return;
    this.#isLate = false;
    this.#telling.well();
  }

  async #sleep(milliseconds: number, isWoken: boolean): Promise<void> {
    if (this.#isClosed || (isWoken && this.#isRung)) return;
    await new Promise<void>((wake) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wakeUp = null;
        wake();
      };
      const timer = setTimeout(done, milliseconds);
      timer.unref();
      this.#wakeUp = isWoken ? done : () => this.#isClosed && done();
    });
  }
}

function positionProblem({ place, first: begins }: SinkPosition, first: number, head: number): string | null {
  if (place !== null && place > head)
    return `it has entries up to ${place}, but the log ends at ${head}: the log was truncated. See: ambit audit verify --sink`;
  const next = place === null ? (begins ?? first) : place + 1;
  if (next < first)
    return `entries ${next} to ${first - 1} were removed from the log before they were copied: move the copy away to start a new one`;
  return place === null && next !== first ? `it begins with entry ${next}, but has no entries: move it away` : null;
}

/** False on timeout. */
function timed(milliseconds: number, wait: (answer: (isSo: boolean) => void) => () => void): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isSo: boolean): void => {
      end();
      leave();
      resolve(isSo);
    };
    const end = startTimeout(milliseconds, () => answer(false));
    const leave = wait(answer);
  });
}
