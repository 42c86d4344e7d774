// The orders for the writing program, as its single argument.

export interface Orders {
  readonly folder: string;
  /** The folder of our package: the database driver is found from there. */
  readonly program: string;
  /** Prefix of the names this run writes, so that no two runs write the same. */
  readonly name: string;
  readonly callers: number;
  /** Steps of each caller. */
  readonly count: number;
  /** One of everything instead of decisions alone. */
  readonly isMixed: boolean;
  /** Without flushing to disk, after it was opened as usual. */
  readonly isWeak: boolean;
  /** Prints the acknowledgement before the request: for the proof that a test of kills can fail. */
  readonly isHasty: boolean;
  /** How long a refused caller waits before it continues. */
  readonly refusedMilliseconds: number;
  /** One of the scenes instead of writing. */
  readonly scene: string | null;
}

export const usual: Omit<Orders, "folder" | "program"> = {
  ...{
    name: "run",
    callers: 4,
    count: 100_000,
    isMixed: true,
    isWeak: false,
    isHasty: false,
    refusedMilliseconds: 0,
    scene: null,
  },
};

export function ordersOf(word: string): Orders {
  return JSON.parse(word) as Orders;
}
