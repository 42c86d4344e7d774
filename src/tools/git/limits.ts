// Limits on input and output of one call of the `git` tool.

export const pathsMax = 256;
export const pathCharactersMax = 4096;
export const revisionCharactersMax = 1024;
export const nameCharactersMax = 250;
export const messageCharactersMax = 32_768;
export const commitsMax = 1000;
export const commitsUsual = 50;
/** Text in an answer, as JSON. */
export const textBytesMax = 524_288;
export const errorBytesMax = 16_384;
/** Of one commit's message in a list of commits. */
export const bodyCharactersMax = 4096;
