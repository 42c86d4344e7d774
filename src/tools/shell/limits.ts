// What a script may be at most. The language has no nesting, so there is no depth to bound.
// Past a limit the answer is a refusal, never a truncation.

export const scriptCharactersMax = 65_536;
/** Commands of a whole script, over all pipelines and lists. */
export const commandsMax = 256;
/** Words of a whole script, targets of redirections included. */
export const wordsMax = 4096;
/** Longest file-name pattern; a name is compared in at most pattern times name steps. */
export const namePatternCharactersMax = 1024;
