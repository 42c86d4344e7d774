// Where the caveats of a server without an agent come from: the first that is there counts, whatever it says.

export interface CaveatsSources {
  /** AMBIT_CAVEATS as it is set; null where it is not. */
  readonly environment: string | null;
  /** The user's own caveats.toml; null where there is none. */
  readonly file: CaveatsFile | null;
}

export interface CaveatsFile {
  readonly name: string;
  /** Its `[caveats]` table as JSON; null where that cannot be read. */
  readonly text: string | null;
  readonly problem: string | null;
}

export interface ChosenCaveats {
  readonly text: string;
  /** Null: nothing was written anywhere. */
  readonly source: string | null;
  readonly problem: string | null;
}

/** INVARIANT: nothing written means nothing granted. */
export const NOTHING: string = JSON.stringify({
  fs_read: { only: [] },
  fs_write: { only: [] },
  exec: { only: [] },
  net: { only: [] },
  max_calls: { at_most: 0 },
  valid_for_generation: { only: [] },
});

/** Only ever by a flag of its own. */
export const UNCONFINED: string = JSON.stringify({
  fs_read: "all",
  fs_write: "all",
  exec: "all",
  net: "all",
  max_calls: "unlimited",
  valid_for_generation: "all",
});

export function chosenCaveats({ environment, file }: CaveatsSources): ChosenCaveats {
  if (environment !== null) return { text: environment, source: "AMBIT_CAVEATS", problem: null };
  if (file === null) return { text: NOTHING, source: null, problem: "no agent and no caveats are given" };
  return { text: file.text ?? NOTHING, source: file.name, problem: file.problem };
}
