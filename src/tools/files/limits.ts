// Limits on input and output of one call of a file tool. An answer must fit in one message of the daemon.

export const pathCharactersMax = 4096;

/** Text of one read: six times as much if every character has to be escaped. */
export const textBytesMax = 131_072;
export const binaryBytesMax = 65_536;
export const linesMax = 10_000;
export const linesUsual = 2_000;
/** How far into a file lines are counted. */
export const scanBytesMax = 67_108_864;
export const countMax = 1_000_000_000;

export const itemsMax = 5_000;
export const itemsUsual = 1_000;
export const matchesUsual = 200;
/** Lines that are examined if a pattern excludes some of them. */
export const sortedMatchesMax = 20_000;
export const answerBytesMax = 786_432;
export const patternCharactersMax = 4096;
export const wantedCharactersMax = 256;
