// How many different denials of one agent are logged: a burst, and then a steady rate. Further ones are counted, and no
// count is lost, so that an agent that is denied something new every millisecond does not fill the disk.

/** The burst. */
export const denialBurstMax = 200;
/** One more for each of these intervals: about 43,000 a day. */
export const denialRefillMilliseconds = 2_000;
/** Agents tracked separately; beyond it they share one count. */
const agentsMax = 4_096;
const codesMax = 32;
/** How long denials are counted before the count is written. */
const countMilliseconds = 60_000;

export interface UnwrittenDenials<About> {
  readonly times: number;
  /** The number of denials of each code. */
  readonly codes: Readonly<Record<string, number>>;
  /** The context of the first of them. */
  readonly about: About;
}

interface Bucket<About> {
  left: number;
  at: number;
  unwritten: {
    times: number;
    readonly codes: Map<string, number>;
    readonly about: About;
    readonly since: number;
  } | null;
}

export class DenialRate<About> {
  readonly #buckets = new Map<string, Bucket<About>>();
  #forgotAt = Number.NEGATIVE_INFINITY;

  /** True if it may be logged; otherwise it was counted. */
  take(agent: string, code: string, now: number, about: About): boolean {
    const bucket = this.#bucket(agent, now);
    const refilled = Math.max(0, now - bucket.at) / denialRefillMilliseconds;
    bucket.left = Math.min(denialBurstMax, bucket.left + refilled);
    bucket.at = now;
    if (bucket.left >= 1) {
      bucket.left--;
      return true;
    }
    bucket.unwritten ??= { times: 0, codes: new Map(), about, since: now };
    const { codes } = bucket.unwritten;
    bucket.unwritten.times++;
    const key = codes.has(code) || codes.size < codesMax ? code : "";
    codes.set(key, (codes.get(key) ?? 0) + 1);
    return false;
  }

  /** Counts that are due by now, one for each agent; all of them if `now` is infinite. */
  drain(now: number): readonly UnwrittenDenials<About>[] {
    const all: UnwrittenDenials<About>[] = [];
    for (const bucket of this.#buckets.values()) {
      if (bucket.unwritten === null || Math.abs(now - bucket.unwritten.since) < countMilliseconds) continue;
      const { times, codes, about } = bucket.unwritten;
      all.push({ times, codes: Object.fromEntries(codes), about });
      bucket.unwritten = null;
    }
    return all;
  }

  #bucket(agent: string, now: number): Bucket<About> {
    const known = this.#buckets.get(agent);
    if (known !== undefined) return known;
    if (this.#buckets.size >= agentsMax) this.#forgetIdle(now);
    const key = this.#buckets.size >= agentsMax ? "" : agent;
    const bucket = this.#buckets.get(key) ?? { left: denialBurstMax, at: now, unwritten: null };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** A bucket that is full again and has no count is the same as a new one. */
  #forgetIdle(now: number): void {
    // Scans all buckets, so not for every new agent.
    if (Math.abs(now - this.#forgotAt) < denialRefillMilliseconds) return;
    this.#forgotAt = now;
    for (const [agent, { left, at, unwritten }] of this.#buckets)
      if (unwritten === null && left + (now - at) / denialRefillMilliseconds >= denialBurstMax)
        this.#buckets.delete(agent);
  }
}
