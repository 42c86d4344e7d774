// Limits of a script. The language has no nesting, so there is no depth to limit. Beyond a limit the script is refused,
// never truncated.

export const scriptCharactersMax = 65_536;
/** Commands of a whole script, over all pipelines and lists. */
export const commandsMax = 256;
/** Words of a whole script, targets of redirections included. */
export const wordsMax = 4096;
/** Longest file-name pattern; matching a name takes at most pattern times name steps, and these are counted. */
export const namePatternCharactersMax = 1024;
/** Commands of one pipeline: each of them is a concurrent sandbox. */
export const stagesMax = 16;
/** All words of a script after expansion of variables and patterns. */
export const expandedCharactersMax = 262_144;
/** Names that all patterns of a script match together, and folders that are listed for them. */
export const chosenNamesMax = 2048;
export const lookedFoldersMax = 256;
/** Names of one folder that a pattern is matched against. */
export const folderNamesMax = 20_000;
/**
 * Steps for matching all patterns of a script against all names, in characters compared; beyond it the script is
 * refused.
 */
export const namingStepsMax = 2_000_000;
/** The cost of one listed name in such steps: every one of them is decided. */
export const listedNameSteps = 8;
/** Cached listings of one script: most scripts list the same few folders. */
export const cachedListingsMax = 4;
/** Names of one cached listing, unless it is the only one. */
export const cachedListingNamesMax = 4096;
/** Concurrent pattern expansions of one agent's scripts. */
export const searchesMax = 8;
/** Names matched in one event-loop turn. */
export const namesPerTurn = 256;
/** Bytes buffered between two commands, or for one file, before the writer has to wait. */
export const pipeBytesUsual = 262_144;
/** A writer that does not wait is stopped here. */
export const pipeBytesMax = 4_194_304;
/** The longest duration of a script, and the default. */
export const scriptSecondsMax = 600;
export const scriptSecondsUsual = 120;
/** One chunk of a file that a redirection reads or writes. */
export const pieceBytesMax = 262_144;
