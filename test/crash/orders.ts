// What the writing program is told to do, as the one word it is started with.

export interface Orders {
  readonly folder: string;
  /** Where our package lies: the database driver is found from there. */
  readonly program: string;
  /** Names what this run writes, so that no two runs write the same. */
  readonly name: string;
  readonly callers: number;
  /** Steps of each caller. */
  readonly count: number;
  /** One of everything instead of decisions alone. */
  readonly isMixed: boolean;
  /** Without asking the disk to make sure, after it was opened as always. */
  readonly isWeak: boolean;
  /** Says that it is kept before it was asked for: for the proof that a test of kills can fail. */
  readonly isHasty: boolean;
  /** How long a caller who was refused waits before it goes on. */
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
