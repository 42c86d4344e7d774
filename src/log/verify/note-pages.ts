// The signed notes of a store in order, page by page.
import type { ChainStore, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";

export class NotePages {
  readonly #chain: Pick<ChainStore, "checkpoints">;
  #page: readonly CheckpointRow[] = [];
  #at = 0;
  #from: number;
  #isDone = false;

  constructor(chain: Pick<ChainStore, "checkpoints">, from: number) {
    this.#chain = chain;
    this.#from = Math.max(0, from);
  }

  /** Notes up to a position that were not handed over yet. */
  async each(upTo: number, take: (note: CheckpointRow) => void | Promise<void>): Durable<null> {
    for (;;) {
      for (let note = this.#page[this.#at]; note !== undefined; note = this.#page[this.#at]) {
        if (note.place > upTo) return NONE;
        this.#at++;
        await take({ place: note.place, text: note.text });
      }
      if (this.#isDone) return NONE;
      const page = await this.#chain.checkpoints(this.#from);
      if (!page.ok) return page;
      const last = page.value.at(-1)?.place ?? -1;
      // A page must advance the position, or this would never end.
      this.#isDone = !(last >= this.#from);
      this.#page = this.#isDone ? [] : page.value;
      this.#at = 0;
      this.#from = last + 1;
    }
  }
}

const NONE = { ok: true, value: null } as const;
