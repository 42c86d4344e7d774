// How much one fetch of a page takes and gives. An answer must fit into one message of the daemon, whatever is in it.

export const addressCharactersMax = 8192;
export const headersMax = 50;
export const headerCharactersMax = 8192;
export const bodyCharactersMax = 262_144;

/** Of a response. What is more is not read, and the answer says that there is more. */
export const responseBytesMax = 2_097_152;
export const responseBytesUsual = 524_288;
/** So far the broker may read on before it calls it too much: one piece more than we take. */
export const responseBytesBeyond = 262_144;
export const headBytesMax = 65_536;
export const millisecondsMax = 300_000;
export const millisecondsUsual = 30_000;
/** Five requests in all. */
export const redirectsMax = 4;

/** The text of an answer as it is written in a message. */
export const answerTextBytesMax = 900_000;
export const titleCharactersMax = 500;
export const typeCharactersMax = 127;

export const secretsMax = 16;
export const fetchesOfSessionMax = 8;

/** What is read as a page, in characters; how long that may take, how much memory, and how much comes of it. */
export const pageCharactersMax = 2_097_152;
export const pageMillisecondsMax = 10_000;
export const pageMemoryMegabytesMax = 512;
export const pageDepthMax = 400;
export const pageElementsMax = 20_000;
/** Beginnings of tags, and beginnings of named characters. */
export const pageMarksMax = 60_000;
export const shownCharactersMax = 400_000;
export const jsonDepthShownMax = 64;
