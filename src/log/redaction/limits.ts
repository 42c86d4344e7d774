// Limits of redaction. Shorter values would match by accident; larger ones would be too expensive.

export const secretCharactersMin = 8;
export const secretBytesMax = 16_384;
export const redactedSecretsMax = 512;
export const redactedBytesMax = 65_536;
/** Deeper values are replaced whole: nothing passes unscanned. */
export const redactedDepthMax = 128;
