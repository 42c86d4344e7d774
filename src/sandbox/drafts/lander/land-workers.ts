// Landers, one for each root while a draft of it is landed, shown, undone or recovered. None remains in between: an
// open folder keeps its mount busy.
import type { Answer, Refusal } from "../../../core/ports/daemon/exchange.ts";
import { type LandRestrictions, landlockVersionMin } from "./land-setup.ts";
import { LandWorker } from "./land-worker.ts";

export interface LandWorkersOptions {
  /** Path of the native program. */
  readonly program: string;
  readonly drafts: string;
  restrictions(): LandRestrictions | null;
  /** The user's own configuration allows running without restrictions that the machine lacks (`bare`). */
  isBareAllowed(): boolean;
}

/** The root folder of a draft. */
export interface LandRoot {
  readonly root: string;
  readonly rootDevice: string;
  readonly rootInode: string;
}

const silenceMillisecondsMax = 120_000;

/** Active uses of one root, and their landers by the identity of the folder. */
interface RootUses {
  count: number;
  readonly workers: Map<string, Promise<Answer<LandWorker>>>;
}

export class LandWorkers {
  readonly #options: LandWorkersOptions;
  readonly #uses = new Map<string, RootUses>();

  constructor(options: LandWorkersOptions) {
    this.#options = options;
  }

  /** Why no lander may run on this machine; null where one may. */
  refusal(): Refusal | null {
    const restrictions = this.#options.restrictions();
    if (restrictions === null) return refuse("the lander cannot be run on this machine: see `ambit doctor`");
    if (restrictions.landlock >= landlockVersionMin || this.#options.isBareAllowed()) return null;
    return refuse(
      `the lander cannot be confined: Landlock ${landlockVersionMin} or later is needed, this kernel has ${restrictions.landlock === 0 ? "none" : `version ${restrictions.landlock}`}`,
      "a kernel of 5.19 or later with Landlock, or `bare: true` in your own config.yml",
    );
  }

  /**
   * Landers of this root live as long as some work on it does. The last use returns once their processes have ended.
   */
  async during<T>(root: string, work: () => Promise<T>): Promise<T> {
    const uses = this.#uses.get(root) ?? { count: 0, workers: new Map() };
    uses.count++;
    this.#uses.set(root, uses);
    try {
      return await work();
    } finally {
      uses.count--;
      if (uses.count === 0) {
        this.#uses.delete(root);
        await endAll(uses);
      }
    }
  }

  /** The lander of this root. Refused where another folder has that name by now. */
  async at(root: LandRoot): Promise<Answer<LandWorker>> {
    const uses = this.#uses.get(root.root);
    // INVARIANT: nothing starts a lander that nothing ends.
    if (uses === undefined) throw new Error(`no landing in ${root.root} is in progress`);
    const key = `${root.rootDevice} ${root.rootInode}`;
    const known = await uses.workers.get(key);
    if (known?.ok === true && !known.value.isOver) return known;
    const started = this.#start(root);
    uses.workers.set(key, started);
    return started;
  }

  close(): void {
    for (const uses of this.#uses.values()) void endAll(uses);
    this.#uses.clear();
  }

  async #start({ root, rootDevice, rootInode }: LandRoot): Promise<Answer<LandWorker>> {
    const { program, drafts } = this.#options;
    const refused = this.refusal();
    const restrictions = this.#options.restrictions();
    if (refused !== null || restrictions === null) return refused ?? refuse("the lander cannot be run on this machine");
    const worker = new LandWorker({ program, root, drafts, restrictions, silenceMillisecondsMax });
    const ready = await worker.ready;
    const reason =
      "status" in ready
        ? ready.reason
        : String(ready.root.device) !== rootDevice || String(ready.root.inode) !== rootInode
          ? `${root} is not the folder that the program worked in`
          : !ready.landlock && !this.#options.isBareAllowed()
            ? "the kernel did not confine the lander"
            : null;
    if (reason === null) return { ok: true, value: worker };
    worker.close();
    await worker.ended;
    return refuse(reason);
  }
}

async function endAll({ workers }: RootUses): Promise<void> {
  for (const started of workers.values()) {
    const worker = await started;
    if (!worker.ok) continue;
    worker.value.close();
    await worker.value.ended;
  }
}

function refuse(message: string, fix: string | null = null): Refusal {
  return { ok: false, code: "not_landed", message, fix };
}
