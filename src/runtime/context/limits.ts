// Limits of one use of an instrument. Past a limit the use is refused, or its result is cut if the caller set `truncate`.

/** Requests of one fetch, redirects included. */
export const fetchRequestsMax = 5;
export const fetchBytesMax = 26_214_400;
export const fetchBytesUsual = 5_242_880;
export const fetchMillisecondsMax = 300_000;
export const fetchMillisecondsUsual = 30_000;
export const bodyBytesMax = 16_777_216;
export const headersMax = 64;
export const headerCharactersMax = 16_384;
/** Distinct secrets in one request. */
export const secretsPerFetchMax = 16;
export const fileBytesMax = 16_777_216;
export const entriesMax = 20_000;
export const entriesUsual = 10_000;
export const editsMax = 100;
export const editCharactersMax = 262_144;
/** Of a file that is edited: what the file worker writes at once. */
export const editBytesMax = 1_040_384;
export const valueCharactersMax = 262_144;
export const keyCharactersMax = 512;
export const listedKeysMax = 1000;
export const keyPagesMax = 64;
export const storedSecondsMax = 315_360_000;
export const observationCharactersMax = 16_384;
export const tagsMax = 16;
export const tagCharactersMax = 64;
export const observationsMax = 1000;
/** Agents of one query, and the length of an id. */
export const observedAgentsMax = 64;
export const observedAgentCharactersMax = 256;
export const programMillisecondsMax = 300_000;
export const programMillisecondsUsual = 60_000;
export const programOutputBytesMax = 16_777_216;
export const programOutputBytesUsual = 1_048_576;
export const stopListenersMax = 256;
