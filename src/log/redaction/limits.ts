// What can be redacted. Shorter values would be found where they are not; larger ones would cost more than they are worth.

export const secretCharactersMin = 8;
export const secretBytesMax = 16_384;
export const redactedSecretsMax = 512;
export const redactedBytesMax = 65_536;
/** Deeper values are replaced whole: nothing is let through because it was too deep to look at. */
export const redactedDepthMax = 128;
