// Streamed output is redacted with the secrets of the moment. Where they change while it runs, the new ones are added and those of
// before still count: a part of one may be on its way.
import type { Redactor, StreamRedactor } from "../log/redaction/redactor.ts";

/** How many changes of the secrets one stream follows with all that came before. */
const layersMax = 8;
const NOTHING = new Uint8Array(0);

/** INVARIANT: a redactor is wiped when it was replaced and no stream uses it any more, and not before. */
export class RedactedStreams {
  readonly #current: () => Redactor | null;
  readonly #uses = new Map<Redactor, number>();
  readonly #replaced = new WeakSet<Redactor>();

  constructor(current: () => Redactor | null) {
    this.#current = current;
  }

  /** It is not the current one any more. */
  replace(redactor: Redactor): void {
    this.#replaced.add(redactor);
    if (!this.#uses.has(redactor)) redactor.forget();
  }

  /** `ended`: with the names that were found, once. */
  open(ended: (names: readonly string[]) => void): StreamRedactor {
    const layers: { readonly redactor: Redactor; readonly stream: StreamRedactor }[] = [];
    const found = new Set<string>();
    const close = (): Uint8Array => {
      const oldest = layers.shift();
      if (oldest === undefined) return NOTHING;
      const rest = oldest.stream.end();
      for (const name of oldest.stream.names()) found.add(name);
      this.#release(oldest.redactor);
      return rest;
    };
    const through = (bytes: Uint8Array): Uint8Array =>
      layers.reduce((passed, { stream }) => stream.write(passed), bytes);
    const follow = (): void => {
      const redactor = this.#current();
      if (redactor === null || layers.at(-1)?.redactor === redactor) return;
      this.#uses.set(redactor, (this.#uses.get(redactor) ?? 0) + 1);
      layers.push({ redactor, stream: redactor.stream() });
    };
    const names = (): readonly string[] => [...found, ...layers.flatMap(({ stream }) => stream.names())];
    return {
      write: (bytes) => {
        follow();
        if (layers.length <= layersMax) return through(bytes);
        const rest = through(close());
        return Buffer.concat([rest, through(bytes)]);
      },
      end: () => {
        const pieces: Uint8Array[] = [];
        while (layers.length > 0) pieces.push(through(close()));
        ended([...found]);
        return Buffer.concat(pieces);
      },
      isHolding: () => layers.some(({ stream }) => stream.isHolding()),
      names,
    };
  }

  #release(redactor: Redactor): void {
    const left = (this.#uses.get(redactor) ?? 1) - 1;
    if (left > 0) return void this.#uses.set(redactor, left);
    this.#uses.delete(redactor);
    if (this.#replaced.has(redactor)) redactor.forget();
  }
}
