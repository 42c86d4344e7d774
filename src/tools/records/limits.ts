// Limits on input and output of one call of a records tool. An answer must fit in one message of the daemon.

export const idCharactersMax = 512;
/** Of one part of an id: it becomes a file name. */
export const segmentBytesMax = 200;
export const classCharactersMax = 128;
export const titleCharactersMax = 400;
export const tagsMax = 32;
export const tagCharactersMax = 64;
/** Of the text written in one call. */
export const bodyCharactersMax = 200_000;
/** Of a body that is read in one call; each character may need six bytes in a message. */
export const readCharactersMax = 120_000;
export const readCharactersUsual = 40_000;
export const queryCharactersMax = 1024;
export const resultsMax = 50;
export const resultsUsual = 10;
/** Of one hand-written record, in an answer. */
export const tagsShownMax = 16;
/** Of one record, in an answer about links. */
export const linksShownMax = 100;
export const linkCharactersMax = 256;
export const versionCharactersMax = 64;
