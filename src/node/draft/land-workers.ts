// Landers, one for each root that is landed in: started when they are needed, ended when they have been idle.
import type { Answer, Refusal } from "../../ports/exchange.ts";
import type { LandRestrictions } from "./land-setup.ts";
import { LandWorker } from "./land-worker.ts";

export interface LandWorkersOptions {
  /** Path of the native program. */
  readonly program: string;
  readonly drafts: string;
  restrictions(): LandRestrictions | null;
}

/** The folder a draft was made over. */
export interface LandRoot {
  readonly root: string;
  readonly rootDevice: string;
  readonly rootInode: string;
}

const silenceMillisecondsMax = 120_000;
const idleMilliseconds = 60_000;
const workersMax = 64;

interface Held {
  readonly worker: LandWorker;
  timer: NodeJS.Timeout | null;
}

export class LandWorkers {
  readonly #options: LandWorkersOptions;
  readonly #held = new Map<string, Held>();

  constructor(options: LandWorkersOptions) {
    this.#options = options;
  }

  /** The lander of this root. Refused where the folder of that name is another one by now. */
  async at({ root, rootDevice, rootInode }: LandRoot): Promise<Answer<LandWorker>> {
    const key = `${root} ${rootDevice} ${rootInode}`;
    const known = this.#held.get(key);
    if (known !== undefined) {
      await known.worker.ready;
      if (!known.worker.isOver) return this.#keep(key, known);
      this.#held.delete(key);
    }
    const { program, drafts } = this.#options;
    const restrictions = this.#options.restrictions();
    if (restrictions === null) return refuse("the lander cannot be confined on this machine");
    const worker = new LandWorker({ program, root, drafts, restrictions, silenceMillisecondsMax });
    const ready = await worker.ready;
    if ("status" in ready) {
      worker.close();
      return refuse(ready.reason);
    }
    if (String(ready.root.device) !== rootDevice || String(ready.root.inode) !== rootInode) {
      worker.close();
      return refuse(`${root} is another folder than the one the program worked in`);
    }
    this.#evict();
    return this.#keep(key, { worker, timer: null });
  }

  close(): void {
    for (const { worker, timer } of this.#held.values()) {
      if (timer !== null) clearTimeout(timer);
      worker.close();
    }
    this.#held.clear();
  }

  #keep(key: string, held: Held): Answer<LandWorker> {
    this.#closeLater(key, held);
    this.#held.delete(key);
    this.#held.set(key, held);
    return { ok: true, value: held.worker };
  }

  /** INVARIANT: a worker with a request is never closed for being idle. */
  #closeLater(key: string, held: Held): void {
    if (held.timer !== null) clearTimeout(held.timer);
    held.timer = setTimeout(() => {
      if (!held.worker.isIdle) return this.#closeLater(key, held);
      if (this.#held.get(key) === held) this.#held.delete(key);
      held.worker.close();
    }, idleMilliseconds);
    held.timer.unref();
  }

  #evict(): void {
    const oldest = [...this.#held].find(([, { worker }]) => worker.isIdle);
    if (this.#held.size < workersMax || oldest === undefined) return;
    const [key, { worker, timer }] = oldest;
    if (timer !== null) clearTimeout(timer);
    this.#held.delete(key);
    worker.close();
  }
}

function refuse(message: string): Refusal {
  return { ok: false, code: "not_landed", message, fix: null };
}
