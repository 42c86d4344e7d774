// What a script may be at most. The language has no nesting, so there is no depth to bound.
// Past a limit the answer is a refusal, never a truncation.

export const scriptCharactersMax = 65_536;
/** Commands of a whole script, over all pipelines and lists. */
export const commandsMax = 256;
/** Words of a whole script, targets of redirections included. */
export const wordsMax = 4096;
/** Longest file-name pattern; a name is compared in at most pattern times name steps, and these are counted. */
export const namePatternCharactersMax = 1024;
/** Commands of one pipeline: each of them is a sandbox that runs at the same time. */
export const stagesMax = 16;
/** All words of a script once variables and patterns are put in. */
export const expandedCharactersMax = 262_144;
/** Names that all patterns of a script choose together, and folders that are looked into for them. */
export const chosenNamesMax = 2048;
export const lookedFoldersMax = 256;
/** Names of one folder that a pattern is held against. */
export const folderNamesMax = 20_000;
/** What it takes to hold all patterns of a script against all names, in characters compared; then it is refused. */
export const namingStepsMax = 2_000_000;
/** What one name of a folder costs, in such steps, when the folder is listed: every one of them is decided on. */
export const listedNameSteps = 8;
/** Listings of one script that are kept for its next pattern: a script mostly asks for the same few. */
export const keptListingsMax = 4;
/** Names of one of them, unless it is kept alone. */
export const keptNamesMax = 4096;
/** Scripts of one agent whose patterns are looked up at the same time. */
export const searchesMax = 8;
/** So many names at a stretch: whoever else wants something done gets a turn between. */
export const namesPerTurn = 256;
/** Bytes that wait between two commands, or for one file, before the writer has to wait. */
export const pipeBytesUsual = 262_144;
/** A writer that writes on instead of waiting is stopped here. */
export const pipeBytesMax = 4_194_304;
/** The longest that a whole script may take, and what it takes if nothing is said. */
export const scriptSecondsMax = 600;
export const scriptSecondsUsual = 120;
/** One piece of a file that a redirection reads or writes. */
export const pieceBytesMax = 262_144;
