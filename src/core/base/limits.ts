// Every input of the core has a limit; these are their names. Past a limit the answer is a refusal, never a truncation.

export const patternCharactersMax = 4096;
export const segmentsMax = 512;
export const starsMax = 8;
export const deepStarsMax = 3;
export const constrainedArgumentsMax = 6;
export const witnessesMax = 4096;
export const meetPatternsMax = 256;
/** Cells of the table two patterns are met in, and elements kept in it. */
export const meetCellsMax = 16_384;
export const meetElementsMax = 1_000_000;
export const pathBytesMax = 4096;
export const hostCharactersMax = 253;
export const labelCharactersMax = 63;
export const nameCharactersMax = 1024;
export const argvTokensMax = 4096;
export const argvCharactersMax = 131_072;
export const braceExpansionsMax = 64;
export const grantsMax = 200_000;
export const patternsPerScopeMax = 4096;
export const jsonCharactersMax = 1_048_576;
export const jsonDepthMax = 64;
export const urlCharactersMax = 8192;
