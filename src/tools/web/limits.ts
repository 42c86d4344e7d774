// Limits on input and output of one fetch. An answer must fit in one message of the daemon.

export const addressCharactersMax = 8192;
export const headersMax = 50;
export const headerCharactersMax = 8192;
export const bodyCharactersMax = 262_144;

/** Of a response. The rest is not read, and the answer says that there is more. */
export const responseBytesMax = 2_097_152;
export const responseBytesUsual = 524_288;
export const millisecondsMax = 300_000;
export const millisecondsUsual = 30_000;

/** The text of an answer as encoded in a message. */
export const answerTextBytesMax = 900_000;
export const titleCharactersMax = 500;
export const typeCharactersMax = 127;

/** Limits of page conversion: input in characters, time, memory, and output. */
export const pageCharactersMax = 2_097_152;
export const pageMillisecondsMax = 10_000;
export const pageMemoryMegabytesMax = 512;
export const pageDepthMax = 400;
export const pageElementsMax = 20_000;
/** Tag starts, and starts of character references. */
export const pageMarksMax = 60_000;
export const shownCharactersMax = 400_000;
export const jsonDepthShownMax = 64;
