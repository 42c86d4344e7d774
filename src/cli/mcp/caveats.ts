// Where the caveats of a server without an agent come from: the first that is there counts, whatever it says.

export interface CaveatsSources {
  /** AMBIT_CAVEATS as it is set; null where it is not. */
  readonly environment: string | null;
  /** AGENT_BRIDLE_CAVEATS, the same text under the name another system has for it. */
  readonly otherEnvironment: string | null;
  /** The user's own caveats.toml; null where there is none. */
  readonly file: CaveatsFile | null;
  /** `~/.agent-bridle/config.toml`, where that other system reads its table. */
  readonly otherFile: CaveatsFile | null;
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
  /** What to rename so that our own name is used; null where it is. */
  readonly hint: string | null;
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

/** Variables before files, our own name before the other one. */
export function chosenCaveats(sources: CaveatsSources): ChosenCaveats {
  const { environment, otherEnvironment, file, otherFile } = sources;
  if (environment !== null) return { text: environment, source: "AMBIT_CAVEATS", problem: null, hint: null };
  if (otherEnvironment !== null)
    return { text: otherEnvironment, source: "AGENT_BRIDLE_CAVEATS", problem: null, hint: "set AMBIT_CAVEATS instead" };
  const found = file ?? otherFile;
  if (found === null) return { text: NOTHING, source: null, problem: "no agent and no caveats are given", hint: null };
  const hint = file === null ? "move its [caveats] table to caveats.toml in your ambit configuration folder" : null;
  return { text: found.text ?? NOTHING, source: found.name, problem: found.problem, hint };
}
