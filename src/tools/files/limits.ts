// How much one call of a file tool takes and gives. An answer must fit into one message of the daemon, whatever is in it.

export const pathCharactersMax = 4096;
/** As the port has it: a frame, without the path and what goes with it. */
export const contentBytesMax = 1_040_384;

/** Text of one read: six times as much where every character has to be escaped. */
export const textBytesMax = 131_072;
export const binaryBytesMax = 65_536;
export const linesMax = 10_000;
export const linesUsual = 2_000;
/** How far into a file lines are counted. */
export const scanBytesMax = 67_108_864;
export const countMax = 1_000_000_000;

export const editsMax = 100;
export const editCharactersMax = 262_144;

export const itemsMax = 5_000;
export const itemsUsual = 1_000;
export const matchesUsual = 200;
/** Lines that are looked at where a pattern sorts some of them out. */
export const sortedMatchesMax = 20_000;
export const answerBytesMax = 786_432;
export const patternCharactersMax = 4096;
export const wantedCharactersMax = 256;
